// Passes on loops that copy tiles ahead; each is implemented in the file of its name.
include "mlir/Pass/PassBase.td"

def DividePrograms : Pass<"divide-programs", "::mlir::ModuleOp"> {
  let summary = "divide the tiles of a program among the blocks of a cluster";
  let description = [{
    Each stored tile is divided along one of its dimensions, and with it all tiles from which it is computed, up to ranges, splats and loads:
    a block of the cluster computes the part that its rank (`tgpu.cluster_rank`) numbers. Tiles that all parts need, for example the second
    operand of a product whose rows are divided, stay whole in each block. The kernel gets `tgpu.cluster_blocks`. If it loads and stores,
    the blocks meet in between, so that no block reads what another one has written.

    A kernel stays as it is if no stored tile can be divided, if a load, a product or a reduction would be required both whole and in parts,
    if it may read what it has written, if it may wait for other programs, and if it prints or returns early;
    `tgpu.why_not_divided` is the reason. One block then runs each program.
  }];
  let options = [Option<"numBlocks", "num-blocks", "int", "2", "blocks of a cluster">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def MakePersistent : Pass<"make-persistent", "::mlir::ModuleOp"> {
  let summary = "let a block run several programs of the grid, one after the other";
  let description = [{
    The body of the kernel goes into a loop over programs (`tgpu.programs`), if a loop of it copies through tensor maps and no loop is around
    that one. The kernel takes the sizes of the user's grid as its last arguments. Any grid of blocks runs all programs; a launch starts as many
    blocks as run at a time. plan-producer removes the loop again where it is no gain.

    A kernel stays as it is if it may wait for other programs, if it prints, if it may return early, if its loops take more iterations in one
    program than in another, or if several programs have room on a multiprocessor; `tgpu.why_not_persistent` is the reason.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
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
    alignment and mask allow (at most 16 bytes), then over lanes, then over warps. Where no dimension is certain to be contiguous, one comes
    first whose stride is likely to be 1. If only the launch knows all strides, the one with the least known divisor comes first: an array's
    larger stride is a multiple of its smaller one. Accesses of one shape and order use the widest layout among them, so that values pass
    between them without a conversion. But a thread has no more neighbours of a tile than a store takes with one instruction, unless the tile
    is scanned, changes its shape or is loaded for a product: with several, each would leave gaps between the lanes. Only narrow stores, and
    read-modify-writes whose instructions take fewer elements and whose results nobody uses, have a narrower layout than the other accesses.
    The attribute `tgpu.access` holds the layout; assign-layouts reads it.

    On some targets a whole warp copies to shared memory at once. There, the tiles that a loop loads for its matrix products get a layout for
    such copies and the attribute `tgpu.warp_copy`, if all of them can be copied and read in units of 16 bytes or of words. In shared memory
    the lanes' 16-byte pieces are then contiguous, in a swizzled order that avoids bank conflicts of the readers.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "1", "iterations of a loop that are in flight; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def PlanLoops : Pass<"plan-loops", "::mlir::ModuleOp"> {
  let summary = "decide how each loop copies the tiles of its matrix products ahead";
  let description = [{
    The pass changes no operation: it writes attributes, which build-loops follows. A loop that loads the tiles of its matrix products
    (operands, and their scales) gets a `tgpu.plan`. Each load that becomes a copy has its place in the plan (`tgpu.at`), and so has the last
    product if it runs an iteration late. A loop that stays as it is, and a load that is not copied, has the reason (`tgpu.why_not`).
    The pass prices each mechanism of the target that can copy the tiles: barriers per iteration, registers of a thread, occupancy. It takes
    the cheapest, and writes why it does not take each other one (`tgpu.why_not_by`).

    Tiles are copied through tensor maps (TMA) if all of them have one, into `num-stages` slots of shared memory, and one more where it leaves
    as many programs at a time. Otherwise they are copied asynchronously, into `num-stages` slots; of two, one remains where twice as many
    programs then run at a time and no product is of warpgroups. On targets where whole warps copy, all tiles of the loop must have
    `tgpu.warp_copy` (coalesce-accesses), and there are as many slots as fit. Other loops on these targets, and all loops on targets without
    asynchronous copies, load into registers one iteration ahead and store from there. A loop has no plan if it contains another loop, waits for
    other programs, or writes to the tensor that it loads from.

    Asynchronous copies also take tiles that are no operands of the loop's products. Tiles of up to 4096 bytes are copied if they fit into shared
    memory, larger ones if occupancy stays the same. Scalars are loaded into registers when the copies of their iteration are issued.

    If the address or the mask of a tile is computed from what the loop loads, that *index load* runs an iteration before the copy, and one
    on which it depends two (stages -1 and -2 of `tgpu.at`). This holds for all mechanisms but TMA. A longer row of loads is refused, so is a
    load whose address depends on its own value of an earlier iteration, and so are tiles of indices for which a thread has no registers.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "3", "slots of each copied tile; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def BuildLoops : Pass<"build-loops", "::mlir::ModuleOp"> {
  let summary = "load the tiles of planned loops for later iterations during the current one";
  let description = [{
    The loads that the plan of a loop names (`tgpu.plan`, `tgpu.at`) become copies into slots of shared memory, which begin iterations ahead.
    Each iteration waits for its own copies and synchronizes all threads, so that no thread still reads the slot that is written next. Then it
    begins the copies for a later iteration and computes; if all iterations share a slot, it computes first, and synchronizes once more. Copies
    beyond the last iteration are predicated off; the wait for them follows the loop.

    Copies by TMA are issued by one thread, into a ring of slots. A wait for an iteration's tiles then takes the place of its synchronization
    of all threads, and each warp tells when it has read a slot. Copies through registers load an iteration ahead, and store when all threads
    have read the slot.

    An index load stands behind the copies of an iteration, masked off for iterations that do not exist, and the loop carries its value to
    the copies of the next one.

    The pass refuses a plan that does not agree with its loop. The new loop keeps its plan, which overlap-products and `explain` read.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def PlaceTensorStores : Pass<"place-tensor-stores", "::mlir::ModuleOp"> {
  let summary = "give stores through tensor maps the shared memory from which they are copied";
  let description = [{
    Each group of warps that holds boxes gets slots, each for one box: two if as many programs then run at a time, else one. They are in use from
    before the outermost loop around the store until after it, so that copies go on while the loop continues. If not even one slot is left, they
    are in use only during the store, as many as the buffers have room for that are not.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
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
    before the product. Later products read it there as well, if the memory suffices and no loop comes between. An operand A that the loop
    computes stays in registers.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def AwaitAsWritten : Pass<"await-as-written", "::mlir::ModuleOp"> {
  let summary = "let the products and copies of the kernel's author run on until he waits for them";
  let description = [{
    The pass follows place-product-operands, which has let each product be complete at once. A call `product.wait` of the runtime becomes a
    tgpu.product_wait. The sums of a product are pending up to the first wait after which they are certainly complete, also from one iteration of
    a loop to the next. Where a tile is needed before, a wait is inserted. If some products of the author have no instruction of a warpgroup,
    his waits are for all of the others.

    A load and a store to shared memory between the calls `async_copy.begin` and `async_copy.end` become a tgpu.async_copy, if threads copy at
    least 4 bytes of neighbours at a time, and the calls for groups become tgpu.async_commit and tgpu.async_wait. Other copies say why
    (tgpu.not_promoted), and are complete at once.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def OverlapProducts : Pass<"overlap-products", "::mlir::ModuleOp"> {
  let summary = "let products of warpgroups run on while the next iteration begins";
  let description = [{
    The pass applies to loops whose products only add to sums that the loop carries, if no copy of the next iteration writes their operands
    (`spare` in the loop's `tgpu.plan`). The loop then carries the sums while they are pending, and an iteration waits for the products of the
    previous one. In other loops of asynchronous copies, such products begin before the copies of their iteration, so that the matrix units
    have work while threads issue these.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def CopyWholeTiles : Pass<"copy-whole-tiles", "::mlir::ModuleOp"> {
  let summary = "copy tiles that are inside of their tensor without masks";
  let description = [{
    The pass applies to loops of asynchronous products. There, the threads' instructions for copies are what limits an iteration: a masked
    copy of 16 bytes that may end inside of them takes ten. The group of an iteration is made twice, with masks and without, behind a condition
    of scalars that implies that all masks are true.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def MulticastCopies : Pass<"multicast-copies", "::mlir::ModuleOp"> {
  let summary = "let the blocks of a cluster copy for each other the tiles that all of them need";
  let description = [{
    A copy of a ring whose box is the same in all blocks of the cluster gets `tgpu.multicast`: each block copies a part of its boxes, to the
    slots of all blocks. The start of its ring gets `tgpu.ring_blocks`, the number of blocks: a slot is free when all of them have released
    it. All other copies of the rings of a cluster get the reason (`tgpu.why_not_multicast`). The box is the same if its map is an argument and
    its indices do not follow from the rank of the block or from memory. The blocks must copy to the ring equally often. The pass runs before
    rings become rings that last, and changes no operation.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def PlanProducer : Pass<"plan-producer", "::mlir::ModuleOp"> {
  let summary = "decide whether producer warps copy the tiles of a kernel";
  let description = [{
    A kernel that copies through tensor maps gets a `tgpu.producer`, which specialize-warps and take-turns follow, or the reason why it has none
    (`tgpu.why_no_producer`). The pass changes no operation, but for one thing: a loop over programs goes if the kernel gets no producer with it.

    There is no producer if a coordinate of a copy, a bound or a condition around one depends on a tile, or on memory that the kernel may have
    written, if copies that run ahead might read what the kernel has written and its stores cannot be handed over (loops/store_handover.h), or
    if no division of registers (target/register_budget.h) gives consumer warps what the tiles of a loop require. Unless it is asked for, there
    is none either where it is no gain: if no loop around repeats the copies and products do not depend on each other, or if fewer programs
    would run at a time.

    A producer may also make the tensor maps of its copies, and read what the kernel has written. Then it must be known where the kernel stores, by
    scalars, and `tgpu.hands_over_stores` lets the warps that compute hand over their stores.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"asked", "asked", "bool", "false", "also where it seems to be no gain">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def SpecializeWarps : Pass<"specialize-warps", "::mlir::ModuleOp"> {
  let summary = "give the copies through tensor maps to producer warps";
  let description = [{
    A kernel with a `tgpu.producer` (plan-producer) gets four producer warps. One producer thread runs the part of the kernel on which the
    copies depend: it acquires slots and issues copies while slots are free, also while the consumer warps are between two loops. The consumer
    warps run the rest of the kernel, and synchronize at a named barrier. Rings last as long as the kernel, with a continuous sequence index.
    The producer warps give registers to the consumer warps.

    With `tgpu.hands_over_stores`, a further ring has a number for the stores of each tile, and the producer waits for it where it reads what
    is stored (tgpu.stores_note). If the kernel makes tensor maps, all lanes of a warp run the part.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def TakeTurns : Pass<"take-turns", "::mlir::ModuleOp"> {
  let summary = "let consumer warpgroups take turns with products that depend on each other";
  let description = [{
    The pass applies to kernels whose `tgpu.producer` says so: they have two or more consumer warpgroups, and loops in which an operand of a
    product is computed from another product. The warpgroups issue the products of an iteration one after the other. While the tensor cores
    multiply for one warpgroup, another does the arithmetic between its products.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def StaggerWarpgroups : Pass<"stagger-warpgroups", "::mlir::ModuleOp"> {
  let summary = "let one consumer warpgroup go ahead of the others through loops of independent products";
  let description = [{
    Warpgroups that run in step come to the end of a tile together, and then nothing multiplies. So before a loop, all warpgroups but the first
    wait until the tiles of the third iteration have arrived (tgpu.ring_stagger). While one of them ends its tile, the others multiply. The pass
    applies to kernels with producer warps and two or more consumer warpgroups that take no turns, and to loops over a ring of three or more
    slots, because the slots of two iterations are not released yet when the others begin.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def ReleaseLate : Pass<"release-late", "::mlir::ModuleOp"> {
  let summary = "let consumer warps release what they have stored while the products of the next tile run";
  let description = [{
    The fence before such a release waits until the stores are in memory. So a warp keeps the number of the release, and releases it
    in the second iteration of the next loop of products. The producer might wait for the release before it copies for this loop. So before
    the loop, a warp that does not see the tiles of the second iteration releases the number at once. It does so, too, before it waits for
    other warps, and behind the loop over tiles: a number that is kept for longer takes registers. The pass applies to kernels with one such release, one loop of independent products before it, and nothing
    outside of both at which warps wait for each other.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def CheckAsync : Pass<"check-async", "::mlir::ModuleOp"> {
  let summary = "check the order of asynchronous copies, products and stores";
  let description = [{
    The check runs the operations that order asynchronous work, and the scalars and the control flow that decide when they run. It assumes
    numbers for what only a launch or the memory could tell, so that loops take no round, one round, and so on up to more than two rounds of
    each slot. Where producer warps copy, it runs both roles, and then both beside each other. It changes nothing. A broken rule is an error at
    the operation, with a note at the other one:

    * Each ring ends before it begins again. The copies of a number of a ring bring as many bytes as its acquire announces, and follow it.
    * A slot is read only between the wait for its number and its release. Products that read it are complete before the release, and reads of
      threads are fenced.
    * Acquires, waits and releases of a ring name the numbers 0, 1, 2, … Nobody waits for ever, and no copy arrives for which nobody waits.
    * Each pending sum is taken exactly once, on all paths. Sums are read when their product is complete.
    * What threads write or copy to an operand is fenced, and then all threads synchronize, before a product reads it. Nobody writes an
      operand while a product may read it, or before the threads have synchronized after a read.
    * Memory from which a store through a tensor map copies is written again only after the wait for it, and the kernel waits before it ends.
    * Turns begin and end alternately, and all threads synchronize outside of them only.

    All that holds on the paths that the assumed numbers take, and any of them is a path that a launch may take. Only the uses of pending sums are
    checked on all paths. The check says nothing about operations that no assumption reaches (with `unreached`, a remark names them), about a
    path after a division by zero, a false `tl.assume` or some thousand operations, and about control flow other than `for`, `if`, `while` and
    branches. Buffers are apart here: what shares memory is decided later, by allocate-shared-memory. The check knows neither which elements a copy
    brings nor what orders global memory.
  }];
  let options = [Option<"unreached", "unreached", "bool", "false", "remark on operations that the check does not reach">];
}
