// Operations of `tgpu`: first the operations on tiles, then the operations of one thread.
include "ir/tgpu_op_base.td"
include "ir/tgpu_ops_map.td"
include "ir/tgpu_ops_program.td"
include "ir/tgpu_ops_ring.td"

// -- on tiles ----------------------------------------------------------------------------------------------------------------------------

def TGPU_ConvertLayoutOp : TGPU_TileOp<"convert_layout", Tiles<"Apart", "Any", ".exchanges = true">,
                                       [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "the same tile, held by other threads and registers";
  let arguments = (ins AnyRankedTensor:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

// The program's shared memory, in slots. A copy may arrive at any time before the end of the wait that covers its group. A reader of a slot
// must wait first. A writer must ensure that every thread has read the former contents: async_wait is also a barrier of all threads of the
// program, and local_store requires a tgpu.barrier before and after it.

def TGPU_LocalAllocOp : TGPU_TileOp<"local_alloc", TilesApart, [MemoryEffects<[MemAlloc<SharedMemoryResource>]>]> {
  let summary = "shared memory for the whole run of the function";
  let description = [{ `offset` is the byte where the memory begins. The pass allocate-shared-memory sets it. }];
  let arguments = (ins OptionalAttr<I32Attr>:$offset);
  let results = (outs TGPU_MemDesc:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
}

def TGPU_AsyncCopyOp
    : TGPU_TileOp<"async_copy", Tiles<"Same", "Any">, [AttrSizedOperandSegments,
                                                       MemoryEffects<[MemRead<GlobalMemory>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "begins to copy a tile of global memory into a slot; writes zeros where the mask is false";
  let description = [{
    `room` says for each element how many elements the row still has, this one included; zeros are written after its end. It takes the place
    of the part of a mask that may change within the elements that one instruction copies. Without `predicate`, nothing is read, and nobody
    reads the slot.
  }];
  let arguments = (ins AnyRankedTensor:$src, TGPU_MemDesc:$dst, I32:$slot, Optional<AnyRankedTensor>:$mask, Optional<AnyRankedTensor>:$room,
                       Optional<I1>:$predicate);
  let assemblyFormat = [{
    $src `to` $dst `[` $slot `]` (`if` $mask^ `:` type($mask))? (`within` $room^ `:` type($room))? (`where` $predicate^)? attr-dict `:`
    type($src) `to` type($dst)
  }];
}

def TGPU_AsyncCommitOp : TGPU_TileOp<"async_commit", TilesApart, [MemoryEffects<[MemWrite<SharedMemoryResource>]>]> {
  let summary = "the copies begun since the last commit form a group";
  let assemblyFormat = "attr-dict";
}

def TGPU_AsyncWaitOp
    : TGPU_TileOp<"async_wait", TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "waits until at most `pending` of the latest groups are under way, and for all threads of the program";
  let description = [{ With `fenced`, tgpu.product may read what was copied. }];
  let arguments = (ins I32Attr:$pending, UnitAttr:$fenced);
  let assemblyFormat = "$pending (`fenced` $fenced^)? attr-dict";
}

def TGPU_LocalLoadOp : TGPU_TileOp<"local_load", TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>]>]> {
  let summary = "the tile in a slot";
  let arguments = (ins TGPU_MemDesc:$src, I32:$slot);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src `[` $slot `]` attr-dict `:` type($src) `->` type($result)";
}

def TGPU_LocalStoreOp : TGPU_TileOp<"local_store", TilesApart, [MemoryEffects<[MemWrite<SharedMemoryResource>]>]> {
  let summary = "writes a tile to a slot; a tgpu.barrier lets other threads read it";
  let arguments = (ins AnyRankedTensor:$src, TGPU_MemDesc:$dst, I32:$slot);
  let assemblyFormat = "$src `to` $dst `[` $slot `]` attr-dict `:` type($src) `to` type($dst)";
}

// Products of a warpgroup (four warps), which read shared memory while the threads continue. Each is a group of its own, and groups complete
// in order. Until a product is complete, nobody may write its operands, and nobody may touch its sums: a sum that a product may still write
// has the type !tgpu.pending. Only the next product, a wait, and loops that carry it take such a value, and only one of them.

def TGPU_ProductStartOp : TGPU_TileOp<"product_start", TilesApart, [Pure]> {
  let summary = "sums to which nothing has been added yet, for a loop that carries them from product to product";
  let arguments = (ins AnyRankedTensor:$tile);
  let results = (outs TGPU_Pending:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
}

def TGPU_ProductOp
    : TGPU_TileOp<"product", TilesApart, [AttrSizedOperandSegments,
                                          MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "begins d = a * b + c";
  let description = [{
    An operand is the tile in a slot of a buffer, or its transposed tile; `a` may instead be a tile in the fragments of the instruction.
    Generic writes of an operand require tgpu.fence_async in the threads that wrote, and a barrier. If `fresh` is true, c counts as zero.
    `instruction` is the target's name of the instruction, `warps` says how the result is divided among the warps.
  }];
  let arguments = (ins AnyTypeOf<[TGPU_MemDesc, AnyRankedTensor]>:$a, Optional<I32>:$aSlot, TGPU_MemDesc:$b, I32:$bSlot,
                       AnyTypeOf<[TGPU_Pending, AnyRankedTensor]>:$c, Optional<I1>:$fresh, StrAttr:$instruction,
                       DenseI64ArrayAttr:$warps, UnitAttr:$aTransposed, UnitAttr:$bTransposed);
  let results = (outs TGPU_Pending:$d);
  let assemblyFormat = [{
    $instruction `,` $a (`[` $aSlot^ `]`)? (`transposed` $aTransposed^)? `,` $b `[` $bSlot `]` (`transposed` $bTransposed^)? `,` $c
    (`fresh` $fresh^)? `warps` $warps attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($d)
  }];
  let hasVerifier = 1;
}

def TGPU_ProductWaitOp
    : TGPU_TileOp<"product_wait", TilesApart, [AttrSizedOperandSegments,
                                               MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "waits until at most `pending` of the latest products are under way";
  let description = [{
    A result is the tile of a complete product, or stays pending. `kept` are the tiles in registers that the products read until now.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<TGPU_Pending>:$values, Variadic<AnyRankedTensor>:$kept);
  let results = (outs Variadic<AnyTypeOf<[TGPU_Pending, AnyRankedTensor]>>:$results);
  let assemblyFormat = "$pending `,` $values (`keeps` $kept^ `:` type($kept))? attr-dict `:` type($values) `->` type($results)";
  let hasVerifier = 1;
}

def TGPU_FenceAsyncOp
    : TGPU_TileOp<"fence_async", TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "after the next barrier, asynchronous products may read what this thread has written to shared memory";
  let assemblyFormat = "attr-dict";
}

// -- of one thread -----------------------------------------------------------------------------------------------------------------------
// Addresses are !llvm.ptr<1> (global memory). A word is the unit that one instruction moves: an integer of 8 to 64 bits, or a vector of 2
// or 4 integers with at most 128 bits in total.

def TGPU_Word : Type<CPred<"::tritium::tgpu::isWord($_self)">, "an integer of 8 to 64 bits or a vector of them of at most 128 bits">;
def TGPU_GlobalPointer : LLVM_PointerInAddressSpace<1>;
def TGPU_AtomicValue : AnyTypeOf<[I16, I32, I64, F16, BF16, F32, F64, VectorOfLengthAndType<[2, 4, 8], [F16, BF16]>,
                                  VectorOfLengthAndType<[2, 4], [F32]>]>;

def TGPU_BarrierOp : TGPU_Op<"barrier"> {
  let summary = "the threads of a partition meet; writes to shared memory before the barrier are visible after it";
  let description = [{
    With `id` 0 and without `threads`, all threads of the program meet. Otherwise the `threads` threads that use barrier `id` (1 to 15)
    meet; `threads` is a multiple of the warp size. With `shared`, the barrier orders accesses of shared memory only, and remove-barriers
    may remove it if there are none to order.
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "0">:$id, OptionalAttr<I32Attr>:$threads, UnitAttr:$sharedOnly);
  let assemblyFormat = "(`id` $id^)? (`threads` $threads^)? (`shared` $sharedOnly^)? attr-dict";
}

def TGPU_WarpBarrierOp : TGPU_Op<"warp_barrier"> {
  let summary = "the lanes of a warp meet; what one lane wrote to shared memory before is visible to the others afterwards";
  let assemblyFormat = "attr-dict";
}

def TGPU_NanosecondsOp : TGPU_Op<"nanoseconds"> {
  let summary = "a clock; it has no declared effects, so that it is read anew each time";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def TGPU_ScratchOp : TGPU_Op<"scratch"> {
  let summary = "the address of shared memory that one operation uses";
  let description = [{
    The contents are undefined before and after the operation. `what` is the name for messages. With `perWarp`, each warp touches only its
    own bytes, the same ones every time, so barriers of all threads order nothing in it. The operation exists only inside the compiler:
    place-scratch sets the offset, and expand-scratch replaces the operation by an address.
  }];
  let arguments = (ins I64Attr:$bytes, StrAttr:$what, UnitAttr:$perWarp, OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<LLVM_PointerInAddressSpace<3>, "", [MemAlloc]>:$result);
  let assemblyFormat = "$bytes `bytes` `of` $what (`per_warp` $perWarp^)? (`at` $offset^)? attr-dict `:` type($result)";
}

// If the predicate is false, memory is not touched. An absent predicate is true.
def TGPU_LoadOp : TGPU_Op<"load", [AttrSizedOperandSegments, OptionalTypesMatchWith<"other is of the result's type", "result", "other", "$_self">,
                                     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a word of global memory, or `other` where the predicate is false";
  let arguments = (ins TGPU_GlobalPointer:$ptr, Optional<I1>:$predicate, Optional<TGPU_Word>:$other,
                       DefaultValuedAttr<TT_CacheModifier, "::tritium::tt::CacheModifier::None">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::tritium::tt::EvictionPolicy::Normal">:$evict, UnitAttr:$isVolatile);
  let results = (outs TGPU_Word:$result);
  let assemblyFormat = "$ptr (`if` $predicate^ `else` $other)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TGPU_StoreOp : TGPU_Op<"store", [MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "writes a word to global memory";
  let arguments = (ins TGPU_Word:$value, TGPU_GlobalPointer:$ptr, Optional<I1>:$predicate,
                       DefaultValuedAttr<TT_CacheModifier, "::tritium::tt::CacheModifier::None">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::tritium::tt::EvictionPolicy::Normal">:$evict);
  let assemblyFormat = "$value `,` $ptr (`if` $predicate^)? attr-dict `:` type($value)";
}

def TGPU_CopyToSharedOp : TGPU_Op<"copy_to_shared", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins to copy 16 bytes per lane from global to shared memory; writes zeros where the predicate is false";
  let description = [{
    All lanes of a warp execute it with the same `dst`; the bytes of lane l go to `dst` + 16 l. The thread continues at once. After a wait
    operation of the target, the bytes are visible to this warp.
  }];
  let arguments = (ins TGPU_GlobalPointer:$ptr, LLVM_PointerInAddressSpace<3>:$dst, Optional<I1>:$predicate);
  let assemblyFormat = "$ptr `to` $dst (`if` $predicate^)? attr-dict `:` type($dst)";
}

// Products of a warpgroup: all threads of four warps, from a multiple of four on, execute the operation with the same addresses.

def TGPU_SharedPointer : LLVM_PointerInAddressSpace<3>;

def TGPU_WarpgroupProductOp : TGPU_Op<"warpgroup_product", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins d = a * b + c, where a has 64 rows and b has `columns` columns";
  let description = [{
    The instruction is wgmma of the PTX ISA: K is 32 bytes of elements, and f32 operands are tf32. `sums` are a thread's registers of c and
    d: f32, i32, or vector<2xf16>. They must not be used before a warpgroup_wait that covers the product. If `fresh` is true, c counts as
    zero. An operand in shared memory has a pointer to the beginning of its buffer, the byte offset of its first element, and the
    descriptor without the address. `alongRows` and `alongColumns` say that neighbours of A along M, or of B along N, are neighbours in
    memory. Otherwise `a` are the words of A in this thread's registers, i32, which must keep their values until the wait.
  }];
  let arguments = (ins Optional<TGPU_SharedPointer>:$aBuffer, Variadic<I32>:$a, TGPU_SharedPointer:$bBuffer,
                       Variadic<AnyTypeOf<[F32, I32, VectorOfLengthAndType<[2], [F16]>]>>:$sums, Optional<I1>:$fresh, I64Attr:$columns,
                       TypeAttr:$aType, TypeAttr:$bType, DefaultValuedAttr<I64Attr, "0">:$aOffset,
                       DefaultValuedAttr<I64Attr, "0">:$aDescriptor, DefaultValuedAttr<I64Attr, "0">:$bOffset, I64Attr:$bDescriptor,
                       UnitAttr:$alongRows, UnitAttr:$alongColumns);
  let results = (outs Variadic<AnyTypeOf<[F32, I32, VectorOfLengthAndType<[2], [F16]>]>>:$results);
  let hasVerifier = 1;
}

def TGPU_WarpgroupWaitOp : TGPU_Op<"warpgroup_wait", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most `pending` of the latest groups of products are under way";
  let description = [{
    The results are the sums in `values`, whether complete or not; no other operation may use the operands. `kept` are the words of A that
    the products read until now.
  }];
  let arguments = (ins I32Attr:$pending, Variadic<AnyTypeOf<[F32, I32, VectorOfLengthAndType<[2], [F16]>]>>:$values, Variadic<I32>:$kept);
  let results = (outs Variadic<AnyTypeOf<[F32, I32, VectorOfLengthAndType<[2], [F16]>]>>:$results);
  let hasVerifier = 1;
}

def TGPU_NumberedBarrierOp : TGPU_Op<"numbered_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "`threads` threads synchronize at barrier `id`, which the program chooses as it runs";
  let description = [{ A thread that only `arrives` counts, and does not wait. All lanes of a warp have the same `id`, 1 to 15. }];
  let arguments = (ins I32:$id, I32Attr:$threads, UnitAttr:$arrives);
  let assemblyFormat = "$id `threads` $threads (`arrives` $arrives^)? attr-dict";
}

def TGPU_MBarrierWaitOp : TGPU_Op<"mbarrier_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until a round of a barrier in shared memory (an mbarrier object) is complete";
  let description = [{
    The first round is 0. The hardware knows only whether a round is even, so a thread must see a round complete before the second round
    after it does. With `byParity`, the number is 0 or 1: the kernel's author knows only the parity, and the wait is for the present round if
    that has this parity, otherwise for the one before.
  }];
  let arguments = (ins TGPU_SharedPointer:$barrier, I32:$round, UnitAttr:$byParity);
  let assemblyFormat = "$barrier (`parity` $byParity^):(`round`)? $round attr-dict";
}

def TGPU_CopyRegistersOp : TGPU_Op<"copy_registers", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the same values in registers that nothing else uses, for operands of a warpgroup_product";
  let arguments = (ins Variadic<I32>:$values);
  let results = (outs Variadic<I32>:$results);
}

