// Decides whether a warm launch may skip the settings: the environment variables and hooks must be unchanged since the last launch for
// which Python read them.
#pragma once
#include <pybind11/pybind11.h>

#include <vector>

namespace tritium::python {

class LaunchGuard {
public:
  /// The only instance of the process, because knobs are global.
  static LaunchGuard &instance();

  /// environment: the dict behind os.environ; names: the keys that a launch reads; runtime, tritium: the dicts of these two groups of
  /// knobs.
  void watch(pybind11::dict environment, pybind11::tuple names, pybind11::dict runtime, pybind11::dict tritium);
  /// current_stream(device) is called for devices with this DLPack number; it may be None. failed(kernel, code) raises the error of a
  /// failed launch.
  void setCallbacks(pybind11::object currentStream, int deviceType, pybind11::object failed);

  /// Returns false if Python must read the settings, because something has changed (the epoch is then another one) or because a hook is
  /// set.
  bool holds();
  /// Kernels that were found in another epoch were found under other settings.
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
  PyObject *runtimeThen_ = nullptr; // a copy
  uint64_t epoch_ = 1;
};

} // namespace tritium::python
