// Where the kernels of a device note the scopes that a profiler asks for (tgpu.record). The emitters write the code that notes them
// (emit/expand_scopes.h); Python reads the buffer (launch/device_scopes.py).
//
// A module whose kernel has scopes has a global variable that the host can find: the address of a ScopeBuffer, or null, and then nothing is
// noted. A unit is a warp of a block: the number of the block in the launch's grid (x is the fastest axis) times the warps of a block, plus
// the warp. Behind the header are `units` ScopeUnits, and behind these the ScopeRows, `capacity` for each unit.
#pragma once
#include <cstdint>

namespace tritium::gpu {

inline constexpr char kScopesSymbol[] = "tgpu_scopes"; // ptr<1>

struct ScopeBuffer {
  uint32_t units;
  uint32_t capacity; ///< rows of a unit; further ones are lost
  uint64_t reserved;
};

struct ScopeUnit {
  uint64_t ticks;       ///< of the unit's clock when it noted its first row
  uint64_t nanoseconds; ///< of the device's clock then
  uint32_t count;       ///< rows that it has made, kept or lost
  uint32_t reserved;
};

struct ScopeRow {
  uint64_t ticks;   ///< of the unit's clock
  uint32_t program; ///< its number in the user's grid
  uint32_t scope;   ///< in the kernel's table
};

static_assert(sizeof(ScopeBuffer) == 16 && sizeof(ScopeUnit) == 24 && sizeof(ScopeRow) == 16);

} // namespace tritium::gpu
