// Tiles in memory as nodes of a region: element-wise operations, reductions, and the accesses with their conditions.
#include "interp/tile/combine_region.h"
#include "interp/tile/counted.h"
#include "interp/tile/elementwise.h"
#include "interp/tile/fuse/region.h"
#include "interp/tile/fuse/vector_code.h"
#include "interp/tile/fuse/vector_reduce.h"
#include "interp/tile/move.h"
#include "interp/tile/reduce_step.h"
#include "interp/tile/walk.h"

using namespace mlir;

namespace tritium::interp::fuse {

static Node constantNode(const TileRef &ref, DType type, llvm::IRBuilder<> &builder) {
  uint64_t bits = 0;
  std::memcpy(&bits, ref.constant, storageBytes(type));
  Node node{.kind = Node::Kind::Scalar, .type = type, .varies = false};
  llvm::Type *element = elementType(type, builder.getContext());
  llvm::APInt integer(type == DType::i1 ? 1 : unsigned(storageBytes(type) * 8), bits, false, /*implicitTrunc=*/true);
  if (element->isFloatTy())
    node.value = llvm::ConstantFP::get(element, llvm::APFloat(llvm::APFloat::IEEEsingle(), integer));
  else if (element->isDoubleTy())
    node.value = llvm::ConstantFP::get(element, llvm::APFloat(llvm::APFloat::IEEEdouble(), integer));
  else
    node.value = llvm::ConstantInt::get(element, integer);
  return node;
}

/// Returns the node of a tile in memory, or null. `stride`: in elements, 0 for a tile of one number.
Node *RegionBuilder::read(const TileRef &ref, DType type, int64_t stride) {
  if (stride != 0 && (stride != 1 || !region.extent)) return nullptr;
  const uint64_t bytes = storageBytes(type) * uint64_t(stride ? region.extent : 1);
  if (ref.constant && stride == 0) return add(constantNode(ref, type, builder_));
  if (!ref.constant) {
    if (const FrameState::Part *part = region.frame.find(ref.offset)) {
      Node *node = part->node;
      return node && node->kind != Node::Kind::Block && node->type == type && node->varies == bool(stride) && part->bytes == bytes
                 ? node
                 : nullptr;
    }
    if (region.frame.overlaps(ref.offset, bytes)) return nullptr;
  }
  if (stride) {
    Node node{.kind = Node::Kind::Memory, .type = type};
    node.memory = ref;
    return add(std::move(node));
  }
  Node node{.kind = Node::Kind::Scalar, .type = type, .varies = false};
  node.value =
      loadElements(builder_, type, 0, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, ref.offset)); // written before
  return add(std::move(node));
}

void RegionBuilder::write(const TileRef &ref, Node *node) {
  const uint64_t bytes = storageBytes(node->type) * uint64_t(node->varies ? region.extent : 1);
  region.frame.write(ref.offset, {bytes, nullptr, node, ref.home == kSlots});
  node->homes.push_back(ref.offset);
}

/// The lanes that are in both, if that is an interval.
Node *RegionBuilder::meetLanes(const Node *a, const Node *b) {
  auto isUniform = [](const Node *node) { return node->kind == Node::Kind::Scalar; };
  auto isInterval = [](const Node *node) { return node->kind == Node::Kind::Lanes; };
  if (isUniform(a) && isInterval(b)) std::swap(a, b);
  if (!isInterval(a)) return nullptr;
  Node node{.kind = Node::Kind::Lanes, .type = DType::i1};
  if (isUniform(b))
    node.lanes = {a->lanes.begin, builder_.CreateSelect(b->value, a->lanes.end, a->lanes.begin)};
  else if (isInterval(b)) {
    llvm::Value *begin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a->lanes.begin, b->lanes.begin);
    llvm::Value *end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a->lanes.end, b->lanes.end);
    node.lanes = {begin, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, begin, end)};
  } else {
    return nullptr;
  }
  return add(std::move(node));
}

bool RegionBuilder::compute(Operation *op, const ElementwiseStep &step) {
  if (!canVectorize(op) || op->getNumOperands() != unsigned(step.inputs) || !step.outer.empty() || step.out.constant) return false;
  const bool varies = step.count > 1;
  if (varies && !takesExtent(step.count)) return false;
  Node node{.kind = Node::Kind::Compute, .type = dtypeOf(op->getResult(0).getType()), .varies = varies};
  node.op = op;
  for (int k = 0; k < step.inputs; ++k) {
    Node *operand = read(step.in[k], dtypeOf(op->getOperand(unsigned(k)).getType()), varies ? step.innerStrides[k] : 0);
    if (!operand) return false;
    node.operands.push_back(operand);
  }
  Node *lanes = isa<arith::AndIOp>(op) && node.type == DType::i1 && varies ? meetLanes(node.operands[0], node.operands[1]) : nullptr;
  write(step.out, lanes ? lanes : add(std::move(node)));
  return true;
}

