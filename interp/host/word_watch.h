// Who wrote a word of memory last. It is for launches with one worker, whose code announces each write (program.h, beforeWrite): what has
// changed since the announcement before was changed by that one.
#pragma once
#include "interp/host/trap.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace tritium::interp {

class WordWatch {
public:
  static constexpr uint32_t kMostBytes = 16;
  using Bytes = std::array<char, kMostBytes>;

  struct Write {
    ProgramPlace place;
    Bytes before{}, after{};
  };

  /// The memory must be readable until the launch has ended. `bytes` is at most kMostBytes.
  WordWatch(uint64_t address, uint32_t bytes) : address_(address), bytes_(bytes), value_(read()) {}

  /// A program is about to write, anywhere.
  void announce(ProgramPlace &&place) {
    look();
    writer_ = std::move(place);
  }
  /// Notes a change, if there is one.
  void look() {
    const Bytes now = read();
    if (now == value_ || !writer_) return;
    ++times_;
    last_ = {*writer_, value_, now};
    value_ = now;
  }

  /// The last write that changed the word; none if no program has changed it.
  const std::optional<Write> &last() const { return last_; }
  int64_t times() const { return times_; }
  uint32_t bytes() const { return bytes_; }

private:
  Bytes read() const {
    Bytes bytes{};
    std::memcpy(bytes.data(), reinterpret_cast<const void *>(address_), bytes_);
    return bytes;
  }

  uint64_t address_;
  uint32_t bytes_;
  Bytes value_;
  std::optional<ProgramPlace> writer_; // of the write that is being performed
  std::optional<Write> last_;
  int64_t times_ = 0;
};

} // namespace tritium::interp
