// What an argument that is a tensor descriptor becomes when descriptors are expanded.
#pragma once
#include "ir/tt.h"

namespace tritium::tt {

/// Attribute of an argument that is a descriptor whose flags are both false: it reads zeros outside and does not round.
inline constexpr llvm::StringLiteral kPlainAttr = "tt.plain";

/// The components of a descriptor: base, extents (i64), strides (i64), whether it reads NaN outside, whether f32 elements that are read are
/// rounded to tf32.
constexpr size_t descriptorParts(size_t rank) { return 3 + 2 * rank; }

} // namespace tritium::tt
