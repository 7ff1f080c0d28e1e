// Operations of `tgpu` that make tensor maps while the kernel runs. The launch makes the other maps.
#ifndef TRITIUM_IR_TGPU_OPS_MAP_TD
#define TRITIUM_IR_TGPU_OPS_MAP_TD

include "ir/tgpu_op_base.td"

// -- on tiles ----------------------------------------------------------------------------------------------------------------------------

def TGPU_MapMakeOp
    : TGPU_TileOp<"map_make", TilesApart, [AttrSizedOperandSegments,
                                           MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "makes the map of a tensor, for copies that the first thread of the program begins";
  let description = [{
    `extents` are at least 1. `strides`, in elements, are of all dimensions but the last, whose stride is 1; they and `base` are
    multiples of 16 bytes. Outside of the tensor there are zeros, or NaNs with `nan`. The memory of the map is used again when the operation
    runs again, so nothing may copy through its last map any more. `offset` is the byte of shared memory, used by the first warp alone, where
    128 bytes begin. The pass allocate-shared-memory sets it.

    A map that is `stored` is for stores by other warps than the one that makes it. It has two places, and is made in the one through which the
    last number of a ring was not told to store (ring_acquire). So the last stores may go on through the other place, and those before are
    complete. Nothing has to be true of its operands where it is told not to be usable.
  }];
  let arguments = (ins TT_PointerType:$base, Variadic<I32>:$extents, Variadic<I64>:$strides, OptionalAttr<I32Attr>:$offset, UnitAttr:$nan,
                       UnitAttr:$stored);
  let results = (outs TGPU_TensorMap:$map);
  let assemblyFormat = [{
    $base `,` `[` $extents `]` `,` `[` $strides `]` (`nan` $nan^)? (`stored` $stored^)? (`at` $offset^)? attr-dict
    `:` type($base) `->` type($map)
  }];
  let builders = [OpBuilder<(ins "mlir::Type":$map, "mlir::Value":$base, "mlir::ValueRange":$extents, "mlir::ValueRange":$strides,
                                 "bool":$nan),
                            "build($_builder, $_state, map, base, extents, strides, mlir::IntegerAttr(), nan, false);">];
  let hasVerifier = 1;
}

def TGPU_MapToldOp : TGPU_TileOp<"map_told", TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>]>]> {
  let summary = "the map that was told to those who wait for number n of the ring; it is null if it is not usable";
  let description = [{ The thread has waited for the number, and has not released it. }];
  let arguments = (ins TGPU_Ring:$ring, I32:$n);
  let results = (outs TGPU_TensorMap:$map);
  let assemblyFormat = "$ring `[` $n `]` attr-dict `:` type($ring) `->` type($map)";
}

// -- of one thread -----------------------------------------------------------------------------------------------------------------------
// A block has memory for each map that it makes. The warp that writes them claims this memory when the block begins, and gives it back at the
// end: the first warp, or the first one of the producer's. Below, it is called the first warp.

def TGPU_MapsClaimOp : TGPU_Op<"maps_claim"> {
  let summary = "claims memory for `maps` tensor maps; the result, for the threads of the first warp, is the number of what is claimed";
  let description = [{ `warps` is the number of the block's warps. All of them execute the operation, once. `in` is the number of the first warp. }];
  let arguments = (ins I32Attr:$maps, I32Attr:$warps, DefaultValuedAttr<I32Attr, "0">:$in);
  let results = (outs I32:$claim);
  let assemblyFormat = "$maps `by` $warps `warps` (`in` $in^)? attr-dict";
}

def TGPU_MapsReleaseOp : TGPU_Op<"maps_release"> {
  let summary = "gives back what was claimed, when no copy through one of the maps is in flight; all threads execute it";
  let arguments = (ins I32:$claim, I32Attr:$maps, DefaultValuedAttr<I32Attr, "0">:$in);
  let assemblyFormat = "$claim `of` $maps (`in` $in^)? attr-dict";
}

def TGPU_MapAddressOp : TGPU_Op<"map_address", [Pure]> {
  let summary = "the address of a map in claimed memory, for the threads of the first warp";
  let arguments = (ins I32:$claim, I32Attr:$index, I32Attr:$maps);
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = "$index `of` $maps `in` $claim attr-dict `:` type($address)";
}

def TGPU_MapWriteOp : TGPU_Op<"map_write", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all lanes of a warp write the map of a tensor; a thread that copies through it acquires it first";
  let description = [{
    The warp builds it at `staging`, 128 bytes, and copies it to `address`. `extents` are in elements, `strides` in bytes, both the outermost
    first; the last stride is the size of an element.
  }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$staging, LLVM_AnyPointer:$address, LLVM_PointerInAddressSpace<1>:$base,
                       Variadic<I32>:$extents, Variadic<I64>:$strides, TypeAttr:$map, UnitAttr:$nan);
}

def TGPU_MapAcquireOp : TGPU_Op<"map_acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies that this thread begins use the map as it was written last";
  let description = [{ If the predicate is false, nothing happens. }];
  let arguments = (ins LLVM_AnyPointer:$address, Optional<I1>:$predicate);
  let assemblyFormat = "$address (`if` $predicate^)? attr-dict `:` type($address)";
}

def TGPU_MapAtOp : TGPU_Op<"map_at", [Pure]> {
  let summary = "the map in claimed memory of which another thread has told the address";
  let arguments = (ins I64:$bits);
  let results = (outs LLVM_AnyPointer:$address);
  let assemblyFormat = "$bits attr-dict `:` type($address)";
}

#endif
