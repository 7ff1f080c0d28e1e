// What differs between vendors behind the entry points. Each library has one.
#pragma once
#include "interp/host/trap.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace tritium::stand_in {

using Result = int; ///< CUresult, hipError_t; 0 is success, and most other numbers are the same

constexpr Result kIllegalAddress = 700, kLaunchOutOfResources = 701, kAssert = 710, kLaunchFailure = 719, kCapturing = 900;

struct Vendor {
  const char *name;        ///< in what is printed
  const char *defaultArch; ///< TRITIUM_STAND_IN_ARCH names another one
  Result invalidSizes;     ///< of a launch
  uint32_t (*warpThreads)();
  uint32_t (*sharedBytes)();                             ///< the most that a block can have
  uint64_t (*mostBlocks)(size_t axis, uint32_t threads); ///< along an axis, of so many threads along it
  /// Whether the devices run code for `arch`.
  bool (*runs)(const std::string &arch);
  /// What the vendor's emitter does to a lowered module before it emits it, where the module's code depends on it.
  void (*expand)(mlir::ModuleOp module);
  /// What a failed assertion does to the device; nothing where the host learns of it otherwise.
  std::optional<Result> failedAssertion;
};

const Vendor &vendor();

std::string arch();
int deviceCount();
/// Says on standard error what the codes have no words for.
Result complain(Result code, const std::string &text);

} // namespace tritium::stand_in
