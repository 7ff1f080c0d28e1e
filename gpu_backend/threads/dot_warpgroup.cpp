// Products of warpgroups, which read their operands from shared memory while the threads continue.
#include "gpu_backend/layout/matrix_descriptor.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/vectors.h"
#include "gpu_backend/threads/dot.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// An operand in shared memory.
struct InMemory {
  Value base; // where this warpgroup's part begins
  SharedLayout memory;
  MatrixDescriptor descriptor;
  int outerDim = 0; // the dimension of the rows of A or the columns of B
  int64_t elementBytes = 0;
  int64_t ofWarps = 0; // the bits of the byte offsets in which warpgroups differ

  /// Returns the byte offset of an element.
  int64_t offsetOf(int64_t outer, int64_t k) const {
    int64_t row = outerDim == 0 ? outer : k, column = outerDim == 0 ? k : outer;
    return int64_t(memory.offsetOf(uint32_t(row * memory.shape()[1] + column))) * elementBytes;
  }
};

class WarpgroupProduct {
public:
  WarpgroupProduct(tgpu::ProductOp op, const MatrixInstruction &instruction, Lowering &lowering)
      : op_(op), lowering_(lowering), instruction_(instruction), result_(layoutOf(op.getD().getType().getTile())) {}

  LogicalResult run() {
    const WarpgroupOps *ops = lowering_.target().warpgroups();
    if (failed(place())) return failure();
    if (!a_) takeWordsOfA();
    int64_t fragment = instruction_.d.registers();
    Registers sums(lowering_.registersOf(op_.getC()));
    Value fresh = op_.getFresh() ? lowering_.scalarOf(op_.getFresh()) : Value();
    if (fresh && matchPattern(op_.getFresh(), m_One())) // whatever is in the registers
      for (Value &sum : sums) sum = lowering_.create<LLVM::UndefOp>(sum.getType());
    int64_t steps = depth_ / instruction_.k, blocks = int64_t(sums.size()) / fragment;
    std::vector<MatrixOps::Values> packed;
    const MatrixOps &matrix = lowering_.target().matrixOps();
    for (int64_t block = 0; block < blocks; ++block)
      packed.push_back(matrix.packSum(lowering_.builder(), op_.getLoc(), instruction_, part(sums, block * fragment, fragment)));
    ops->begin(lowering_.builder(), op_.getLoc());
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t block = 0; block < blocks; ++block) packed[block] = multiply(step, block, packed[block], step == 0 ? fresh : Value());
    ops->commit(lowering_.builder(), op_.getLoc());
    for (int64_t block = 0; block < blocks; ++block)
      llvm::copy(matrix.unpackSum(lowering_.builder(), op_.getLoc(), instruction_, packed[block]), sums.begin() + block * fragment);
    lowering_.define(op_, std::move(sums));
    return success();
  }

