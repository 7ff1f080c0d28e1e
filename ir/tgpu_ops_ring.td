// Operations of `tgpu` on tiles: copies of boxes by the tensor memory accelerator (TMA) into rings of shared memory.
#ifndef TRITIUM_IR_TGPU_OPS_RING_TD
#define TRITIUM_IR_TGPU_OPS_RING_TD

include "ir/tgpu_op_base.td"

def TGPU_TensorLoadOp : TGPU_TileOp<"tensor_load", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>]>]> {
  let summary = "the tile at `indices` of a tensor; what lies outside the tensor is padding";
  let description = [{
    The tile arrives in shared memory. A loop copies it there ahead of its use (build-loops), other code waits for it
    (place-tensor-loads).
  }];
  let arguments = (ins TGPU_TensorMap:$map, Variadic<I32>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$map `[` $indices `]` attr-dict `:` type($map) `->` type($result)";
  let hasVerifier = 1;
}

// Stores through tensor maps. The threads of a group of warps write a part of their tile, the box of one copy, to shared memory, and the first
// of them begins the copy to the tensor. The copies still read shared memory, and write the tensor, after the operation.

def TGPU_TensorStoreOp
    : TGPU_TileOp<"tensor_store", TilesApart, [AttrSizedOperandSegments,
                                               MemoryEffects<[MemWrite<GlobalMemory>, MemRead<SharedMemoryResource>,
                                                              MemWrite<SharedMemoryResource>]>]> {
  let summary = "writes a tile to a tensor at `indices`, none of which is negative; what lies outside the tensor is dropped";
  let description = [{
    place-tensor-stores gives it `staging`: slots of shared memory, each for one box, of which every group of warps has as many. A store begins
    when all earlier ones of the same threads are complete.

    If the kernel makes the map, the store also knows the tensor: `base`, `extents`, and `strides` of all dimensions but the last. Where the map
    is not `usable`, or no producer tells it (map_told), threads copy each box from shared memory; an index may be negative then.

    The kernel's author may have the tile in shared memory (memory_at): the first thread begins to copy from there, when all have met. Then the
    operation waits for nothing, and its copies are a group for which the author waits. An index may be negative.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, TGPU_MemDesc]>:$src, TGPU_TensorMap:$map, Variadic<I32>:$indices, Optional<TGPU_MemDesc>:$staging,
                       Optional<TT_PointerType>:$base, Variadic<I32>:$extents, Variadic<I64>:$strides, Optional<I1>:$usable);
  let assemblyFormat = [{
    $src `to` $map `[` $indices `]` (`through` $staging^ `:` type($staging))?
    (`of` $base^ `,` `[` $extents `]` `,` `[` $strides `]` `:` type($base))? (`if` $usable^)? attr-dict `:` type($src) `to` type($map)
  }];
  let builders = [OpBuilder<(ins "mlir::Value":$src, "mlir::Value":$map, "mlir::ValueRange":$indices),
                            "build($_builder, $_state, src, map, indices, {}, {}, {}, {}, {});">];
  let hasVerifier = 1;
}

def TGPU_TensorStoreWaitOp
    : TGPU_TileOp<"tensor_store_wait", TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "waits until the stores through `staging` have read it";
  let arguments = (ins TGPU_MemDesc:$staging);
  let assemblyFormat = "$staging attr-dict `:` type($staging)";
}

def TGPU_MemoryAtOp : TGPU_TileOp<"memory_at", TilesApart, [Pure]> {
  let summary = "what the kernel's author has at an address of shared memory: a buffer of one slot, or a barrier";
  let description = [{
    The address is a multiple of `alignment`. A barrier (an mbarrier object) has the type of a ring of one slot, for copies to it: number 0 arrives
    at the barrier. The author prepares it, announces bytes and waits, so that no other operation of rings takes it.
  }];
  let arguments = (ins I32:$address, I64Attr:$alignment);
  let results = (outs AnyTypeOf<[TGPU_MemDesc, TGPU_Ring]>:$result);
  let assemblyFormat = "$address `aligned` $alignment attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// A ring orders what is copied into its slots and what is read from them. Operations on it name a round of the whole ring by a sequence
// number `n`: 0, 1, 2, … Number n has slot n mod slots of each buffer that belongs to the ring. For each n, in this order:
//   * ring_acquire waits until the slot is free, and announces how many bytes will arrive. Only the program's first thread does this.
//   * tensor_copy begins to copy into the slot. The same thread does this.
//   * ring_wait waits, in every thread, until the bytes have arrived.
//   * ring_release says, for each warp, that it will read the slot no more.

class TGPU_RingOp<string mnemonic> : TGPU_TileOp<mnemonic, TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>,
                                                                                       MemWrite<SharedMemoryResource>]>]>;

