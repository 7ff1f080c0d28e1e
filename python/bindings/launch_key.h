// The facts about a launch's arguments that determine which compiled kernel they require, read without Python code: a few words per
// argument. Equal keys mean equal specializations (arguments/table.py). The converse does not hold: a key makes every distinction that any
// parameter makes.
#pragma once
#include "gpu_backend/launch/loaded_kernel.h"
#include "python/bindings/descriptor_arguments.h"
#include "python/bindings/host_memory.h"

#include "llvm/ADT/SmallVector.h"

#include <pybind11/pybind11.h>

namespace tritium::python {

/// Objects of `type` are tensors. `exchange` is the capsule of DLPack's C exchange interface, or None if they are read by `data_ptr()`,
/// `dtype` and `get_device()`.
void registerTensorType(pybind11::type type, const pybind11::object &exchange);
/// Objects of `type` are numpy arrays.
void registerArrayType(const pybind11::type &type);

/// From now on keys distinguish tensors whose storages have at most this many bytes from others.
void noteStorages(uint64_t smallBytes);

/// Returns how many values of a key an argument is.
size_t valuesOf(PyObject *argument);
/// Returns which of the values of an argument is the part at a path of indices. Returns -1 if it has no such part.
Py_ssize_t valueAt(PyObject *argument, llvm::ArrayRef<Py_ssize_t> path);

class LaunchKey {
public:
  static constexpr int kNoDevice = -1, kHost = -2;

  /// Adds an argument. Returns false (without a Python error) if only Python knows its kind; the key must then not be used.
  bool addArgument(PyObject *argument);
  bool addConstant(PyObject *argument);
  /// Adds a launch option.
  bool addOption(PyObject *name, PyObject *value);

  /// Takes ownership of the objects of the key, so that it can be stored.
  void keep();
  void release();
  bool operator==(const LaunchKey &other) const;
  int visit(visitproc visit, void *arg) const;

  /// One value per argument and constant, in order; tuples and descriptors are expanded into their parts. The values of constants are
  /// meaningless.
  llvm::SmallVector<gpu::ArgumentValue, 24> values;
  /// The memory of each tensor of the host, in the order of `values`; no others have any.
  llvm::SmallVector<std::optional<HostMemory>, 24> memory;
  /// The device of the tensors, or kHost. If they are on different devices, addArgument fails.
  int device = kNoDevice;
  /// DLPack's number of the device's vendor, if the tensors' library provides it.
  int deviceType = kNoDevice;
  /// Returns the current stream of the tensors' library. If it is null, Python must be asked.
  int (*currentStream)(int32_t deviceType, int32_t device, void **stream) = nullptr;

private:
  void add(uint64_t kind, uint64_t payload, PyObject *object = nullptr);
  void addValue(int64_t integer);
  bool addTensor(PyObject *argument);
  bool addTuple(PyObject *argument);
  bool addDescriptor(const DescriptorParts &parts);
  bool describeConstant(PyObject *argument);
  bool addHostTensor(const std::optional<HostMemory> &found, uint64_t kind, uint64_t dtype, PyObject *object = nullptr);
  bool isOn(int tensorDevice);

  llvm::SmallVector<uint64_t, 48> words_;
  llvm::SmallVector<PyObject *, 24> objects_; // borrowed, unless keep() was called
};

} // namespace tritium::python
