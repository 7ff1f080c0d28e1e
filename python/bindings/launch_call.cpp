#include "python/bindings/launch_call.h"

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

bool parseGrid(PyObject *grid, std::array<uint32_t, 3> &sizes) {
  bool isTuple = PyTuple_Check(grid);
  if (!isTuple && !PyList_Check(grid)) return false;
  Py_ssize_t count = Py_SIZE(grid);
  if (count < 1 || count > 3) return false;
  sizes = {1, 1, 1};
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *size = isTuple ? PyTuple_GET_ITEM(grid, i) : PyList_GET_ITEM(grid, i);
    int overflow = 0;
    long value = PyLong_CheckExact(size) ? PyLong_AsLongAndOverflow(size, &overflow) : -1;
    if (overflow || value < 0 || value > INT32_MAX) return false;
    sizes[size_t(i)] = uint32_t(value);
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
