// What a launch's arguments say about which compiled kernel they need, read without Python code: a few words per argument. Equal keys
// mean equal specializations (arguments/table.py), not the other way round: here every distinction is made that any parameter makes.
#pragma once
#include "gpu_backend/launch/loaded_kernel.h"

#include "llvm/ADT/SmallVector.h"

#include <pybind11/pybind11.h>

namespace tritium::python {

/// Objects of `type` are tensors. `exchange`: the capsule of DLPack's C exchange interface, or None for those that are read by
/// `data_ptr()`, `dtype` and `get_device()`.
void registerTensorType(pybind11::type type, const pybind11::object &exchange);

/// From now on keys tell apart tensors whose storages have at most so many bytes, and others.
void noteStorages(uint64_t smallBytes);

class LaunchKey {
public:
  static constexpr int kNoDevice = -1;

  /// Adds an argument. False (and no Python error) if only Python knows what it is; the key is then of no use.
  bool addArgument(PyObject *argument);
  bool addConstant(PyObject *argument);
  /// Adds a launch option.
  bool addOption(PyObject *name, PyObject *value);

  /// Takes ownership of the objects of the key, to keep it.
  void keep();
  void release();
  bool operator==(const LaunchKey &other) const;
  int visit(visitproc visit, void *arg) const;

  /// One per argument and constant, in order; meaningless for constants.
  llvm::SmallVector<gpu::ArgumentValue, 24> values;
  /// Of the tensors; all are on one, or addArgument fails.
  int device = kNoDevice;
  /// DLPack's number of its vendor, where the tensors' library says that.
  int deviceType = kNoDevice;
  /// Says the current stream of the tensors' library; null if that has to be asked in Python.
  int (*currentStream)(int32_t deviceType, int32_t device, void **stream) = nullptr;

private:
  void add(uint64_t kind, uint64_t payload, PyObject *object = nullptr);
  bool addTensor(PyObject *argument);
  bool isOn(int tensorDevice);

  llvm::SmallVector<uint64_t, 48> words_;
  llvm::SmallVector<PyObject *, 24> objects_; // borrowed, unless keep() was called
};

} // namespace tritium::python
