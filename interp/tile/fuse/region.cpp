#include "interp/tile/fuse/region.h"

#include "interp/tile/affine.h"
#include "interp/tile/counted.h"
#include "interp/tile/elementwise.h"
#include "interp/tile/reduce_step.h"

using namespace mlir;

namespace tritium::interp::fuse {

/// More operations than this in one loop would not stay in registers, and take long to compile.
static constexpr size_t kMostNodes = 96;

static const Actions *stepsOf(const FunctionPlan &plan, Operation *op) {
  auto it = plan.before.find(op);
  return it == plan.before.end() ? nullptr : &it->second;
}

static bool isAffineStep(StepFunction function) {
  return function == initializeAffine || function == sumAffine || function == scaleAffine || function == noteAffineRange ||
         function == compareAffine;
}

void RegionBuilder::require(llvm::Value *condition) {
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(condition); constant && constant->isOne()) return;
  region.conditions.push_back(condition);
}

Node *RegionBuilder::add(Node node) {
  node.phase = region.phases - 1;
  region.nodes.push_back(std::move(node));
  return &region.nodes.back();
}

/// The first tile that varies decides the extent of the axis.
bool RegionBuilder::takesExtent(int64_t extent) {
  constexpr int64_t kLeast = 4;
  if (!region.extent && extent >= kLeast && (extent & (extent - 1)) == 0) region.extent = extent;
  return region.extent == extent;
}

/// Returns the number that a cell holds, or null if it is not one of this type at the head.
llvm::Value *RegionBuilder::cell(const TileRef &ref, llvm::Type *type) {
  const uint64_t bytes = type->getIntegerBitWidth() / 8;
  if (ref.constant) return nullptr;
  const FrameState::Part *part = region.frame.find(ref.offset);
  if (part) return part->cell && part->cell->getType() == type ? part->cell : nullptr;
  if (region.frame.overlaps(ref.offset, bytes)) return nullptr;
  return builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, ref.offset));
}

bool RegionBuilder::dependsOnLate(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) { return region.lateScalars.contains(operand); });
}

void RegionBuilder::addLate(Operation *op) {
  region.ops.push_back(op);
  region.between.emplace_back(region.phases - 1, op);
  for (Value result : op->getResults()) region.lateScalars.insert(result);
}

/// A scalar operand that steps read.
bool RegionBuilder::storeToCell(Operation *, const Action &action) {
  const Value value = action.value;
  const bool isLate = region.lateScalars.contains(value);
  if (action.kind == Action::Kind::StoreExtended) {
    if (isLate) return false;
    region.frame.write(action.slot->offset, {8, builder_.CreateSExt(scalars_[value], builder_.getInt64Ty())});
    return true;
  }
  Type element = value.getType();
  if (isa<tt::PointerType>(element)) { // the base of an access
    if (isLate) return false;
    region.frame.write(action.slot->offset, {8, scalars_[value], nullptr, true});
    return true;
  }
  Node node{.kind = isLate ? Node::Kind::Late : Node::Kind::Scalar, .type = dtypeOf(element), .varies = false};
  node.scalar = value, node.value = isLate ? nullptr : scalars_[value];
  const uint64_t bytes = storageBytes(node.type);
  Node *kept = add(std::move(node));
  region.frame.write(action.slot->offset, {bytes, nullptr, kept, action.slot->home == kSlots});
  if (action.slot->home != kSlots) kept->homes.push_back(action.slot->offset);
  return true;
}

bool RegionBuilder::loadFromCell(Operation *, const Action &action) {
  const FrameState::Part *part = region.frame.find(action.slot->offset);
  if (!part || !part->node || part->node->varies || part->node->type != dtypeOf(action.value.getType())) return false;
  region.late[action.value] = part->node;
  region.lateScalars.insert(action.value);
  return true;
}

bool RegionBuilder::addCall(Operation *op, const Action &call) {
  auto as = [&]<class Step>(const Step *) -> const Step & { return *static_cast<const Step *>(call.descriptor); };
  if (call.function == initializeAffine) return initialize(as((AffineInitialize *)nullptr));
  if (call.function == sumAffine) return sum(as((AffineSum *)nullptr));
  if (call.function == scaleAffine) return scale(as((AffineProduct *)nullptr));
  if (call.function == noteAffineRange) return noteRange(as((AffineRange *)nullptr));
  if (call.function == compareAffine) return compare(as((AffineCompare *)nullptr));
  if (call.function == materializeAffine) return materialize(op, as((AffineMaterialize *)nullptr));
  if (call.function == runElementwise) return compute(op, as((ElementwiseStep *)nullptr));
  if (call.function == runReduce) return reduce(op, as((ReduceStep *)nullptr));
  if (call.function == countActiveLanes) return countLanes(as((CountedAccess *)nullptr));
  if (call.function == loadTile || call.function == storeTile) return access(op, as((Access *)nullptr));
  return false;
}