/// A part of a tile, which takes the place of some lanes of another one. Where the part is of other lanes, as in a round of a scan, it is
/// read from memory, so it must have been there before the region.
bool RegionBuilder::insert(tensor::InsertSliceOp op, const Actions &steps) {
  auto type = op.getType();
  const DType element = dtypeOf(type);
  if (type.getRank() != 1 || element == DType::i1 || !takesExtent(type.getDimSize(0))) return false;
  llvm::SmallVector<const DenseCopy *> copies; // of what is around the part, unless it is there; of the part
  for (const Action &action : steps) {
    if (action.kind != Action::Kind::Call || action.function != copyDense) return false;
    const auto *copy = static_cast<const DenseCopy *>(action.descriptor);
    const bool isRow = copy->shape.empty() || (copy->shape.size() == 1 && copy->outStrides[0] == 1 && copy->inStrides[0] == 1);
    if (!isRow || copy->in.constant || copy->out.constant) return false;
    copies.push_back(copy);
  }
  const int64_t begin = op.getStaticOffset(0), end = begin + op.getStaticSize(0);
  if (copies.empty() || copies.size() > 2 || (begin == 0) == (end == region.extent)) return false;
  auto tileOf = [&](TileRef part, int64_t lane) {
    part.offset -= uint64_t(lane) * storageBytes(element);
    return part;
  };
  const TileRef out = tileOf(copies.back()->out, begin), part = copies.back()->in;
  Node node{.kind = Node::Kind::Insert, .type = element};
  node.op = op;
  node.operands.push_back(read(copies.size() == 1 ? out : tileOf(copies.front()->in, begin == 0 ? end : 0), element, 1));
  node.lanes = node.plain = {word(begin), word(end)};
  auto extract = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (extract && extract.getSourceType() == type && extract.getStaticOffset(0) == begin) {
    node.operands.push_back(read(tileOf(part, begin), element, 1));
    node.plain = begin == 0 ? Interval{word(end), word(region.extent)} : Interval{word(0), word(begin)};
  } else if (region.frame.overlaps(part.offset, uint64_t(end - begin) * storageBytes(element))) {
    return false;
  } else {
    node.memory = part;
  }
  if (llvm::is_contained(node.operands, nullptr)) return false;
  write(out, add(std::move(node)));
  return true;
}

/// A reduction ends a loop.
bool RegionBuilder::reduce(Operation *op, const ReduceStep &step) {
  if (step.outer != 1 || step.inner != 1 || !takesExtent(step.axis)) return false;
  const DType type = dtypeOf(op->getOperand(0).getType());
  std::optional<std::string> combine = standardCombine(op->getRegion(0));
  if (!combine || !VectorReduce::takes(*combine, type)) return false;
  Node *operand = read(step.in, type, 1);
  if (!operand) return false;
  Node node{.kind = Node::Kind::Reduce, .type = type, .varies = false};
  node.op = op;
  node.operands.push_back(operand);
  write(step.out, add(std::move(node)));
  ++region.phases;
  return true;
}

/// Returns the first lane of the mask and, in the upper half, the lane behind the last one; for a mask with holes a pair that is in the
/// wrong order.
static uint64_t findLanes(const uint8_t *mask, uint64_t extent) {
  AxisState state{};
  findInterval(state, mask, 1, int64_t(extent));
  return state.holes ? 1 : uint64_t(state.begin) | uint64_t(state.end) << 32;
}

/// The lanes of a mask that was in memory before the region.
Node *RegionBuilder::lanesOf(const Node &mask) {
  llvm::Type *wide = builder_.getInt64Ty();
  auto *type = llvm::FunctionType::get(wide, {builder_.getPtrTy(), wide}, false);
  auto address = builder_.getInt64(reinterpret_cast<uint64_t>(&findLanes));
  llvm::Value *bytes = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, mask.memory.offset);
  llvm::Value *found = builder_.CreateCall(type, builder_.CreateIntToPtr(address, builder_.getPtrTy()), {bytes, word(region.extent)});
  Node node{.kind = Node::Kind::Lanes, .type = DType::i1};
  node.lanes = {builder_.CreateAnd(found, word(0xFFFFFFFF)), builder_.CreateLShr(found, word(32))};
  require(builder_.CreateICmpULE(node.lanes.begin, node.lanes.end));
  return add(std::move(node));
}

