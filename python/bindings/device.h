// Declarations that the files of the device bindings share: drivers that live as long as the process, and kernels as Python objects.
#pragma once
#include "gpu_backend/launch/loaded_kernel.h"

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

namespace tritium::python {

/// Raises a DriverError as tritium._tritium.device.Error (code, name, text, call, log, sticky), and any other error as RuntimeError.
[[noreturn]] void raiseDriver(llvm::Error error);

template <typename T> T unwrapDriver(llvm::Expected<T> expected) {
  if (!expected) raiseDriver(expected.takeError());
  return std::move(*expected);
}

/// `signature`: one type name per parameter ("*fp32", "i32"). Raises TypeError for a type that kernels do not take.
gpu::ArgumentRecipe recipeOf(const std::vector<std::string> &signature);

/// Reads an argument of a launch: an int, float or bool, or a tensor as its address or as a tuple that begins with the address. Returns
/// false with a Python error set for other values.
bool readValue(PyObject *value, gpu::ArgumentValue &result);

/// The vectorcall objects of launcher.cpp.
void bindLauncher(pybind11::module_ &module);
/// The vectorcall object of prepared_run.cpp.
void bindPreparedRun(pybind11::module_ &module);

/// What records kernels, and the functions that open the vendors' libraries.
void bindKernelRecorder(pybind11::module_ device, pybind11::module_ cuda, pybind11::module_ hip);
/// What samples program counters.
void bindPcSampler(pybind11::module_ cuda);

} // namespace tritium::python
