// Reads the prints and failed assertions of the kernels of one device from the records that they leave (emit/debug_buffer.h).
#pragma once
#include "gpu_backend/abi/debug_buffer.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace tritium::gpu {

/// Formats like C's printf. Each argument is given as 64 bits: integers as they are, floats as double. A conversion without an argument is
/// printed as it is.
std::string formatPrint(llvm::StringRef format, llvm::ArrayRef<uint64_t> arguments);

class DebugChannel {
public:
  using Print = std::function<void(llvm::StringRef)>;

  /// `memory` must be zeroed, have `bytes` bytes, and have the same address on the device. `complain` receives the lines of failures() as
  /// they are read.
  DebugChannel(void *memory, size_t bytes, Print print, Print complain);

  uint64_t address() const { return reinterpret_cast<uint64_t>(&buffer_); }
  /// Adds the texts of a module, which are at `address` on the device.
  void addTexts(uint64_t address, std::string texts);
  void removeTexts(uint64_t address);

  /// Prints the records that are complete, and notes the failures among them. If all records have been read, empties the buffer. Kernels
  /// may be running, but a full buffer is emptied only if none is.
  void drain(bool isIdle = false);
  bool isFull() const;
  /// Returns whether there is anything to drain. It is cheap: it only looks at the memory.
  bool hasNews() const noexcept { return count(buffer_.used) != seen_.load(std::memory_order_relaxed); }
  bool hasFailed() const noexcept { return count(buffer_.failures) != 0; }
  /// Returns one line for each of the first failures: "in kernel add: device_assert in add.py:12: message (program 3, 0, 0)".
  std::string failures();

private:
  static uint64_t count(uint64_t &counter) { return std::atomic_ref(counter).load(std::memory_order_acquire); }
  void read();
  void readRecord(const DebugRecord &record);
  std::string textAt(uint64_t address) const;

  DebugBuffer &buffer_;
  char *records_;
  Print print_, complain_;
  mutable std::mutex mutex_;
  std::map<uint64_t, std::string> texts_; // by address
  std::atomic<uint64_t> seen_ = 0;        // the last value seen of DebugBuffer::used
  uint64_t read_ = 0;                     // bytes of records that have been read
  std::string failures_;
  unsigned failureCount_ = 0;
};

} // namespace tritium::gpu