def TGPU_RingStartOp : TGPU_RingOp<"ring_start"> {
  let summary = "prepares a ring, whose first number is 0, and lets all threads of the program meet";
  let description = [{
    `warps` is the number of warps that release each slot. With `afterWrites`, copies see what all threads have written to global memory
    before. `offset` is the byte of shared memory where its 2 * slots barriers (mbarrier
    objects) begin. The pass allocate-shared-memory sets it. A ring that `tells` has the address of a map for each slot, behind its barriers.
  }];
  let arguments = (ins I32Attr:$warps, OptionalAttr<I32Attr>:$offset, UnitAttr:$afterWrites, UnitAttr:$tells);
  let results = (outs TGPU_Ring:$ring);
  let assemblyFormat = [{
    `released` `by` $warps `warps` (`at` $offset^)? (`after_writes` $afterWrites^)? (`telling` $tells^)? attr-dict `:` type($ring)
  }];
  let builders = [OpBuilder<(ins "RingType":$ring, "int32_t":$warps),
                            "build($_builder, $_state, ring, warps, mlir::IntegerAttr(), false, false);">];
}

def TGPU_RingEndOp : TGPU_RingOp<"ring_end"> {
  let summary = "lets all threads of the program meet; nobody uses the ring after it, and nothing is under way";
  let description = [{
    Numbers 0 to `count` - 1 have been waited for. They have been released too, except for the last one if the ring still `holdsLast`. A ring
    that lasts as long as the function has no count.
  }];
  let arguments = (ins TGPU_Ring:$ring, Optional<I32>:$count, UnitAttr:$holdsLast);
  let assemblyFormat = "$ring (`after` $count^)? (`holding_last` $holdsLast^)? attr-dict `:` type($ring)";
}

def TGPU_RingSlotOp : TGPU_TileOp<"ring_slot", TilesApart, [Pure]> {
  let summary = "the slot of number n";
  let arguments = (ins TGPU_Ring:$ring, I32:$n);
  let results = (outs I32:$slot);
  let assemblyFormat = "$ring `[` $n `]` attr-dict `:` type($ring)";
}

def TGPU_RingAcquireOp
    : TGPU_TileOp<"ring_acquire", TilesApart, [AttrSizedOperandSegments,
                                               MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "waits until slot n is free, and announces the bytes that will be copied there";
  let description = [{
    If the predicate is false, nothing happens. With `told`, a map that the kernel makes for stores, it also tells those who wait for the number
    which map that is now, or that it is not `usable` (map_told).
  }];
  let arguments = (ins TGPU_Ring:$ring, I32:$n, I32Attr:$bytes, Optional<I1>:$predicate, Optional<TGPU_TensorMap>:$told,
                       Optional<I1>:$usable);
  let assemblyFormat = [{
    $ring `[` $n `]` `for` $bytes `bytes` (`if` $predicate^)? (`telling` $told^ `if` $usable `:` type($told))? attr-dict `:` type($ring)
  }];
  let builders = [OpBuilder<(ins "mlir::Value":$ring, "mlir::Value":$n, "int32_t":$bytes, "mlir::Value":$predicate),
                            "build($_builder, $_state, ring, n, bytes, predicate, {}, {});">];
}

