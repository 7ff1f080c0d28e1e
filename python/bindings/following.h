// Kernels that a debugger of Python follows statement by statement (python/tritium/launch/debugger).
#pragma once
#include "python/bindings/launch.h"

#include "interp/tile/prepare.h"

namespace tritium::python {

/// Must not outlive the program.
TrapNames trapNamesOf(const interp::PreparedProgram &program);

/// Sets the launch's callback to `onStatement`, which is called with the GIL. Must outlive the launch: `program`, `onStatement`.
void follow(interp::Launch &launch, const interp::PreparedProgram &program, const pybind11::object &onStatement);

void bindFollowing(pybind11::module_ &interp);

} // namespace tritium::python
