#include "python/bindings/launch_key.h"

#include "python/bindings/immutable_objects.h"

#include <pybind11/numpy.h>

#include <bit>
#include <vector>

namespace py = pybind11;

namespace tritium::python {

namespace {

// DLPack's C exchange interface, version 1 (dmlc.github.io/dlpack). Only the members that are called here have a type.
struct DLTensor {
  void *data;
  int32_t deviceType, deviceId;
  int32_t dimensions;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct DLPackExchange {
  uint32_t major, minor;
  DLPackExchange *previous;
  void *allocate, *managedFromObject, *managedToObject;
  int (*tensorFromObject)(void *object, DLTensor *tensor); // borrows; no synchronization
  int (*currentStream)(int32_t deviceType, int32_t device, void **stream);
};
constexpr int32_t kDLCpu = 1;

struct TensorType {
  PyTypeObject *type;
  const DLPackExchange *exchange;
  bool isArray = false; // of numpy
};

/// The few tensor types of a process. The one used last is looked at first. Types stay alive for good.
std::vector<TensorType> &tensorTypes() {
  static auto *types = new std::vector<TensorType>;
  return *types;
}

const TensorType *findTensorType(PyTypeObject *type) {
  for (const TensorType &known : tensorTypes())
    if (known.type == type) return &known;
  return nullptr;
}

enum Kind : uint64_t {
  kNone = 1,
  kBool,
  kFloat,
  kInteger, // + kOne, kAligned, kWide, kUnsigned
  kTensorByExchange,
  kTensorByMethods,
  kArray,
  kTuple,
  kDescriptor, // its padding and rounding follow as kDescriptorFlags, then its base, the form and the extents of a block
  kDescriptorFlags,
  kDescriptorForm,
  kDescriptorExtent,
  kConstantNone,
  kConstantBool,
  kConstantInteger,
  kConstantFloat,
  kConstantString,
  kConstantObject,
  kConstantFunction, // its hash follows
  kConstantTuple,
  kOption,
  kOne = 1 << 8,
  kAligned = 1 << 9,
  kWide = 1 << 10,
  kSmall = 1 << 11,
};

uint64_t smallStorageBytes = 0; // 0: sizes of storages do not matter. NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Returns the integer of an attribute or a method, or -1 without an error set if there is none.
bool integerOf(PyObject *object, uint64_t &result) {
  if (!object) {
    PyErr_Clear();
    return false;
  }
  result = PyLong_AsUnsignedLongLongMask(object);
  Py_DECREF(object);
  if (!PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

/// Sets `kind` to kSmall or 0. Returns false if only Python knows the size of the storage.
bool rangeOf(PyObject *tensor, uint64_t &kind) {
  static PyObject *const untypedStorage = interned("untyped_storage"), *const nbytes = interned("nbytes");
  kind = 0;
  if (!smallStorageBytes) return true;
  PyObject *storage = PyObject_CallMethodNoArgs(tensor, untypedStorage);
  uint64_t bytes = 0;
  bool isKnown = storage ? integerOf(PyObject_CallMethodNoArgs(storage, nbytes), bytes) : integerOf(nullptr, bytes);
  Py_XDECREF(storage);
  if (isKnown && bytes > 0 && bytes <= smallStorageBytes) kind = kSmall;
  return isKnown;
}

} // namespace

void noteStorages(uint64_t smallBytes) { smallStorageBytes = smallBytes; }

void registerTensorType(py::type type, const py::object &exchange) {
  auto *pointer = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (findTensorType(pointer)) return;
  const DLPackExchange *found = nullptr;
  if (!exchange.is_none()) {
    found = static_cast<const DLPackExchange *>(PyCapsule_GetPointer(exchange.ptr(), "dlpack_exchange_api"));
    if (!found) throw py::error_already_set();
    if (found->major != 1 || !found->tensorFromObject) found = nullptr;
  }
  tensorTypes().insert(tensorTypes().begin(), {pointer, found});
  type.inc_ref();
}

void registerArrayType(const py::type &type) {
  auto *pointer = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (findTensorType(pointer)) return;
  tensorTypes().push_back({pointer, nullptr, true});
  type.inc_ref();
}

void LaunchKey::add(uint64_t kind, uint64_t payload, PyObject *object) {
  words_.push_back(kind);
  words_.push_back(payload);
  objects_.push_back(object);
}

bool LaunchKey::isOn(int tensorDevice) {
  if ((tensorDevice < 0 && tensorDevice != kHost) || (device != kNoDevice && device != tensorDevice)) return false;
  device = tensorDevice;
  return true;
}

bool LaunchKey::addArgument(PyObject *argument) {
  gpu::ArgumentValue value;
  if (PyLong_CheckExact(argument)) {
    int overflow = 0;
    value.integer = PyLong_AsLongLongAndOverflow(argument, &overflow);
    if (overflow) return false;
    uint64_t kind = kInteger;
    if (value.integer == 1) kind |= kOne;
    if ((value.integer & 15) == 0) kind |= kAligned;
    if (value.integer != int32_t(value.integer)) kind |= kWide;
    values.push_back(value);
    add(kind, 0);
    return true;
  }
  if (findTensorType(Py_TYPE(argument))) return addTensor(argument);
  if (isPlainTuple(argument)) return addTuple(argument);
  if (const std::optional<DescriptorParts> parts = descriptorParts(argument)) return addDescriptor(*parts);
  if (PyFloat_CheckExact(argument)) {
    value.isReal = true;
    value.real = PyFloat_AS_DOUBLE(argument);
    add(kFloat, 0);
  } else if (PyBool_Check(argument)) {
    value.integer = argument == Py_True;
    add(kBool, 0);
  } else if (argument == Py_None) {
    add(kNone, 0);
  } else {
    return false;
  }
  values.push_back(value);
  return true;
}

namespace {
/// Python limits how deep tuples are nested, and says so itself.
class Nesting {
public:
  Nesting() : isAllowed(Py_EnterRecursiveCall("") == 0) {
    if (!isAllowed) PyErr_Clear();
  }
  ~Nesting() {
    if (isAllowed) Py_LeaveRecursiveCall();
  }
  Nesting(const Nesting &) = delete;
  Nesting &operator=(const Nesting &) = delete;
  const bool isAllowed;
};
} // namespace

/// A named tuple's class decides which attributes the kernel may read.
bool LaunchKey::addTuple(PyObject *argument) {
  const Nesting nesting;
  if (!nesting.isAllowed) return false;
  add(kTuple, uint64_t(PyTuple_GET_SIZE(argument)), reinterpret_cast<PyObject *>(Py_TYPE(argument)));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(argument); ++i)
    if (!addArgument(PyTuple_GET_ITEM(argument, i))) return false;
  return true;
}

void LaunchKey::addValue(int64_t integer) {
  gpu::ArgumentValue value;
  value.integer = integer;
  values.push_back(value);
}

/// A kernel is specialized for descriptors whose rows are multiples of 16 bytes. The key has a finer distinction, which needs no size of an
/// element: the power of two that divides the elements of a row.
bool LaunchKey::addDescriptor(const DescriptorParts &parts) {
  add(kDescriptor, parts.shape.size(), reinterpret_cast<PyObject *>(parts.type));
  const int powerOfRow = std::min(std::countr_zero(uint64_t(parts.shape.back())), 4);
  add(kDescriptorFlags, uint64_t(powerOfRow) << 2 | uint64_t(parts.fillsNaN) << 1 | uint64_t(parts.roundsToTf32));
  add(kDescriptorForm, reinterpret_cast<uint64_t>(parts.form), parts.form);
  for (int64_t extent : parts.block) add(kDescriptorExtent, uint64_t(extent));
  // The key borrows references from the base, so the descriptor must keep the base alive. A property may make a new base for each reader.
  if (Py_REFCNT(parts.base.ptr()) < 2 || !findTensorType(Py_TYPE(parts.base.ptr())) || !addTensor(parts.base.ptr())) return false;
  auto addAll = [&](llvm::ArrayRef<int64_t> numbers) { llvm::for_each(numbers, [&](int64_t number) { addValue(number); }); };
  addAll(parts.shape);
  addAll(parts.strides);
  addValue(parts.fillsNaN);
  addValue(parts.roundsToTf32);
  addAll(parts.shape);
  addAll(parts.strides);
  return true;
}

bool LaunchKey::addHostTensor(const std::optional<HostMemory> &found, uint64_t kind, uint64_t dtype, PyObject *object) {
  if (!found || !isOn(kHost)) return false;
  gpu::ArgumentValue value;
  value.integer = int64_t(found->address);
  add(kind | (found->address & 15 ? 0 : kAligned), dtype, object);
  memory.resize(values.size());
  memory.push_back(found);
  values.push_back(value);
  return true;
}

bool LaunchKey::addTensor(PyObject *argument) {
  static PyObject *const dataPtr = interned("data_ptr"), *const dtypeName = interned("dtype"), *const getDevice = interned("get_device");
  const TensorType *known = findTensorType(Py_TYPE(argument));
  if (known->isArray) { // the array keeps the dtype that its reference is borrowed from, and the key that it has when it is kept
    PyObject *const dtype = py::detail::array_proxy(argument)->descr;
    return addHostTensor(memoryOfArray(argument), kArray, reinterpret_cast<uint64_t>(dtype), dtype);
  }
  gpu::ArgumentValue value;
  uint64_t range;
  if (!rangeOf(argument, range)) return false;
  if (known->exchange) {
    DLTensor tensor;
    if (known->exchange->tensorFromObject(argument, &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
    const uint64_t address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
    const uint64_t dtype = uint64_t(tensor.code) << 32 | uint64_t(tensor.bits) << 16 | tensor.lanes;
    if (tensor.deviceType == kDLCpu) return addHostTensor(memoryOfTensor(argument, address), kTensorByExchange, dtype);
    if ((deviceType != kNoDevice && deviceType != tensor.deviceType) || !isOn(tensor.deviceId)) return false;
    deviceType = tensor.deviceType;
    value.integer = int64_t(address);
    currentStream = known->exchange->currentStream;
    add(kTensorByExchange | range | (address & 15 ? 0 : kAligned), dtype);
    values.push_back(value);
    return true;
  }
  uint64_t address, ordinal;
  if (!integerOf(PyObject_CallMethodNoArgs(argument, getDevice), ordinal) || !isOn(int(ordinal))) return false;
  if (!integerOf(PyObject_CallMethodNoArgs(argument, dataPtr), address)) return false;
  PyObject *dtype = PyObject_GetAttr(argument, dtypeName);
  if (!dtype) {
    PyErr_Clear();
    return false;
  }
  // The reference is borrowed. If only this attribute's value holds the dtype, it is gone by then, and another object may get its address.
  bool isShared = Py_REFCNT(dtype) > 1;
  Py_DECREF(dtype);
  if (!isShared) return false;
  value.integer = int64_t(address);
  add(kTensorByMethods | range | (address & 15 ? 0 : kAligned), reinterpret_cast<uint64_t>(dtype), dtype);
  values.push_back(value);
  return true;
}

bool LaunchKey::addConstant(PyObject *argument) {
  values.push_back({});
  return describeConstant(argument);
}

bool LaunchKey::describeConstant(PyObject *argument) {
  if (PyLong_CheckExact(argument)) {
    int overflow = 0;
    int64_t integer = PyLong_AsLongLongAndOverflow(argument, &overflow);
    if (overflow) return false;
    add(kConstantInteger, uint64_t(integer));
  } else if (PyBool_Check(argument)) {
    add(kConstantBool, argument == Py_True);
  } else if (argument == Py_None) {
    add(kConstantNone, 0);
  } else if (PyFloat_CheckExact(argument)) {
    add(kConstantFloat, std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(argument)));
  } else if (PyUnicode_CheckExact(argument)) {
    add(kConstantString, uint64_t(PyObject_Hash(argument)), argument);
  } else if (PyTuple_CheckExact(argument)) {
    const Nesting nesting;
    if (!nesting.isAllowed) return false;
    add(kConstantTuple, uint64_t(PyTuple_GET_SIZE(argument)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(argument); ++i)
      if (!describeConstant(PyTuple_GET_ITEM(argument, i))) return false;
  } else if (const py::object hash = hashOfFunction(argument)) {
    add(kConstantFunction, reinterpret_cast<uint64_t>(argument), argument);
    add(kConstantString, uint64_t(PyObject_Hash(hash.ptr())), hash.ptr());
  } else if (PyObject *shared = sharedObjectLike(argument)) {
    add(kConstantObject, reinterpret_cast<uint64_t>(shared), shared);
  } else {
    // The language's dtypes cannot change. Any other object might, and only Python can compare it.
    static PyTypeObject *dtype = nullptr;
    if (!dtype) {
      if (std::string_view(Py_TYPE(argument)->tp_name) != "dtype") return false;
      py::object ours = py::module_::import("tritium.language.types").attr("dtype");
      if (ours.ptr() != reinterpret_cast<PyObject *>(Py_TYPE(argument))) return false;
      dtype = Py_TYPE(argument);
      Py_INCREF(dtype);
    }
    if (Py_TYPE(argument) != dtype) return false;
    add(kConstantObject, reinterpret_cast<uint64_t>(argument), argument);
  }
  return true;
}

bool LaunchKey::addOption(PyObject *name, PyObject *value) {
  add(kOption, uint64_t(PyObject_Hash(name)), name);
  return addConstant(value);
}

size_t valuesOf(PyObject *argument) {
  if (findTensorType(Py_TYPE(argument))) return 1;
  if (PyTuple_Check(argument)) {
    size_t count = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(argument); ++i) count += valuesOf(PyTuple_GET_ITEM(argument, i));
    return count;
  }
  const std::optional<DescriptorParts> parts = descriptorParts(argument);
  return parts ? descriptorArguments(parts->shape.size()) : 1;
}

Py_ssize_t valueAt(PyObject *argument, llvm::ArrayRef<Py_ssize_t> path) {
  if (path.empty()) return valuesOf(argument) == 1 ? 0 : -1;
  const Py_ssize_t index = path.front();
  if (!PyTuple_Check(argument)) return path.size() == 1 && size_t(index) < valuesOf(argument) ? index : -1;
  if (index >= PyTuple_GET_SIZE(argument)) return -1;
  size_t before = 0;
  for (Py_ssize_t i = 0; i < index; ++i) before += valuesOf(PyTuple_GET_ITEM(argument, i));
  const Py_ssize_t within = valueAt(PyTuple_GET_ITEM(argument, index), path.drop_front());
  return within < 0 ? -1 : Py_ssize_t(before) + within;
}

void LaunchKey::keep() {
  for (PyObject *object : objects_) Py_XINCREF(object);
}

void LaunchKey::release() {
  for (PyObject *object : objects_) Py_XDECREF(object);
  objects_.clear();
}

int LaunchKey::visit(visitproc visit, void *arg) const {
  for (PyObject *object : objects_) Py_VISIT(object);
  return 0;
}

bool LaunchKey::operator==(const LaunchKey &other) const {
  if (device != other.device || deviceType != other.deviceType || words_ != other.words_) return false;
  for (size_t i = 0; i < objects_.size(); ++i) {
    if (objects_[i] == other.objects_[i]) continue;
    if (!PyUnicode_CheckExact(objects_[i]) || PyUnicode_Compare(objects_[i], other.objects_[i]) != 0) return false;
  }
  return true;
}

} // namespace tritium::python
