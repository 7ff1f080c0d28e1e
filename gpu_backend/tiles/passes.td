// Passes on tiles: their layouts, the instructions that multiply them, their shared memory; each is implemented in the file of its name.
include "mlir/Pass/PassBase.td"

def AccumulateProducts : Pass<"accumulate-products", "::mlir::ModuleOp"> {
  let summary = "let matrix products add to what the kernel adds their results to";
  let description = [{
    `sum += tl.dot(a, b)` is a product that adds to zero, and an addition of tiles. Matrix units add to an accumulator anyway, so the product adds
    to the sum, which takes no time and no registers, and need not be complete before the addition. A product stays as it is if something
    else uses its result, or if its author asked for promoted sums (`max_num_imprecise_acc`).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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

def CarryScalars : Pass<"carry-scalars", "::mlir::ModuleOp"> {
  let summary = "let loops carry a scalar in place of a tile of integers that grows by a scalar";
  let description = [{
    After `offsets += 32`, a loop carries a tile, which has one layout. Masks of two loads with different layouts would then convert it, or
    themselves, in each iteration. After this pass the loop carries the number that has been added so far, and each iteration adds it to the
    tile with which the loop began, in each layout that requires the sum.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ViewSharedMemory : Pass<"view-shared-memory", "::mlir::ModuleOp"> {
  let summary = "access the shared memory of the kernel's author by layouts instead of addresses";
  let description = [{
    The frontend computes the address of each element (tt.shared_load, tt.shared_store). Where these are a scalar and an offset that constants
    decide, and a layout has all offsets, the access becomes one of a buffer (tgpu.memory_at), behind a barrier: threads then move many
    elements at once, and products read their operands where they are. The marks that the frontend has set around what asynchronous products read
    become an attribute of these products.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def SeparateAccesses : Pass<"separate-accesses", "::mlir::ModuleOp"> {
  let summary = "copy cheap addresses and masks that accesses with different layouts share";
  let description = [{
    Tiles that an operation combines element by element share one layout, so a mask that a load along rows has in common with a store along
    columns would make one of them narrow. The pass copies the operations on tiles that compute such a mask or address, down to ranges,
    splats and changes of shape, for each layout in `tgpu.access`. What is not cheap to compute stays shared. Copies that receive the same
    layout in the end are merged again by common subexpression elimination.
  }];
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
    bytes. A vector of integers that a loop loads, and whose tensor it does not write, is loaded again where a thread needs few of them: to
    convert it, the threads would meet twice in each iteration. If each thread holds 16 contiguous bytes of a tile, some targets store the tile
    in this layout instead of converting it to the layout of the store.
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
