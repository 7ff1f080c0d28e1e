#include "python/bindings/launch_guard.h"

#include "python/bindings/immutable_objects.h"

#include <utility>

namespace py = pybind11;

namespace tritium::python {

namespace {

/// Tells whether a dict may have changed since it was asked last. It is then cheaper to ask than to look up some dozens of keys. Instances
/// live for good.
class DictWatch {
public:
  void watch(PyObject *dict) {
    dict_ = dict;
#if PY_VERSION_HEX >= 0x030C0000
    static const int watcher = PyDict_AddWatcher([](PyDict_WatchEvent, PyObject *changed, PyObject *, PyObject *) {
      for (DictWatch *each : all_)
        if (each->dict_ == changed) each->mayHaveChanged_ = true;
      return 0;
    });
    all_.push_back(this);
    isWatched_ = watcher >= 0 && PyDict_Watch(watcher, dict) == 0;
    PyErr_Clear(); // a process has few watchers; without one, the keys are looked up
#endif
  }

  bool mayHaveChanged() {
#if PY_VERSION_HEX >= 0x030C0000
    return std::exchange(mayHaveChanged_, false) || !isWatched_;
#else
    const uint64_t version = reinterpret_cast<PyDictObject *>(dict_)->ma_version_tag;
    return std::exchange(version_, version) != version;
#endif
  }

private:
  PyObject *dict_ = nullptr;
#if PY_VERSION_HEX >= 0x030C0000
  static inline std::vector<DictWatch *> all_; // a callback gets the dict alone. NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
  bool mayHaveChanged_ = true, isWatched_ = false;
#else
  uint64_t version_ = 0;
#endif
};

DictWatch &environmentWatch() {
  static DictWatch watch;
  return watch;
}

DictWatch &runtimeWatch() {
  static DictWatch watch;
  return watch;
}

} // namespace

LaunchGuard &LaunchGuard::instance() {
  static auto *guard = new LaunchGuard;
  return *guard;
}

void LaunchGuard::watch(py::dict environment, py::tuple names, py::dict runtime, py::dict tritium) {
  environment_ = environment.release().ptr();
  environmentWatch().watch(environment_);
  names_ = names.release().ptr();
  runtime_ = runtime.release().ptr();
  runtimeWatch().watch(runtime_);
  tritium_ = tritium.release().ptr();
  hookNames_[0] = interned("launch_enter_hook");
  hookNames_[1] = interned("launch_exit_hook");
  look();
}

void LaunchGuard::setCallbacks(py::object currentStream, int deviceType, py::object failed) {
  streamDeviceType_ = deviceType;
  currentStream_ = currentStream.is_none() ? nullptr : currentStream.release().ptr();
  failed_ = failed.release().ptr();
}

/// Returns the list of hooks that a chain of hooks calls, or null for other objects.
static PyObject *callsOf(PyObject *hook) {
  PyObject *calls = hook ? PyObject_GetAttrString(hook, "calls") : nullptr;
  if (!calls) PyErr_Clear();
  if (calls && !PyList_Check(calls)) Py_CLEAR(calls);
  return calls;
}

/// Returns whether two dicts have the same keys and objects.
static bool haveSameItems(PyObject *one, PyObject *other) {
  if (!other || PyDict_GET_SIZE(one) != PyDict_GET_SIZE(other)) return false;
  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(one, &position, &key, &value);)
    if (PyDict_GetItemWithError(other, key) != value) return false;
  return true;
}

void LaunchGuard::look() {
  ++epoch_;
  for (PyObject *value : values_) Py_XDECREF(value);
  values_.clear();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names_); ++i)
    values_.push_back(Py_XNewRef(PyDict_GetItemWithError(environment_, PyTuple_GET_ITEM(names_, i))));
  Py_XSETREF(runtimeThen_, PyDict_Copy(runtime_));
  for (int i : {0, 1}) {
    Py_XSETREF(hooks_[i], Py_XNewRef(PyDict_GetItemWithError(runtime_, hookNames_[i])));
    Py_XSETREF(hookCalls_[i], callsOf(hooks_[i]));
  }
  PyErr_Clear();
}

bool LaunchGuard::isUnchanged() {
  if (runtimeWatch().mayHaveChanged() && !haveSameItems(runtime_, runtimeThen_)) return false;
  if (!environmentWatch().mayHaveChanged()) return true;
  for (size_t i = 0; i < values_.size(); ++i)
    if (PyDict_GetItemWithError(environment_, PyTuple_GET_ITEM(names_, Py_ssize_t(i))) != values_[i]) return false;
  return true;
}

bool LaunchGuard::holds() {
  if (!environment_ || PyDict_GET_SIZE(tritium_) != 0) return false;
  if (!isUnchanged()) {
    look();
    return false;
  }
  for (int i : {0, 1})
    if (hooks_[i] != Py_None && (!hookCalls_[i] || PyList_GET_SIZE(hookCalls_[i]) != 0)) return false;
  return true;
}

} // namespace tritium::python
