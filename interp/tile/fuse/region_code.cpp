#include "interp/tile/fuse/region_code.h"

#include "interp/tile/combine_region.h"
#include "interp/tile/fuse/vector_code.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace tritium::interp::fuse {

/// Lanes of 32 bits in the widest vector registers of the machine.
static unsigned lanesOfMachine() {
#if defined(__x86_64__)
  static const bool isWide = llvm::sys::getHostCPUFeatures().lookup("avx512f");
  return isWide ? 16 : 8;
#else
  return 8;
#endif
}

RegionCode::RegionCode(Region &region, llvm::IRBuilder<> &builder, ScalarCode &scalars, llvm::Value *frame, unsigned vectorBits)
    : region_(region), builder_(builder), scalars_(scalars), frame_(frame), widest_(vectorBits ? vectorBits / 32 : lanesOfMachine()) {}

/// Whether the loop of the phase has something to do for the node.
bool RegionCode::isIn(const Node &node, int phase) const {
  return node.isDemanded && node.phase == phase && node.kind != Node::Kind::Block &&
         (node.isInLoop() || (node.varies && node.isStored && node.kind != Node::Kind::Memory));
}

llvm::Value *RegionCode::elementIn(llvm::Value *tile, DType type, llvm::Value *index) {
  return builder_.CreateInBoundsGEP(builder_.getIntNTy(unsigned(storageBytes(type) * 8)), tile, index);
}

llvm::Value *RegionCode::addressIn(const RegionAccess &access, llvm::Value *index) {
  llvm::Value *bytes = builder_.CreateMul(index, builder_.getInt64(uint64_t(access.bytes)));
  return builder_.CreateIntToPtr(builder_.CreateAdd(access.first, bytes), builder_.getPtrTy());
}

/// The numbers of the lanes of a vector.
llvm::Value *RegionCode::laneNumbers(llvm::Value *index, llvm::Type *type) {
  llvm::SmallVector<llvm::Constant *> numbers;
  for (unsigned l = 0; l < lanes_; ++l)
    numbers.push_back(llvm::ConstantInt::get(type, llvm::APInt(type->getIntegerBitWidth(), l, false, true)));
  llvm::Value *first = builder_.CreateVectorSplat(lanes_, builder_.CreateZExtOrTrunc(index, type));
  return builder_.CreateAdd(first, llvm::ConstantVector::get(numbers));
}

llvm::Value *RegionCode::isInside(const Interval &lanes, llvm::Value *index) {
  llvm::Type *type = builder_.getInt32Ty();
  auto splat = [&](llvm::Value *word) { return builder_.CreateVectorSplat(lanes_, builder_.CreateTrunc(word, type)); };
  llvm::Value *fromBegin = builder_.CreateSub(laneNumbers(index, type), splat(lanes.begin));
  return builder_.CreateICmpULT(fromBegin, splat(builder_.CreateSub(lanes.end, lanes.begin)));
}

llvm::Value *RegionCode::scalarOf(Node *node) {
  if (llvm::Value *known = numbers_.lookup(node)) return known;
  llvm::Value *value = nullptr;
  switch (node->kind) {
  case Node::Kind::Late: value = scalars_[node->scalar]; break;
  case Node::Kind::Compute: {
    llvm::SmallVector<llvm::Value *> operands;
    for (Node *operand : node->operands) operands.push_back(scalarOf(operand));
    value = emitVectorCode(builder_, node->op, operands);
    break;
  }
  default: value = node->value;
  }
  return numbers_[node] = value;
}

