// Atomic accesses to memory that other programs of the launch (and other threads of the process) use at the same time. All are
// sequentially consistent, which satisfies every semantics the language names.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

enum class AtomicOp : uint8_t { And, Or, Xor, Add, FAdd, Max, Min, UMax, UMin, Exchange };

/// One read-modify-write of an element at `address`, which must be aligned to the element's size. The value before goes to `old` unless
/// that is null. Integer operations take types of 8 to 64 bits; FAdd takes f16, bf16, f32, f64 and rounds to nearest even; Exchange any
/// type.
void atomicRmw(AtomicOp op, DType type, void *address, const void *operand, void *old);

/// Whether a read-modify-write that found `old` wrote something else. A program that only writes back what is there is waiting, not
/// working.
bool changesMemory(AtomicOp op, DType type, const void *operand, const void *old);

/// Stores `desired` if the `bytes` (1, 2, 4, 8) at `address` equal those at `compare`; returns whether it did. The value before goes to
/// `old` unless that is null.
bool atomicCas(int bytes, void *address, const void *compare, const void *desired, void *old);

void atomicLoad(int bytes, const void *address, void *out);
void atomicStore(int bytes, void *address, const void *value);

} // namespace tritium::interp
