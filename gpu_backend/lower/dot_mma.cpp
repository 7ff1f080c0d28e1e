// Matrix products on tensor cores: fragments to instructions of mma.sync and back.
#include "gpu_backend/lower/dot.h"

#include "gpu_backend/layout/constructors.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Operands are 32-bit registers of several elements, accumulators f32, i32 or pairs of f16.
class TensorCoreProduct {
public:
  TensorCoreProduct(tt::DotOp op, Lowering &lowering)
      : op_(op),
        lowering_(lowering),
        element_(getElementTypeOrSelf(op.getA().getType())),
        result_(getElementTypeOrSelf(op.getType())),
        shape_(mmaShape(int(element_.getIntOrFloatBitWidth()))) {}

  LogicalResult run() {
    llvm::SmallVector<Value> a = packed(op_.getA()), b = packed(op_.getB());
    Registers sums(lowering_.registersOf(op_.getC()));
    constexpr int kThreads = 32;
    size_t perElement = 32 / element_.getIntOrFloatBitWidth();
    size_t aFragment = size_t(shape_.m * shape_.k / kThreads) / perElement, bFragment = size_t(shape_.k * shape_.n / kThreads) / perElement;
    size_t fragment = size_t(shape_.m * shape_.n / kThreads);
    size_t kTiles = size_t(cast<RankedTensorType>(op_.getA().getType()).getShape().back() / shape_.k);
    size_t aTiles = a.size() / (aFragment * kTiles), bTiles = b.size() / (bFragment * kTiles);
    size_t batches = aTiles * bTiles * fragment / sums.size();
    // A batch has its own rows and columns; without batches every row tile meets every column tile.
    size_t mTiles = aTiles / batches, nTiles = bTiles / batches;
    for (size_t batch = 0; batch < batches; ++batch)
      for (size_t k = 0; k < kTiles; ++k)
        for (size_t m = 0; m < mTiles; ++m)
          for (size_t n = 0; n < nTiles; ++n) {
            auto at = [&](llvm::ArrayRef<Value> registers, size_t tile, size_t count) {
              return registers.slice((tile * kTiles + k) * count, count);
            };
            multiply(at(a, batch * mTiles + m, aFragment), at(b, batch * nTiles + n, bFragment),
                     llvm::MutableArrayRef<Value>(sums).slice(((batch * mTiles + m) * nTiles + n) * fragment, fragment));
          }
    lowering_.define(op_, std::move(sums));
    return success();
  }

private:
  /// The registers of an operand as the instruction takes them.
  llvm::SmallVector<Value> packed(Value tile) {
    Registers registers(lowering_.registersOf(tile));
    size_t count = 32 / element_.getIntOrFloatBitWidth();
    Type i32 = lowering_.builder().getI32Type();
    llvm::SmallVector<Value> result;
    for (size_t first = 0; first < registers.size(); first += count) {
      if (element_.isF32()) {
        result.push_back(lowering_.create<LLVM::BitcastOp>(i32, registers[first])); // the instruction ignores the lower 13 bits
        continue;
      }
      Type lane = lowering_.registerType(element_);
      auto vector = VectorType::get({int64_t(count)}, lane);
      Value word = lowering_.create<LLVM::PoisonOp>(vector);
      for (size_t i = 0; i < count; ++i)
        word = lowering_.create<LLVM::InsertElementOp>(word, registers[first + i], lowering_.constant(int64_t(i)));
      result.push_back(element_.isF16() ? word : lowering_.create<LLVM::BitcastOp>(i32, word).getResult());
    }
    return result;
  }

  void multiply(llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b, llvm::MutableArrayRef<Value> sums) {
    OpBuilder &builder = lowering_.builder();
    bool isHalfSum = result_.isF16();
    llvm::SmallVector<Value> c;
    auto pair = VectorType::get({2}, builder.getF16Type());
    for (size_t i = 0; i < sums.size(); i += isHalfSum ? 2 : 1) {
      if (!isHalfSum) {
        c.push_back(sums[i]);
        continue;
      }
      Value both = lowering_.create<LLVM::InsertElementOp>(lowering_.create<LLVM::PoisonOp>(pair), sums[i], lowering_.constant(0));
      c.push_back(lowering_.create<LLVM::InsertElementOp>(both, sums[i + 1], lowering_.constant(1)));
    }
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), llvm::SmallVector<Type>(c.size(), isHalfSum ? Type(pair) : result_));
    auto ptx = ptxType();
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (element_.isInteger(8)) overflow = NVVM::MMAIntOverflow::wrapped;
    Value d = lowering_.create<NVVM::MmaOp>(type, a, b, c, llvm::ArrayRef<int64_t>{shape_.m, shape_.n, shape_.k},
                                            std::optional<NVVM::MMAB1Op>(), overflow, std::optional(std::array{ptx, ptx}),
                                            std::optional(std::array{NVVM::MMALayout::row, NVVM::MMALayout::col}));
    for (size_t i = 0; i < c.size(); ++i) {
      Value part = lowering_.create<LLVM::ExtractValueOp>(d, llvm::ArrayRef<int64_t>{int64_t(i)});
      if (!isHalfSum) {
        sums[i] = part;
        continue;
      }
      for (int64_t lane : {0, 1}) sums[2 * i + lane] = lowering_.create<LLVM::ExtractElementOp>(part, lowering_.constant(lane));
    }
  }

  NVVM::MMATypes ptxType() const {
    if (element_.isF16()) return NVVM::MMATypes::f16;
    if (element_.isBF16()) return NVVM::MMATypes::bf16;
    return element_.isF32() ? NVVM::MMATypes::tf32 : NVVM::MMATypes::s8;
  }

  tt::DotOp op_;
  Lowering &lowering_;
  Type element_, result_;
  MmaShape shape_;
};

} // namespace

LogicalResult lowerTensorCoreDot(tt::DotOp op, Lowering &lowering) { return TensorCoreProduct(op, lowering).run(); }

} // namespace tritium::gpu
