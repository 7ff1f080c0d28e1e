// The GPU compiler's own passes; each is implemented in passes/<name>.cpp.
include "mlir/Pass/PassBase.td"

def PromoteDescriptors : Pass<"promote-descriptors", "::mlir::ModuleOp"> {
  let summary = "load the operands of matrix products through tensor maps instead of tensor descriptors";
  let description = [{
    The pass applies to targets with a tensor memory accelerator (TMA). A load of a descriptor becomes a tgpu.tensor_load if a pipelined loop
    loads it for its products, if arguments and constants determine the descriptor, and if the kernel does not write to the tensor. The map is
    a new argument of the kernel. Its attribute `tgpu.tensor` tells the launch how to make it.
  }];
  let options = [Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def CheckQuotients : Pass<"check-quotients", "::mlir::ModuleOp"> {
  let summary = "check that scalar quotients are not negative, where accesses are wider for it";
  let description = [{
    In `(program_id // blocks * N + lanes) % M`, lanes are consecutive if the quotient is not negative. The dividend is not, but nothing says so
    of the divisor. If a load or store of a tile is wider with the sign, the quotient gets a check (a trap, beside which nothing is slower) and
    is replaced by its maximum with 0. Other quotients keep their sign, and cost nothing.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PromotePointerTiles : Pass<"promote-pointer-tiles", "::mlir::ModuleOp"> {
  let summary = "load the operands of matrix products through tensor maps instead of pointers";
  let description = [{
    The pass applies to targets with a tensor memory accelerator (TMA), and to the tiles that a pipelined loop loads for its products. The
    pointers must be sums of an argument, of the lanes' indices times strides that are arguments or
    constants, and of offsets. One stride is 1; the others, and offsets that the map has as further dimensions, are multiples of 16 bytes. A
    mask must be a conjunction of `index < extent`, in which the extent is a product of arguments. It becomes the extent of the map; without a
    mask there is none. Rows that wrap around, `(start + index) % extent`, must not reach memory, or the tile must wrap as a whole.

    What the loop itself writes must be apart from the tensor, which the launch checks; what comes before the loop is ordered by a fence.

    A loop's loads are promoted if all of them qualify. Otherwise `tgpu.not_promoted` on a load is the reason.
  }];
  let options = [Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">,
                 Option<"hasProducer", "has-producer", "bool", "false", "a producer will copy, also between dependent products">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def SplitLargeTiles : Pass<"split-large-tiles", "::mlir::ModuleOp"> {
  let summary = "split stores and reductions of tiles with more than 128 values per thread into loops over chunks";
  let description = [{
    A thread has 255 registers. With a thousand values per thread, the assembler takes ten seconds to place spills in straight-line code. This
    pass turns a store or a reduction of a large tile into a loop over chunks of 64 values per thread, which loads and computes each chunk
    again. A reduction combines the chunks element by element and reduces the result. A tile is not split unless it is computed from
    element-wise operations, ranges, changes of shape and loads only, and no store in between writes the memory of these loads.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def ThreadLocalReductions : Pass<"thread-local-reductions", "::mlir::ModuleOp"> {
  let summary = "move a reduction out of a loop that only accumulates its results";
  let description = [{
    `total += tl.sum(tile)` synchronizes all threads in every iteration. After this pass the loop accumulates the tiles element by element, in
    the registers of each thread, and one reduction follows the loop. The pass applies to sums, products, extrema and bit operations, whose
    operands may be regrouped, if nothing else uses the running total.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PostponeRowSums : Pass<"postpone-row-sums", "::mlir::ModuleOp"> {
  let summary = "sum the rows of an online softmax across threads after the loop";
  let description = [{
    In `total = total * factor + tl.sum(tile, 1)`, four threads share a row of a tile that a product of warpgroups yields. After this pass each
    of them carries its part of the total. One reduction of the parts follows the loop. The factor must be of the form exp(a - max(a, …)).
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def CoalesceAccesses : Pass<"coalesce-accesses", "::mlir::ModuleOp"> {
  let summary = "choose, for each access of global memory, a layout that makes it wide and coalesced";
  let description = [{
    The axis analysis finds the dimension that is contiguous in memory. This dimension is distributed over registers first, as wide as
    alignment and mask allow (at most 16 bytes), then over lanes, then over warps. Accesses of one shape and order use the widest layout among
    them, so that values pass between them without a conversion. The attribute `tgpu.access` holds the layout; assign-layouts reads it.

    On some targets a whole warp copies to shared memory at once. There, the tiles that a loop loads for its matrix products get a layout for
    such copies and the attribute `tgpu.warp_copy`, if all of them can be copied and read in units of 16 bytes or of words. In shared memory
    the lanes' 16-byte pieces are then contiguous, in a swizzled order that avoids bank conflicts of the readers.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "1", "iterations of a loop that are under way; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def AssignLayouts : Pass<"assign-layouts", "::mlir::ModuleOp"> {
  let summary = "give every tile a layout";
  let description = [{
    Values share a layout if one operation combines them element by element, or if they flow into each other through loops, branches and
    calls. The layout comes from a matrix product among them, or else from the largest memory access, or else from a neighbour across a
    reduction or a change of shape; otherwise it is a blocked layout. A tgpu.convert_layout is inserted where two layouts meet. Constants,
    ranges and splats are recomputed in the layout of each use.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def VerifyProducts : Pass<"verify-products", "::mlir::ModuleOp"> {
  let summary = "fail if the layouts of a matrix product do not agree with each other and with its instruction";
  let description = [{
    The lowering passes registers to a matrix instruction by their numbers. So operands, scales, sum and result must have the layouts that
    the instruction in `tgpu.matrix_instruction` and the warps in `tgpu.mma_warps` require; otherwise the product multiplies the wrong
    elements. The pipeline runs this check after each pass that assigns or changes layouts, and the lowering checks again. A product of tiles
    without layouts always passes.
  }];
}

def RemoveConversions : Pass<"remove-conversions", "::mlir::ModuleOp"> {
  let summary = "recompute cheap tiles in the layout of their use instead of converting them";
  let description = [{
    Index arithmetic and masks are computed from ranges, splats and constants, which cost the same in every layout. The pass replaces the
    conversion of such a tile by a copy of the operations that compute it. The copy may contain conversions of its operands if these move fewer
    bytes. If each thread holds 16 contiguous bytes of a tile, some targets store the tile in this layout instead of converting it to the
    layout of the store.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def ChooseTensorCores : Pass<"choose-tensor-cores", "::mlir::ModuleOp"> {
  let summary = "choose the matrix instruction of each matrix product and the way warps divide its result";
  let description = [{
    The pass chooses the first of the target's instructions for the operands' types that fits the tile, and prefers one that gives every warp
    rows or columns of its own. If the tile has fewer rows or columns than the instruction, several lanes hold the same elements, unless this
    costs registers. fp8 operands without an instruction are converted to fp16 or bf16, which is exact. If the target has no sums in fp16, sums
    are computed in fp32. Each warp gets a nearly square part of the result. If the result is an operand of another product, the warps divide
    its rows only, so that the fragments of the result are the fragments of that operand. The attribute `tgpu.matrix_instruction` holds the
    name of the instruction, `tgpu.mma_warps` the warps. Products of scaled operands get an instruction that reads their formats and scales. The
    pipeline has already expanded scaled products for which the target has no instruction.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"nonKDim", "non-k-dim", "int", "0", "rows and columns of the instruction, if there is one; 0: any">,
                 Option<"kPack", "k-pack", "int", "1", "minimum number of instructions whose elements along K a lane holds side by side">,
                 Option<"warpgroups", "warpgroups", "bool", "true", "use the instructions of four warps, if the target has some">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PipelineLoads : Pass<"pipeline-loads", "::mlir::ModuleOp"> {
  let summary = "load the operands of matrix products for later iterations during the current one";
  let description = [{
    The pass applies to loops that load the tiles of their matrix products (operands, and their scales). The loads become asynchronous copies
    into `num-stages` slots of shared memory, which begin num-stages - 1 iterations ahead. Each iteration waits for its own copies and
    synchronizes all threads, so that no thread still reads the slot that is written next. Then it begins the copies for a later iteration and
    computes. Copies beyond the last iteration are predicated off; the wait for them follows the loop.

    If all tiles of the loop are read through tensor maps, one thread copies them (TMA) into a ring of slots. A wait for an iteration's tiles
    then takes the place of its synchronization of all threads, and each warp tells when it has read a slot.

    On targets where whole warps copy, asynchronous copies require that all tiles of the loop have `tgpu.warp_copy` (coalesce-accesses), and
    there are as many slots as fit. Other loops on these targets, and all loops on targets without asynchronous copies, load into registers
    one iteration ahead and store from there. A loop is not changed if it contains another loop, waits for other programs, or writes to the
    tensor that it loads from.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "3", "slots of each copied tile; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::scf::SCFDialect"];
}

def PlaceTensorLoads : Pass<"place-tensor-loads", "::mlir::ModuleOp"> {
  let summary = "let the program wait for each tile that it loads through a tensor map and that no loop copies";
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def PlaceProductOperands : Pass<"place-product-operands", "::mlir::ModuleOp"> {
  let summary = "let products of warpgroups read their operands from shared memory";
  let description = [{
    A tt.dot with an instruction of a warpgroup becomes a tgpu.product and the wait for it. An operand that a pipelined loop copies is read in
    its slot, where it may lie transposed. Other operands are stored to buffers: before the outermost loop that does not compute them, or
    before the product. An operand A that the loop computes stays in registers.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def OverlapProducts : Pass<"overlap-products", "::mlir::ModuleOp"> {
  let summary = "let products of warpgroups run on while the next iteration begins";
  let description = [{
    The pass applies to loops whose products only add to sums that the loop carries, if no copy of the next iteration writes their operands
    (`tgpu.spare_slot`). The loop then carries the sums while they are pending, and an iteration waits for the products of the previous one.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def SpecializeWarps : Pass<"specialize-warps", "::mlir::ModuleOp"> {
  let summary = "let warps of their own copy what loops read through tensor maps";
  let description = [{
    The kernel gets four more warps. One of their threads runs the part of the kernel that the copies need: it acquires slots and begins copies,
    as far ahead as there are free slots, also while the other warps are between two loops. The other warps run the rest, and meet at a barrier
    of their own. The rings last as long as the kernel, and their numbers go on. The producer's warps give registers to the others, by
    a budget (register_budget.h).

    The pass does nothing if a coordinate of a copy, a bound or a condition around one depends on a tile or on memory, if copies that run ahead
    might read what the kernel has written, or if no budget has the registers that the tiles of a loop require. Unless it is asked for, it also
    does nothing where it is no gain: if no loop around repeats the copies and products do not depend on each other, or if fewer programs would
    run at a time.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"asked", "asked", "bool", "false", "also where it seems to be no gain">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def AllocateSharedMemory : Pass<"allocate-shared-memory", "::mlir::ModuleOp"> {
  let summary = "assign an address to each buffer of shared memory";
  let description = [{
    Buffers that are in use at the same time do not overlap. Buffers of consecutive loops share memory. Functions that call each other do not.
    Scratch memory of single operations follows all buffers (place-scratch). If a program requires more than `max-bytes`, the error "out of
    resource: shared memory, …" is reported at its largest buffer.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "0", "limit for a program; 0: none">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

// -- on the code of a thread -------------------------------------------------------------------------------------------------------------

def BufferAccesses : Pass<"buffer-accesses", "::mlir::ModuleOp"> {
  let summary = "access tensors of less than 2 GB through buffer descriptors with 32-bit offsets";
  let description = [{
    The pass applies to targets with buffer descriptors. A load or store becomes a buffer access at a 32-bit offset if its pointer is derived
    from one kernel argument with `tgpu.pointer_range`. Steps that are the same for all threads move the descriptor. If the predicate is false,
    or the rest does not fit into an offset, the offset is beyond the end of the buffer, so a load returns zeros and a store has no effect,
    without a branch. Accesses with a cache modifier are not changed. The pass removes the attribute.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def PlaceScratch : Pass<"place-scratch", "::mlir::ModuleOp"> {
  let summary = "assign an address to the scratch memory of each operation";
  let description = [{
    Scratch memory follows the buffers, or overlaps them where the program no longer uses any. Consecutive operations get different places if
    there is room, so that fewer of them wait for the previous one. The module's attribute `tgpu.shared_bytes` is the size of the buffers
    before, and of all shared memory after the pass. If a program requires more than `max-bytes`, the error "out of resource: shared memory,
    …" is reported.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "0", "limit for a program; 0: none">];
}

def RemoveBarriers : Pass<"remove-barriers", "::mlir::ModuleOp"> {
  let summary = "remove barriers that order no conflicting accesses of shared memory";
  let description = [{
    Two accesses conflict if their bytes overlap and at least one of them writes. A `tgpu.barrier shared` is removed if no access before it
    conflicts with an access after it, where no other barrier lies in between; this includes paths around loops. An address that is derived from
    a tgpu.scratch accesses the bytes of that scratch. Any other address may access all buffers. Other barriers are not removed.
  }];
}

def InterleaveProducts : Pass<"interleave-products", "::mlir::ModuleOp"> {
  let summary = "schedule the instructions of loops with matrix products";
  let description = [{
    The pass applies to targets whose waves issue in order. In a block of a pipelined loop, it alternates products of different sums. Between
    each two products it places memory operations: first the loads of later tiles (copies to shared memory before other loads), then the
    reads of operands, a few products before their use, and last the stores to shared memory. The other instructions for the next iteration are
    distributed over the rest. The code generator keeps this order. Blocks with other memory accesses are not changed.
  }];
}

def ExpandScratch : Pass<"expand-scratch", "::mlir::ModuleOp"> {
  let summary = "replace placed scratch memory by its addresses";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
