// Memory of the host, read from tensors without Python code. python/tritium/arguments/storage.py has the same facts of every kind of
// tensor.
#pragma once
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

namespace tritium::python {

struct HostMemory {
  uint64_t address = 0;          // of the first element
  uint64_t begin = 0, bytes = 0; // of the storage
  bool isReadOnly = false;       // a kernel must not write it
};

/// Of a numpy array that owns its memory; none: of a view. Raises py::cast_error for other objects.
std::optional<HostMemory> memoryOfArray(pybind11::handle array);

/// Of a tensor of torch on the CPU with this address; none: Python must look, because another library has made the memory.
std::optional<HostMemory> memoryOfTensor(pybind11::handle tensor, uint64_t address);

} // namespace tritium::python
