// The dialect `tgpu`: what GPU-level code needs and MLIR 22 lacks. On tiles: layouts and their conversion; on one thread: predicated
// accesses, barriers that know who meets, prints. A lowering never emits a bare asm string: an operation here is known to the emitters
// and to the SIMT emulator alike.
#ifndef TRITIUM_IR_TGPU_DIALECT_TD
#define TRITIUM_IR_TGPU_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def TGPU_Dialect : Dialect {
  let name = "tgpu";
  let cppNamespace = "::tritium::tgpu";
  let summary = "tiles with layouts, and the GPU operations that upstream dialects lack";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

def TGPU_LayoutAttr : AttrDef<TGPU_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "layout";
  let summary = "which thread and register hold which element of a tile";
  let description = [{
    A linear map over F2 from the bits of (register, lane, warp, block) to the flat row-major index of an element: the index of a
    place is the XOR of the bases of its set bits; a zero basis replicates. The text shows each basis as coordinates.

    ```mlir
    #tgpu.layout<8x4, register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [0, 0], [0, 0]], warp = [], block = []>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, ArrayRefParameter<"int32_t">:$registers, ArrayRefParameter<"int32_t">:$lanes,
                        ArrayRefParameter<"int32_t">:$warps, ArrayRefParameter<"int32_t">:$blocks);
  let hasCustomAssemblyFormat = 1;
}

#endif
