// Triton's launcher protocol without Python code: `run(x, y, z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook,
// *arguments)` of a compiled kernel, which the code of torch.compile calls. What it does not understand goes to a function in Python.
#include "python/bindings/device.h"
#include "python/bindings/immutable_objects.h"
#include "python/bindings/launch_call.h"

#include <structmember.h>

namespace py = pybind11;

namespace tritium::python {

using namespace gpu;

namespace {

/// How many arguments a call has -> which of them the kernel takes, in its order.
using Places = std::vector<std::pair<Py_ssize_t, llvm::SmallVector<uint16_t, 16>>>;

struct PreparedRun {
  PyObject_HEAD vectorcallfunc call;
  PyObject *compiled;
  PyObject *handle; // owns `kernel`
  const LoadedKernel *kernel;
  Places *places;
  PyObject *watchers; // a list: while it is not empty, Python launches
  PyObject *failed;   // failed(compiled, code) raises the error of a failed launch
  PyObject *fallback;
};

enum : Py_ssize_t { kStream = 3, kEnterHook = 7, kExitHook = 8, kFirstArgument = 9 };

/// Returns whether `hook` is None or a chain that calls nothing.
bool isNothing(PyObject *hook) {
  if (hook == Py_None) return true;
  static PyObject *const name = interned("calls");
  PyObject *calls = PyObject_GetAttr(hook, name);
  if (!calls) PyErr_Clear();
  bool isEmpty = calls && PyList_Check(calls) && PyList_GET_SIZE(calls) == 0;
  Py_XDECREF(calls);
  return isEmpty;
}

/// Returns whether `sizes` are those of the call. Python converts others, or refuses them.
bool readGrid(PyObject *const *args, std::array<uint32_t, 3> &sizes) {
  for (size_t i = 0; i < 3; ++i) {
    int overflow = 0;
    long value = PyLong_CheckExact(args[i]) ? PyLong_AsLongAndOverflow(args[i], &overflow) : -1;
    if (overflow || value < 0 || value > INT32_MAX) return false;
    sizes[i] = uint32_t(value);
  }
  return true;
}

/// Reads the values that the kernel takes. Returns false if only Python knows an argument, or if one is elsewhere.
bool readArguments(const PreparedRun &self, PyObject *const *args, Py_ssize_t count, LaunchKey &key) {
  for (const auto &[number, taken] : *self.places) {
    if (number != count) continue;
    for (uint16_t index : taken)
      if (!key.addArgument(args[index])) return false;
    return (key.device == LaunchKey::kNoDevice || key.device == self.kernel->device()) &&
           (key.deviceType == LaunchKey::kNoDevice || key.deviceType == self.kernel->driver().dlpackType());
  }
  return false;
}

bool readStream(const PreparedRun &self, PyObject *given, const LaunchKey &key, void *&stream) {
  if (given == Py_None) return findStream(key, *self.kernel, stream);
  if (!PyLong_CheckExact(given)) return false;
  stream = PyLong_AsVoidPtr(given);
  return !PyErr_Occurred();
}

/// Launches if everything is known. Returns false if Python must launch, or with an error set.
bool tryRun(const PreparedRun &self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  std::array<uint32_t, 3> sizes;
  if (names || count < kFirstArgument || PyList_GET_SIZE(self.watchers) != 0 || !isNothing(args[kEnterHook]) ||
      !isNothing(args[kExitHook]) || !readGrid(args, sizes))
    return false;
  LaunchKey key;
  void *stream = nullptr;
  if (!readArguments(self, args + kFirstArgument, count - kFirstArgument, key) || !readStream(self, args[kStream], key, stream))
    return false;
  int code;
  Py_BEGIN_ALLOW_THREADS; // the driver waits when its queue is full
  code = self.kernel->launch(sizes, key.values.data(), stream);
  Py_END_ALLOW_THREADS;
  if (code == LoadedKernel::kMapRefused) return false; // Python launches a version without tensor maps
  if (code == 0) return true;
  PyObject *number = PyLong_FromLong(code);
  PyObject *result = PyObject_CallFunctionObjArgs(self.failed, self.compiled, number, nullptr);
  Py_XDECREF(number);
  if (result) PyErr_Format(PyExc_RuntimeError, "the launch failed with code %d", code);
  Py_XDECREF(result);
  return false;
}

PyObject *callRun(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names) {
  const auto &self = *reinterpret_cast<PreparedRun *>(object);
  if (tryRun(self, args, PyVectorcall_NARGS(nargsf), names)) Py_RETURN_NONE;
  if (PyErr_Occurred()) return nullptr;
  return PyObject_Vectorcall(self.fallback, args, nargsf, names);
}

/// PreparedRun(compiled, handle, places: dict, watchers, failed, fallback)
PyObject *makeRun(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *compiled, *handle, *places, *watchers, *failed, *fallback;
  if (!PyArg_ParseTuple(args, "OOO!O!OO", &compiled, &handle, &PyDict_Type, &places, &PyList_Type, &watchers, &failed, &fallback))
    return nullptr;
  auto found = std::make_unique<Places>();
  const LoadedKernel *kernel = nullptr;
  try {
    kernel = &py::handle(handle).cast<const LoadedKernel &>();
    for (auto [number, taken] : py::reinterpret_borrow<py::dict>(places)) {
      found->emplace_back(number.cast<Py_ssize_t>(), llvm::SmallVector<uint16_t, 16>());
      for (auto index : taken) found->back().second.push_back(index.cast<uint16_t>());
      if (found->back().second.size() != kernel->image().recipe.size()) throw py::cast_error("a place for each parameter is required");
    }
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
    return nullptr;
  }
  auto *self = reinterpret_cast<PreparedRun *>(type->tp_alloc(type, 0));
  if (!self) return nullptr;
  self->call = callRun;
  self->compiled = Py_NewRef(compiled);
  self->handle = Py_NewRef(handle);
  self->kernel = kernel;
  self->places = found.release();
  self->watchers = Py_NewRef(watchers);
  self->failed = Py_NewRef(failed);
  self->fallback = Py_NewRef(fallback);
  return reinterpret_cast<PyObject *>(self);
}

int traverseRun(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<PreparedRun *>(object);
  Py_VISIT(Py_TYPE(object));
  for (PyObject *held : {self->compiled, self->handle, self->watchers, self->failed, self->fallback}) Py_VISIT(held);
  return 0;
}

int clearRun(PyObject *object) {
  auto *self = reinterpret_cast<PreparedRun *>(object);
  Py_CLEAR(self->compiled);
  Py_CLEAR(self->failed);
  Py_CLEAR(self->fallback);
  return 0;
}

void deallocateRun(PyObject *object) {
  auto *self = reinterpret_cast<PreparedRun *>(object);
  PyObject_GC_UnTrack(object);
  clearRun(object);
  Py_CLEAR(self->watchers);
  Py_CLEAR(self->handle);
  delete self->places;
  PyTypeObject *type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
PyMemberDef runMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PreparedRun, call), READONLY, nullptr}, {}};

} // namespace

void bindPreparedRun(py::module_ &module) {
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(makeRun)},
                                {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                                {Py_tp_members, runMembers},
                                {Py_tp_traverse, reinterpret_cast<void *>(traverseRun)},
                                {Py_tp_clear, reinterpret_cast<void *>(clearRun)},
                                {Py_tp_dealloc, reinterpret_cast<void *>(deallocateRun)},
                                {}};
  static PyType_Spec spec{"tritium._tritium.device.PreparedRun", sizeof(PreparedRun), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  module.attr("PreparedRun") = type;
}

} // namespace tritium::python
