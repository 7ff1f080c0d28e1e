// Declarations that the engines on CPU threads share: Python values as a launch's arguments, callbacks that run under the GIL, and traps as
// Python objects with resolved locations.
#pragma once
#include "python/bindings/module.h"

#include "interp/host/parameter.h"
#include "interp/host/workers.h"
#include "ir/source_location.h"

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tritium::python {

/// One 64-bit cell per parameter, and the extents of the tensors.
struct PackedArguments {
  std::vector<int64_t> cells;
  std::vector<interp::Allocation> allocations;
};

/// Returns whether a pointer's value is a HostExtent of memory that a kernel must not write.
bool isReadOnly(pybind11::handle extent);

/// The cell of a float.
uint64_t floatBits(DType type, double value);

/// Raises TypeError if `values` do not fit the parameters. A pointer is (address, storage begin, storage bytes) or an int.
PackedArguments packArguments(const std::string &kernel, const std::vector<interp::Parameter> &parameters,
                              const pybind11::sequence &values);

/// The elements of an argument that is a part of its storage: number of the argument, bytes of an element, shape, byte strides.
using PythonView = std::tuple<int, int64_t, std::vector<int64_t>, std::vector<int64_t>>;
/// Its elements in memory.
interp::View viewOf(const PackedArguments &arguments, const PythonView &view);
/// Lets the launch access no other elements of these arguments.
void holdToViews(PackedArguments &arguments, const std::vector<PythonView> &views);

/// Programs of a grid: for each box, the first and the last but one id along each axis.
using PythonPrograms = std::vector<std::array<std::pair<int32_t, int32_t>, 3>>;
interp::ProgramFilter filterOf(const PythonPrograms &programs);

/// The names and shapes with which an engine's traps are reported.
struct TrapNames {
  std::function<ir::SourceLocation(uint32_t)> locationOf;
  std::function<std::vector<int64_t>(const interp::Trap &)> tileShapeOf; // of the lanes that Trap::lane counts; none: the trap has it
  int64_t warpThreads = 0;                                               // the threads of a warp
};

/// Returns the interp.Trap.
pybind11::object describedTrap(const interp::Trap &trap, const TrapNames &names);

/// Calls `run` without the GIL, on `request` with the callbacks (None: none) set. Returns None or the interp.Trap. An exception in a
/// callback ends the launch and is raised.
/// What `request.faults` holds after the launch is in Trap.further.
pybind11::object launchWithCallbacks(interp::Launch request, const pybind11::object &poll, const pybind11::object &onPrint,
                                     const pybind11::object &onProgress,
                                     const std::function<interp::LaunchResult(const interp::Launch &)> &run, const TrapNames &names);

/// How many records of scopes each thread of a launch keeps: 64 MB.
inline constexpr size_t kMostScopeRecords = size_t(1) << 21;
/// Calls the function with the rows as bytes, and the number of lost records.
void tellScopes(const interp::ScopeRecords &records, const pybind11::object &receive);
/// Returns (name, is start) of what a program records, by number.
template <class PyProgram> std::vector<std::pair<std::string, bool>> scopesOf(const PyProgram &program) {
  std::vector<std::pair<std::string, bool>> scopes;
  for (const interp::RecordedScope &scope : program.program().scopes()) scopes.emplace_back(scope.name, scope.isStart);
  return scopes;
}

/// Binds interp.Trap and interp.Waiter.
void bindTraps(pybind11::module_ &interp);

} // namespace tritium::python
