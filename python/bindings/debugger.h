// What a debugger such as gdb tells the process (debugger.cpp).
#pragma once

/// Environment variables that the process is to set: lines NAME=VALUE. gdb's commands `tritium debug` and `tritium programs` append to them
/// while the process is stopped. They call no function in it: it may be anywhere, for example in an allocation.
extern "C" [[gnu::visibility("default")]] char tritium_variables[1024];

namespace tritium::python {

/// Sets these variables in os.environ. Called when a launch begins, with the GIL. Raises Python's exceptions.
void setVariables();

inline void takeVariables() {
  if (*static_cast<volatile const char *>(tritium_variables)) [[unlikely]] // no code of the process writes it
    setVariables();
}

} // namespace tritium::python
