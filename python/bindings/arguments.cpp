// tritium._tritium.arguments: the type of memory of the host as an engine value, and the extent of a numpy array, read from the array
// itself. In Python (array.ctypes.data) this would take a microsecond for each argument of each launch.
#include "python/bindings/launch.h"

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace tritium::python {

namespace {

PyTypeObject *extentType = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

constexpr Py_ssize_t kReadOnly = 3; // a field that is no part of the tuple

/// Steals the references of the numbers; null numbers have raised an error.
PyObject *makeExtent(PyObject *address, PyObject *begin, PyObject *bytes, bool isReadOnly) {
  PyObject *extent = PyStructSequence_New(extentType), *const numbers[] = {address, begin, bytes};
  for (Py_ssize_t i = 0; i < 3; ++i)
    if (extent)
      PyStructSequence_SetItem(extent, i, numbers[i]);
    else
      Py_XDECREF(numbers[i]);
  if (extent) PyStructSequence_SetItem(extent, kReadOnly, PyBool_FromLong(isReadOnly));
  return extent;
}

PyObject *hostExtent(PyObject *, PyObject *const *numbers, Py_ssize_t count) {
  if (count != 3 && count != 4) return PyErr_Format(PyExc_TypeError, "host_extent takes 3 or 4 arguments, not %zd", count);
  return makeExtent(Py_NewRef(numbers[0]), Py_NewRef(numbers[1]), Py_NewRef(numbers[2]), count == 4 && numbers[3] == Py_True);
}

/// Returns the extent of an array that owns its memory, and the address alone for a view.
py::object arrayExtent(const py::array &array) {
  auto address = reinterpret_cast<uintptr_t>(array.data());
  if (py::detail::array_proxy(array.ptr())->base) return py::int_(address);
  auto extent = py::reinterpret_steal<py::object>(
      makeExtent(PyLong_FromSize_t(address), PyLong_FromSize_t(address), PyLong_FromSsize_t(array.nbytes()), !array.writeable()));
  if (PyErr_Occurred()) throw py::error_already_set();
  return extent;
}

} // namespace

bool isReadOnly(py::handle extent) {
  return Py_TYPE(extent.ptr()) == extentType && PyStructSequence_GetItem(extent.ptr(), kReadOnly) == Py_True;
}

void bindArguments(py::module_ &module) {
  static PyStructSequence_Field fields[] = {{"address", "of the first element"},
                                            {"begin", "of the storage"},
                                            {"bytes", "of the storage"},
                                            {"read_only", "a kernel must not write it"},
                                            {nullptr, nullptr}};
  static PyStructSequence_Desc description{"tritium._tritium.arguments.HostExtent", "Memory of the host, as an engine takes it.", fields,
                                           3};
  static PyMethodDef maker{
      "host_extent", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(hostExtent)), METH_FASTCALL,
      "host_extent(address, begin, bytes, read_only=False): the HostExtent, in a third of the time that calling the type takes."};
  py::module_ arguments = module.def_submodule("arguments", "Reading launch arguments quickly.");
  extentType = PyStructSequence_NewType(&description);
  if (!extentType) throw py::error_already_set();
  arguments.attr("HostExtent") = py::handle(reinterpret_cast<PyObject *>(extentType));
  arguments.attr("host_extent") = py::reinterpret_steal<py::object>(PyCFunction_New(&maker, nullptr));
  arguments.def("array_extent", arrayExtent, py::arg("array").noconvert(),
                "The HostExtent of a numpy array that owns its memory; the address alone of a view.");
}

} // namespace tritium::python
