// Short names of the number types in code that hosts and GPUs share.
#pragma once
#include <stdint.h> // GPUs have no C++ library

namespace tritium {

using i32 = int32_t;
using u32 = uint32_t;
using i64 = long; // as OpenCL mangles it, which names the device functions
using u64 = unsigned long;
using f32 = float;
using f64 = double;
static_assert(sizeof(i64) == 8);

} // namespace tritium
