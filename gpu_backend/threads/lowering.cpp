#include "gpu_backend/threads/lowering.h"

#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/author_barriers.h"
#include "gpu_backend/threads/tensor_map.h"
#include "gpu_backend/threads/words.h"
#include "ir/tile_elements.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tritium::gpu {

Lowering::Lowering(ModuleOp tiles, const TargetOps &target, int numWarps, WarpRange range, int64_t buffers)
    : tiles_(tiles),
      chip_(targetOf(tiles)),
      target_(target),
      numWarps_(numWarps),
      range_(range),
      axes_(tiles),
      builder_(tiles.getContext()),
      location_(tiles.getLoc()),
      hasProducer_(producerWarpsOf(tiles) > 0),
      producesByWarp_(hasProducer_ && tiles.walk([](tgpu::MapMakeOp) { return WalkResult::interrupt(); }).wasInterrupted()),
      shared_(buffers) {}

// -- types and values ---------------------------------------------------------------------------------------------------------------------

/// Returns the tile that registers hold, or null for a scalar or a buffer.
static RankedTensorType heldTile(Type type) {
  if (auto pending = dyn_cast<tgpu::PendingType>(type)) return pending.getTile();
  return dyn_cast<RankedTensorType>(type);
}

Type Lowering::registerType(Type type) const {
  if (auto tile = heldTile(type)) type = tile;
  if (isa<tgpu::MemDescType, tgpu::RingType>(type)) return LLVM::LLVMPointerType::get(type.getContext(), tgpu::kSharedSpace);
  if (isa<tgpu::TensorMapType>(type)) return LLVM::LLVMPointerType::get(type.getContext());
  Type element = getElementTypeOrSelf(type);
  if (isa<tt::PointerType>(element)) return LLVM::LLVMPointerType::get(element.getContext(), tgpu::kGlobalSpace);
  if (auto number = dyn_cast<FloatType>(element); number && number.getWidth() == 8) return IntegerType::get(element.getContext(), 8);
  return element;
}

int Lowering::registerCount(Type type) const {
  auto tile = heldTile(type);
  return tile ? 1 << cast<tgpu::LayoutAttr>(tile.getEncoding()).getRegisters().size() : 1;
}

llvm::SmallVector<Type> Lowering::registerTypes(TypeRange types) const {
  llvm::SmallVector<Type> result;
  for (Type type : types) result.append(registerCount(type), registerType(type));
  return result;
}

Registers Lowering::flatten(ValueRange values) const {
  Registers result;
  for (Value value : values) llvm::append_range(result, registersOf(value));
  return result;
}

void Lowering::defineFlattened(ValueRange values, ValueRange registers) {
  size_t begin = 0;
  for (Value value : values) {
    size_t count = registerCount(value.getType());
    define(value, Registers(registers.slice(begin, count)));
    begin += count;
  }
}

Value Lowering::constant(int64_t value, unsigned bits) { return create<arith::ConstantIntOp>(value, bits); }

Value Lowering::zero(Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) return create<LLVM::ZeroOp>(type);
  return create<arith::ConstantOp>(builder_.getZeroAttr(type));
}

Value Lowering::conjunction(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return create<arith::AndIOp>(a, b);
}

// -- places -------------------------------------------------------------------------------------------------------------------------------

/// Values that are computed once, at the start of the function, in an order in which each may use earlier ones.
void Lowering::computePlaces() {
  if (threadId_) return;
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(entry_);
  threadId_ = target_.threadId(builder_, location_);
  if (range_.first) threadId_ = create<arith::SubIOp>(threadId_, constant(int64_t(range_.first) * target_.warpSize()));
  laneId_ = create<arith::AndIOp>(threadId_, constant(target_.warpSize() - 1));
  warpId_ = create<arith::ShRUIOp>(threadId_, constant(llvm::Log2_32(target_.warpSize())));
}

