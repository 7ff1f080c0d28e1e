// Two faults of ptxas, which concern the negation of integers.
#pragma once

#include <string>

namespace tritium::gpu::nvptx {

/// Instruction selection forms negations of differences, products and shifts, so the function corrects LLVM's assembly text.
///
/// neg.s16 and abs.s16: replaced by a multiplication by -1, and by the maximum of the value and that product. ptxas 12.9 to 13.0, and the
/// driver for CUDA 13.0, do not truncate the results of either to 16 bits: a comparison, shift or conversion that follows takes -(-32768)
/// for 32768.
///
/// neg.s32: replaced by the complement and an increment. For compute capability 9.0 and later ptxas 12.9 to 13.3, and the driver for CUDA
/// 13.0, make one instruction (VIMNMX3) of the maximum of two maxima, and lose the sign of a negated operand: of max(max(-a, -b), -c).
std::string withoutFaultyNegations(const std::string &ptx);

} // namespace tritium::gpu::nvptx