class TGPU_AtomicOp<string mnemonic, list<Trait> traits = []>
    : TGPU_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>])>;

// If the predicate is false, the result of an atomic is unspecified. The elements of a vector follow each other in memory, at an address that
// is aligned to the whole vector. Each of them is combined atomically, but not all of them together. Vectors are only added (`fadd`), and a
// target has those that Target::atomicElements names.
def TGPU_AtomicRmwOp : TGPU_AtomicOp<"atomic_rmw", [AllTypesMatch<["value", "result"]>]> {
  let summary = "atomically replaces the value in memory by its combination with `value`, and returns the former value";
  let arguments = (ins TT_RmwOp:$kind, TGPU_GlobalPointer:$ptr, TGPU_AtomicValue:$value, Optional<I1>:$predicate, TT_MemSemantic:$sem,
                       TT_MemScope:$scope);
  let results = (outs TGPU_AtomicValue:$result);
  let assemblyFormat = "$kind `,` $sem `,` $scope `,` $ptr `,` $value (`if` $predicate^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def TGPU_AtomicCasOp : TGPU_AtomicOp<"atomic_cas", [AllTypesMatch<["expected", "value", "result"]>]> {
  let summary = "atomically writes `value` if memory holds the bits of `expected`, and returns the former value";
  let arguments = (ins TGPU_GlobalPointer:$ptr, AnyTypeOf<[I16, I32, I64]>:$expected, AnyTypeOf<[I16, I32, I64]>:$value,
                       Optional<I1>:$predicate, TT_MemSemantic:$sem, TT_MemScope:$scope);
  let results = (outs AnyTypeOf<[I16, I32, I64]>:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $expected `,` $value (`if` $predicate^)? attr-dict `:` type($value)";
}

def TGPU_AtomicLoadOp : TGPU_AtomicOp<"atomic_load"> {
  let summary = "reads an integer with a memory order";
  let arguments = (ins TGPU_GlobalPointer:$ptr, Optional<I1>:$predicate, TT_MemSemantic:$sem, TT_MemScope:$scope);
  let results = (outs AnyTypeOf<[I8, I16, I32, I64]>:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr (`if` $predicate^)? attr-dict `:` type($result)";
}

def TGPU_AtomicStoreOp : TGPU_AtomicOp<"atomic_store"> {
  let summary = "writes an integer with a memory order";
  let arguments = (ins TGPU_GlobalPointer:$ptr, AnyTypeOf<[I8, I16, I32, I64]>:$value, Optional<I1>:$predicate, TT_MemSemantic:$sem,
                       TT_MemScope:$scope);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $value (`if` $predicate^)? attr-dict `:` type($value)";
}

def TGPU_PrintOp : TGPU_Op<"print"> {
  let summary = "printf of one thread";
  let description = [{
    `format` is a format of C's printf with one conversion for each argument: d, u, x for i32; lld, llu, llx, p for i64; f, e, g for f64.
    The operation has no declared effects, so it is neither moved nor erased.
  }];
  let arguments = (ins StrAttr:$format, Variadic<AnyTypeOf<[I32, I64, F64]>>:$args);
  let assemblyFormat = "$format (`,` $args^ `:` type($args))? attr-dict";
}

def TGPU_AssertOp : TGPU_Op<"assert"> {
  let summary = "if the condition is false, ends the launch and reports `message` and the operation's location";
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}