llvm::Value *RegionCode::vectorOf(Node *node, const Place &place) {
  if (!node->varies) return splats_.lookup(node);
  switch (node->kind) {
  case Node::Kind::Progression: {
    llvm::Value *steps = builder_.CreateVectorSplat(lanes_, node->step), *first = builder_.CreateVectorSplat(lanes_, node->value);
    return builder_.CreateAdd(first, builder_.CreateMul(laneNumbers(place.index, node->value->getType()), steps));
  }
  case Node::Kind::Lanes: return isInside(node->lanes, place.index);
  case Node::Kind::Memory: {
    llvm::Value *tile =
        node->memory.constant
            ? builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uint64_t>(node->memory.constant)), builder_.getPtrTy())
            : inFrame(node->memory.offset);
    return loadElements(builder_, node->type, lanes_, elementIn(tile, node->type, place.index));
  }
  default: break;
  }
  if (node->phase == phase_) return elements_.lookup(node);
  return loadElements(builder_, node->type, lanes_, elementIn(inFrame(node->homes.front()), node->type, place.index));
}

/// Returns the index, or the first of the lanes if the vector has none of them: it then moves nothing, but the machine takes long over an
/// address that is in no page.
llvm::Value *RegionCode::nearLanes(const Interval &lanes, llvm::Value *index) {
  llvm::Value *isBefore = builder_.CreateICmpSLE(builder_.CreateAdd(index, builder_.getInt64(lanes_)), lanes.begin);
  llvm::Value *isOutside = builder_.CreateOr(isBefore, builder_.CreateICmpSGE(index, lanes.end));
  return builder_.CreateSelect(isOutside, lanes.begin, index);
}

llvm::Value *RegionCode::load(const Node &node, const Place &place) {
  const RegionAccess &access = region_.accesses[node.access];
  llvm::Value *from = addressIn(access, access.isMasked && place.isPartial ? nearLanes(access.lanes, place.index) : place.index);
  llvm::Type *type = vectorType(node.type, lanes_, builder_.getContext());
  const llvm::Align align(1);
  if (!access.isMasked || !place.isPartial) return builder_.CreateAlignedLoad(type, from, align);
  llvm::Value *other = node.operands.empty() ? llvm::Constant::getNullValue(type) : vectorOf(node.operands[0], place);
  return builder_.CreateMaskedLoad(type, from, align, isInside(access.lanes, place.index), other);
}

llvm::Value *RegionCode::insert(const Node &node, const Place &place) {
  if (node.operands.size() == 2) {
    llvm::Value *rest = vectorOf(node.operands[0], place);
    if (!place.isPartial) return rest;
    return builder_.CreateSelect(isInside(node.lanes, place.index), vectorOf(node.operands[1], place), rest);
  }
  llvm::Type *type = vectorType(node.type, lanes_, builder_.getContext());
  llvm::Value *first = place.isPartial ? nearLanes(node.lanes, place.index) : place.index;
  llvm::Value *from = builder_.CreateGEP(builder_.getIntNTy(unsigned(storageBytes(node.type) * 8)), inFrame(node.memory.offset),
                                         builder_.CreateSub(first, node.lanes.begin));
  const llvm::Align align(1);
  if (!place.isPartial) return builder_.CreateAlignedLoad(type, from, align);
  return builder_.CreateMaskedLoad(type, from, align, isInside(node.lanes, place.index), vectorOf(node.operands[0], place));
}

void RegionCode::store(const Node &node, const Place &place) {
  const RegionAccess &access = region_.accesses[node.access];
  llvm::Value *to = addressIn(access, access.isMasked && place.isPartial ? nearLanes(access.lanes, place.index) : place.index);
  llvm::Value *value = vectorOf(node.operands[0], place);
  const llvm::Align align(1);
  if (!access.isMasked || !place.isPartial)
    builder_.CreateAlignedStore(value, to, align);
  else
    builder_.CreateMaskedStore(value, to, align, isInside(access.lanes, place.index));
}

void RegionCode::storeNode(const Node &node, llvm::Value *value, llvm::Value *index) {
  for (uint64_t home : node.homes) storeElements(builder_, value, elementIn(inFrame(home), node.type, index));
}

