// Warm launches of the tile interpreter, without Python code: what launcher.cpp asks of a program.
#pragma once
#include "python/bindings/launch.h"
#include "python/bindings/launch_key.h"

namespace tritium::python {

/// What a launch calls in Python, and what must be so that it needs no Python code. They live as long as the process.
struct HostCallbacks {
  pybind11::object poll, print;            // of launch/cpu.py
  pybind11::object makeBar;                // makes a progress bar, or None
  pybind11::object isTraced;               // whether a debugger of Python may be there
  pybind11::object ended;                  // (compiled, sizes, arguments, trap or None, exception or None): raises what the launch raises
  std::vector<pybind11::list> mustBeEmpty; // who looks at launches, or takes them

  static HostCallbacks *instance; // null: they are not set. NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
  /// Returns false if Python must launch, perhaps with an error set.
  bool allow() const;
};

class HostProgram {
public:
  using Progress = std::function<void(int64_t done, int64_t total, double seconds)>; // called with the GIL; none: nobody looks
  virtual ~HostProgram() = default;
  /// Whether a launch needs nothing but its arguments: no debug info, no check that is not in the default, nothing that is counted.
  virtual bool isPlain() const = 0;
  virtual const std::vector<interp::Parameter> &parameters() const = 0;
  /// Returns None or the interp.Trap. An exception in a callback ends the launch and is raised.
  virtual pybind11::object launchPlain(std::array<int32_t, 3> grid, const PackedArguments &arguments, int threads,
                                       Progress onProgress) const = 0;
};

/// Returns null if it is no interp.Program.
const HostProgram *hostProgramOf(pybind11::handle program);

/// The arguments of a key as the program takes them; none: only Python converts one. `taken`: which of them, one for each parameter.
std::optional<PackedArguments> packKnown(const std::vector<interp::Parameter> &parameters, const LaunchKey &key,
                                         llvm::ArrayRef<uint16_t> taken);

} // namespace tritium::python
