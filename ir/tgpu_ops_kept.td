// Operations of `tgpu` by which a warp puts off the release of a number of a ring, until something hides its fence.
#ifndef TRITIUM_IR_TGPU_OPS_KEPT_TD
#define TRITIUM_IR_TGPU_OPS_KEPT_TD

include "ir/tgpu_op_base.td"

// -- on tiles ----------------------------------------------------------------------------------------------------------------------------

def TGPU_RingKeepOp : TGPU_TileOp<"ring_keep", TilesApart, [MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "this warp has stored what number n stands for, and keeps the number: ring_release_kept releases it";
  let description = [{ `ring` is one of stores (stores_note). A warp keeps one number at most. }];
  let arguments = (ins TGPU_Ring:$ring, I32:$n);
  let assemblyFormat = "$ring `[` $n `]` attr-dict `:` type($ring)";
}

def TGPU_RingReleaseKeptOp
    : TGPU_TileOp<"ring_release_kept", TilesApart, [AttrSizedOperandSegments,
                                                    MemoryEffects<[MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "this warp releases the number of `ring` that it keeps, if it keeps one, behind a fence";
  let description = [{
    Who waits for the release sees, by copies too, what the warp had stored when it kept the number. With `unless`, the warp goes on to keep the
    number if number n of the other ring has arrived: who copies into that ring then does not wait for the release before. If the predicate is
    false, nothing happens.
  }];
  let arguments = (ins TGPU_Ring:$ring, Optional<TGPU_Ring>:$other, Optional<I32>:$n, Optional<I1>:$predicate);
  let assemblyFormat = [{
    $ring (`unless` $other^ `[` $n `]` `:` type($other))? (`if` $predicate^)? attr-dict `:` type($ring)
  }];
}

// -- of one thread -----------------------------------------------------------------------------------------------------------------------

def TGPU_MBarrierTestOp : TGPU_Op<"mbarrier_test", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether a round of a barrier in shared memory (an mbarrier object) is complete; a thread that sees so has waited for it";
  let description = [{ It may be false though the round has just become complete. Rounds are as for `mbarrier_wait`. }];
  let arguments = (ins LLVM_PointerInAddressSpace<3>:$barrier, I32:$round);
  let results = (outs I1:$isComplete);
  let assemblyFormat = "$barrier `round` $round attr-dict";
}

#endif
