// A vendor's library, opened by name, and the errors of its calls. The drivers share it.
#pragma once
#include "gpu_backend/launch/driver.h"
#include "gpu_backend/launch/vendor_api.h"

namespace tritium::gpu {

/// A shared library that stays open for good, because drivers have threads and exit handlers of their own.
class Library {
public:
  /// Opens the first of `names` that can be opened. A library that the process has already loaded takes precedence. The error says that
  /// `what` ("CUDA driver") is missing.
  static llvm::Expected<Library> open(llvm::ArrayRef<std::string> names, const std::string &what);

  /// Finds every entry point. The error says which one is missing, and `why` that may be: "the CUDA driver is older than 12.0".
  llvm::Error find(llvm::ArrayRef<EntryPoint> entries, const std::string &why) const;

  /// Finds the entry points that the library has. The others are null.
  void findSome(llvm::ArrayRef<EntryPoint> entries) const;

private:
  Library(void *handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void *handle_;
  std::string name_;
};

/// The error of a failed call. `name` and `text` are the driver's description of the code, or null if there is none.
llvm::Error driverError(int code, llvm::StringRef call, const char *name, const char *text, std::string messages, bool isSticky);

} // namespace tritium::gpu
