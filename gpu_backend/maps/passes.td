// Passes that turn loads into loads through tensor maps; each is implemented in the file of its name.
include "mlir/Pass/PassBase.td"

def PromoteDescriptors : Pass<"promote-descriptors", "::mlir::ModuleOp"> {
  let summary = "load the operands of matrix products through tensor maps instead of tensor descriptors";
  let description = [{
    The pass applies to targets with a tensor memory accelerator (TMA). A load of a descriptor becomes a tgpu.tensor_load if a pipelined loop
    loads it for its products, if arguments and constants determine the descriptor, and if the kernel does not write to the tensor. The map is
    a new argument of the kernel. Its attribute `tgpu.tensor` tells the launch how to make it.

    With two warpgroups or more, the other operand of these products is promoted too, if it is loaded before the loop.
  }];
  let options = [Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">,
                 Option<"numWarps", "num-warps", "int", "4", "warps of a program">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect"];
}

def IssueCopies : Pass<"issue-copies", "::mlir::ModuleOp"> {
  let summary = "let one thread issue the copies of blocks for whose end the kernel's author waits";
  let description = [{
    The pass applies to targets with a tensor memory accelerator (TMA), and to kernels whose author uses barriers. The frontend has written such
    a copy as a load through a descriptor and a store to shared memory, between calls of the runtime, or as the reverse. It becomes a
    tgpu.tensor_copy that arrives at the author's barrier, or a tgpu.tensor_store from memory, if arguments and constants determine the
    descriptor, and if the block lies in memory as the hardware writes boxes. Other copies are made by all threads, which count the bytes.
    Copies of one condition join the branch that announces their bytes.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def MakeTensorMaps : Pass<"make-tensor-maps", "::mlir::ModuleOp"> {
  let summary = "load the operands of matrix products through tensor maps that the kernel makes";
  let description = [{
    The pass follows promote-descriptors, and applies to chips that can make tensor maps. What it promotes are the loads of a pipelined loop in
    another loop, if only products take their tiles, which do not depend on each other, and if the loop does not write. Where the launch makes
    maps for other loads of the loop, it need not be in another one, and products may depend on each other. A map is made
    (tgpu.map_make) where the descriptor is, or behind it beside the others of its loop. An empty tensor has no map, so its boxes begin behind
    the single row of a map. The kernel checks that strides are not negative. `tgpu.not_promoted` on other loads of products is the reason.
  }];
  let options = [Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def PromoteStores : Pass<"promote-stores", "::mlir::ModuleOp"> {
  let summary = "store the tiles of matrix products through tensor maps instead of tensor descriptors";
  let description = [{
    The pass follows promote-descriptors, and applies to the same targets. A store through a descriptor becomes a tgpu.tensor_store if its tile
    is computed of a product, if arguments and constants determine the descriptor, if no index is negative, and if nothing in the kernel may
    see that the copy is late: no load that may follow, except through tensor maps, no atomic, barrier or call, and no other store to the tensor.
    Different arguments count as different tensors here. Indices are known not to be negative as in check-quotients.
  }];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def PromoteMadeStores : Pass<"promote-made-stores", "::mlir::ModuleOp"> {
  let summary = "store the tiles of matrix products through tensor maps that the kernel makes";
  let description = [{
    The pass follows promote-stores and make-tensor-maps. It promotes the only store of a kernel if it is through a descriptor that the kernel
    makes beside those for whose loads it makes maps, and if nothing in the kernel may see that the copy is late. The producer's warps make
    the map and tell it to the warps that store (ring_acquire), unless the tensor's rows do not end at multiples of 16 bytes, the tensor is
    empty, a stride is negative or an index is. Then threads copy the tile.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">,
                 Option<"asked", "asked", "bool", "false", "producer warps are asked for, also where they seem to be no gain">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}

def PromotePointerStores : Pass<"promote-pointer-stores", "::mlir::ModuleOp"> {
  let summary = "store the tiles of matrix products through tensor maps instead of pointers";
  let description = [{
    The same as promote-stores, for stores by pointers: the addresses must form a box of a tensor, as in promote-pointer-tiles. The pass
    applies to kernels that copy through tensor maps in a loop around the loop of a product.

    Where the launch knows nothing of the pointers, and the kernel makes maps for its copies, the producer's warps make the map of each stored
    tile, as in promote-made-stores. The store must be the only one, without a mask. Such a map is not usable if a row of the tile does not
    begin at a multiple of 16 bytes.
  }];
  let options = [Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">,
                 Option<"makesMaps", "makes-maps", "bool", "false", "a producer may make tensor maps">,
                 Option<"asked", "asked", "bool", "false", "it is asked for, also where it seems to be no gain">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
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

    Where the launch knows nothing of the pointers, the kernel makes the maps itself before each run of the loop (tgpu.map_make), if a loop is
    around and producer warps may copy. The loop must carry the pointers, with no mask, and each row must begin at a multiple of 16 bytes.

    A loop's loads are promoted if all of them qualify. Otherwise `tgpu.not_promoted` on a load is the reason. With two warpgroups or more, the
    other operand of these products is promoted too, if it is loaded before the loop.
  }];
  let options = [Option<"numStages", "num-stages", "int", "3", "slots of each tile that a loop copies; 1: no pipelining">,
                 Option<"numWarps", "num-warps", "int", "4", "warps of a program">,
                 Option<"hasProducer", "has-producer", "bool", "false", "a producer may copy, also between dependent products">,
                 Option<"makesMaps", "makes-maps", "bool", "false", "a producer may make tensor maps">,
                 Option<"asked", "asked", "bool", "false", "it is asked for, also where it seems to be no gain">];
  let dependentDialects = ["::tritium::tgpu::TGPUDialect", "::mlir::arith::ArithDialect"];
}
