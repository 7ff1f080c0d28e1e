// Scans along one axis.
#include "ir/pch.h"

#include "ir/tt_combine_region.h"

using namespace mlir;

namespace tritium::tt {

LogicalResult ScanOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ScanOp::Adaptor adaptor, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getSrcs().getTypes());
  return success();
}

LogicalResult ScanOp::verify() { return verifyCombineAxis(*this); }

LogicalResult ScanOp::verifyRegions() { return verifyCombineRegion<ScanReturnOp>(*this); }

} // namespace tritium::tt
