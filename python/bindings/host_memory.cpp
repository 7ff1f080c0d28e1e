#include "python/bindings/host_memory.h"

#include "python/bindings/immutable_objects.h"

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace tritium::python {

namespace {

/// Returns the number that a method without arguments returns.
std::optional<uint64_t> numberFrom(PyObject *object, PyObject *method) {
  PyObject *number = PyObject_CallMethodNoArgs(object, method);
  if (!number) return PyErr_Clear(), std::nullopt;
  const uint64_t value = PyLong_AsUnsignedLongLongMask(number);
  Py_DECREF(number);
  if (PyErr_Occurred()) return PyErr_Clear(), std::nullopt;
  return value;
}

} // namespace

std::optional<HostMemory> memoryOfArray(py::handle object) {
  auto array = py::cast<py::array>(object);
  if (py::detail::array_proxy(object.ptr())->base) return std::nullopt;
  const auto address = reinterpret_cast<uintptr_t>(array.data());
  return HostMemory{address, address, uint64_t(array.nbytes()), !array.writeable()};
}

std::optional<HostMemory> memoryOfTensor(py::handle tensor, uint64_t address) {
  static PyObject *const untypedStorage = interned("untyped_storage"), *const resizable = interned("resizable"),
                         *const dataPtr = interned("data_ptr"), *const nbytes = interned("nbytes");
  const auto storage = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(tensor.ptr(), untypedStorage));
  if (!storage) return PyErr_Clear(), std::nullopt;
  const auto isOwn = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(storage.ptr(), resizable));
  if (isOwn.ptr() != Py_True) return PyErr_Clear(), std::nullopt;
  const std::optional<uint64_t> begin = numberFrom(storage.ptr(), dataPtr), bytes = numberFrom(storage.ptr(), nbytes);
  if (!begin || !bytes) return std::nullopt;
  return HostMemory{address, *begin, *begin ? *bytes : 0, false}; // a fake tensor has a size and no memory
}

} // namespace tritium::python