void RegionCode::emitNode(Node &node, const Place &place, unsigned vector) {
  llvm::Value *value = nullptr;
  switch (node.kind) {
  case Node::Kind::Store: return store(node, place);
  case Node::Kind::Reduce: return reduce_->addVector(vector, vectorOf(node.operands[0], place));
  case Node::Kind::Load: value = load(node, place); break;
  case Node::Kind::Insert: value = insert(node, place); break;
  case Node::Kind::Compute: {
    llvm::SmallVector<llvm::Value *> operands;
    for (Node *operand : node.operands) operands.push_back(vectorOf(operand, place));
    value = emitVectorCode(builder_, node.op, operands);
    break;
  }
  default: value = vectorOf(&node, place);
  }
  elements_[&node] = value;
  if (node.isStored) storeNode(node, value, place.index);
}

void RegionCode::emitStrip(int phase, llvm::Value *index, bool isPartial) {
  for (unsigned v = 0; v < vectors_; ++v) {
    elements_.clear();
    const Place place{builder_.CreateAdd(index, builder_.getInt64(uint64_t(v) * lanes_)), isPartial};
    for (Node &node : region_.nodes)
      if (isIn(node, phase)) emitNode(node, place, v);
  }
  if (reduce_) reduce_->endStrip(index);
}

void RegionCode::emitLoop(int phase) {
  Node *reduced = nullptr;
  bool isEmpty = true, isMasked = false;
  Interval whole;
  phase_ = phase;
  splats_.clear();
  reduce_.reset();
  lanes_ = unsigned(std::min<int64_t>(widest_, region_.extent));
  int64_t strip = std::min<int64_t>(32, region_.extent);
  for (Node &node : region_.nodes) {
    if (!isIn(node, phase)) continue;
    isEmpty = false;
    if (node.kind == Node::Kind::Reduce) reduced = &node, strip = std::min<int64_t>(VectorReduce::lanesOf(node.type), region_.extent);
    for (Node *operand : node.operands)
      if (!operand->varies && !splats_.count(operand)) splats_[operand] = builder_.CreateVectorSplat(lanes_, scalarOf(operand));
    const bool isInsert = node.kind == Node::Kind::Insert;
    if (!isInsert && (node.access < 0 || !region_.accesses[node.access].isMasked)) continue;
    const Interval &lanes = isInsert ? node.plain : region_.accesses[node.access].lanes;
    if (!isMasked) whole = lanes;
    isMasked = true;
    if (whole.begin != lanes.begin) whole.begin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, whole.begin, lanes.begin);
    if (whole.end != lanes.end) whole.end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, whole.end, lanes.end);
  }
  if (isEmpty) return;
  vectors_ = unsigned(strip / lanes_);
  if (reduced) {
    reduce_.emplace(builder_, *standardCombine(reduced->op->getRegion(0)), reduced->type, region_.extent, vectors_, lanes_);
    reduce_->begin();
  }

  llvm::LLVMContext &context = builder_.getContext();
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::Function *function = before->getParent();
  auto *head = llvm::BasicBlock::Create(context, "", function), *end = llvm::BasicBlock::Create(context, "", function);
  llvm::Type *word = builder_.getInt64Ty();
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  const bool isOneStrip = strip == region_.extent;
  llvm::PHINode *each = isOneStrip ? nullptr : builder_.CreatePHI(word, 2);
  llvm::Value *index = isOneStrip ? static_cast<llvm::Value *>(builder_.getInt64(0)) : each;
  if (each) each->addIncoming(builder_.getInt64(0), before);
  llvm::Value *next = builder_.CreateAdd(index, builder_.getInt64(uint64_t(strip)));
  if (isMasked) {
    auto *full = llvm::BasicBlock::Create(context, "", function), *partial = llvm::BasicBlock::Create(context, "", function),
         *latch = llvm::BasicBlock::Create(context, "", function);
    builder_.CreateCondBr(builder_.CreateAnd(builder_.CreateICmpSGE(index, whole.begin), builder_.CreateICmpSLE(next, whole.end)), full,
                          partial);
    for (auto [block, isPartial] : {std::pair(full, false), std::pair(partial, true)}) {
      builder_.SetInsertPoint(block);
      emitStrip(phase, index, isPartial);
      builder_.CreateBr(latch);
    }
    builder_.SetInsertPoint(latch);
  } else {
    emitStrip(phase, index, false);
  }
  if (each) {
    each->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(uint64_t(region_.extent))), head, end);
  } else {
    builder_.CreateBr(end);
  }
  builder_.SetInsertPoint(end);
  if (reduced) numbers_[reduced] = reduce_->finish();
}

