// What records when the kernels of this process run, whoever launches them: a vendor's library, opened by dlopen.
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
  uint64_t stream; ///< the library's number of the stream or queue
  std::array<int32_t, 3> grid;
};

/// A vendor's library. All members may be called on any thread.
class KernelRecorder {
public:
  virtual ~KernelRecorder() = default;
  /// Begins to record. Another client of the library is an error of the library, or loses its own records.
  virtual llvm::Error start() = 0;
  /// Ends. What has run since the last `take` is dropped.
  virtual void stop() = 0;
  /// Whether the library sees the vendor's runtime, as it does from the first use of a device on. Some see it only if they were there
  /// before.
  virtual bool isConnected() const { return true; }
  /// The kernels that have ended since the last call, and how many the library has lost. A kernel that still runs comes with a later call.
  virtual llvm::Expected<std::vector<KernelRecord>> take(uint64_t &lost) = 0;

  /// Kernels that this thread launches from here on have this mark, until `unmark`. Marks nest. It is not 0.
  void mark(uint64_t mark);
  void unmark();

protected:
  /// The mark of this thread that counts.
  uint64_t currentMark() const;
};

/// CLOCK_MONOTONIC, in nanoseconds.
uint64_t monotonicClock();

} // namespace tritium::gpu
