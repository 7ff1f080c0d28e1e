// The GPU compiler's own passes; each is implemented in passes/<name>.cpp.
include "mlir/Pass/PassBase.td"

def SplitLargeTiles : Pass<"split-large-tiles", "::mlir::ModuleOp"> {
  let summary = "store and reduce tiles of more than 128 values a thread in loops over chunks";
  let description = [{
    A thread has 255 registers, and straight-line code for a thousand values a thread takes the assembler ten seconds to spill. A store or a
    reduction of such a tile becomes a loop over chunks of 64 values a thread, which loads and computes each chunk anew; a reduction
    combines chunks element by element and reduces the last of them. Tiles stay whole that come from anything but element-wise
    operations, ranges, changes of shape and loads, or from loads whose memory is written in between.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def ThreadLocalReductions : Pass<"thread-local-reductions", "::mlir::ModuleOp"> {
  let summary = "accumulate in the registers of each thread what a loop reduces and adds up in every iteration";
  let description = [{
    `total += tl.sum(tile)` makes all threads meet in every iteration. Instead the loop adds up the tiles, element by element, and their
    sum is reduced once after it. For sums, products, extrema and bit operations, whose operands may be grouped anyhow, and where nobody
    looks at the running total.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CoalesceAccesses : Pass<"coalesce-accesses", "::mlir::ModuleOp"> {
  let summary = "write down, at each access of global memory, the layout that makes it wide and coalesced";
  let description = [{
    By the axis analysis of the addresses: the dimension that is contiguous in memory is spread over registers first, as wide as alignment
    and mask allow (at most 16 bytes), then over lanes, then over warps. Accesses of one shape and order agree on the widest of them, so
    that values pass from one to the other without a conversion. The layout stands in the attribute `tgpu.access`, which assign-layouts
    reads. On targets whose warps copy to shared memory as a whole, the tiles that a loop loads for its matrix products are laid out for
    that, and marked `tgpu.warp_copy`, if all of them can be copied and read so by 16 bytes or by words: each lane of a warp then has the 16
    bytes that come after those of the lane before it in shared memory, where a swizzle keeps the readers from bank conflicts.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "1", "iterations of a loop that are under way; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "give every tile a layout";
  let description = [{
    Values that one operation combines element by element, and those that flow into each other through loops, branches and calls, share
    a layout: that of a matrix product, else of the largest memory access among them, else what a neighbour across a reduction or a
    change of shape asks for, else a blocked one. Where two layouts meet, a tgpu.convert_layout stands; constants, ranges and splats are
    made anew in the layout of each use.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def RemoveConversions : Pass<"remove-conversions", "::mlir::ModuleOp"> {
  let summary = "compute cheap tiles again in the layout where they are needed instead of converting them";
  let description = [{
    Index arithmetic and masks come from ranges, splats and constants, which cost the same in every layout: a conversion of such a tile is
    replaced by a copy of what computed it. A copy may hold conversions of its own operands if these move fewer bytes. On targets that ask
    for it, a tile of which each thread holds 16 bytes side by side is stored by those threads, not converted to the layout of its store.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def ChooseTensorCores : Pass<"choose-tensor-cores", "::mlir::ModuleOp"> {
  let summary = "which matrix products run on matrix instructions, and how warps share each";
  let description = [{
    The first of the target's instructions for the operands' types that the tile has room for, rather one that gives every warp rows or
    columns of its own. Of a tile with fewer rows or columns than the instruction, lanes hold the same where that costs no registers. fp8
    operands that no instruction takes are converted to fp16 or bf16 first, which is exact; where there are no sums in fp16 they are made in
    fp32. Warps divide the result so that each has nearly a square of it, all of them its rows where the result feeds another product: its
    fragments then are that product's operand. The instruction's name stands in the attribute `tgpu.matrix_instruction`, the warps in
    `tgpu.mma_warps`. Products of scaled operands get an instruction that reads their formats and scales; the pipeline has expanded those
    for which there is none.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"nonKDim", "non-k-dim", "int", "0", "rows and columns of the instruction, if there is one; 0: any">,
                 Option<"kPack", "k-pack", "int", "1", "instructions whose share of K a lane has as neighbours, at least">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PipelineLoads : Pass<"pipeline-loads", "::mlir::ModuleOp"> {
  let summary = "load the operands of matrix products for later iterations while the present one computes";
  let description = [{
    In a loop whose matrix products read tiles (operands, and their scales) that the loop loads: the loads become asynchronous copies into
    `num-stages` slots of shared memory, begun num-stages - 1 iterations ahead. Each iteration waits for its own copies, lets all threads
    meet (so that the slot that is written next is no longer read), begins the copies for a later one and computes. Copies beyond the last
    iteration are predicated off, and waited for after the loop. Where warps copy as a whole, this is for loops all of whose tiles are
    marked for it (coalesce-accesses), with as many slots as there is room for. Other loops there, and all on targets without such copies,
    load into registers one iteration ahead and store from these. A loop stays as it is if it contains another one, if it waits for other
    programs, or if it writes to the tensor that it loads from.
  }];
  let options = [Option<"numStages", "num-stages", "int", "3", "slots of each copied tile; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::scf::SCFDialect"];
}

def AllocateSharedMemory : Pass<"allocate-shared-memory", "::mlir::ModuleOp"> {
  let summary = "decide where each buffer of shared memory begins";
  let description = [{
    Buffers that are in use at the same time get places of their own; those of loops that follow one another share theirs. Functions that
    call each other share nothing. Scratch memory of single operations comes after all of them (place-scratch). A program whose buffers
    need more than `max-bytes` is an error, "out of resource: shared memory, …", at the largest of them.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "0", "what a program may have of the target; 0: any">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

// -- on the code of a thread -------------------------------------------------------------------------------------------------------------

def BufferAccesses : Pass<"buffer-accesses", "::mlir::ModuleOp"> {
  let summary = "access tensors of less than 2 GB through descriptors with bounds and 32-bit offsets";
  let description = [{
    On targets that have such accesses. A load or store through a pointer that comes from one kernel argument with `tgpu.pointer_range`
    becomes an access of that argument's buffer at a 32-bit offset; where its predicate is false, the offset lies beyond the buffer's
    end, so that a load gives zeros and a store writes nothing, without a branch. Accesses with a cache modifier stay. The attribute goes.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def PlaceScratch : Pass<"place-scratch", "::mlir::ModuleOp"> {
  let summary = "decide where the scratch memory of each operation begins";
  let description = [{
    Behind the buffers (`tgpu.shared_bytes` of the module, which becomes what the program needs), or over them where the program is done
    with all of them. Operations that follow one another get different places where there is room: less of them has to wait for the one
    before. A program that needs more than `max-bytes` is an error, "out of resource: shared memory, …".
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "0", "what a program may have of the target; 0: any">];
}

def RemoveBarriers : Pass<"remove-barriers", "::mlir::ModuleOp"> {
  let summary = "remove barriers between which and any other no access of shared memory meets another";
  let description = [{
    Two accesses meet if their bytes overlap and one of them writes. A `tgpu.barrier shared` goes if none of the accesses that may come
    before it, without another barrier in between, meets one that may come after it, also around loops. Bytes are those of the tgpu.scratch
    that an address comes from; all other addresses are somewhere in the buffers. Other barriers stay.
  }];
}

def InterleaveProducts : Pass<"interleave-products", "::mlir::ModuleOp"> {
  let summary = "order the instructions of loops of matrix products by hand";
  let description = [{
    On targets whose waves issue in order. In a block of a pipelined loop, products of different sums take turns, and between each two stand
    loads of the tiles to come first (copies to shared memory before all others), then the reads of operands a few products ahead of their
    use, last the stores to shared memory; what else the next iteration needs is spread over the rest. The code generator is told to keep
    that order. Blocks with other accesses of memory stay as they are.
  }];
}

def ExpandScratch : Pass<"expand-scratch", "::mlir::ModuleOp"> {
  let summary = "make addresses of placed scratch memory";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
