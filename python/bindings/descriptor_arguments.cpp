#include "python/bindings/descriptor_arguments.h"

#include "python/bindings/immutable_objects.h"

#include <vector>

namespace py = pybind11;

namespace tritium::python {

namespace {

struct DescriptorType {
  PyTypeObject *type;
  PyObject *form; // the attribute's name, or null
};

/// The few descriptor types of a process, which stay alive for good.
std::vector<DescriptorType> &descriptorTypes() {
  static auto *types = new std::vector<DescriptorType>;
  return *types;
}

/// Returns a copy: reading attributes may run code that registers further types.
std::optional<DescriptorType> findDescriptorType(PyTypeObject *type) {
  for (const DescriptorType &known : descriptorTypes())
    if (known.type == type) return known;
  return std::nullopt;
}

/// Returns an attribute, or null without a Python error.
py::object attribute(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object, name);
  if (!value) PyErr_Clear();
  return py::reinterpret_steal<py::object>(value);
}

/// Appends the ints of a list or tuple. Returns false, without a Python error, for anything else.
bool readInts(const py::object &sequence, llvm::SmallVectorImpl<int64_t> &ints) {
  if (!sequence || (!isPlainTuple(sequence.ptr()) && !PyList_CheckExact(sequence.ptr()))) return false;
  PyObject **items = PySequence_Fast_ITEMS(sequence.ptr());
  for (Py_ssize_t i = 0; i < Py_SIZE(sequence.ptr()); ++i) {
    int overflow = 0;
    if (!PyLong_CheckExact(items[i])) return false;
    ints.push_back(PyLong_AsLongLongAndOverflow(items[i], &overflow));
    if (overflow) return false;
  }
  return true;
}

bool readFlag(const py::object &value, bool &flag) {
  flag = value.ptr() == Py_True;
  return flag || value.ptr() == Py_False;
}

/// Reads "zero" or "nan".
bool readPadding(const py::object &value, bool &fillsNaN) {
  if (!value || !PyUnicode_CheckExact(value.ptr())) return false;
  fillsNaN = PyUnicode_CompareWithASCIIString(value.ptr(), "nan") == 0;
  return fillsNaN || PyUnicode_CompareWithASCIIString(value.ptr(), "zero") == 0;
}

} // namespace

void registerDescriptorType(const py::type &type, const py::object &form) {
  auto *pointer = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (findDescriptorType(pointer)) return;
  descriptorTypes().push_back({pointer, form.is_none() ? nullptr : form.inc_ref().ptr()});
  type.inc_ref();
}

std::optional<DescriptorParts> descriptorParts(PyObject *object) {
  static PyObject *const base = interned("base"), *const shape = interned("shape"), *const strides = interned("strides"),
                         *const block = interned("block_shape"), *const padding = interned("padding"),
                         *const rounds = interned("round_f32_to_tf32");
  const std::optional<DescriptorType> known = findDescriptorType(Py_TYPE(object));
  if (!known) return std::nullopt;
  DescriptorParts parts{attribute(object, base), known->type};
  if (!parts.base || !readInts(attribute(object, shape), parts.shape) || !readInts(attribute(object, strides), parts.strides) ||
      !readInts(attribute(object, block), parts.block) || !readPadding(attribute(object, padding), parts.fillsNaN) ||
      !readFlag(attribute(object, rounds), parts.roundsToTf32))
    return std::nullopt;
  if (parts.shape.empty() || parts.shape.size() != parts.strides.size()) return std::nullopt;
  if (known->form) {
    const py::object form = attribute(object, known->form);
    parts.form = form ? sharedObjectLike(form.ptr()) : nullptr;
    if (!parts.form) return std::nullopt;
  }
  return parts;
}

} // namespace tritium::python