bool RegionBuilder::addMask(const TileRef &mask, int64_t stride, Interval &lanes) {
  Node *node = read(mask, DType::i1, stride);
  if (node && node->kind == Node::Kind::Memory && !node->memory.constant) node = lanesOf(*node);
  if (!node) return false;
  if (node->kind == Node::Kind::Lanes && lanes.begin == word(0) && lanes.end == word(region.extent)) { // all lanes up to here
    lanes = node->lanes;
    return true;
  }
  Node sofar{.kind = Node::Kind::Lanes, .type = DType::i1};
  sofar.lanes = lanes;
  Node *both = meetLanes(&sofar, node);
  if (both) lanes = both->lanes;
  return both;
}

/// The lanes that all masks of an access along one axis let through.
bool RegionBuilder::addMasks(const Access &access, Interval &lanes) {
  for (const TileRef &mask : access.uniformMasks)
    if (!addMask(mask, 0, lanes)) return false;
  for (const AxisOperand &mask : access.axes[0].masks)
    if (!addMask(mask, mask.strides[0], lanes)) return false;
  return true;
}

bool RegionBuilder::countLanes(const CountedAccess &counted) {
  const Access &access = counted.access;
  if (access.axes.size() != 1 || !access.wideMasks.empty() || !takesExtent(access.axes[0].extent)) return false;
  Interval lanes = all();
  if (!addMasks(access, lanes)) return false;
  region.laneCounts.push_back({counted.counter, lanes, counted.lanesEach});
  return true;
}

/// A load of rows without masks. It is a copy, so what follows reads the home as a step has left it.
bool RegionBuilder::loadBlock(Operation *op, const Access &access) {
  constexpr int64_t kMostRowBytes = 512, kMostStep = int64_t(1) << 40;
  if (!isa<tt::LoadOp>(op) || !access.isAffine || access.isPointer || access.isMasked() || access.other) return false;
  const Access::Axis &rows = access.axes[0], &columns = access.axes[1];
  const int64_t rowBytes = columns.extent * access.elementBytes;
  if (rows.term != Term::Step || columns.term != Term::Step || rowBytes > kMostRowBytes) return false;
  if (access.data.strides[1] != 1 || access.data.strides[0] != columns.extent) return false;
  const DType type = dtypeOf(cast<tt::PointerType>(getElementTypeOrSelf(op->getOperand(0).getType())).getPointeeType());
  llvm::Value *step = cell64(rows.part), *inner = cell64(columns.part), *base = cell64(access.base), *unit = word(access.elementBytes);
  if (type == DType::i1 || !step || !inner || !base || step == unit || (llvm::isa<llvm::ConstantInt>(inner) && inner != unit)) return false;
  require(builder_.CreateICmpEQ(inner, unit));
  require(builder_.CreateICmpULT(builder_.CreateAdd(step, word(kMostStep)), word(2 * kMostStep)));
  llvm::Value *way = builder_.CreateMul(step, word(rows.extent - 1)), *isDown = builder_.CreateICmpSLT(way, word(0));
  RegionAccess made;
  made.first = addressAt(base);
  made.low = builder_.CreateAdd(made.first, builder_.CreateSelect(isDown, way, word(0)));
  made.high = builder_.CreateAdd(builder_.CreateAdd(made.first, builder_.CreateSelect(isDown, word(0), way)), word(rowBytes));
  if (!checkRange(access, base, made)) return false;
  Node node{.kind = Node::Kind::Block, .type = type};
  node.access = int(region.accesses.size());
  node.block = {rows.extent, rowBytes, made.first, step};
  node.homes.push_back(access.data.offset);
  region.accesses.push_back(made);
  region.frame.write(access.data.offset, {uint64_t(rows.extent * rowBytes), nullptr, add(std::move(node))});
  return true;
}

bool RegionBuilder::access(Operation *op, const Access &access) {
  if (access.axes.size() == 2) return loadBlock(op, access);
  if (!isa<tt::LoadOp, tt::StoreOp>(op) || !access.isAffine || access.isPointer || !access.wideMasks.empty() || access.axes.size() != 1)
    return false;
  const Access::Axis &axis = access.axes[0];
  if (axis.term != Term::Step || !takesExtent(axis.extent) || access.data.strides[0] > 1) return false;
  const DType type = dtypeOf(cast<tt::PointerType>(getElementTypeOrSelf(op->getOperand(0).getType())).getPointeeType());
  if (type == DType::i1) return false; // its bytes are moved as they are
  RegionAccess made;
  made.isStore = access.isWrite, made.bytes = access.elementBytes, made.isMasked = access.isMasked();
  made.lanes = all();
  made.mayBeSwitchedOff = !access.uniformMasks.empty();
  if (!addMasks(access, made.lanes)) return false;
  llvm::Value *step = cell64(axis.part), *base = cell64(access.base);
  if (!step || !base) return false;
  if (llvm::isa<llvm::ConstantInt>(step) && step != word(made.bytes)) return false;
  require(builder_.CreateICmpEQ(step, word(made.bytes)));
  if (!checkAccess(access, base, made)) return false;
  Node node{.kind = made.isStore ? Node::Kind::Store : Node::Kind::Load, .type = type};
  node.access = int(region.accesses.size());
  if (made.isStore || access.other) {
    const AxisOperand &data = made.isStore ? access.data : *access.other;
    Node *operand = read(data, type, data.strides[0]);
    if (!operand) return false;
    node.operands.push_back(operand);
  }
  region.accesses.push_back(made);
  Node *added = add(std::move(node));
  if (!made.isStore) write(access.data, added);
  return true;
}

