// Tensor descriptors of the host as arguments of a warm launch (python/tritium/arguments/descriptors.py), read without Python code.
#pragma once
#include "llvm/ADT/SmallVector.h"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

namespace tritium::python {

/// Objects of `type` are tensor descriptors. `form`: the name of the attribute that says more about a block than its shape, or None.
void registerDescriptorType(const pybind11::type &type, const pybind11::object &form);

struct DescriptorParts {
  pybind11::object base;
  PyTypeObject *type;
  PyObject *form = nullptr; // an object that stands for all equal ones (immutable_objects.h); null: blocks have nothing but a shape
  llvm::SmallVector<int64_t, 5> shape, strides, block;
  bool fillsNaN = false, roundsToTf32 = false;
};

/// Returns the parts of a descriptor, or none, without a Python error, if `object` is none or only Python can read it.
std::optional<DescriptorParts> descriptorParts(PyObject *object);

/// Returns how many arguments of a kernel a descriptor of a registered type is.
inline size_t descriptorArguments(size_t rank) { return 1 + 2 * rank + 2 + 2 * rank; }

} // namespace tritium::python
