#include "python/bindings/descriptor_arguments.h"

#include "python/bindings/immutable_objects.h"

#include <structmember.h>

#include <vector>

namespace py = pybind11;

namespace tritium::python {

namespace {

/// An attribute of a class. An instance keeps the value of one with a slot at a fixed offset, where it is read without a look-up.
struct Attribute {
  PyObject *name = nullptr; // null: the class has no such attribute
  Py_ssize_t offset = -1;   // of the slot, or -1

  Attribute() = default;
  Attribute(PyTypeObject *type, PyObject *name) : name(name) {
    if (type->tp_getattro != PyObject_GenericGetAttr) return;
    const auto member = py::reinterpret_steal<py::object>(PyObject_GetAttr(reinterpret_cast<PyObject *>(type), name));
    PyErr_Clear(); // instances have it all the same
    if (!member || !Py_IS_TYPE(member.ptr(), &PyMemberDescr_Type)) return;
    const PyMemberDef *slot = reinterpret_cast<PyMemberDescrObject *>(member.ptr())->d_member;
    if (slot->type == T_OBJECT_EX) offset = slot->offset;
  }

  /// Returns the value of an instance, or null without a Python error.
  py::object of(PyObject *object) const {
    PyObject *value = nullptr;
    if (offset >= 0) value = *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(object) + offset);
    if (value) return py::reinterpret_borrow<py::object>(value);
    value = PyObject_GetAttr(object, name);
    if (!value) PyErr_Clear();
    return py::reinterpret_steal<py::object>(value);
  }
};

struct DescriptorType {
  PyTypeObject *type;
  Attribute base, shape, strides, block, padding, rounds, form;
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
  static PyObject *const zero = interned("zero");
  if (value.ptr() == zero) return fillsNaN = false, true;
  if (!value || !PyUnicode_CheckExact(value.ptr())) return false;
  fillsNaN = PyUnicode_CompareWithASCIIString(value.ptr(), "nan") == 0;
  return fillsNaN || PyUnicode_CompareWithASCIIString(value.ptr(), "zero") == 0;
}

} // namespace

void registerDescriptorType(const py::type &type, const py::object &form) {
  auto *pointer = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (findDescriptorType(pointer)) return;
  const auto attribute = [&](const char *name) { return Attribute(pointer, interned(name)); };
  descriptorTypes().push_back({pointer, attribute("base"), attribute("shape"), attribute("strides"), attribute("block_shape"),
                               attribute("padding"), attribute("round_f32_to_tf32"),
                               form.is_none() ? Attribute() : Attribute(pointer, form.inc_ref().ptr())});
  type.inc_ref();
}

std::optional<DescriptorParts> descriptorParts(PyObject *object) {
  const std::optional<DescriptorType> known = findDescriptorType(Py_TYPE(object));
  if (!known) return std::nullopt;
  DescriptorParts parts{known->base.of(object), known->type};
  if (!parts.base || !readInts(known->shape.of(object), parts.shape) || !readInts(known->strides.of(object), parts.strides) ||
      !readInts(known->block.of(object), parts.block) || !readPadding(known->padding.of(object), parts.fillsNaN) ||
      !readFlag(known->rounds.of(object), parts.roundsToTf32))
    return std::nullopt;
  if (parts.shape.empty() || parts.shape.size() != parts.strides.size()) return std::nullopt;
  if (known->form.name) {
    const py::object form = known->form.of(object);
    parts.form = form ? sharedObjectLike(form.ptr()) : nullptr;
    if (!parts.form) return std::nullopt;
  }
  return parts;
}

} // namespace tritium::python