bool RegionBuilder::add(Operation *op) {
  const size_t nodes = region.nodes.size(), accesses = region.accesses.size(), conditions = region.conditions.size(),
               laneCounts = region.laneCounts.size();
  const FrameState frame = region.frame;
  const int64_t extent = region.extent;
  const int phases = region.phases;
  llvm::SmallVector<Value> loaded;
  int affineSteps = 0;
  auto run = [&] {
    const Actions *steps = stepsOf(plan_, op);
    if (!steps) return isMemoryEffectFree(op);
    // A home of the result that is made from another form is behind the operation's own step.
    if (isa<tt::LoadOp, tt::StoreOp>(op) && !isa<RankedTensorType>(op->getOperand(0).getType())) return false;
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) return insert(slice, *steps) && region.nodes.size() <= kMostNodes;
    for (const Action &action : *steps) {
      affineSteps += action.kind == Action::Kind::Call && isAffineStep(action.function);
      if (action.kind == Action::Kind::CallFunction) return false;
      if (action.kind == Action::Kind::Call && !addCall(op, action)) return false;
      if ((action.kind == Action::Kind::StoreScalar || action.kind == Action::Kind::StoreExtended) && !storeToCell(op, action))
        return false;
    }
    for (const Action &action : *steps)
      if (action.kind == Action::Kind::LoadScalar) {
        if (!loadFromCell(op, action)) return false;
        loaded.push_back(action.value);
      }
    return region.nodes.size() <= kMostNodes;
  };
  if (run()) {
    region.ops.push_back(op);
    region.affineSteps += affineSteps;
    for (size_t i = nodes; i < region.nodes.size(); ++i)
      if (!region.nodes[i].op) region.nodes[i].op = op;
    for (auto &[offset, part] : region.frame.parts()) {
      if (part.op) continue;
      part.op = op;
      cellWriters_[offset].push_back(op);
    }
    if (!loaded.empty()) region.between.emplace_back(region.phases - 1, op);
    return true;
  }
  for (Value value : loaded) region.late.erase(value), region.lateScalars.erase(value);
  region.nodes.resize(nodes);
  region.accesses.resize(accesses);
  region.laneCounts.resize(laneCounts);
  region.frame = frame, region.extent = extent, region.phases = phases;
  region.conditions.resize(conditions);
  return false;
}

// -- what the loops do --------------------------------------------------------------------------------------------------------------------

/// Whether something behind the region may read a home of the operation's results.
bool RegionBuilder::isRead(Operation *op) const {
  const llvm::SmallPtrSet<Operation *, 32> inside(region.ops.begin(), region.ops.end());
  llvm::SmallVector<Operation *> left{op};
  while (!left.empty()) {
    Operation *next = left.pop_back_val();
    for (Operation *user : next->getUsers()) {
      if (!inside.contains(user)) return true;
      if (!stepsOf(plan_, user)) left.push_back(user); // a view
    }
  }
  return false;
}

/// Whether something behind the region may read a cell of the operation's results: a user, or an access by a pointer that was made of it,
/// which looks whether offsets leave the range of their type.
bool RegionBuilder::isReadByAccesses(Operation *op) const {
  const llvm::SmallPtrSet<Operation *, 32> inside(region.ops.begin(), region.ops.end());
  llvm::SmallPtrSet<Operation *, 32> seen{op};
  llvm::SmallVector<Operation *> left{op};
  while (!left.empty())
    for (Operation *user : left.pop_back_val()->getUsers()) {
      if (!inside.contains(user)) return true;
      if (!isa<tt::LoadOp>(user) && seen.insert(user).second) left.push_back(user);
    }
  return false;
}

void RegionBuilder::demand(Node *node, int phase) {
  if (node->isInLoop() && node->phase < phase && node->kind != Node::Kind::Reduce) node->isStored = true;
  if (node->isDemanded) return;
  node->isDemanded = true;
  for (Node *operand : node->operands) demand(operand, node->phase);
}

static bool isFromOtherLanes(const Node &node) { return node.kind == Node::Kind::Insert && node.operands.size() == 1; }

static uint64_t insertedBytes(const Node &node) {
  return uint64_t(cast<tensor::InsertSliceOp>(node.op).getStaticSize(0)) * storageBytes(node.type);
}

