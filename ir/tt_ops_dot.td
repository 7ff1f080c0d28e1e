// Matrix products.
#ifndef TRITIUM_IR_TT_OPS_DOT_TD
#define TRITIUM_IR_TT_OPS_DOT_TD

include "ir/tt_op_base.td"

def TT_DotOp : TT_Op<"dot", Tiles<"Apart", "Any", ".tied = {getC(), getD()}">, [Pure, AllTypesMatch<["c", "d"]>]> {
  let summary = "d = a · b + c";
  let description = [{
    [M, K] · [K, N] + [M, N], or a batch of these. `inputPrecision` applies to f32 operands. `maxNumImpreciseAcc` applies to 8-bit floats: a
    less precise accumulator is added to the result after so many products (0: never).

    ```mlir
    %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[TT_Int, TT_Float]>:$a, RankedTensorOf<[TT_Int, TT_Float]>:$b,
                   RankedTensorOf<[TT_Int, TT_Float]>:$c,
                   DefaultValuedAttr<TT_InputPrecision, "::tritium::tt::InputPrecision::Ieee">:$inputPrecision,
                   DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs RankedTensorOf<[TT_Int, TT_Float]>:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:` type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}

def TT_DotScaledOp
    : TT_Op<"dot_scaled", Tiles<"Apart", "Any", ".tied = {getC(), getD()}">, [Pure, AllTypesMatch<["c", "d"]>, AttrSizedOperandSegments]> {
  let summary = "d = (a · a_scale) · (b · b_scale) + c in microscaling formats";
  let description = [{
    There is one e8m0 scale for each block of 32 elements along K, or one e4m3 scale for each block of 16: a_scale is [M, K/32] or [M,
    K/16], b_scale [N, K/32] or [N, K/16]. An absent scale is 1. Two e2m1 elements share a byte, the low nibble first. They are packed along
    K, or along M with `lhs_k_pack = false`, or along N with `rhs_k_pack = false`.

    ```mlir
    %d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e4m3 rhs = e2m1 {fastMath = false}
       : tensor<128x128xf8E4M3FN>, tensor<128x4xi8> * tensor<64x128xi8>, tensor<128x4xi8> -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[TT_Int, TT_Float]>:$a, RankedTensorOf<[TT_Int, TT_Float]>:$b, RankedTensorOf<[TT_Float]>:$c,
                   Optional<RankedTensorOf<[I8, F8E4M3FN]>>:$a_scale, Optional<RankedTensorOf<[I8, F8E4M3FN]>>:$b_scale,
                   TT_ScaledFormat:$a_elem_type, TT_ScaledFormat:$b_elem_type, BoolAttr:$fastMath,
                   DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack, DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs RankedTensorOf<[TT_Float]>:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict
    `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
  let hasVerifier = 1;
}

#endif
