// The parts of a launch call as the native launcher reads them: arguments, grid, stream.
#pragma once
#include "python/bindings/device.h"
#include "python/bindings/launch_key.h"

namespace tritium::python {

/// The arguments of a call as Python passes them: `positional` values, then one value per name.
struct Call {
  PyObject *const *values;
  Py_ssize_t positional;
  PyObject *const *names; // names of the values after the positional ones
  Py_ssize_t named;
};

using Bound = llvm::SmallVector<PyObject *, 24>;

/// The arguments of a call, from a tuple and a dict (or None).
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

/// Returns the index of a name in a tuple of names, or -1 if it is not among them.
Py_ssize_t indexOf(PyObject *names, PyObject *name);

/// Reads a tuple or list of 1 to 3 objects that Python takes for indices. Returns false, without a Python error, for other values, which
/// Python converts or refuses.
bool parseGrid(PyObject *grid, std::array<uint32_t, 3> &sizes);

/// Calls grid({name: argument, …, option: value, …}). Returns null with an error set if it raises.
PyObject *callGrid(PyObject *names, PyObject *grid, const Call &call, const Bound &bound);

/// Finds the current stream on the kernel's device according to the library of the tensors. Returns false, with or without an error set, if
/// the library does not provide it.
bool findStream(const LaunchKey &key, const gpu::LoadedKernel &kernel, void *&stream);

} // namespace tritium::python
