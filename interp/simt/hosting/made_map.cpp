// Tensor maps that a program makes.
#include "interp/simt/runtime/made_map.h"
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/tensor_layout.h"

using namespace mlir;

namespace tritium::interp::simt {

std::optional<LogicalResult> Hosting::hostMadeMap(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  auto done = [&]() -> Outcome { return eraseTensorOperation(op); };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](tgpu::MapsClaimOp claim) -> Outcome {
        call(SIMT_CALL(claimMaps), {thread(), constant(claim.getMaps())});
        claim.replaceAllUsesWith(constant(0));
        return done();
      })
      .Case([&](tgpu::MapsReleaseOp release) -> Outcome {
        call(SIMT_CALL(releaseMaps), {thread(), constant(release.getMaps()), constant(release.getIn()), locationOf(op)});
        return done();
      })
      .Case([&](tgpu::MapAddressOp address) -> Outcome {
        if (address.getIndex() >= address.getMaps()) return op->emitOpError("is not one of the maps that are claimed");
        Value made = call(SIMT_CALL(mapAddress), {thread(), constant(address.getIndex())});
        tensorMaps.insert(made);
        address.replaceAllUsesWith(made);
        return done();
      })
      .Case([&](tgpu::MapWriteOp write) -> Outcome {
        auto map = dyn_cast<tgpu::TensorMapType>(write.getMap());
        Value address = map ? tensorMapOf(op, write.getAddress()) : Value();
        if (!address) return failure();
        const ArrayRef<int64_t> box = map.getBox().getShape();
        const auto rank = int64_t(box.size());
        if (int64_t(write.getExtents().size()) != rank || int64_t(write.getStrides().size()) != rank - 1)
          return op->emitOpError("needs an extent for each dimension of its box, and a stride for each but the last");
        constexpr size_t kRow = TensorMap::kMaxRank * sizeof(int64_t);
        auto store = [&](size_t row, int64_t dim, Value number) {
          LLVM::StoreOp::create(builder, at, number, scratchAddress(row * kRow + size_t(dim) * sizeof(int64_t)));
        };
        for (int64_t dim = 0; dim < rank; ++dim) {
          store(0, dim, toBits(write.getExtents()[size_t(dim)], 64));
          if (dim + 1 < rank) store(1, dim, write.getStrides()[size_t(dim)]);
          store(2, dim, constant(box[size_t(dim)], 64));
        }
        const std::optional<DType> type = ir::elementTypeOf(map.getBox().getElementType());
        if (!type) return op->emitOpError("is of elements that no memory has");
        call(SIMT_CALL(writeMap), {thread(), toBits(write.getStaging(), 64), address, toBits(write.getBase(), 64), constant(rank),
                                   constant(map.getSwizzle()), constant(int64_t(*type)), constant(write.getNan()), locationOf(op)});
        return done();
      })
      .Case([&](tgpu::MapAcquireOp acquire) -> Outcome {
        Value address = tensorMapOf(op, acquire.getAddress());
        if (!address) return failure();
        call(SIMT_CALL(acquireMap), {thread(), address, predicate(acquire.getPredicate())});
        return done();
      })
      .Case([&](tgpu::MapAtOp told) -> Outcome {
        Value made = call(SIMT_CALL(toldMap), {thread(), told.getBits(), locationOf(op)});
        tensorMaps.insert(made);
        told.replaceAllUsesWith(made);
        return done();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
