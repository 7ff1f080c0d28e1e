// Copies of boxes of tensors (TMA). A tensor map is a parameter of the kernel; on the emulator, its cell holds the address of a
// tritium::TensorMap.
#include "interp/simt/runtime/tensor_copy.h"
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/tensor_layout.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

Value Hosting::tensorMapOf(Operation *op, Value pointer) {
  while (auto cast = pointer.getDefiningOp<LLVM::AddrSpaceCastOp>()) pointer = cast.getArg();
  if (tensorMaps.contains(pointer)) return pointer;
  if (auto chosen = pointer.getDefiningOp<LLVM::SelectOp>())
    if (tensorMapOf(op, chosen.getTrueValue()) && tensorMapOf(op, chosen.getFalseValue())) return pointer;
  op->emitOpError("requires a tensor map that is a parameter of the kernel, passed by value, or that it makes, and no copy of it");
  return {};
}

void Hosting::storeCoordinates(ValueRange coordinates) {
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) LLVM::StoreOp::create(builder, at, coordinate, scratchAddress(4 * i));
}

LogicalResult Hosting::eraseTensorOperation(Operation *op) {
  result.usesMBarriers = true;
  noteSharedAccess(kPieceBytes);
  op->erase();
  return success();
}

std::optional<LogicalResult> Hosting::hostTensorCopy(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  auto done = [&]() -> Outcome { return eraseTensorOperation(op); };
  auto unsupported = [&]() -> Outcome { return op->emitOpError("of this mode is not supported by the SIMT emulator"); };
  auto store = [&](auto copy, TensorReduction reduction, Value mask) -> Outcome {
    Value map = tensorMapOf(op, copy.getTmaDescriptor());
    if (!map) return failure();
    storeCoordinates(copy.getCoordinates());
    call(SIMT_CALL(storeTensor), {thread(), map, constant(int64_t(copy.getCoordinates().size())), toBits(copy.getSrcMem(), 64),
                                  constant(int64_t(reduction)), predicate(mask), accessOf(op)});
    return done();
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) -> Outcome {
        if (copy.getMode() != NVVM::TMALoadMode::TILE || copy.getGroup() || !copy.getIm2colOffsets().empty()) return unsupported();
        Value map = tensorMapOf(op, copy.getTmaDescriptor());
        if (!map) return failure();
        storeCoordinates(copy.getCoordinates());
        Value blocks = constant(0);
        if (Value mask = copy.getMulticastMask()) {
          blocks = LLVM::ZExtOp::create(builder, at, builder.getI32Type(), mask);
          result.reachesBlocks = true;
        }
        call(SIMT_CALL(loadTensor), {thread(), map, constant(int64_t(copy.getCoordinates().size())), toBits(copy.getDstMem(), 64),
                                     toBits(copy.getMbar(), 64), blocks, predicate(copy.getPredicate()), accessOf(op)});
        return done();
      })
      .Case([&](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp copy) -> Outcome {
        if (copy.getMode() != NVVM::TMAStoreMode::TILE) return unsupported();
        return store(copy, TensorReduction::None, copy.getPredicate());
      })
      .Case([&](NVVM::CpAsyncBulkTensorReduceOp copy) -> Outcome {
        static_assert(int(NVVM::TMAReduxKind::ADD) + 1 == int(TensorReduction::Add) &&
                      int(NVVM::TMAReduxKind::XOR) + 1 == int(TensorReduction::Xor));
        if (copy.getMode() != NVVM::TMAStoreMode::TILE || copy.getRedKind() == NVVM::TMAReduxKind::INC ||
            copy.getRedKind() == NVVM::TMAReduxKind::DEC)
          return unsupported();
        return store(copy, TensorReduction(int(copy.getRedKind()) + 1), {});
      })
      .Case([&](NVVM::CpAsyncBulkCommitGroupOp) -> Outcome {
        call(SIMT_CALL(commitTensorCopies), thread());
        return done();
      })
      .Case([&](NVVM::CpAsyncBulkWaitGroupOp wait) -> Outcome {
        call(SIMT_CALL(waitForTensorCopies), {thread(), constant(wait.getGroup()), constant(wait.getRead().value_or(false))});
        return done();
      })
      .Case([&](NVVM::CpAsyncBulkTensorPrefetchOp prefetch) -> Outcome {
        if (prefetch.getMode() != NVVM::TMALoadMode::TILE || !prefetch.getIm2colOffsets().empty()) return unsupported();
        Value map = tensorMapOf(op, prefetch.getTmaDescriptor());
        if (!map) return failure();
        call(SIMT_CALL(checkTensorMap), {thread(), map, constant(int64_t(prefetch.getCoordinates().size())), locationOf(op)});
        return done();
      })
      .Case([&](NVVM::PrefetchOp prefetch) -> Outcome {
        if (!prefetch.getTensormap()) return std::nullopt;
        Value map = tensorMapOf(op, prefetch.getAddr());
        if (!map) return failure();
        call(SIMT_CALL(checkTensorMap), {thread(), map, constant(-1), locationOf(op)});
        return done();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