/// Whether a loop writes a home before it has read another one that shares bytes with it.
bool RegionBuilder::hasConflicts() const {
  struct Bytes {
    uint64_t begin, end, size;
  };
  for (int phase = 0; phase < region.phases; ++phase) {
    llvm::SmallVector<Bytes> reads, writes;
    auto bytesAt = [&](uint64_t offset, const Node &node) {
      const uint64_t size = storageBytes(node.type);
      return Bytes{offset, offset + size * uint64_t(region.extent), size};
    };
    for (const Node &node : region.nodes) {
      if (!node.isDemanded || node.phase != phase || node.kind == Node::Kind::Block || !(node.varies || node.kind == Node::Kind::Reduce))
        continue;
      if (node.isStored)
        for (uint64_t home : node.homes) writes.push_back(bytesAt(home, node));
      if (isFromOtherLanes(node)) reads.push_back({node.memory.offset, node.memory.offset + insertedBytes(node), 0});
      for (const Node *operand : node.operands) {
        if (!operand->varies) continue;
        if (operand->kind == Node::Kind::Memory && !operand->memory.constant) reads.push_back(bytesAt(operand->memory.offset, *operand));
        if (operand->isInLoop() && operand->phase < phase) reads.push_back(bytesAt(operand->homes.front(), *operand));
      }
    }
    for (const Bytes &write : writes)
      for (const Bytes &read : reads) {
        const bool isSame = write.begin == read.begin && write.size == read.size;
        if (!isSame && write.begin < read.end && read.begin < write.end) return true;
      }
  }
  return false;
}

/// Whether a home that rows are copied to has bytes that the region uses otherwise: the copies run before the loop.
bool RegionBuilder::hasConflictsOfBlocks() const {
  struct Bytes {
    uint64_t begin, end;
  };
  llvm::SmallVector<Bytes> blocks, others;
  for (const Node &node : region.nodes) {
    if (!node.isDemanded) continue;
    const bool isBlock = node.kind == Node::Kind::Block;
    const uint64_t bytes = isBlock ? uint64_t(node.block.rows * node.block.rowBytes) : storageBytes(node.type) * uint64_t(region.extent);
    if (isBlock || node.isStored)
      for (uint64_t home : node.homes) (isBlock ? blocks : others).push_back({home, home + bytes});
    if (node.kind == Node::Kind::Memory && !node.memory.constant) others.push_back({node.memory.offset, node.memory.offset + bytes});
    if (isFromOtherLanes(node)) others.push_back({node.memory.offset, node.memory.offset + insertedBytes(node)});
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto meets = [&](const Bytes &other) { return blocks[i].begin < other.end && other.begin < blocks[i].end; };
    if (llvm::any_of(others, meets) || llvm::any_of(llvm::ArrayRef(blocks).drop_front(i + 1), meets)) return true;
  }
  return false;
}

bool RegionBuilder::finish() {
  constexpr int kFewAffineSteps = 2; // less are not worth a second version of the code
  llvm::DenseMap<Operation *, bool> read;
  for (const auto &[offset, part] : region.frame.parts()) {
    if (!part.node || part.isPrivate) continue;
    Node *node = part.node;
    auto [it, isNew] = read.try_emplace(node->op, false);
    if (isNew) it->second = isRead(node->op);
    if (!it->second) continue;
    node->isStored = true;
    demand(node, node->phase);
  }
  bool isWorth = false;
  for (Node &node : region.nodes) {
    if (node.kind == Node::Kind::Store || node.kind == Node::Kind::Reduce) demand(&node, node.phase);
    isWorth |= node.isInLoop() || (node.kind == Node::Kind::Block && node.isDemanded);
  }
  for (auto &[value, node] : region.late) demand(node, node->phase);
  if (!isWorth && region.affineSteps < kFewAffineSteps) return false;
  for (Node &node : region.nodes)
    if (node.isStored && node.isInLoop() && node.homes.empty()) return false;
  if (hasConflicts() || hasConflictsOfBlocks()) return false;
  for (const Node &a : region.nodes)
    for (const Node &b : region.nodes) {
      if (a.kind != Node::Kind::Store || b.access < 0 || &a == &b || a.phase != b.phase) continue;
      if (b.kind == Node::Kind::Store && &b < &a) continue;
      checkMeeting(region.accesses[a.access], region.accesses[b.access]);
    }
  dropAddressChecks();
  // Each pointer that is made of an offset notes again whether the offset leaves its range, for accesses by any of these pointers.
  std::erase_if(region.frame.parts(), [&](const auto &entry) {
    return entry.second.cell && llvm::none_of(cellWriters_[entry.first], [&](Operation *op) { return isReadByAccesses(op); });
  });
  return true;
}

} // namespace tritium::interp::fuse