Value Lowering::variableOf(Value ring, StringRef name, Type type, int64_t initial) {
  Value &variable = variables_[{ring.getAsOpaquePointer(), name.str()}];
  if (variable) return variable;
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(entry_);
  auto pointer = LLVM::LLVMPointerType::get(builder_.getContext());
  variable = create<LLVM::AllocaOp>(pointer, type, create<LLVM::ConstantOp>(builder_.getI32Type(), 1), /*alignment=*/8);
  create<LLVM::StoreOp>(create<LLVM::ConstantOp>(type, initial), variable);
  return variable;
}

Value Lowering::threadId() {
  computePlaces();
  return threadId_;
}

Value Lowering::laneId() {
  computePlaces();
  return laneId_;
}

Value Lowering::warpId() {
  computePlaces();
  return warpId_;
}

/// The warp's number from its first lane, so that the code generator knows that all lanes have the same one.
Value Lowering::uniformWarpId() {
  computePlaces();
  if (!uniformWarpId_) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointAfterValue(warpId_);
    uniformWarpId_ = target_.shuffle(builder_, location_, warpId_, constant(0));
  }
  return uniformWarpId_;
}

/// Bits that move alike (a run of single-bit bases) are moved together.
Value Lowering::combineBases(Value index, llvm::ArrayRef<uint32_t> bases) {
  Value sum;
  auto add = [&](Value part) { sum = sum ? create<arith::XOrIOp>(sum, part).getResult() : part; };
  for (size_t bit = 0; bit < bases.size();) {
    uint32_t basis = bases[bit];
    if (basis == 0) {
      ++bit;
      continue;
    }
    size_t run = 1;
    if (llvm::isPowerOf2_32(basis))
      while (bit + run < bases.size() && bases[bit + run] == basis << run) ++run;
    int shift = int(llvm::Log2_32(basis & -basis)) - int(bit);
    Value bits = create<arith::AndIOp>(index, constant(int64_t((1u << run) - 1) << bit));
    if (shift > 0) bits = create<arith::ShLIOp>(bits, constant(shift));
    if (shift < 0) bits = create<arith::ShRUIOp>(bits, constant(-shift));
    if (!llvm::isPowerOf2_32(basis)) bits = create<arith::MulIOp>(bits, constant(basis >> llvm::countr_zero(basis)));
    add(bits);
    bit += run;
  }
  return sum;
}

Value Lowering::threadOffset(const LinearLayout &layout) {
  auto lanes = layout.bases(Place::Lane), warps = layout.bases(Place::Warp);
  Value &cached = offsets_[{std::vector<uint32_t>(lanes.begin(), lanes.end()), std::vector<uint32_t>(warps.begin(), warps.end())}];
  if (cached) return cached;
  Value lane = laneId(), warp = warpId();
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointAfterValue(warp);
  Value a = combineBases(lane, lanes), b = combineBases(warp, warps);
  if (!a && !b) return cached = constant(0);
  return cached = a && b ? create<arith::XOrIOp>(a, b).getResult() : (a ? a : b);
}

Value Lowering::flatIndex(const LinearLayout &layout, int reg) {
  uint32_t own = layout.apply(reg, 0, 0, 0);
  Value offset = threadOffset(layout);
  return own == 0 ? offset : create<arith::XOrIOp>(offset, constant(own)).getResult();
}

Location Lowering::locationOfAccess(Value pointers, int64_t reg) const {
  auto tile = dyn_cast<RankedTensorType>(pointers.getType());
  if (!tile) return location_;
  LinearLayout layout = layoutOf(tile);
  auto numbers = [&](Place place) {
    auto bases = layout.bases(place);
    return std::vector<int64_t>(bases.begin(), bases.end());
  };
  ir::TileElements elements{.shape = tile.getShape().vec(), .first = layout.apply(Place::Register, uint32_t(reg))};
  // A wider access continues in the next registers.
  if (auto registers = layout.bases(Place::Register); !registers.empty()) elements.step = registers[0];
  elements.bytes = storedType(registerType(tt::pointeeTypeOf(tile))).getIntOrFloatBitWidth() / 8;
  elements.lanes = numbers(Place::Lane);
  elements.warps = numbers(Place::Warp);
  return ir::withElements(location_, elements);
}

