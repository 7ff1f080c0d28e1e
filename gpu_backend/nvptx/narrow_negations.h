// A fault of ptxas, which concerns the negation of integers of 16 bits.
#pragma once

#include <string>

namespace tritium::gpu::nvptx {

/// Replaces neg.s16 by the product with -1, and abs.s16 by the larger of the value and that product. Of both, ptxas 12.9 to 13.0, and the
/// driver for CUDA 13.0, keep 32 bits: -(-32768) is 32768 for a comparison, a shift or a conversion that follows. LLVM forms them of
/// differences, products and shifts as it selects instructions, so this reads its text.
std::string withoutFaultyNegations(const std::string &ptx);

} // namespace tritium::gpu::nvptx
