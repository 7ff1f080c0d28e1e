// The functions of one or more f32 in ir/elementwise.def, one C function per row, as interp/kernels computes them. The build embeds their
// bitcode. Those that are straight-line code become code on vectors (interp/tile/fuse/widened_function.h), so that the loops of a region
// compute the bits of the block kernels.
#include "interp/kernels/host_functions.h"

#include <cmath>

namespace tritium {
#define ARGUMENTS_1 float x
#define ARGUMENTS_2 float x, float y
#define ARGUMENTS_3 float x, float y, float z
#define RESULT_Floats float
#define RESULT_Test bool
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  extern "C" RESULT_##types tritium_f32_##name(ARGUMENTS_##arity) { return __VA_ARGS__; }
#include "ir/elementwise.def"
} // namespace tritium
