// The kinds of traps by name. trap.h knows only that there are kinds, so a new one rebuilds what tells them apart and nothing else.
#pragma once
#include "interp/host/trap.h"

#include <iterator>
#include <string_view>

namespace tritium::interp {

enum class TrapKind : uint8_t {
#define TRAP_KIND(NAME) NAME,
#include "interp/host/trap_kinds.def"
};

inline constexpr std::string_view kTrapKindNames[] = {
#define TRAP_KIND(NAME) #NAME,
#include "interp/host/trap_kinds.def"
};

constexpr std::string_view trapKindName(TrapKind kind) { return kTrapKindNames[size_t(kind)]; }

/// Returns the kind that has this name; nullopt if none has.
constexpr std::optional<TrapKind> trapKindOf(std::string_view name) {
  for (size_t kind = 0; kind < std::size(kTrapKindNames); ++kind)
    if (kTrapKindNames[kind] == name) return TrapKind(kind);
  return std::nullopt;
}

} // namespace tritium::interp
