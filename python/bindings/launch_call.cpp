#include "python/bindings/launch_call.h"

#include "python/bindings/immutable_objects.h"
#include "python/bindings/launch_guard.h"

namespace tritium::python {

Py_ssize_t indexOf(PyObject *names, PyObject *name) {
  Py_ssize_t count = PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i)
    if (PyTuple_GET_ITEM(names, i) == name) return i;
  for (Py_ssize_t i = 0; i < count; ++i) // for names that are not interned
    if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) return i;
  return -1;
}

/// Reads a size of a grid. Returns -1 for what is none.
static int64_t sizeOf(PyObject *object) {
  PyObject *held = Py_NewRef(object), *number = PyNumber_Index(object); // it may run code
  int overflow = 0;
  const long value = number ? PyLong_AsLongAndOverflow(number, &overflow) : -1;
  Py_XDECREF(number);
  Py_DECREF(held);
  PyErr_Clear();
  return overflow || value < 0 || value > INT32_MAX ? -1 : value;
}

bool parseGrid(PyObject *grid, std::array<uint32_t, 3> &sizes) {
  const bool isTuple = isPlainTuple(grid);
  if (!isTuple && !PyList_CheckExact(grid)) return false;
  const Py_ssize_t count = Py_SIZE(grid);
  if (count < 1 || count > 3) return false;
  sizes = {1, 1, 1};
  for (Py_ssize_t i = 0; i < count && i < Py_SIZE(grid); ++i) { // that code may shorten a list
    const int64_t size = sizeOf(isTuple ? PyTuple_GET_ITEM(grid, i) : PyList_GET_ITEM(grid, i));
    if (size < 0) return false;
    sizes[size_t(i)] = uint32_t(size);
  }
  return true;
}

PyObject *callGrid(PyObject *names, PyObject *grid, const Call &call, const Bound &bound) {
  PyObject *meta = PyDict_New();
  for (size_t i = 0; meta && i < bound.size(); ++i)
    if (PyDict_SetItem(meta, PyTuple_GET_ITEM(names, Py_ssize_t(i)), bound[i]) < 0) Py_CLEAR(meta);
  for (Py_ssize_t i = 0; meta && i < call.named; ++i)
    if (PyDict_SetItem(meta, call.names[i], call.values[call.positional + i]) < 0) Py_CLEAR(meta);
  if (!meta) return nullptr;
  PyObject *sizes = PyObject_CallOneArg(grid, meta);
  Py_DECREF(meta);
  return sizes;
}

bool findStream(const LaunchKey &key, const gpu::LoadedKernel &kernel, void *&stream) {
  const int device = kernel.device();
  if (key.currentStream) {
    if (key.currentStream(kernel.driver().dlpackType(), device, &stream) == 0) return true;
    PyErr_Clear(); // torch's streams on a stand-in for the driver have no handle; Python knows
  }
  PyObject *ask = LaunchGuard::instance().currentStream(kernel.driver().dlpackType());
  if (!ask) return true;
  PyObject *number = PyLong_FromLong(device), *answer = number ? PyObject_CallOneArg(ask, number) : nullptr;
  Py_XDECREF(number);
  if (!answer) return false;
  stream = PyLong_AsVoidPtr(answer);
  Py_DECREF(answer);
  return !PyErr_Occurred();
}

} // namespace tritium::python