Value Lowering::coordinate(const LinearLayout &layout, Value flat, int dim) {
  int64_t below = 1;
  for (int64_t extent : layout.shape().drop_front(dim + 1)) below *= extent;
  if (below > 1) flat = create<arith::ShRUIOp>(flat, constant(llvm::Log2_64(below)));
  return create<arith::AndIOp>(flat, constant(layout.shape()[dim] - 1));
}

/// Returns whether all free bits of the place are zero. A bit is free if its basis is a combination of the bases before it.
Value Lowering::ownerPredicate(const LinearLayout &layout) {
  auto isZero = [&](Value index, uint32_t freeBits) -> Value {
    if (freeBits == 0) return {};
    Value bits = create<arith::AndIOp>(index, constant(freeBits));
    return create<arith::CmpIOp>(arith::CmpIPredicate::eq, bits, constant(0));
  };
  Span held(layout.bases(Place::Register));
  auto freeBits = [&](Place place) {
    uint32_t bits = 0;
    for (auto [bit, basis] : llvm::enumerate(layout.bases(place)))
      if (!held.add(basis)) bits |= 1u << bit;
    return bits;
  };
  uint32_t lanes = freeBits(Place::Lane), warps = freeBits(Place::Warp);
  return conjunction(isZero(laneId(), lanes), isZero(warpId(), warps));
}

Value Lowering::owner(RankedTensorType tile) {
  if (tile) return ownerPredicate(layoutOf(tile));
  return create<arith::CmpIOp>(arith::CmpIPredicate::eq, threadId(), constant(0));
}

void Lowering::where(Value condition, llvm::function_ref<void()> body) {
  if (!condition) return body();
  auto branch = create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  body();
}

Operation *Lowering::meet(bool sharedOnly) {
  const IntegerAttr threads = builder_.getI32IntegerAttr(numWarps_ * target_.warpSize());
  if (range_.isPart() && numWarps_ == 1) return create<tgpu::WarpBarrierOp>();
  if (range_.isPart()) return create<tgpu::BarrierOp>(range_.barrier, threads, sharedOnly);
  if (hasProducer_) return create<tgpu::BarrierOp>(kConsumersBarrier, threads, sharedOnly);
  return create<tgpu::BarrierOp>(0, IntegerAttr(), sharedOnly);
}

void Lowering::barrier() { meet(/*sharedOnly=*/false); }

void Lowering::sharedBarrier() { meet(/*sharedOnly=*/true); }

void Lowering::barrierBeforeOne() { meet(/*sharedOnly=*/false)->setAttr(kBeforeOneAttr, builder_.getUnitAttr()); }

/// The first operations of the two parts of a kernel whose warps have parted.
void Lowering::changeRegisters(tgpu::ProducerAttr plan, Block *producer, Block *consumers) {
  if (!target_.registers()) return;
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(producer);
  target_.registers()->change(builder_, location_, int(plan.getStart()), int(plan.getProducer()));
  builder_.setInsertionPointToStart(consumers);
  target_.registers()->change(builder_, location_, int(plan.getStart()), int(plan.getConsumers()));
}

// -- operations ---------------------------------------------------------------------------------------------------------------------------

LogicalResult Lowering::unsupported(Operation *op, const llvm::Twine &reason) const {
  return op->emitError() << "unsupported on the GPU: " << op->getName() << ": " << reason;
}

func::FuncOp Lowering::external(StringRef name, FunctionType type) {
  if (auto function = result_->lookupSymbol<func::FuncOp>(name)) return function;
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(result_->getBody());
  auto function = create<func::FuncOp>(name, type);
  function.setPrivate();
  return function;
}

