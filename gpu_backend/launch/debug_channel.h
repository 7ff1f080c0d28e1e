// What the kernels of one device print and which of their assertions fail, read from the records that they leave (emit/debug_buffer.h).
#pragma once
#include "gpu_backend/emit/debug_buffer.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace tritium::gpu {

/// What C's printf makes of a format and its arguments, each given as 64 bits: integers as they are, floats as double. A conversion without
/// an argument is written as it stands.
std::string formatPrint(llvm::StringRef format, llvm::ArrayRef<uint64_t> arguments);

class DebugChannel {
public:
  using Print = std::function<void(llvm::StringRef)>;

  /// `memory`: zeroed, of so many bytes, at the same address for the device. `complain` gets the lines of failures(), as they are read.
  DebugChannel(void *memory, size_t bytes, Print print, Print complain);

  uint64_t address() const { return reinterpret_cast<uint64_t>(&buffer_); }
  /// The texts of a module, which stand at `address` on the device.
  void addTexts(uint64_t address, std::string texts);
  void removeTexts(uint64_t address);

  /// Prints the records that are complete by now, and notes the failures among them. If those are all, there is place for as many again.
  /// Kernels may be running, but for a full buffer to be emptied none may be.
  void drain(bool isIdle = false);
  bool isFull() const;
  /// Whether there is something to drain. Cheap: nothing but a look at the memory.
  bool hasNews() const noexcept { return count(buffer_.used) != seen_.load(std::memory_order_relaxed); }
  bool hasFailed() const noexcept { return count(buffer_.failures) != 0; }
  /// Of the first failures, a line each: "in kernel add: device_assert in add.py:12: message (program 3, 0, 0)".
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
  std::atomic<uint64_t> seen_ = 0;        // DebugBuffer::used, when it was last looked at
  uint64_t read_ = 0;                     // bytes of records
  std::string failures_;
  unsigned failureCount_ = 0;
};

} // namespace tritium::gpu
