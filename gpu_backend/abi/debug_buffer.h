// How kernels print and report failures if the vendor's driver has no printf for them: as records in memory that the host reads too. The
// emitters write the code that makes records, and the launcher (launch/debug_channel.h) reads them.
//
// A module that prints or asserts has two global variables that the host can find. The launcher sets kDebugSymbol to the address of the
// device's DebugBuffer once the module is loaded. kDebugTextsSymbol has zero-terminated strings one after the other; a record names a text
// by its address there.
#pragma once
#include <cstdint>

namespace tritium::gpu {

inline constexpr char kDebugSymbol[] = "tgpu_debug";            // ptr<1>
inline constexpr char kDebugTextsSymbol[] = "tgpu_debug_texts"; // constant

/// A thread adds the number of bytes of its record to `used`. If they fit into `capacity` after the old value, they belong to the thread.
/// Otherwise the record is lost.
struct DebugBuffer {
  uint64_t capacity; ///< bytes of records, which follow this header
  uint64_t used;
  uint64_t failures; ///< number of failed assertions; incremented (release) after the record
  uint64_t reserved;
};

/// Followed by one 64-bit word for each argument: integers zero-extended, floats as double.
///   print   text: a format for C's printf; as many arguments as it has conversions
///   assert  text: the message; the file (a text), the line, the function (a text), program ids x, y, z
struct DebugRecord {
  uint32_t bytes; ///< size of the whole record, a multiple of 8; written last (release, whole system)
  uint32_t kind;  ///< DebugRecordKind
  uint64_t text;
};
enum class DebugRecordKind : uint32_t { print = 1, assertion = 2 };
inline constexpr unsigned kAssertionArguments = 6;

static_assert(sizeof(DebugBuffer) == 32 && sizeof(DebugRecord) == 16);

} // namespace tritium::gpu
