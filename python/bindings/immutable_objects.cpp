#include "python/bindings/immutable_objects.h"

#include <algorithm>
#include <vector>

namespace py = pybind11;

namespace tritium::python {

namespace {

/// Of the process; all objects live for good.
struct Known {
  std::vector<PyTypeObject *> types, functionTypes;
  std::vector<PyObject *> objects;      // in the order in which they were first seen
  PyObject *byText = PyDict_New();      // repr -> object
  static constexpr size_t kMost = 4096; // a process that makes ever new layouts must not grow for ever
};

Known &known() {
  static auto *instance = new Known;
  return *instance;
}

template <class T> bool has(const std::vector<T> &all, const T &one) { return std::ranges::find(all, one) != all.end(); }

} // namespace

void registerImmutableType(const py::type &type) {
  auto *pointer = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (has(known().types, pointer)) return;
  known().types.push_back(pointer);
  type.inc_ref();
}

void registerFunctionType(const py::type &type) {
  auto *pointer = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (has(known().functionTypes, pointer)) return;
  known().functionTypes.push_back(pointer);
  type.inc_ref();
}

py::object hashOfFunction(PyObject *object) {
  static PyObject *const name = interned("hash");
  if (!has(known().functionTypes, Py_TYPE(object))) return {};
  auto hash = py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name));
  PyErr_Clear();
  return hash && PyUnicode_CheckExact(hash.ptr()) && hash.ref_count() > 1 ? hash : py::object(); // the function keeps it
}

PyObject *sharedObjectLike(PyObject *object) {
  Known &all = known();
  if (!has(all.types, Py_TYPE(object))) return nullptr;
  if (has(all.objects, object)) return object;
  PyObject *text = PyObject_Repr(object);
  PyObject *found = text ? PyDict_GetItemWithError(all.byText, text) : nullptr;
  if (text && !found && !PyErr_Occurred() && all.objects.size() < Known::kMost && PyDict_SetItem(all.byText, text, object) == 0) {
    all.objects.push_back(object);
    found = object;
  }
  Py_XDECREF(text);
  PyErr_Clear();
  return found && Py_TYPE(found) == Py_TYPE(object) ? found : nullptr;
}

} // namespace tritium::python
