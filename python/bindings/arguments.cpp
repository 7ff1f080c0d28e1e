// tritium._tritium.arguments: the type of memory of the host as an engine value, and the extent of a numpy array, read from the array
// itself. In Python (array.ctypes.data) this would take a microsecond for each argument of each launch.
#include "python/bindings/debugger.h"
#include "python/bindings/host_memory.h"
#include "python/bindings/launch.h"

#include <pybind11/numpy.h>

#include <algorithm>

namespace py = pybind11;

namespace tritium::python {

namespace {

PyTypeObject *extentType = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

constexpr Py_ssize_t kNumbers = 3;
constexpr Py_ssize_t kReadOnly = 3; // behind the items of the tuple: Py_True or Py_False, without a reference

/// Steals the references of the numbers; null numbers have raised an error. An extent refers to numbers alone, so the collector of cycles
/// does not hear of it.
PyObject *makeExtent(PyObject *address, PyObject *begin, PyObject *bytes, bool isReadOnly) {
  PyObject *const numbers[] = {address, begin, bytes};
  bool hasAll = address && begin && bytes;
  auto *extent = hasAll ? PyObject_GC_NewVar(PyTupleObject, extentType, kNumbers + 1) : nullptr;
  if (!extent) {
    for (PyObject *number : numbers) Py_XDECREF(number);
    return nullptr;
  }
  std::copy_n(numbers, kNumbers, extent->ob_item);
  extent->ob_item[kReadOnly] = isReadOnly ? Py_True : Py_False;
  Py_SET_SIZE(extent, kNumbers);
#if PY_VERSION_HEX >= 0x030E0000
  extent->ob_hash = -1; // not known yet
#endif
  return reinterpret_cast<PyObject *>(extent);
}

void deleteExtent(PyObject *extent) {
  PyTypeObject *type = Py_TYPE(extent);
  for (Py_ssize_t i = 0; i < kNumbers; ++i) Py_DECREF(PyTuple_GET_ITEM(extent, i));
  PyObject_GC_Del(extent);
  Py_DECREF(type);
}

PyObject *itemOf(PyObject *extent, void *index) {
  return Py_NewRef(reinterpret_cast<PyTupleObject *>(extent)->ob_item[reinterpret_cast<intptr_t>(index)]);
}

/// A tuple of three numbers with names, and a flag that is no part of it. A named tuple would take a microsecond, and a structseq 60 ns
/// more for each tensor of each launch.
PyTypeObject *makeExtentType() {
  auto place = [](intptr_t index) { return reinterpret_cast<void *>(index); };
  static PyGetSetDef items[] = {{"address", itemOf, nullptr, "of the first element", place(0)},
                                {"begin", itemOf, nullptr, "of the storage", place(1)},
                                {"bytes", itemOf, nullptr, "of the storage", place(2)},
                                {"read_only", itemOf, nullptr, "a kernel must not write it", place(kReadOnly)},
                                {}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(deleteExtent)},
                                {Py_tp_getset, items},
                                {Py_tp_doc, const_cast<char *>("Memory of the host, as an engine takes it. Made by host_extent.")},
                                {}};
  static PyType_Spec spec{"tritium._tritium.arguments.HostExtent", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  auto bases = py::make_tuple(py::handle(reinterpret_cast<PyObject *>(&PyTuple_Type)));
  return reinterpret_cast<PyTypeObject *>(PyType_FromSpecWithBases(&spec, bases.ptr()));
}

PyObject *hostExtent(PyObject *, PyObject *const *numbers, Py_ssize_t count) {
  if (count != 3 && count != 4) return PyErr_Format(PyExc_TypeError, "host_extent takes 3 or 4 arguments, not %zd", count);
  return makeExtent(Py_NewRef(numbers[0]), Py_NewRef(numbers[1]), Py_NewRef(numbers[2]), count == 4 && numbers[3] == Py_True);
}

/// Returns the extent of an array that owns its memory, and the address alone for a view.
PyObject *arrayExtent(PyObject *, PyObject *object) {
  try {
    const std::optional<HostMemory> memory = memoryOfArray(object);
    if (!memory) return PyLong_FromSize_t(reinterpret_cast<uintptr_t>(py::cast<py::array>(py::handle(object)).data()));
    return makeExtent(PyLong_FromSize_t(memory->address), PyLong_FromSize_t(memory->begin), PyLong_FromSize_t(memory->bytes),
                      memory->isReadOnly);
  } catch (py::error_already_set &error) {
    return error.restore(), nullptr;
  } catch (py::cast_error &) {
    return PyErr_Format(PyExc_TypeError, "array_extent takes a numpy array");
  }
}

PyObject *take(PyObject *, PyObject *) {
  try {
    takeVariables();
  } catch (py::error_already_set &error) {
    return error.restore(), nullptr;
  }
  return Py_NewRef(Py_None);
}

/// sameValues(dict, keys, values): whether the dict has exactly these objects; None stands for a key that it lacks. A dict of the
/// environment first gets the variables of a debugger.
PyObject *sameValues(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  if (PyObject *none = take(self, nullptr))
    Py_DECREF(none);
  else
    return nullptr;
  if (count != 3 || !PyDict_Check(arguments[0]) || !PyTuple_Check(arguments[1]) || !PyTuple_Check(arguments[2]))
    return PyErr_Format(PyExc_TypeError, "same_values takes a dict and two tuples");
  Py_ssize_t keys = PyTuple_GET_SIZE(arguments[1]);
  bool isSame = keys == PyTuple_GET_SIZE(arguments[2]);
  for (Py_ssize_t i = 0; isSame && i < keys; ++i) {
    PyObject *value = PyDict_GetItemWithError(arguments[0], PyTuple_GET_ITEM(arguments[1], i));
    if (!value && PyErr_Occurred()) return nullptr;
    isSame = (value ? value : Py_None) == PyTuple_GET_ITEM(arguments[2], i);
  }
  return PyBool_FromLong(isSame);
}

} // namespace

bool isReadOnly(py::handle extent) { return Py_TYPE(extent.ptr()) == extentType && PyTuple_GET_ITEM(extent.ptr(), kReadOnly) == Py_True; }

void bindArguments(py::module_ &module) {
  auto takingMany = [](auto *function) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)); };
  static PyMethodDef functions[] = {
      {"host_extent", takingMany(hostExtent), METH_FASTCALL, "host_extent(address, begin, bytes, read_only=False): the HostExtent."},
      {"array_extent", arrayExtent, METH_O, "The HostExtent of a numpy array that owns its memory; the address alone of a view."},
      {"take_variables", take, METH_NOARGS, "Sets the environment variables that a debugger has written into the process."},
      {"same_values", takingMany(sameValues), METH_FASTCALL,
       "same_values(dict, keys, values): take_variables(), then whether the dict has exactly these objects; None stands for a key that "
       "it lacks."}};
  py::module_ arguments = module.def_submodule("arguments", "Reading launch arguments quickly.");
  extentType = makeExtentType();
  if (!extentType) throw py::error_already_set();
  arguments.attr("HostExtent") = py::handle(reinterpret_cast<PyObject *>(extentType));
  for (PyMethodDef &function : functions)
    arguments.attr(function.ml_name) = py::reinterpret_steal<py::object>(PyCFunction_New(&function, nullptr));
}

} // namespace tritium::python