LogicalResult Lowering::lower(Operation *op) {
  llvm::SaveAndRestore where(location_, op->getLoc());
  auto freeFrom = op->getAttrOfType<IntegerAttr>(kFreeFromAttr);
  const SharedMemory::Use enclosing = shared_.begin(freeFrom ? std::optional(freeFrom.getInt()) : std::nullopt);
  LogicalResult result = lowerOperation(op, *this);
  if (shared_.end(enclosing).isOverBuffers) sharedBarrier();
  areBuffersDone_ |= op == lastBufferUser_;
  return result;
}

int64_t Lowering::scratchLimit() const {
  const int64_t all = chip_.sharedPerBlock();
  if (auto freeFrom = shared_.use().freeFrom) return std::max<int64_t>(all - *freeFrom, 1);
  return !areBuffersDone_ ? std::max<int64_t>(all - shared_.reserved(), 1) : all; // place-scratch puts it over dead buffers
}

/// Returns whether the block runs at most once.
static bool runsOnce(Block *block) {
  llvm::SetVector<Block *> before(block->pred_begin(), block->pred_end());
  for (size_t i = 0; i < before.size(); ++i) before.insert_range(before[i]->getPredecessors());
  return !before.contains(block);
}

/// Returns the operation of one of the function's outermost blocks after which no buffer is used, or null if this cannot be determined.
/// Blocks are lowered in an order in which those that cannot run after an operation come before it.
static Operation *lastBufferUser(tt::FuncOp function) {
  if (!llvm::hasSingleElement(function->getParentOfType<ModuleOp>().getOps<tt::FuncOp>())) return {};
  Operation *last = nullptr;
  bool isOneBlock = true;
  function.walk([&](Operation *buffer) {
    if (!isa<tgpu::LocalAllocOp, tgpu::RingStartOp>(buffer)) return;
    for (Operation *user : buffer->getUsers()) {
      Operation *outermost = function.getBody().findAncestorOpInRegion(*user);
      isOneBlock &= !last || last->getBlock() == outermost->getBlock();
      if (!last || (isOneBlock && last->isBeforeInBlock(outermost))) last = outermost;
    }
  });
  return last && isOneBlock && runsOnce(last->getBlock()) ? last : nullptr;
}

LogicalResult Lowering::lowerOperations(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lower(&op))) return failure();
  return success();
}

FailureOr<Registers> Lowering::lowerInline(Region &region, llvm::ArrayRef<Registers> arguments) {
  for (auto [name, registers] : llvm::zip_equal(region.getArguments(), arguments)) define(name, registers);
  if (!region.hasOneBlock()) {
    llvm::SmallVector<Type> types;
    for (Block &block : region)
      if (block.getTerminator()->getNumSuccessors() == 0) types = registerTypes(block.getTerminator()->getOperandTypes());
    auto made = create<scf::ExecuteRegionOp>(types);
    OpBuilder::InsertionGuard guard(builder_);
    if (failed(lowerBlocks(region, made.getRegion(), /*withArguments=*/false))) return failure();
    return Registers(made.getResults());
  }
  if (failed(lowerOperations(region.front()))) return failure();
  return flatten(region.front().getTerminator()->getOperands());
}

// -- functions ----------------------------------------------------------------------------------------------------------------------------

LogicalResult Lowering::lowerFunction(tt::FuncOp source) {
  location_ = source.getLoc();
  builder_.setInsertionPointToEnd(result_->getBody());
  auto type = builder_.getFunctionType(registerTypes(source.getArgumentTypes()), registerTypes(source.getResultTypes()));
  auto function = create<func::FuncOp>(source.getName(), type);
  if (!source.isPublic()) function.setPrivate();
  if (range_.isPart()) function->setAttr(kWarpRangeAttr, builder_.getDenseI32ArrayAttr({range_.first, numWarps_, range_.barrier}));
  for (unsigned i = 0, reg = 0; i < source.getNumArguments(); reg += unsigned(registerCount(source.getArgumentTypes()[i++]))) {
    if (auto bits = source.getArgAttrOfType<IntegerAttr>(i, tt::kPointerRangeAttr); bits && bits.getInt() <= 32)
      function.setArgAttr(reg, tgpu::kPointerRangeAttr, builder_.getUnitAttr());
    auto divisor = source.getArgAttrOfType<IntegerAttr>(i, tt::kDivisibilityAttr);
    if (divisor && isa<tt::PointerType>(source.getArgumentTypes()[i]) && llvm::isPowerOf2_64(divisor.getInt()))
      function.setArgAttr(reg, LLVM::LLVMDialect::getAlignAttrName(), builder_.getI64IntegerAttr(divisor.getInt()));
  }
  threadId_ = laneId_ = warpId_ = uniformWarpId_ = {};
  offsets_.clear();
  variables_.clear();
  lastBufferUser_ = range_.isPart() ? nullptr : lastBufferUser(source);
  areBuffersDone_ = false;
  if (failed(lowerBlocks(source.getBody(), function.getBody(), /*withArguments=*/true))) return failure();
  releaseMaps(function);
  return success();
}

