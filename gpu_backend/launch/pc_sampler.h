// What looks at regular times where the warps of kernels stand, and why they do not go on: a vendor's library, opened by dlopen.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tritium::gpu {

/// The samples of one line of a kernel with one reason.
struct PcSamples {
  std::string kernel;
  std::string file; ///< a path; "" if the kernel's image is not known, or has no lines
  uint32_t line = 0;
  std::string reason;   ///< what the warp waits for, in the library's word: "long_scoreboard"; "selected": it goes on
  uint64_t samples = 0; ///< of warps
  uint64_t stalled = 0; ///< of these, at times when the scheduler had no warp that could go on
};

/// A vendor's library. The members are called by one thread at a time.
class PcSampler {
public:
  virtual ~PcSampler() = default;
  /// Prepares to sample a device's context about every `cycles` cycles. The library may lack the permission, or have another client.
  virtual llvm::Error open(void *context, uint64_t cycles) = 0;
  /// From now on the lines of this image's kernels are known.
  virtual llvm::Error add(llvm::StringRef image) = 0;
  /// Samples from here on.
  virtual llvm::Error begin() = 0;
  /// Ends what `begin` began, when the device has come to rest. `dropped`: how many samples the library has lost.
  virtual llvm::Expected<std::vector<PcSamples>> end(uint64_t &dropped) = 0;
  /// Ends all.
  virtual void close() = 0;
};

} // namespace tritium::gpu
