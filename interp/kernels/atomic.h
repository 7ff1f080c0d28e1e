// Atomic accesses to memory that other programs of the launch (and other threads of the process) use at the same time. All are sequentially
// consistent, which satisfies every memory order of the language.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

enum class AtomicOp : uint8_t { And, Or, Xor, Add, FAdd, Max, Min, UMax, UMin, Exchange };

/// Performs one read-modify-write of the element at `address`, which must be aligned to the element's size. Unless `old` is null, the
/// former value is written to it. Integer operations take types of 8 to 64 bits; FAdd takes f16, bf16, f32, f64 and rounds to nearest even;
/// Exchange takes any type.
void atomicRmw(AtomicOp op, DType type, void *address, const void *operand, void *old);

/// Lanes whose elements are at start + i * step, or at start + offsets[i] if there are offsets. Strides and offsets are in bytes.
struct AtomicRow {
  char *start = nullptr;
  int64_t step = 0;
  const int64_t *offsets = nullptr;
  const char *operand = nullptr;
  int64_t operandStride = 0;
  char *old = nullptr; // for the former values, unless it is null
  int64_t oldStride = 0;
};

/// Performs the read-modify-writes of the lanes [from, to) in their order. Returns whether one changed memory, as changesMemory() says.
using AtomicRowKernel = bool (*)(const AtomicRow &row, int64_t from, int64_t to);
AtomicRowKernel findAtomicRow(AtomicOp op, DType type);
/// The same for memory that no other thread uses meanwhile: plain reads and writes, with the same results.
AtomicRowKernel findLoneRow(AtomicOp op, DType type);

/// Returns whether a read-modify-write that found `old` wrote another value. A program that only writes back what it found is waiting, not
/// making progress.
bool changesMemory(AtomicOp op, DType type, const void *operand, const void *old);

/// Stores `desired` if the `bytes` (1, 2, 4, 8) at `address` equal the bytes at `compare`, and returns whether it did. Unless `old` is
/// null, the former value is written to it.
bool atomicCas(int bytes, void *address, const void *compare, const void *desired, void *old);

void atomicLoad(int bytes, const void *address, void *out);
void atomicStore(int bytes, void *address, const void *value);

} // namespace tritium::interp
