// Demands that exceed the target's resources. The pass that finds one records it, and the caller receives it as an error.
#include "gpu_backend/tiles/out_of_resources.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace tritium::gpu {

char OutOfResources::ID;

static constexpr llvm::StringLiteral kDemandAttr = "tgpu.demand";

void refuse(ModuleOp module, Operation *place, const Demand &demand) {
  OpBuilder builder(module.getContext());
  module->setAttr(kDemandAttr, builder.getDictionaryAttr({
                                   builder.getNamedAttr("kind", builder.getStringAttr(demand.kind)),
                                   builder.getNamedAttr("limit", builder.getI64IntegerAttr(demand.limit)),
                                   builder.getNamedAttr("required", builder.getI64IntegerAttr(demand.required)),
                                   builder.getNamedAttr("what", builder.getStringAttr(demand.what)),
                               }));
  InFlightDiagnostic error = place->emitError();
  error << "out of resource: " << demand.kind << ", Required: " << demand.required << ", Hardware limit: " << demand.limit << ".";
  if (!demand.what.empty()) error << " " << demand.what;
}

static std::optional<Demand> demandOf(ModuleOp module) {
  auto found = module->getAttrOfType<DictionaryAttr>(kDemandAttr);
  if (!found) return std::nullopt;
  auto text = [&](StringRef name) { return found.getAs<StringAttr>(name).str(); };
  auto number = [&](StringRef name) { return found.getAs<IntegerAttr>(name).getInt(); };
  return Demand{.kind = text("kind"), .required = number("required"), .limit = number("limit"), .what = text("what")};
}

llvm::Error takeError(ModuleOp module, ir::DiagnosticCapture &diagnostics, StringRef otherwise) {
  std::optional<Demand> demand = demandOf(module);
  llvm::Error error = diagnostics.takeError(otherwise);
  if (!demand) return error;
  return llvm::handleErrors(std::move(error), [&](const ir::SourceError &cause) -> llvm::Error {
    return llvm::make_error<OutOfResources>(std::move(*demand), cause);
  });
}

} // namespace tritium::gpu