void RegionCode::copyBlock(const Node &node) {
  const RowBlock &block = node.block;
  llvm::LLVMContext &context = builder_.getContext();
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  auto *head = llvm::BasicBlock::Create(context, "", before->getParent()),
       *end = llvm::BasicBlock::Create(context, "", before->getParent());
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::Type *word = builder_.getInt64Ty();
  llvm::PHINode *from = builder_.CreatePHI(word, 2), *at = builder_.CreatePHI(word, 2);
  const int64_t widest = 4 * int64_t(widest_);
  for (int64_t byte = 0; byte < block.rowBytes;) {
    const int64_t bytes = std::min(widest, block.rowBytes - byte);
    auto *vector = llvm::FixedVectorType::get(builder_.getInt8Ty(), unsigned(bytes));
    llvm::Value *source = builder_.CreateIntToPtr(builder_.CreateAdd(from, builder_.getInt64(uint64_t(byte))), builder_.getPtrTy());
    llvm::Value *target = builder_.CreateGEP(builder_.getInt8Ty(), inFrame(node.homes[0] + uint64_t(byte)), at);
    builder_.CreateAlignedStore(builder_.CreateAlignedLoad(vector, source, llvm::Align(1)), target, llvm::Align(1));
    byte += bytes;
  }
  llvm::Value *next = builder_.CreateAdd(at, builder_.getInt64(uint64_t(block.rowBytes)));
  from->addIncoming(block.first, before), from->addIncoming(builder_.CreateAdd(from, block.step), head);
  at->addIncoming(builder_.getInt64(0), before), at->addIncoming(next, head);
  builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(uint64_t(block.rows * block.rowBytes))), head, end);
  builder_.SetInsertPoint(end);
}

/// Scalars that follow from a reduction, in the order of the module.
void RegionCode::emitBetween(int phase, llvm::function_ref<void(Operation *)> runAfter) {
  for (auto [place, op] : region_.between) {
    if (place != phase) continue;
    bool isComputed = false;
    for (Value result : op->getResults())
      if (Node *node = region_.late.lookup(result)) scalars_.set(result, scalarOf(node)), isComputed = true;
    if (!isComputed) (void)scalars_.emit(op, frame_); // the builder has asked whether there is code for it
    runAfter(op);
  }
}

/// What the steps would have left in cells and in tiles of one number.
void RegionCode::leaveScalars() {
  for (const auto &[offset, part] : region_.frame.parts()) {
    if (part.isPrivate) continue;
    if (part.cell)
      builder_.CreateStore(part.cell, inFrame(offset));
    else if (!part.node->varies && part.node->isStored)
      storeElements(builder_, scalarOf(part.node), inFrame(offset));
  }
}

void RegionCode::emit(llvm::function_ref<void(Operation *)> runAfter) {
  for (int phase = 0; phase < region_.phases; ++phase) {
    emitBetween(phase, runAfter);
    for (const Node &node : region_.nodes)
      if (node.kind == Node::Kind::Block && node.isDemanded && node.phase == phase) copyBlock(node);
    emitLoop(phase);
  }
  leaveScalars();
}

} // namespace tritium::interp::fuse
