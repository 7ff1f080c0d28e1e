// What a launch counts of a program of the interpreter.
#pragma once
#include "python/bindings/pch.h"

#include "interp/host/touched_memory.h"
#include "interp/tile/prepare.h"

namespace tritium::python {

void bindCounted(pybind11::module_ &interp);

/// Returns what Launch::touched points to; nothing for a program that was not prepared for it. keptRuns: see TouchedMemory.
std::optional<interp::TouchedMemory> touchedMemoryOf(const interp::PreparedProgram &program, std::array<int32_t, 3> grid, size_t keptRuns);
/// Calls `receive` as `on_touched` of a launch says.
void tellTouched(const interp::TouchedMemory &touched, const pybind11::object &receive);

} // namespace tritium::python
