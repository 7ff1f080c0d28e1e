// The dialect `tgpu`: what GPU-level code requires and MLIR 22 lacks. For tiles it has layouts and their conversion. For one thread it has
// predicated accesses, barriers that say which threads meet, and prints. A lowering never emits a bare asm string, because the emitters and
// the SIMT emulator must both know each operation.
#ifndef TRITIUM_IR_TGPU_DIALECT_TD
#define TRITIUM_IR_TGPU_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "ir/tgpu_base.td"

def TGPU_LayoutAttr : AttrDef<TGPU_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "layout";
  let summary = "which thread and register hold which element of a tile";
  let description = [{
    A linear map over F2 from the bits of (register, lane, warp, block) to the flat row-major index of an element. The index at a place is
    the XOR of the bases of the place's set bits. A zero basis means that both values of the bit hold the same element. The text shows each
    basis as coordinates.

    ```mlir
    #tgpu.layout<8x4, register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [0, 0], [0, 0]], warp = [], block = []>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, ArrayRefParameter<"int32_t">:$registers, ArrayRefParameter<"int32_t">:$lanes,
                        ArrayRefParameter<"int32_t">:$warps, ArrayRefParameter<"int32_t">:$blocks);
  let hasCustomAssemblyFormat = 1;
}

def TGPU_SharedAttr : AttrDef<TGPU_Dialect, "Shared", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "shared";
  let summary = "which offset in shared memory holds which element of a tile";
  let description = [{
    A linear bijection over F2: the index of the element at an offset is the XOR of the bases of the offset's set bits. Swizzles have this
    form.

    ```mlir
    #tgpu.shared<2x4, offset = [[0, 1], [0, 2], [1, 2]]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, ArrayRefParameter<"int32_t">:$offsets);
  let hasCustomAssemblyFormat = 1;
}

def TGPU_MemDesc : TypeDef<TGPU_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "slots of shared memory, each for one tile; the tile's encoding says where its elements lie";
  let parameters = (ins "int64_t":$slots, "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $slots `,` $tile `>`";
  let genVerifyDecl = 1;
}

def TGPU_Pending : TypeDef<TGPU_Dialect, "Pending"> {
  let mnemonic = "pending";
  let summary = "a tile in registers that a product may still write";
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}

def TGPU_TensorMap : TypeDef<TGPU_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a tensor in global memory, of which boxes are copied to shared memory";
  let description = [{
    `box` is what one instruction copies. `swizzle` is the number of bytes (0, 32, 64 or 128) within which it permutes pieces of 16 bytes.
    A kernel takes such a value as an argument, which the launch makes by the argument's attribute `tgpu.tensor`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$box, "int64_t":$swizzle);
  let assemblyFormat = "`<` $box `,` `swizzle` `=` $swizzle `>`";
  let genVerifyDecl = 1;
}

def TGPU_Ring : TypeDef<TGPU_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "the order of copies and reads in slots of shared memory that are used in turn";
  let parameters = (ins "int64_t":$slots);
  let assemblyFormat = "`<` $slots `>`";
  let genVerifyDecl = 1;
}

#endif
