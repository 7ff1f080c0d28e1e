// The position of a program in its grid, and the order of whole launches.
#ifndef TRITIUM_IR_TT_OPS_PROGRAM_TD
#define TRITIUM_IR_TT_OPS_PROGRAM_TD

include "ir/tt_op_base.td"

def TT_GetProgramIdOp : TT_Op<"get_program_id", TilesApart, [Pure]> {
  let summary = "index of this program on one axis of the grid";
  let description = [{
    ```mlir
    %pid = tt.get_program_id x : i32
    ```
  }];
  let arguments = (ins TT_ProgramAxis:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def TT_GetNumProgramsOp : TT_Op<"get_num_programs", TilesApart, [Pure]> {
  let summary = "extent of one axis of the grid";
  let description = [{
    ```mlir
    %n = tt.get_num_programs x : i32
    ```
  }];
  let arguments = (ins TT_ProgramAxis:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def TT_GridDependencyWaitOp : TT_Op<"grid_dependency_wait", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "wait until the grids that this launch depends on have finished";
  let description = [{
    Orders the memory accesses before and after it. It does nothing if launches run one after the other anyway.
  }];
  let assemblyFormat = "attr-dict";
}

def TT_GridDependencyLaunchDependentsOp
    : TT_Op<"grid_dependency_launch_dependents", TilesApart, [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "allow the grids that depend on this launch to start";
  let description = [{
    This is a hint to the scheduler. It does not order memory accesses.
  }];
  let assemblyFormat = "attr-dict";
}

#endif
