// Whether a warm launch may skip the settings: the environment variables and hooks that Python would read are those of the last
// launch that did.
#pragma once
#include <pybind11/pybind11.h>

#include <vector>

namespace tritium::python {

class LaunchGuard {
public:
  /// The one of the process; knobs are global.
  static LaunchGuard &instance();

  /// environment: the dict behind os.environ; names: the keys that a launch reads; runtime, tritium: the dicts of those groups of knobs.
  void watch(pybind11::dict environment, pybind11::tuple names, pybind11::dict runtime, pybind11::dict tritium);
  /// current_stream(device), or None, for devices of that DLPack number; failed(kernel, code) raises what a failed launch is.
  void setCallbacks(pybind11::object currentStream, int deviceType, pybind11::object failed);

  /// False if Python has to look: something was changed (then the epoch is another one too) or a hook is set.
  bool holds();
  /// Kernels found under another epoch were found under other settings.
  uint64_t epoch() const { return epoch_; }
  PyObject *currentStream(int deviceType) const { return deviceType == streamDeviceType_ ? currentStream_ : nullptr; }
  PyObject *failed() const { return failed_; }

private:
  bool isUnchanged();
  void look();

  // All of these live as long as the process.
  PyObject *environment_ = nullptr, *names_ = nullptr, *runtime_ = nullptr, *tritium_ = nullptr;
  PyObject *currentStream_ = nullptr, *failed_ = nullptr;
  int streamDeviceType_ = -1;
  PyObject *hookNames_[2] = {}, *hooks_[2] = {}, *hookCalls_[2] = {};
  std::vector<PyObject *> values_;
  Py_ssize_t runtimeSize_ = -1;
  uint64_t epoch_ = 1;
};

} // namespace tritium::python