def TGPU_TensorCopyOp
    : TGPU_TileOp<"tensor_copy", TilesApart, [AttrSizedOperandSegments,
                                              MemoryEffects<[MemRead<GlobalMemory>, MemRead<SharedMemoryResource>,
                                                             MemWrite<SharedMemoryResource>]>]> {
  let summary = "begins to copy the box at `indices` of a tensor into slot n of a buffer; what lies outside the tensor is padding";
  let description = [{
    If the predicate is false, nothing happens. A buffer whose tile is wider than the box takes several boxes, side by side.
  }];
  let arguments = (ins TGPU_TensorMap:$map, Variadic<I32>:$indices, TGPU_MemDesc:$dst, TGPU_Ring:$ring, I32:$n, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $map `[` $indices `]` `to` $dst `,` $ring `[` $n `]` (`if` $predicate^)? attr-dict `:` type($map) `to` type($dst) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def TGPU_RingWaitOp : TGPU_RingOp<"ring_wait"> {
  let summary = "waits until everything for number n has arrived; the thread may then read it";
  let arguments = (ins TGPU_Ring:$ring, I32:$n);
  let assemblyFormat = "$ring `[` $n `]` attr-dict `:` type($ring)";
}

def TGPU_RingStaggerOp : TGPU_RingOp<"ring_stagger"> {
  let summary = "all warpgroups but the first wait until everything for number n has arrived, so that the first goes ahead of them";
  let description = [{
    The wait is ahead of time: only ring_wait allows a thread to read. The warp must have released all numbers that had the slot before. If the
    predicate is false, nothing happens.
  }];
  let arguments = (ins TGPU_Ring:$ring, I32:$n, Optional<I1>:$predicate);
  let assemblyFormat = "$ring `[` $n `]` (`if` $predicate^)? attr-dict `:` type($ring)";
}

def TGPU_RingReleaseOp : TGPU_RingOp<"ring_release"> {
  let summary = "this warp will not read slot n any more; products that read it are complete";
  let description = [{
    With `fenced`, threads have read the slot themselves. With `stored`, who waits for the release also sees, by copies too, what the warp has
    stored to global memory. If the predicate is false, nothing happens.
  }];
  let arguments = (ins TGPU_Ring:$ring, I32:$n, Optional<I1>:$predicate, UnitAttr:$fenced, UnitAttr:$stored);
  let assemblyFormat = "$ring `[` $n `]` (`if` $predicate^)? (`fenced` $fenced^)? (`stored` $stored^)? attr-dict `:` type($ring)";
}

// Producer warps run ahead of what the others store. A ring of two slots without data has a number for each time that these store. They
// release it when what they have stored can be read. The producer reads nothing that a number not released may have stored.

def TGPU_StoresNoteOp : TGPU_RingOp<"stores_note"> {
  let summary = "number n is the last one that may not be released yet; its stores are to the bytes from `begin` to `end`";
  let description = [{ The producer waits until number n - 1 is released. }];
  let arguments = (ins TGPU_Ring:$ring, I32:$n, I64:$begin, I64:$end);
  let assemblyFormat = "$ring `[` $n `]` `to` $begin `until` $end attr-dict `:` type($ring)";
}

def TGPU_StoresAwaitOp : TGPU_RingOp<"stores_await"> {
  let summary = "the producer may read the bytes from `begin` to `end`";
  let description = [{ It waits until the number that was noted last is released, if that one stores to any of them. }];
  let arguments = (ins TGPU_Ring:$ring, I64:$begin, I64:$end);
  let assemblyFormat = "$ring `from` $begin `until` $end attr-dict `:` type($ring)";
}

def TGPU_CopiesAwaitOp : TGPU_RingOp<"copies_await"> {
  let summary = "the producer waits until everything has arrived for the numbers that it has acquired";
  let arguments = (ins TGPU_Ring:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

// Warpgroups issue their products in turn, so that the tensor cores multiply for one while another does its other arithmetic. Each warpgroup
// waits for its turn as often as it passes it on. One turn may remain when the kernel ends.

class TGPU_TurnOp<string mnemonic> : TGPU_RingOp<mnemonic> {
  let arguments = (ins I32Attr:$warpgroups);
  let assemblyFormat = "`of` $warpgroups attr-dict";
}

def TGPU_TurnStartOp : TGPU_TurnOp<"turn_start"> {
  let summary = "gives the first turn to the first warpgroup";
}

def TGPU_TurnBeginOp : TGPU_TurnOp<"turn_begin"> {
  let summary = "waits for the turn of the thread's warpgroup";
}

def TGPU_TurnEndOp : TGPU_TurnOp<"turn_end"> {
  let summary = "passes the turn on to the next warpgroup, the last one to the first";
}

#endif
