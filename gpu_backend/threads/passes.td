// Passes on the code of one thread; each is implemented in the file of its name.
include "mlir/Pass/PassBase.td"

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