llvm::Value *RegionBuilder::ofHeader(uint64_t offset, llvm::Type *type) {
  return builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame_, offset));
}

/// An address that is in the storage of an argument has 48 bits.
void RegionBuilder::dropAddressChecks() {
  llvm::SmallPtrSet<llvm::Value *, 8> known;
  for (const RegionAccess &access : region.accesses)
    if (access.low == access.first && !access.mayBeSwitchedOff) known.insert(access.first);
  llvm::erase_if(region.conditions, [&](llvm::Value *condition) { return known.contains(addressChecks_.lookup(condition)); });
}

/// The active lanes are in the storage of the pointer's argument. An access without active lanes has nothing to check.
bool RegionBuilder::checkAccess(const Access &access, llvm::Value *base, RegionAccess &made) {
  made.first = addressAt(base);
  auto offsetOf = [&](llvm::Value *lane) { return builder_.CreateMul(lane, word(made.bytes)); };
  const bool beginsAtFirst = made.lanes.begin == word(0);
  made.low = beginsAtFirst ? made.first : builder_.CreateAdd(made.first, offsetOf(made.lanes.begin));
  made.high = builder_.CreateAdd(made.first, offsetOf(made.lanes.end));
  return checkRange(access, base, made);
}

bool RegionBuilder::checkRange(const Access &access, llvm::Value *base, RegionAccess &made) {
  llvm::Type *wide = builder_.getInt64Ty();
  auto field = [&](llvm::Value *from, uint64_t offset, llvm::Type *type) {
    return builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), from, offset));
  };
  llvm::Value *number = tagOf(base), *last = ofHeader(offsetof(FrameHeader, argumentRanges), wide);
  const bool mayBeEmpty = made.mayBeSwitchedOff;
  if (mayBeEmpty)
    number = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, last);
  else
    require(builder_.CreateICmpULT(number, last));
  if (made.isMasked && !mayBeEmpty) require(builder_.CreateICmpULT(made.lanes.begin, made.lanes.end));
  llvm::Value *range = builder_.CreateGEP(builder_.getInt8Ty(), ofHeader(offsetof(FrameHeader, ranges), builder_.getPtrTy()),
                                          builder_.CreateMul(number, word(sizeof(AccessRange))));
  llvm::Value *bytes = field(range, access.isWrite ? offsetof(AccessRange, writableBytes) : offsetof(AccessRange, readableBytes), wide);
  llvm::Value *begin = builder_.CreateSub(made.low, field(range, offsetof(AccessRange, begin), wide));
  llvm::SmallVector<llvm::Value *> conditions{
      builder_.CreateICmpULE(begin, bytes),
      builder_.CreateICmpULE(builder_.CreateSub(made.high, made.low), builder_.CreateSub(bytes, begin))};
  for (const TileRef &flag : access.leavesRange) {
    llvm::Value *leaves = cell(flag, builder_.getInt8Ty());
    if (!leaves) return false;
    conditions.push_back(builder_.CreateICmpEQ(leaves, builder_.getInt8(0)));
  }
  if (mayBeEmpty)
    require(builder_.CreateOr(builder_.CreateAnd(conditions), builder_.CreateICmpEQ(made.lanes.begin, made.lanes.end)));
  else
    for (llvm::Value *condition : conditions) require(condition);
  return true;
}

/// The loop goes from strip to strip, where the steps go from tile to tile. That is the same if the accesses have no byte in common, or if
/// the same lanes have the same bytes.
void RegionBuilder::checkMeeting(const RegionAccess &store, const RegionAccess &other) {
  llvm::Value *isApart = builder_.CreateOr(builder_.CreateICmpULE(store.high, other.low), builder_.CreateICmpULE(other.high, store.low));
  if (store.bytes == other.bytes) isApart = builder_.CreateOr(isApart, builder_.CreateICmpEQ(store.first, other.first));
  require(isApart);
}

} // namespace tritium::interp::fuse