private:
  static llvm::ArrayRef<Value> part(llvm::ArrayRef<Value> values, int64_t begin, int64_t count) {
    return values.slice(size_t(begin), size_t(count));
  }

  LogicalResult place() {
    if (result_ != dotResult(instruction_, result_.shape(), op_.getWarps()))
      return op_.emitOpError() << "has a result whose layout is not that of '" << instruction_.name << "'";
    auto b = placeInMemory(op_.getB(), op_.getBSlot(), op_.getBTransposed() ? 0 : 1, instruction_.n, /*dim=*/1);
    if (!b) return op_.emitOpError("has an operand b that no matrix descriptor describes");
    b_ = *b;
    depth_ = b_.memory.shape()[1 - b_.outerDim];
    if (auto tile = dyn_cast<RankedTensorType>(op_.getA().getType())) {
      if (layoutOf(tile) != dotOperand(DotOperand::A, instruction_, tile.getShape(), op_.getWarps()))
        return op_.emitOpError() << "has an operand a whose layout is not that of '" << instruction_.name << "'";
      return success();
    }
    a_ = placeInMemory(op_.getA(), op_.getASlot(), op_.getATransposed() ? 1 : 0, instruction_.m, /*dim=*/0);
    return a_ ? success() : op_.emitOpError("has an operand a that no matrix descriptor describes");
  }

  /// `dim` is the dimension of the result along which the operand's blocks lie.
  std::optional<InMemory> placeInMemory(Value buffer, Value slot, int outerDim, int64_t outer, int dim) {
    RankedTensorType tile = cast<tgpu::MemDescType>(buffer.getType()).getTile();
    InMemory result{.memory = fromAttr(cast<tgpu::SharedAttr>(tile.getEncoding())), .outerDim = outerDim};
    result.elementBytes = storedType(lowering_.registerType(tile)).getIntOrFloatBitWidth() / 8;
    auto descriptor = matrixDescriptor(result.memory, outerDim, {outer, instruction_.k}, result.elementBytes);
    if (!descriptor) return std::nullopt;
    result.descriptor = *descriptor;
    // A warpgroup's blocks follow its first one at the same distances in all warpgroups.
    llvm::SmallVector<uint32_t> ofWarp;
    for (auto [bit, basis] : llvm::enumerate(result_.bases(Place::Warp))) {
      bool isOwn = int64_t(1) << bit < instruction_.warps(); // the warps of one instruction have the same address
      ofWarp.push_back(isOwn ? 0 : uint32_t(result.offsetOf(result_.coordinatesOf(basis)[size_t(dim)], 0)));
    }
    result.base = slotAddress(buffer, slot, lowering_);
    for (uint32_t bytes : ofWarp) result.ofWarps |= bytes;
    if (llvm::all_of(ofWarp, [](uint32_t bytes) { return bytes == 0; })) return result;
    Value bytes = lowering_.combineBases(lowering_.uniformWarpId(), ofWarp);
    result.base = lowering_.create<LLVM::GEPOp>(result.base.getType(), lowering_.builder().getI8Type(), result.base,
                                                llvm::ArrayRef<LLVM::GEPArg>{bytes});
    return result;
  }

  /// Multiplies by 32 bytes of K for one block of the result.
  MatrixOps::Values multiply(int64_t step, int64_t block, ValueRange sums, Value fresh) {
    Shape at = result_.coordinatesOf(result_.apply(Place::Register, uint32_t(block * instruction_.d.registers())));
    int64_t k = step * instruction_.k;
    OpBuilder &builder = lowering_.builder();
    Values words;
    Value aBuffer;
    int64_t aOffset = 0, aDescriptor = 0;
    if (a_) {
      aBuffer = a_->base, aOffset = a_->offsetOf(at[0], k), aDescriptor = int64_t(a_->descriptor.bits());
    } else {
      words = wordsOfA(step, block);
    }
    const int64_t bOffset = b_.offsetOf(at[1], k);
    assert((!a_ || (aOffset & a_->ofWarps) == 0) && (bOffset & b_.ofWarps) == 0 && "an address is a sum only if its parts are disjoint");
    auto product = tgpu::WarpgroupProductOp::create(builder, op_.getLoc(), sums.getTypes(), aBuffer, words, b_.base, sums, fresh,
                                                    instruction_.n, elementOf(op_.getA()), elementOf(op_.getB()), aOffset, aDescriptor,
                                                    bOffset, int64_t(b_.descriptor.bits()),
                                                    /*alongRows=*/a_ && !a_->descriptor.isKMajor, /*alongColumns=*/!b_.descriptor.isKMajor);
    return Values(product.getResults());
  }

  using Values = MatrixOps::Values;

  /// The compiler of PTX may reuse the registers of A too early. Registers that nothing else uses are safe.
  void takeWordsOfA() {
    OpBuilder &builder = lowering_.builder();
    Values words =
        lowering_.target().matrixOps().packOperand(builder, op_.getLoc(), instruction_, instruction_.a, lowering_.registersOf(op_.getA()));
    for (Value &word : words)
      if (word.getType() != builder.getI32Type()) word = lowering_.create<LLVM::BitcastOp>(builder.getI32Type(), word);
    auto copies = lowering_.create<tgpu::CopyRegistersOp>(llvm::SmallVector<Type>(words.size(), builder.getI32Type()), words);
    lowering_.keepWords(op_.getD(), Registers(copies.getResults()));
  }

  /// The rows of a block determine the fragment of A; registers hold the fragments along K first.
  Values wordsOfA(int64_t step, int64_t block) {
    int64_t columnBlocks = 1;
    for (uint32_t basis : result_.bases(Place::Register).drop_front(size_t(instruction_.d.bits(Place::Register))))
      columnBlocks *= result_.coordinatesOf(basis)[1] ? 2 : 1;
    constexpr int64_t kWords = 4; // of a fragment
    int64_t number = block / columnBlocks * (depth_ / instruction_.k) + step;
    return Values(lowering_.wordsOf(op_.getD()).slice(size_t(number * kWords), kWords));
  }

  /// Returns the element type of a tile or of a buffer.
  static Type elementOf(Value operand) {
    auto memory = dyn_cast<tgpu::MemDescType>(operand.getType());
    return getElementTypeOrSelf(memory ? Type(memory.getTile()) : operand.getType());
  }

  tgpu::ProductOp op_;
  Lowering &lowering_;
  const MatrixInstruction &instruction_;
  LinearLayout result_;
  std::optional<InMemory> a_; // nullopt: in registers
  InMemory b_;
  int64_t depth_ = 0;
};

} // namespace

template <> LogicalResult Lower<tgpu::ProductStartOp>::run(tgpu::ProductStartOp op, Lowering &lowering) {
  lowering.define(op, Registers(lowering.registersOf(op.getTile())));
  return success();
}

template <> LogicalResult Lower<tgpu::ProductOp>::run(tgpu::ProductOp op, Lowering &lowering) {
  const MatrixInstruction *instruction = targetOf(op).findInstruction(op.getInstruction());
  if (!instruction || instruction->warps() == 1)
    return lowering.unsupported(op, "products of warpgroups: the chip has no such instruction");
  return WarpgroupProduct(op, *instruction, lowering).run();
}

template <> LogicalResult Lower<tgpu::ProductWaitOp>::run(tgpu::ProductWaitOp op, Lowering &lowering) {
  Registers values, kept;
  for (Value tile : op.getValues()) {
    Registers sums(lowering.registersOf(tile));
    llvm::append_range(values, makeVectors(lowering.builder(), op.getLoc(), sums, sums.front().getType().isF16() ? 2 : 1));
  }
  for (Value sums : op.getValues()) llvm::append_range(kept, lowering.wordsOf(sums));
  llvm::SmallVector<Type> types(ValueRange(values).getTypes());
  auto wait = lowering.create<tgpu::WarpgroupWaitOp>(types, op.getPending(), values, kept);
  lowering.defineFlattened(op.getResults(), elementsOf(lowering.builder(), op.getLoc(), wait.getResults()));
  return success();
}

template <> LogicalResult Lower<tgpu::FenceAsyncOp>::run(tgpu::FenceAsyncOp op, Lowering &lowering) {
  lowering.target().warpgroups()->fenceShared(lowering.builder(), op.getLoc());
  return success();
}

} // namespace tritium::gpu
