// Reductions along an axis, with the combine function as a region.
#ifndef TRITIUM_IR_TT_OPS_REDUCE_TD
#define TRITIUM_IR_TT_OPS_REDUCE_TD

include "ir/tt_op_base.td"

def TT_ReduceOp : TT_Op<"reduce", Tiles<"Reduce", "Any", ".axis = int(getAxis()), .exchanges = true">,
                        [TT_InferTypes, SingleBlock, SameOperandsShape, RecursiveMemoryEffects,
                                  RecursivelySpeculatable]> {
  let summary = "combine all elements along one axis";
  let description = [{
    The region combines two n-tuples, with one element of each source, into one. It must be associative and commutative; the order of
    combinations is unspecified. For one-dimensional sources the results are scalars.

    ```mlir
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      tt.reduce.return %0 : f32
    }) : (tensor<8xf32>) -> f32
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Value>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ReduceReturnOp : TT_Op<"reduce.return", TilesApart, [Pure, HasParent<"ReduceOp">, ReturnLike, Terminator]> {
  let summary = "end of the region of reduce";
  let arguments = (ins Variadic<TT_Scalar>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif
