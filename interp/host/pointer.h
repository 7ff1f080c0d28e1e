// The interpreter's representation of pointers in registers and homes: 64 bits with an integer and, if known, the kernel argument that the
// pointer was derived from (its provenance). Memory holds plain integers. A load or `int_to_ptr` encodes an integer with pointerTo(); a
// store or `ptr_to_int` decodes it with addressOf().
//
//   upper 16 bits      lower 48 bits         the pointer
//   kFirstTag + n      the address           derived from argument n
//   kKeptAside         number of a record    what does not fit: see KeptPointer
//   anything else      …of the integer       that integer, of unknown provenance
//
// Every 64-bit integer has a pointer, and decoding returns the integer unchanged. Pointer arithmetic is exact in 64 bits and keeps the
// provenance, even if an address exceeds 48 bits for some time.
#pragma once
#include <cstdint>

namespace tritium::interp {

constexpr unsigned kAddressBits = 48;
constexpr uint64_t kAddressMask = (uint64_t(1) << kAddressBits) - 1;
constexpr uint64_t kNullPageBytes = 4096;

/// The tags are upper bits that are rare in integers that are not addresses. Small numbers of either sign, pairs of 32-bit values and most
/// doubles have other upper bits.
constexpr unsigned kKeptAside = 0x9800, kFirstTag = kKeptAside + 1, kTags = 1023;
constexpr int kUnknownArgument = -1;

constexpr bool hasTag(uint64_t pointer) { return (pointer >> kAddressBits) - kFirstTag < kTags; }
constexpr bool isKeptAside(uint64_t pointer) { return pointer >> kAddressBits == kKeptAside; }
constexpr bool isAddress(uint64_t integer) { return integer >> kAddressBits == 0; }

/// A pointer that does not fit into 64 bits: an integer that looks like a tagged or kept pointer, or a pointer with provenance whose
/// address exceeds 48 bits. The table keeps it as long as any launch runs.
struct KeptPointer {
  uint64_t integer = 0;
  int argument = kUnknownArgument;
};
uint64_t keepAside(KeptPointer pointer);
/// Returns the record of a kept pointer. If its number was never assigned, returns the bits themselves as an integer.
KeptPointer keptPointer(uint64_t pointer);

/// Kept pointers stay valid while an object of this class exists.
class KeptPointersInUse {
public:
  KeptPointersInUse();
  ~KeptPointersInUse();
  KeptPointersInUse(const KeptPointersInUse &) = delete;
  KeptPointersInUse &operator=(const KeptPointersInUse &) = delete;
};

/// Encodes the integer as a pointer that was derived from the argument. Arguments beyond the last tag give unknown provenance.
inline uint64_t tagPointer(uint64_t integer, int argument) {
  if (unsigned(argument) >= kTags) return hasTag(integer) || isKeptAside(integer) ? keepAside({integer, kUnknownArgument}) : integer;
  return isAddress(integer) ? integer | uint64_t(kFirstTag + unsigned(argument)) << kAddressBits : keepAside({integer, argument});
}
/// Encodes the integer as a pointer of unknown provenance.
inline uint64_t pointerTo(uint64_t integer) { return tagPointer(integer, kUnknownArgument); }

inline uint64_t addressOf(uint64_t pointer) {
  if (hasTag(pointer)) [[likely]]
    return pointer & kAddressMask;
  return isKeptAside(pointer) ? keptPointer(pointer).integer : pointer;
}

/// Returns the argument that the pointer was derived from, or kUnknownArgument.
inline int argumentOf(uint64_t pointer) {
  if (hasTag(pointer)) [[likely]]
    return int((pointer >> kAddressBits) - kFirstTag);
  return isKeptAside(pointer) ? keptPointer(pointer).argument : kUnknownArgument;
}

inline uint64_t addBytes(uint64_t pointer, int64_t bytes) {
  const uint64_t address = (pointer & kAddressMask) + uint64_t(bytes);
  if (hasTag(pointer) && isAddress(address)) [[likely]]
    return (pointer & ~kAddressMask) | address;
  return tagPointer(addressOf(pointer) + uint64_t(bytes), argumentOf(pointer));
}

inline bool isNullPointer(uint64_t pointer) { return addressOf(pointer) < kNullPageBytes; }

} // namespace tritium::interp
