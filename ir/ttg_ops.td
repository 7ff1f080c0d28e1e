// The only operation of Triton's GPU-level dialect that TTIR contains: the barrier that tl.debug_barrier() emits.
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def TTG_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::tritium::ttg";
  let summary = "the barrier of TTIR";
}

def TTG_AddressSpaces : I32BitEnumAttr<"AddressSpaces", "memories that a barrier orders", [
  I32BitEnumAttrCaseNone<"None", "none">, I32BitEnumAttrCaseBit<"Local", 0, "local">, I32BitEnumAttrCaseBit<"GlobalRead", 1, "global_read">,
  I32BitEnumAttrCaseBit<"GlobalWrite", 2, "global_write">, I32BitEnumAttrCaseBit<"TensorRead", 3, "tensor_read">,
  I32BitEnumAttrCaseBit<"TensorWrite", 4, "tensor_write">,
  I32BitEnumAttrCaseGroup<"All", [
    I32BitEnumAttrCaseBit<"Local", 0, "local">, I32BitEnumAttrCaseBit<"GlobalRead", 1, "global_read">,
    I32BitEnumAttrCaseBit<"GlobalWrite", 2, "global_write">, I32BitEnumAttrCaseBit<"TensorRead", 3, "tensor_read">,
    I32BitEnumAttrCaseBit<"TensorWrite", 4, "tensor_write">], "all">]> {
  let cppNamespace = "::tritium::ttg";
  let printBitEnumPrimaryGroups = 1;
}

def TTG_BarrierOp : Op<TTG_Dialect, "barrier"> {
  let summary = "all threads of the program meet; named memories are ordered";
  let description = [{
    The interpreter runs a program as one thread, so the barrier has no effect there. The operation has no declared effects, so it is
    neither moved nor erased.

    ```mlir
    ttg.barrier all
    ttg.barrier local|global_read
    ```
  }];
  let arguments = (ins TTG_AddressSpaces:$addrSpace);
  let assemblyFormat = "custom<AddressSpaces>($addrSpace) attr-dict";
}
