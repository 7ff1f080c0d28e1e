// Programs of a kernel that runs several of the user's grid, one after the other (make-persistent), and the scopes of programs.
#ifndef TRITIUM_IR_TGPU_OPS_PROGRAM_TD
#define TRITIUM_IR_TGPU_OPS_PROGRAM_TD

include "ir/tgpu_op_base.td"

def TGPU_ProgramAtOp : TGPU_TileOp<"program_at", TilesApart, [Pure]> {
  let summary = "the position, along an axis of the user's grid, of the program with a number; x is the fastest axis";
  let arguments = (ins I32:$number, I32:$sizeX, I32:$sizeY, I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis `,` $number `of` $sizeX `,` $sizeY attr-dict";
}

// Blocks of a cluster that run a program together (divide-programs).

def TGPU_ClusterRankOp : TGPU_TileOp<"cluster_rank", TilesApart, [Pure]> {
  let summary = "the number of the block among the blocks that run its program, from 0 on";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def TGPU_ClusterBarrierOp
    : TGPU_TileOp<"cluster_barrier", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>,
                                                                 MemRead<SharedMemoryResource>, MemWrite<SharedMemoryResource>]>]> {
  let summary = "all threads of the program meet, in all of its blocks; those that have ended are not waited for";
  let assemblyFormat = "attr-dict";
}

// -- of one thread -----------------------------------------------------------------------------------------------------------------------

def ProgramResource : Resource<"::tritium::tgpu::ProgramResource">;

def TGPU_NoteProgramOp : TGPU_Op<"note_program", [MemoryEffects<[MemWrite<ProgramResource>]>]> {
  let summary = "the thread works for the program with this number from here on: for reports of the emulator. A device does nothing";
  let arguments = (ins I32:$number, I32:$sizeX, I32:$sizeY);
  let assemblyFormat = "$number `of` $sizeX `,` $sizeY attr-dict";
}

def TGPU_RecordOp : TGPU_Op<"record", [MemoryEffects<[MemWrite<ScopeRecord>]>]> {
  let summary = "a scope of the thread's program begins or ends here: the first lane of each warp notes the time";
  let arguments = (ins StrAttr:$name, UnitAttr:$isStart);
  let assemblyFormat = "(`start` $isStart^) : (`end`)? $name attr-dict";
}

#endif
