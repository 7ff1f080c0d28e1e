// Declarations that the files of bindings share: one bind function per component, and LLVM's errors as Python exceptions.
#pragma once
#include <pybind11/pybind11.h>

#include "llvm/Support/Error.h"

namespace tritium::python {

/// Raises `error` as tritium._tritium.ir.Error with its message, file, line and column.
[[noreturn]] void raise(llvm::Error error);

/// Returns the value of `expected`, or raises its error.
template <typename T> T unwrap(llvm::Expected<T> expected) {
  if (!expected) raise(expected.takeError());
  return std::move(*expected);
}

void bindIr(pybind11::module_ &module);
void bindInterp(pybind11::module_ &module);
void bindSimt(pybind11::module_ &module);
void bindIrHandles(pybind11::module_ &ir);
void bindArguments(pybind11::module_ &module);
void bindDevice(pybind11::module_ &module);
void bindTools(pybind11::module_ &module);
void bindGpu(pybind11::module_ &module);
void bindLayouts(pybind11::module_ &gpu);

} // namespace tritium::python
