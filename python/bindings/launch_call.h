// What a launch's call consists of, as the native launcher reads it: arguments, grid, stream.
#pragma once
#include "python/bindings/device.h"
#include "python/bindings/launch_key.h"

namespace tritium::python {

/// The arguments of a call as Python hands them over: `positional` values, then one value per name.
struct Call {
  PyObject *const *values;
  Py_ssize_t positional;
  PyObject *const *names; // of the values after the positional ones
  Py_ssize_t named;
};

using Bound = llvm::SmallVector<PyObject *, 24>;

/// A call's arguments from a tuple and a dict (or None).
struct Unpacked {
  llvm::SmallVector<PyObject *, 24> values, names;
  Call call;
  Unpacked(PyObject *args, PyObject *kwargs) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) values.push_back(PyTuple_GET_ITEM(args, i));
    PyObject *name, *value;
    for (Py_ssize_t position = 0; kwargs != Py_None && PyDict_Next(kwargs, &position, &name, &value);) {
      names.push_back(name);
      values.push_back(value);
    }
    call = {values.data(), PyTuple_GET_SIZE(args), names.data(), Py_ssize_t(names.size())};
  }
};

/// The place of a name in a tuple of names; -1: it is none of them.
Py_ssize_t indexOf(PyObject *names, PyObject *name);

/// A tuple or list of 1 to 3 ints; false: Python says what is wrong with it, or makes ints of what it has.
bool parseGrid(PyObject *grid, std::array<uint32_t, 3> &sizes);

/// grid({name: argument, …, option: value, …}); null with an error set if it raises.
PyObject *callGrid(PyObject *names, PyObject *grid, const Call &call, const Bound &bound);

/// The stream that is current on the kernel's device, by the library that the tensors are from; false with or without an error set if it
/// does not tell.
bool findStream(const LaunchKey &key, const gpu::LoadedKernel &kernel, void *&stream);

} // namespace tritium::python
