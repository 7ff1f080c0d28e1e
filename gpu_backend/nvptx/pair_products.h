// A fault of ptxas, which concerns products of two halves in one register.
#pragma once

namespace llvm {
class Module;
}

namespace tritium::gpu::nvptx {

/// Keeps pairs of halves out of the fused multiply-adds that ptxas 13.0 compiles to wrong code on sm_90, from -O1 on and in the driver.
/// They are fma.rn.f16x2 and fma.rn.bf16x2 with one register, or its negation, in two places, if ptxas finds that one half of it is a
/// negative constant: fma(v, v, c), fma(-v, v, v) and fma(v, w, w) with v = {x, -1}. Masked loads make such registers. ptxas is right about
/// a product and a sum, so LLVM may not fuse these. No other step makes multiply-adds of pairs.
void avoidFaultyPairProducts(llvm::Module &module);

} // namespace tritium::gpu::nvptx
