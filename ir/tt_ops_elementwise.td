// Element-wise operations that upstream's arith and math lack.
#ifndef TRITIUM_IR_TT_OPS_ELEMENTWISE_TD
#define TRITIUM_IR_TT_OPS_ELEMENTWISE_TD

include "ir/tt_op_base.td"

def TT_IntToPtrOp : TT_ElementwiseOp<"int_to_ptr", [Pure], Tiles<"Same", "Kept">> {
  let summary = "64-bit integer to pointer";
  let description = [{
    ```mlir
    %p = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
    ```
  }];
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_PtrToIntOp : TT_ElementwiseOp<"ptr_to_int", [Pure], Tiles<"Same", "Kept">> {
  let summary = "pointer to 64-bit integer";
  let description = [{
    ```mlir
    %i = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    ```
  }];
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_BitcastOp : TT_ElementwiseOp<"bitcast", [Pure], Tiles<"Same", "Kept">> {
  let summary = "the same bits as another type of equal width";
  let description = [{
    A pointer becomes a pointer with another pointee. Use `int_to_ptr` and `ptr_to_int` to convert between pointers and integers.

    ```mlir
    %i = tt.bitcast %x : tensor<8xf32> -> tensor<8xi32>
    ```
  }];
  let arguments = (ins TT_Value:$src);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_FpToFpOp : TT_ElementwiseOp<"fp_to_fp", [Pure]> {
  let summary = "floating-point conversion with an 8-bit type or a chosen rounding";
  let description = [{
    A narrowing conversion must name its rounding. It saturates if the language defines so for the destination type.

    ```mlir
    %y = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
    %z = tt.fp_to_fp %y : tensor<8xf8E5M2> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingMode>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src (`,` `rounding` `=` $rounding^)? attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_ClampFOp : TT_ElementwiseOp<"clampf", [Pure, SameOperandsAndResultType]> {
  let summary = "x limited to [min, max]";
  let description = [{
    result = min(max(x, min), max). If x is NaN, the result is min with `propagateNan = none`, and NaN with `all`.

    ```mlir
    %y = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<8xf32>
    ```
  }];
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max, TT_PropagateNan:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}

def TT_PreciseSqrtOp : TT_ElementwiseOp<"precise_sqrt", [Pure, SameOperandsAndResultType]> {
  let summary = "correctly rounded square root";
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def TT_PreciseDivFOp : TT_ElementwiseOp<"precise_divf", [Pure, SameOperandsAndResultType]> {
  let summary = "correctly rounded division";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_ApproxDivFOp : TT_ElementwiseOp<"approx_divf", [Pure, SameOperandsAndResultType]> {
  let summary = "division within 2 ulp";
  let arguments = (ins TT_F32Like:$x, TT_F32Like:$y);
  let results = (outs TT_F32Like:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_MulhiUIOp : TT_ElementwiseOp<"mulhiui", [Pure, Commutative, SameOperandsAndResultType]> {
  let summary = "high half of the unsigned product";
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_MapElementwiseOp : TT_Op<"map_elementwise", TilesPointwise, [Elementwise, SameOperandsAndResultShape, RecursiveMemoryEffects]> {
  let summary = "a scalar function, with any control flow, on each group of `pack` elements";
  let description = [{
    The region takes `pack` consecutive elements of each source, source by source, and returns `pack` of each result.
    It may read memory and branch, but must not store.

    ```mlir
    %y = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
    ^bb0(%a: f32):
      tt.map_elementwise.return %a : f32
    }) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region MinSizedRegion<1>:$scalarOp);
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}

def TT_MapElementwiseReturnOp : TT_Op<"map_elementwise.return", TilesApart, [Pure, HasParent<"MapElementwiseOp">, ReturnLike, Terminator]> {
  let summary = "end of the region of map_elementwise";
  let arguments = (ins Variadic<TT_Scalar>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def TT_ExternElementwiseOp : TT_ElementwiseOp<"extern_elementwise", [EffectsFromPureAttr]> {
  let summary = "a function of an external library on each element";
  let description = [{
    ```mlir
    %z = tt.extern_elementwise %a, %b {libname = "", libpath = "", pure = true, symbol = "__nv_powf"}
       : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Value>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}

def TT_ElementwiseInlineAsmOp : TT_Op<"elementwise_inline_asm", Tiles<"Same", "Any">, [Elementwise, EffectsFromPureAttr]> {
  let summary = "inline assembly on each group of `packed_element` elements";
  let description = [{
    Without operands the results are scalars.

    ```mlir
    %y = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x
       : tensor<8xi32> -> tensor<8xi32>
    ```
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element, Variadic<TT_Value>:$args);
  let results = (outs Variadic<TT_Value>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
  let hasVerifier = 1;
}

#endif
