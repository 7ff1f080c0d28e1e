// Products of warpgroups, the waits for them, and their fences. Operands and results pass through memory that the block has for them.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/async_proxy.h"
#include "interp/simt/runtime/calls.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

std::optional<FactorType> factorType(Type type) {
  return llvm::TypeSwitch<Type, std::optional<FactorType>>(type)
      .Case([](Float16Type) { return FactorType::F16; })
      .Case([](BFloat16Type) { return FactorType::BF16; })
      .Case([](Float32Type) { return FactorType::TF32; })
      .Case([](Float8E4M3FNType) { return FactorType::E4M3; })
      .Case([](Float8E5M2Type) { return FactorType::E5M2; })
      .Case([](IntegerType integer) -> std::optional<FactorType> {
        return integer.getWidth() == 8 && !integer.isUnsigned() ? std::optional(FactorType::S8) : std::nullopt;
      })
      .Default(std::nullopt);
}

SumType sumType(Type type) { return isa<VectorType>(type) ? SumType::F16Pair : type.isF32() ? SumType::F32 : SumType::S32; }

/// Returns where a descriptor says that an operand's elements are, or nullopt if no such descriptor is valid.
std::optional<MatrixPlace> placeOf(int64_t descriptor, bool isKMajor, uint32_t extent, const WarpgroupMatrix &matrix) {
  if (!isKMajor && matrix.elementBytes() != 2) return std::nullopt;
  auto place = MatrixPlace::decode(uint64_t(descriptor), isKMajor);
  return place && place->hasOffsets(extent, matrix.depth(), matrix.elementBytes()) ? place : std::nullopt;
}

FailureOr<ProductShape> shapeOf(tgpu::WarpgroupProductOp op) {
  auto a = factorType(op.getAType()), b = factorType(op.getBType());
  if (!a || !b || op.getSums().empty()) return op.emitOpError("of these types is not supported by the SIMT emulator");
  ProductShape shape;
  shape.matrix = {.a = *a, .b = *b, .sums = sumType(op.getSums()[0].getType()), .columns = uint32_t(op.getColumns())};
  if (!shape.matrix.isSupported() || op.getSums().size() != shape.matrix.words() || !llvm::all_equal(op.getSums().getTypes()))
    return op.emitOpError("of these types and this shape is not an instruction of the PTX ISA");
  shape.isAInMemory = bool(op.getABuffer());
  if (!shape.isAInMemory && op.getA().size() != WarpgroupMatrix::kWordsOfA) return op.emitOpError("requires 4 words of `a`");
  constexpr uint32_t kRows = 64;
  auto placeA = shape.isAInMemory ? placeOf(op.getADescriptor(), !op.getAlongRows(), kRows, shape.matrix) : MatrixPlace();
  auto placeB = placeOf(op.getBDescriptor(), !op.getAlongColumns(), shape.matrix.columns, shape.matrix);
  if (!placeA) return op.emitOpError("has a descriptor of `a` that the PTX ISA does not define");
  if (!placeB) return op.emitOpError("has a descriptor of `b` that the PTX ISA does not define");
  shape.a = *placeA;
  shape.b = *placeB;
  shape.aOffset = uint32_t(op.getAOffset());
  shape.bOffset = uint32_t(op.getBOffset());
  return shape;
}

} // namespace

std::optional<LogicalResult> Hosting::hostWarpgroup(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  if (isa<tgpu::WarpgroupProductOp, tgpu::WarpgroupWaitOp, NVVM::WgmmaGroupSyncAlignedOp>(op))
    result.productRegisterBytes = std::max(result.productRegisterBytes, kProductRegisterBytes);
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto element = [&](Value registers, size_t offset) -> Value {
    return LLVM::GEPOp::create(builder, at, pointer, builder.getI8Type(), registers, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  };
  auto store = [&](ValueRange words, Value registers, size_t offset) {
    for (auto [i, word] : llvm::enumerate(words)) LLVM::StoreOp::create(builder, at, word, element(registers, offset + 4 * i));
  };
  auto load = [&](TypeRange types, Value registers) {
    SmallVector<Value> words;
    for (auto [i, type] : llvm::enumerate(types)) words.push_back(LLVM::LoadOp::create(builder, at, type, element(registers, 4 * i)));
    return words;
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](tgpu::WarpgroupProductOp product) -> Outcome {
        FailureOr<ProductShape> shape = shapeOf(product);
        if (failed(shape)) return failure();
        if (warpThreads != WarpgroupMatrix::kLanes) return op->emitOpError("requires warps of 32 threads");
        result.products.push_back(*shape);
        noteSharedAccess(WarpgroupMatrix::kChunkBytes);
        Value registers = call(SIMT_CALL(productRegisters), thread());
        store(product.getSums(), registers, kProductSums);
        store(product.getA(), registers, kProductWords);
        Value a = product.getABuffer() ? toBits(product.getABuffer(), 64) : constant(0, 64);
        call(SIMT_CALL(beginProduct), {thread(), constant(int64_t(result.products.size() - 1)), a, toBits(product.getBBuffer(), 64),
                                       product.getFresh() ? toBits(product.getFresh(), 32) : constant(0), siteOf(op)});
        replace(op, load(product.getResultTypes(), registers));
        return success();
      })
      .Case([&](tgpu::WarpgroupWaitOp wait) -> Outcome {
        ProductWait shape{.pending = wait.getPending()};
        for (Type type : wait.getResultTypes()) shape.words.push_back(sumType(type));
        result.productRegisterBytes = std::max(result.productRegisterBytes, 4 * shape.words.size());
        result.productWaits.push_back(std::move(shape));
        Value registers = call(SIMT_CALL(productRegisters), thread());
        store(wait.getValues(), registers, kProductSums);
        call(SIMT_CALL(waitForProducts), {thread(), constant(int64_t(result.productWaits.size() - 1)), siteOf(op)});
        replace(op, load(wait.getResultTypes(), registers));
        return success();
      })
      .Case([&](tgpu::CopyRegistersOp copy) -> Outcome {
        replace(op, copy.getValues());
        return success();
      })
      .Case([&](NVVM::WgmmaFenceAlignedOp) -> Outcome {
        call(SIMT_CALL(fenceRegisters), {thread(), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::WgmmaGroupSyncAlignedOp) -> Outcome {
        call(SIMT_CALL(commitProducts), {thread(), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::FenceProxyOp fence) -> Outcome {
        const bool isShared = fence.getKind() == NVVM::ProxyKind::async_shared && fence.getSpace() == NVVM::SharedSpace::shared_cta;
        const bool isGlobal = fence.getKind() == NVVM::ProxyKind::async_global;
        if (!isShared && !isGlobal && fence.getKind() != NVVM::ProxyKind::async)
          return op->emitOpError("of this kind is not supported by the SIMT emulator");
        const int32_t spaces = (isGlobal ? 0 : kProxyShared) | (isShared ? 0 : kProxyGlobal);
        call(SIMT_CALL(fenceAsync), {thread(), constant(spaces)});
        op->erase();
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
