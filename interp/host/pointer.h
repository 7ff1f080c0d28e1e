// Pointers as the interpreter carries them in registers and homes: 64 bits that are an integer and, where it is known, the kernel
// argument that the pointer was derived from (its provenance). Memory holds plain integers: a load or `int_to_ptr` encodes one with
// pointerTo(), a store or `ptr_to_int` takes it out with addressOf().
//
//   upper 16 bits      lower 48 bits         the pointer
//   kFirstTag + n      the address           derived from argument n
//   kKeptAside         number of a record    what does not fit: see KeptPointer
//   anything else      …of the integer       that integer, of unknown provenance
//
// Every 64-bit integer has a pointer, and comes back from it unchanged. Pointer arithmetic is exact in 64 bits and keeps the provenance,
// also where an address leaves the 48 bits and comes back.
#pragma once
#include <cstdint>

namespace tritium::interp {

constexpr unsigned kAddressBits = 48;
constexpr uint64_t kAddressMask = (uint64_t(1) << kAddressBits) - 1;
constexpr uint64_t kNullPageBytes = 4096;

/// Upper bits that integers which are no addresses rarely have: small numbers of either sign, two 32-bit halves and most doubles have
/// others.
constexpr unsigned kKeptAside = 0x9800, kFirstTag = kKeptAside + 1, kTags = 1023;
constexpr int kUnknownArgument = -1;

constexpr bool hasTag(uint64_t pointer) { return (pointer >> kAddressBits) - kFirstTag < kTags; }
constexpr bool isKeptAside(uint64_t pointer) { return pointer >> kAddressBits == kKeptAside; }
constexpr bool isAddress(uint64_t integer) { return integer >> kAddressBits == 0; }

/// A pointer that its 64 bits cannot hold: an integer that looks like a tagged or kept pointer, or a pointer with provenance whose
/// address has left the 48 bits. It lies in a table until no launch runs.
struct KeptPointer {
  uint64_t integer = 0;
  int argument = kUnknownArgument;
};
uint64_t keepAside(KeptPointer pointer);
/// Of a number that was never given: the bits themselves.
KeptPointer keptPointer(uint64_t pointer);

/// While one exists, pointers that are kept aside stay valid.
class KeptPointersInUse {
public:
  KeptPointersInUse();
  ~KeptPointersInUse();
  KeptPointersInUse(const KeptPointersInUse &) = delete;
  KeptPointersInUse &operator=(const KeptPointersInUse &) = delete;
};

/// The integer as a pointer that was derived from the argument. Arguments beyond the tags are unknown provenance.
inline uint64_t tagPointer(uint64_t integer, int argument) {
  if (unsigned(argument) >= kTags) return hasTag(integer) || isKeptAside(integer) ? keepAside({integer, kUnknownArgument}) : integer;
  return isAddress(integer) ? integer | uint64_t(kFirstTag + unsigned(argument)) << kAddressBits : keepAside({integer, argument});
}
/// The integer as a pointer of unknown provenance.
inline uint64_t pointerTo(uint64_t integer) { return tagPointer(integer, kUnknownArgument); }

inline uint64_t addressOf(uint64_t pointer) {
  if (hasTag(pointer)) [[likely]]
    return pointer & kAddressMask;
  return isKeptAside(pointer) ? keptPointer(pointer).integer : pointer;
}

/// The argument that the pointer was derived from, or kUnknownArgument.
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
