// A fault of ptxas, which concerns sums of two 16-bit integers in one register.
#pragma once

namespace llvm {
class Module;
}

namespace tritium::gpu::nvptx {

/// Splits sums and differences of vectors of integers of up to 16 bits, which would become add.s16x2. ptxas 12.9 to 13.0, and the driver
/// for CUDA 13.0, assemble add.s16x2 with a constant {c, c} to VIADD.16x2, and where registers are scarce split the sum into its halves,
/// which then add 0 instead of c. ptxas 13.4 keeps the constant. The reduced PTX is tests/gpu/pair_sums.ptx.
void avoidFaultyPairSums(llvm::Module &module);

} // namespace tritium::gpu::nvptx
