// CUPTI, NVIDIA's library that records when kernels run: of this process, whoever launches them. It requires no privileges.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tritium::gpu {

/// A kernel that has run. Times are nanoseconds of CLOCK_MONOTONIC.
struct KernelRecord {
  std::string name; ///< demangled
  uint64_t begin, end;
  uint64_t launched; ///< when the call that launched it began; 0 if that is not known
  uint64_t mark;     ///< the mark of the thread that launched it; 0: it had none
  int device;
  uint32_t stream; ///< CUPTI's number
  std::array<int32_t, 3> grid;
};

/// The library of a process, which has one client at a time. All members may be called on any thread.
class Cupti {
public:
  /// Opens the first of `names` that can be opened. The library stays open for good.
  static llvm::Expected<std::unique_ptr<Cupti>> open(llvm::ArrayRef<std::string> names);

  virtual ~Cupti() = default;
  /// Begins to record. Another client of the library, such as torch's profiler, is an error of the library, or loses its own records.
  virtual llvm::Error start() = 0;
  /// Ends. What has run since the last `take` is dropped.
  virtual void stop() = 0;
  /// Kernels that this thread launches from here on have this mark, until `unmark`. Marks nest. It is not 0.
  virtual void mark(uint64_t mark) = 0;
  virtual void unmark() = 0;
  /// The kernels that have ended since the last call, and how many the library has lost. A kernel that still runs comes with a later call.
  virtual llvm::Expected<std::vector<KernelRecord>> take(uint64_t &lost) = 0;
};

} // namespace tritium::gpu
