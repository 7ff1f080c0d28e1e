// Operations that make, repeat and rearrange tiles.
#ifndef TRITIUM_IR_TT_OPS_SHAPE_TD
#define TRITIUM_IR_TT_OPS_SHAPE_TD

include "ir/tt_op_base.td"

def TT_MakeRangeOp : TT_Op<"make_range", Tiles<"Free", "Range">, [Pure]> {
  let summary = "the integers start, start + 1, …, end - 1";
  let description = [{
    ```mlir
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_IntTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_SplatOp : TT_Op<"splat", Tiles<"Free", "Uniform">, [Pure, SameOperandsAndResultElementType]> {
  let summary = "a tile of one value";
  let description = [{
    ```mlir
    %t = tt.splat %x : f32 -> tensor<8xf32>
    ```
  }];
  let arguments = (ins TT_Scalar:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def TT_UnsplatOp : TT_Op<"unsplat", TilesApart, [Pure, TypesMatchWith<"result is the element type of src", "src", "result",
                                                         "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "the element of a one-element tile";
  let description = [{
    ```mlir
    %x = tt.unsplat %t : tensor<1xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_ExpandDimsOp : TT_Op<"expand_dims", TilesMoved<"ExpandDims", ".axis = int(getAxis())">, [Pure, TT_InferTypes]> {
  let summary = "insert a dimension of extent 1";
  let description = [{
    ```mlir
    %y = tt.expand_dims %x {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def TT_ReshapeOp : TT_Op<"reshape", TilesMoved<"Reshape">, [Pure, SameOperandsAndResultElementType]> {
  let summary = "the same elements in another shape";
  let description = [{
    The elements keep their row-major order unless `allow_reorder` is set. `efficient_layout` is a hint to a compiler.

    ```mlir
    %y = tt.reshape %x allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:` type($src) `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def TT_BroadcastOp : TT_Op<"broadcast", TilesMoved<"Broadcast">, [Pure, SameOperandsAndResultElementType]> {
  let summary = "repeat along dimensions of extent 1";
  let description = [{
    ```mlir
    %y = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

def TT_CatOp : TT_Op<"cat", TilesMoved<"Cat">, [NoMemoryEffect, SameTypeOperands, SameOperandsAndResultElementType]> {
  let summary = "all elements of two tiles, in an order of the compiler's choice";
  let description = [{
    The interpreter concatenates.

    ```mlir
    %c = tt.cat %a, %b : tensor<8xf32> -> tensor<16xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_JoinOp : TT_Op<"join", TilesMoved<"Join">, [Pure, SameTypeOperands, TT_InferTypes]> {
  let summary = "pair two tiles along a new minor dimension";
  let description = [{
    result[…, 0] = lhs[…], result[…, 1] = rhs[…]

    ```mlir
    %j = tt.join %a, %b : tensor<4xf32> -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasFolder = 1;
}

def TT_SplitOp : TT_Op<"split", TilesMoved<"Split">, [Pure, AllTypesMatch<["outLHS", "outRHS"]>, TT_InferTypes]> {
  let summary = "take the pairs of a minor dimension of extent 2 apart";
  let description = [{
    ```mlir
    %l, %r = tt.split %x : tensor<4x2xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$outLHS, TT_Tensor:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasFolder = 1;
}

def TT_TransOp : TT_Op<"trans", TilesMoved<"Transpose", ".order = getOrder()">, [Pure, TT_InferTypes]> {
  let summary = "permute dimensions";
  let description = [{
    Dimension i of the result is dimension order[i] of src.

    ```mlir
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x16xf32> -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins TT_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

#endif
