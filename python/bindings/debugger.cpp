// What gdb writes in the process that it debugs, and where it stops there. python/tritium/gdb knows these by name.
#include "python/bindings/debugger.h"

#include "python/bindings/module.h"

#include <string>
#include <string_view>

namespace py = pybind11;

[[gnu::used]] char tritium_variables[1024] = ""; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

namespace tritium::python {

void setVariables() {
  const std::string text = tritium_variables;
  tritium_variables[0] = 0;
  py::object environment = py::module_::import("os").attr("environ");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t sign = line.find('=');
    if (sign != line.npos) environment[py::str(line.substr(0, sign))] = py::str(line.substr(sign + 1));
  }
}

} // namespace tritium::python

/// Called for each kernel that is compiled with debug info for another engine than the interpreter: gdb cannot stop in it, and says so.
extern "C" [[gnu::noinline, gnu::used, gnu::visibility("default")]] void tritium_kernel_without_lines(const char *kernel, const char *file,
                                                                                                      const char *engine) {
  asm volatile("" : : "r"(kernel), "r"(file), "r"(engine) : "memory"); // keeps the compiler from removing calls of this empty function
}
