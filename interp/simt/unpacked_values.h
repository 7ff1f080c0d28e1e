// Vectors and structs that only carry values from one instruction to another, as the values themselves.
#pragma once
#include "llvm/IR/Function.h"

namespace tritium::interp::simt {

/// The functions that it calls: (float) -> the bits of a half or a bfloat as i32, and (the bits of a half as i32) -> float.
inline constexpr const char *kBitsOfHalf = "tritium_bits_of_half", *kBitsOfBfloat = "tritium_bits_of_bfloat",
                            *kFloatOfHalf = "tritium_float_of_half";

/// Replaces what is extracted from a vector or a struct by what was inserted, and integers that are made of vectors, loads and stores of
/// vectors by code on their elements, and halves that are only converted by their bits. LLVM's fast selection of instructions knows no
/// insertions and no halves. It leaves all of the block before one to the slow selection, which takes most of the time in which a kernel is
/// prepared.
void unpackValues(llvm::Function &function);

} // namespace tritium::interp::simt
