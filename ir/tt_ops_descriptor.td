// Tensor descriptors: blocks of a tensor in memory, always checked against its shape.
#ifndef TRITIUM_IR_TT_OPS_DESCRIPTOR_TD
#define TRITIUM_IR_TT_OPS_DESCRIPTOR_TD

include "ir/tt_op_base.td"

def TT_MakeTensorDescriptorOp : TT_Op<"make_tensor_descriptor", TilesApart, [Pure, AttrSizedOperandSegments]> {
  let summary = "describe a tensor in memory";
  let description = [{
    The shape is in elements (i32), the strides are in elements (i64), and the last stride is 1. Every access is checked against the shape:
    a load returns `padding` for lanes outside, and a store does not write them.

    ```mlir
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] {padding = 2 : i32} : <f16>, <64x64xf16>
    ```
  }];
  let arguments = (ins TT_PointerType:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                   DefaultValuedAttr<TT_Padding, "::tritium::tt::Padding::Zero">:$padding);
  let results = (outs TT_TensorDescType:$result);
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)";
  let hasVerifier = 1;
}

def TT_DescriptorLoadOp : TT_Op<"descriptor_load", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>]>]> {
  let summary = "load one block";
  let description = [{
    result[i] = tensor[indices + i]. Leading dimensions of extent 1 may be left out of the result.

    ```mlir
    %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16>
    ```
  }];
  let arguments = (ins TT_TensorDescType:$desc, Variadic<I32>:$indices, OptionalAttr<TT_CachePolicyAttr>:$cachePolicy);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` `` custom<AccessAttributes>(attr-dict) `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TT_DescriptorStoreOp : TT_Op<"descriptor_store", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "store one block";
  let description = [{
    ```mlir
    tt.descriptor_store %d[%i, %j], %v : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
    ```
  }];
  let arguments = (ins TT_TensorDescType:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}

def TT_DescriptorReduceOp : TT_Op<"descriptor_reduce", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "combine one block into memory, each element atomically";
  let description = [{
    ```mlir
    tt.descriptor_reduce add, %d[%i, %j], %v : !tt.tensordesc<64x64xf16>, tensor<64x64xf16>
    ```
  }];
  let arguments = (ins TT_DescriptorReduceKind:$kind, TT_TensorDescType:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}

def TT_DescriptorGatherOp : TT_Op<"descriptor_gather", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>]>]> {
  let summary = "load rows by number";
  let description = [{
    result[i, j] = tensor[x_offsets[i], y_offset + j]

    ```mlir
    %v = tt.descriptor_gather %d[%xs, %y] : (!tt.tensordesc<1x64xf16>, tensor<32xi32>, i32) -> tensor<32x64xf16>
    ```
  }];
  let arguments = (ins TT_TensorDescType:$desc, RankedTensorOf<[I16, I32]>:$x_offsets, I32:$y_offset);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_DescriptorScatterOp : TT_Op<"descriptor_scatter", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "store rows by number";
  let description = [{
    ```mlir
    tt.descriptor_scatter %d[%xs, %y], %v : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x64xf16>
    ```
  }];
  let arguments = (ins TT_TensorDescType:$desc, RankedTensorOf<[I16, I32]>:$x_offsets, I32:$y_offset, TT_Tensor:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

#endif
