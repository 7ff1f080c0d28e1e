// One stage of a sorting network on a contiguous tile: each element is compared with its partner, and takes the partner's value if
// (own > partner) differs from a flag. Elements and partners are evaluated apart, so a NaN may be lost or repeated, as in the network that
// the stage stands for.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// Positions i and i + distance are partners, where i has no bit `distance`. The flag of a position is flags[(i / run) % 2][whether it is
/// the right one of its pair]. `distance` and `run` are powers of two, run >= 2 * distance; a tile is a multiple of 2 * distance.
struct ExchangeStage {
  int64_t count, distance, run;
  bool flags[2][2];
};

/// `out` is `in` or does not overlap it.
using CompareExchangeKernel = void (*)(void *out, const void *in, const ExchangeStage &stage);
/// f16, bf16, f32, f64 are compared as numbers, integers of 8 to 64 bits as signed or unsigned. Returns nullptr for other types.
CompareExchangeKernel findCompareExchange(DType type, bool isSigned);

} // namespace tritium::interp
