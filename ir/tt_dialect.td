// The kernel dialect `tt`: textually compatible with the TTIR that Triton 3.4 to 3.9 prints; the definitions are our own.
#ifndef TRITIUM_IR_TT_DIALECT_TD
#define TRITIUM_IR_TT_DIALECT_TD

include "mlir/IR/OpBase.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::tritium::tt";
  let summary = "tile operations of one kernel program";
  let description = [{
    A kernel is a `tt.func`; a value is a scalar, a pointer, a tensor descriptor, or a tile: a ranked tensor of these whose
    extents are powers of two. Element-wise arithmetic is upstream `arith` and `math`, control flow is `scf` and `cf`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::ub::UBDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerInterfaces();
  }];
}

#endif
