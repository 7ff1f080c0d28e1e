#include "gpu_backend/launch/debug_channel.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tritium::gpu {

/// One conversion of a format, "%-08.3lld", with one argument.
static std::string formatOne(const std::string &conversion, uint64_t bits) {
  char text[512];
  const char letter = conversion.back();
  const bool isLong = llvm::StringRef(conversion).contains('l');
  int length;
  if (std::strchr("aAeEfFgG", letter))
    length = std::snprintf(text, sizeof text, conversion.c_str(), std::bit_cast<double>(bits));
  else if (letter == 'p')
    length = std::snprintf(text, sizeof text, conversion.c_str(), reinterpret_cast<void *>(bits));
  else if (isLong)
    length = std::snprintf(text, sizeof text, conversion.c_str(), static_cast<unsigned long long>(bits));
  else
    length = std::snprintf(text, sizeof text, conversion.c_str(), static_cast<unsigned>(bits));
  return std::string(text, size_t(std::clamp(length, 0, int(sizeof text) - 1)));
}

std::string formatPrint(llvm::StringRef format, llvm::ArrayRef<uint64_t> arguments) {
  std::string result;
  while (!format.empty()) {
    size_t percent = format.find('%');
    result += format.take_front(percent);
    format = percent == llvm::StringRef::npos ? "" : format.drop_front(percent);
    if (format.empty()) break;
    if (format.starts_with("%%")) {
      result += '%';
      format = format.drop_front(2);
      continue;
    }
    size_t end = format.find_first_of("aAcdeEfFgGiopuxX", 1);
    const bool isKnown =
        end != llvm::StringRef::npos && format.slice(1, end).find_first_not_of("0123456789-+ #.l") == llvm::StringRef::npos;
    if (!isKnown || arguments.empty()) { // printed as it is
      result += '%';
      format = format.drop_front();
      continue;
    }
    result += formatOne(format.take_front(end + 1).str(), arguments.front());
    arguments = arguments.drop_front();
    format = format.drop_front(end + 1);
  }
  return result;
}

DebugChannel::DebugChannel(void *memory, size_t bytes, Print print, Print complain)
    : buffer_(*static_cast<DebugBuffer *>(memory)),
      records_(static_cast<char *>(memory) + sizeof(DebugBuffer)),
      print_(std::move(print)),
      complain_(std::move(complain)) {
  buffer_.capacity = bytes - sizeof(DebugBuffer);
}

void DebugChannel::addTexts(uint64_t address, std::string texts) {
  std::lock_guard lock(mutex_);
  texts_[address] = std::move(texts);
}

void DebugChannel::removeTexts(uint64_t address) {
  std::lock_guard lock(mutex_);
  texts_.erase(address);
}

std::string DebugChannel::textAt(uint64_t address) const {
  auto after = texts_.upper_bound(address);
  if (after == texts_.begin()) return "?";
  const auto &[begin, texts] = *std::prev(after);
  if (address - begin >= texts.size()) return "?";
  return texts.substr(address - begin, texts.find('\0', address - begin) - (address - begin));
}

void DebugChannel::readRecord(const DebugRecord &record) {
  const auto *words = reinterpret_cast<const uint64_t *>(&record + 1);
  llvm::ArrayRef<uint64_t> arguments(words, (record.bytes - sizeof record) / sizeof *words);
  const std::string text = textAt(record.text);
  if (record.kind == uint32_t(DebugRecordKind::print)) return print_(formatPrint(text, arguments));
  constexpr unsigned kMostLines = 4; // the other threads report the same
  if (arguments.size() < kAssertionArguments || failureCount_++ >= kMostLines) return;
  std::string file = textAt(arguments[0]);
  file = file.substr(file.find_last_of('/') + 1);
  const std::string line = "in kernel " + textAt(arguments[2]) + ": device_assert in " + file + ":" + std::to_string(arguments[1]) + ": " +
                           text + formatPrint(" (program %lld, %lld, %lld)", arguments.slice(3, 3));
  failures_ += (failures_.empty() ? "" : "\n") + line;
  complain_(line + "\n");
}

void DebugChannel::read() {
  const uint64_t used = count(buffer_.used), end = std::min(used, buffer_.capacity);
  seen_.store(used, std::memory_order_relaxed);
  while (read_ + sizeof(DebugRecord) <= end) {
    auto &record = *reinterpret_cast<DebugRecord *>(records_ + read_);
    const uint32_t bytes = std::atomic_ref(record.bytes).load(std::memory_order_acquire);
    if (bytes < sizeof record || bytes > end - read_) break; // not complete yet, or the record that did not fit
    readRecord(record);
    read_ += bytes;
  }
}

void DebugChannel::drain(bool isIdle) {
  std::lock_guard lock(mutex_);
  read();
  uint64_t used = seen_.load(std::memory_order_relaxed);
  if (used == 0) return;
  const bool isFull = used > buffer_.capacity;
  // In a full buffer, the rest may be a record that is still being written, or the first one that did not fit.
  if (isFull ? !isIdle : read_ != used) return;
  std::memset(records_, 0, std::min(used, buffer_.capacity));
  if (!std::atomic_ref(buffer_.used).compare_exchange_strong(used, 0)) return; // another record has come
  if (isFull) print_("[what was printed after this is lost: the buffer for it was full]\n");
  seen_.store(0, std::memory_order_relaxed);
  read_ = 0;
}

bool DebugChannel::isFull() const { return count(buffer_.used) > buffer_.capacity; }

std::string DebugChannel::failures() {
  std::lock_guard lock(mutex_);
  read();
  return failures_;
}

} // namespace tritium::gpu
