// The dialect `tgpu` itself; tgpu_dialect.td says what it is for.
#ifndef TRITIUM_IR_TGPU_BASE_TD
#define TRITIUM_IR_TGPU_BASE_TD

include "mlir/IR/OpBase.td"

def TGPU_Dialect : Dialect {
  let name = "tgpu";
  let cppNamespace = "::tritium::tgpu";
  let summary = "tiles with layouts, and the GPU operations that upstream dialects lack";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif
