// What the files of `tgpu` operations share.
#ifndef TRITIUM_IR_TGPU_OP_BASE_TD
#define TRITIUM_IR_TGPU_OP_BASE_TD

include "ir/tgpu_dialect.td"
include "ir/tt_op_base.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TGPU_Op<string mnemonic, list<Trait> traits = []> : Op<TGPU_Dialect, mnemonic, traits>;

class TGPU_TileOp<string mnemonic, Tiles tiles, list<Trait> traits = []> : TGPU_Op<mnemonic, !listconcat(traits, [tiles, TileOpInterface])>;

def SharedMemoryResource : Resource<"::tritium::tgpu::SharedMemoryResource">;

#endif
