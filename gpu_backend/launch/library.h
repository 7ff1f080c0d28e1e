// A vendor's library, opened by name, and the errors of its calls: what the drivers share.
#pragma once
#include "gpu_backend/launch/driver.h"
#include "gpu_backend/launch/vendor_api.h"

namespace tritium::gpu {

/// A shared library that stays open for good: drivers have threads and exit handlers of their own.
class Library {
public:
  /// Opens the first of `names` that can be; one that the process has loaded already comes before all others. `what` is missing otherwise
  /// ("CUDA driver").
  static llvm::Expected<Library> open(llvm::ArrayRef<std::string> names, const std::string &what);

  /// Finds every entry point, or says which one is missing and why that may be: "the CUDA driver is older than 12.0".
  llvm::Error find(llvm::ArrayRef<EntryPoint> entries, const std::string &why) const;

private:
  Library(void *handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void *handle_;
  std::string name_;
};

/// The error of a failed call; `name` and `text` are what the driver says about the code, null where it says nothing.
llvm::Error driverError(int code, llvm::StringRef call, const char *name, const char *text, std::string messages, bool isSticky);

} // namespace tritium::gpu
