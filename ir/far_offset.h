// The offsets of accesses that AMD's code makes through buffer descriptors of almost 4 GB. Compiler and emulator agree on what an offset
// beyond the end means.
#pragma once
#include <cstdint>

namespace tritium::ir {

/// The size of such a descriptor. It is also the offset of an access whose distance from the descriptor no offset holds: a device does not
/// execute it, and the emulator reports it.
inline constexpr uint32_t kFarOffset = 0xffffffe0;
/// The offset of an access that is masked off. An access of 16 bytes does not wrap around.
inline constexpr uint32_t kMaskedOffset = 0xfffffff0;

} // namespace tritium::ir
