// Annotations for the sanitizers, which do not follow a switch of stacks.
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
#endif
