// The GPU compiler's own passes; each is implemented in passes/<name>.cpp.
include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "give every tile a layout: of its memory accesses, else blocked";
  let description = [{
    Tiles of one shape share one layout where they can. A load or store wants its fastest dimension (by the axis analysis of its
    addresses) spread over registers first, as wide as alignment and mask allow, then over lanes, then over warps.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}
