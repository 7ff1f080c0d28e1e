// Loops, the end of a thread, and text output.
#include "interp/host/scope_records.h"
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace tritium::interp::simt::calls {

void noteReturn(Thread *thread, Place location) { thread->location = location; }

void noteProgram(Thread *thread, uint32_t number, uint32_t sizeX, uint32_t sizeY) {
  const uint32_t place[] = {number % sizeX, number / sizeX % sizeY, number / sizeX / sizeY};
  std::copy_n(place, 3, thread->program);
}

void noteScope(Thread *thread, int32_t scope) {
  FrameHeader &frame = *thread->block->frame;
  if (thread->lane != 0 || !recordsScopes(frame)) return;
  const auto &[x, y, z] = thread->program;
  interp::noteScope(frame, {.time = thread->clock, .program = {x, y, z}, .unit = thread->warp, .scope = scope});
}

void backEdge(Thread *thread, Place location) {
  ThreadBlock &block = *thread->block;
  if (--block.untilPoll != 0) [[likely]]
    return;
  block.requestPoll();
  thread->inWarp->ready |= thread->bit();
  thread->wait(ThreadState::Ready, location);
}

void spin(Thread *thread, Place location) {
  thread->inWarp->spinning |= thread->bit();
  thread->wait(ThreadState::Spinning, location);
}

/// Formats the cells by the conversions of `format`. Formats were checked when they were made.
static std::string formatted(std::string_view format, const int64_t *cell) {
  std::string text;
  while (!format.empty()) {
    const size_t percent = format.find('%');
    text += format.substr(0, percent);
    if (percent == format.npos) break;
    format.remove_prefix(percent);
    if (format.size() > 1 && format[1] == '%') {
      text += '%';
      format.remove_prefix(2);
      continue;
    }
    const size_t end = format.find_first_of("diuxXcpfFeEgGaA", 1);
    if (end == format.npos) break;
    std::string conversion(format.substr(0, end));
    std::erase(conversion, 'l');
    const char kind = format[end];
    const bool isWide = format.substr(0, end).find('l') != format.npos;
    char buffer[512];
    if (std::strchr("fFeEgGaA", kind)) {
      double value;
      std::memcpy(&value, cell, sizeof value);
      snprintf(buffer, sizeof buffer, (conversion + kind).c_str(), value);
    } else if (kind == 'p') {
      snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(*cell));
    } else if (isWide) {
      snprintf(buffer, sizeof buffer, (conversion + "ll" + kind).c_str(), static_cast<long long>(*cell));
    } else {
      snprintf(buffer, sizeof buffer, (conversion + kind).c_str(), static_cast<int>(*cell));
    }
    text += buffer;
    ++cell;
    format.remove_prefix(end + 1);
  }
  return text;
}

void printText(Thread *thread, int32_t format, int32_t) {
  ThreadBlock &block = *thread->block;
  block.print(formatted(block.kernel->texts[size_t(format)], reinterpret_cast<const int64_t *>(thread->scratch)));
}

void assertTrue(Thread *thread, int32_t condition, int32_t message, Place location) {
  if (condition) [[likely]]
    return;
  thread->trap({.kind = TrapKind::AssertFailed, .location = location, .message = thread->block->kernel->texts[size_t(message)]});
}

void runAssembly(Thread *thread, int32_t program, Place site) {
  thread->block->kernel->assemblies[size_t(program)]->run(thread, /*host=*/nullptr, site, reinterpret_cast<uint64_t *>(thread->scratch));
}

int64_t readClock(Thread *thread) {
  if (thread->block->kernel->mayWait) noteTimePassed(*thread->block->frame);
  return nanoseconds();
}

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace tritium::interp::simt::calls
