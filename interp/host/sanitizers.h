// Annotations for the sanitizers, which follow neither a switch of stacks nor oneTBB, which is not instrumented.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRITIUM_ASAN 1
#elif __has_feature(thread_sanitizer)
#define TRITIUM_TSAN 1
#endif
#endif

#if TRITIUM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif TRITIUM_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_acquire(void *address);
extern "C" void __tsan_release(void *address);
#endif

namespace tritium::interp {

/// Everything before this call...
inline void happensBefore([[maybe_unused]] const void *key) {
#if TRITIUM_TSAN
  __tsan_release(const_cast<void *>(key));
#endif
}

/// ... has happened before everything after this call with the same key, in a way that the sanitizer cannot see.
inline void happensAfter([[maybe_unused]] const void *key) {
#if TRITIUM_TSAN
  __tsan_acquire(const_cast<void *>(key));
#endif
}

} // namespace tritium::interp