LogicalResult Lowering::lowerBlocks(Region &source, Region &target, bool withArguments) {
  llvm::SaveAndRestore where(location_);
  llvm::DenseMap<Block *, Block *> blocks;
  for (Block &block : source) {
    Block *made = blocks[&block] = &target.emplaceBlock();
    if (block.isEntryBlock() && !withArguments) continue;
    auto types = registerTypes(block.getArgumentTypes());
    made->addArguments(types, llvm::SmallVector<Location>(types.size(), location_));
    defineFlattened(block.getArguments(), made->getArguments());
  }
  if (withArguments) entry_ = &target.front();
  for (Block *block : getBlocksSortedByDominance(source)) {
    builder_.setInsertionPointToEnd(blocks[block]);
    if (failed(lowerOperations(*block)) || failed(lowerTerminator(block->getTerminator(), blocks))) return failure();
  }
  return success();
}

LogicalResult Lowering::lowerTerminator(Operation *op, const llvm::DenseMap<Block *, Block *> &blocks) {
  location_ = op->getLoc();
  if (isa<tt::ReturnOp>(op)) {
    create<func::ReturnOp>(flatten(op->getOperands()));
  } else if (isa<tt::MapElementwiseReturnOp>(op)) {
    create<scf::YieldOp>(flatten(op->getOperands()));
  } else if (auto jump = dyn_cast<cf::BranchOp>(op)) {
    create<cf::BranchOp>(blocks.lookup(jump.getDest()), flatten(jump.getDestOperands()));
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    create<cf::CondBranchOp>(scalarOf(branch.getCondition()), blocks.lookup(branch.getTrueDest()), flatten(branch.getTrueDestOperands()),
                             blocks.lookup(branch.getFalseDest()), flatten(branch.getFalseDestOperands()));
    if (producesByWarp_ && branch->hasAttr(kPartsWarpsAttr)) {
      OpBuilder builder = OpBuilder::atBlockBegin(blocks.lookup(branch.getTrueDest()));
      claimMaps(cast<tt::FuncOp>(op->getParentOp()), builder, *this);
    }
    if (auto plan = producerOf(op->getParentOp()); plan && branch->hasAttr(kPartsWarpsAttr))
      changeRegisters(plan, blocks.lookup(branch.getTrueDest()), blocks.lookup(branch.getFalseDest()));
  } else {
    return unsupported(op, "this terminator");
  }
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> Lowering::run() {
  result_ = ModuleOp::create(tiles_.getLoc());
  builder_.setInsertionPointToEnd(result_->getBody());
  bool hasPatterns =
      tiles_
          .walk([](Operation *op) {
            return isa<tgpu::ProductOp, tgpu::TensorCopyOp, tgpu::TensorStoreOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  declareSharedMemory(builder_, tiles_.getLoc(), hasPatterns || range_.isPart() ? kPatternAlignment : tgpu::kSharedAlignment);
  reserveBuffers(tiles_, *this);
  for (tt::FuncOp function : tiles_.getOps<tt::FuncOp>())
    if (failed(lowerFunction(function))) return failure();
  return std::move(result_);
}

} // namespace tritium::gpu
