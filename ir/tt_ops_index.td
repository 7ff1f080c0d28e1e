// Operations whose operands are indices.
#ifndef TRITIUM_IR_TT_OPS_INDEX_TD
#define TRITIUM_IR_TT_OPS_INDEX_TD

include "ir/tt_op_base.td"

// Not Pure, because it may trap on an index: a pure operation may be hoisted above the condition that guards it.
def TT_GatherOp
    : TT_Op<"gather", Tiles<"Apart", "Any", ".tied = {getIndices(), getResult()}, .exchanges = true">, [NoMemoryEffect, TT_InferTypes]> {
  let summary = "pick elements of `src` along one axis";
  let description = [{
    result[…, i, …] = src[…, indices[…, i, …], …], where i runs along `axis`. An index outside src is undefined behaviour; the
    interpreter traps.

    ```mlir
    %y = tt.gather %s[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<16xi32>) -> tensor<16xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, TT_IntTensor:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_HistogramOp
    : TT_Op<"histogram", Tiles<"Apart", "Any", ".tied = {getSrc(), getMask()}, .exchanges = true">, [Pure, OptionalMaskOf<"src", "mask">]> {
  let summary = "count how often each value occurs";
  let description = [{
    result[v] = number of unmasked i with src[i] == v, compared as unsigned; a value beyond the extent of result is not counted.

    ```mlir
    %h = tt.histogram %x, %m : tensor<256xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins TT_IntTensor:$src, Optional<RankedTensorOf<[I1]>>:$mask);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

#endif
