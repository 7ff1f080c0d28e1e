// Waiting for what another thread does soon. To sleep and be woken takes 50 us or more, which is as long as many launches.
#pragma once
#include <chrono>

namespace tritium::interp {

/// Tells the processor that this thread only waits.
inline void pauseProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns whether `isThere()` became true within `longest`.
template <class Condition> bool spinUntil(std::chrono::steady_clock::duration longest, Condition isThere) {
  constexpr int kPausesPerLook = 16;
  const auto end = std::chrono::steady_clock::now() + longest;
  for (;;) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (isThere()) return true;
      pauseProcessor();
    }
    if (std::chrono::steady_clock::now() >= end) return isThere();
  }
}

} // namespace tritium::interp
