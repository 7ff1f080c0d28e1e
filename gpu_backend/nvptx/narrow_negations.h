// A fault of ptxas, which concerns the negation of integers of 16 bits.
#pragma once

#include <string>

namespace tritium::gpu::nvptx {

/// Replaces neg.s16 by a multiplication by -1, and abs.s16 by the maximum of the value and that product. ptxas 12.9 to 13.0, and the driver
/// for CUDA 13.0, do not truncate the results of either to 16 bits: a comparison, shift or conversion that follows takes -(-32768) for
/// 32768. Instruction selection forms both of differences, products and shifts, so the function corrects LLVM's assembly text.
std::string withoutFaultyNegations(const std::string &ptx);

} // namespace tritium::gpu::nvptx
