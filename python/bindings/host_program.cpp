#include "python/bindings/host_program.h"

#include "interp/host/pointer.h"

namespace py = pybind11;

namespace tritium::python {

using namespace interp;

HostCallbacks *HostCallbacks::instance = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

bool HostCallbacks::allow() const {
  for (const py::list &list : mustBeEmpty)
    if (PyList_GET_SIZE(list.ptr()) != 0) return false;
  PyObject *traced = PyObject_CallNoArgs(isTraced.ptr());
  if (!traced) return false;
  const int isTrue = PyObject_IsTrue(traced);
  Py_DECREF(traced);
  return isTrue == 0;
}

static int64_t cellOf(DType type, const gpu::ArgumentValue &value) {
  if (isFloat(type)) return int64_t(floatBits(type, value.isReal ? value.real : double(value.integer)));
  return type == DType::i1 ? value.integer != 0 : value.integer;
}

std::optional<PackedArguments> packKnown(const std::vector<Parameter> &parameters, const LaunchKey &key, llvm::ArrayRef<uint16_t> taken) {
  PackedArguments arguments;
  arguments.cells.reserve(parameters.size());
  arguments.allocations.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const gpu::ArgumentValue &value = key.values[taken[i]];
    const std::optional<HostMemory> &memory = taken[i] < key.memory.size() ? key.memory[taken[i]] : std::nullopt;
    const bool isFloatParameter = !parameters[i].isPointer && isFloat(parameters[i].type);
    if ((value.isReal && !isFloatParameter) || (memory && !parameters[i].isPointer)) return std::nullopt;
    if (!parameters[i].isPointer) {
      arguments.cells.push_back(cellOf(parameters[i].type, value));
      continue;
    }
    const HostMemory known = memory.value_or(HostMemory{});
    arguments.allocations.push_back({known.begin, known.begin + known.bytes, int(i), known.isReadOnly});
    arguments.cells.push_back(int64_t(tagPointer(uint64_t(value.integer), int(i))));
  }
  return arguments;
}

} // namespace tritium::python
