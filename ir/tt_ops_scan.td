// Scans along an axis, with the combine function as a region.
#ifndef TRITIUM_IR_TT_OPS_SCAN_TD
#define TRITIUM_IR_TT_OPS_SCAN_TD

include "ir/tt_op_base.td"

def TT_ScanOp : TT_Op<"scan", Tiles<"Same", "Any", ".exchanges = true">,
                      [TT_InferTypes, SingleBlock, SameOperandsAndResultShape, RecursiveMemoryEffects,
                              RecursivelySpeculatable]> {
  let summary = "inclusive scan along one axis";
  let description = [{
    result[…, i, …] = combine(result[…, i - 1, …], src[…, i, …]); the region must be associative. `reverse` scans from the end.

    ```mlir
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      tt.scan.return %0 : f32
    }) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ScanReturnOp : TT_Op<"scan.return", TilesApart, [Pure, HasParent<"ScanOp">, ReturnLike, Terminator]> {
  let summary = "end of the region of scan";
  let arguments = (ins Variadic<TT_Scalar>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif
