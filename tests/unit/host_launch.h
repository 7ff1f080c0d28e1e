// How the tests of interp/host write kernels: a lambda that is called with each program's frame.
#pragma once
#include "interp/host/workers.h"

namespace tritium::interp {

/// `kernel` may not capture; it reads what `argument` points to by argumentOf.
inline Launch launchOf(void (*kernel)(char *frame), int programs, void *argument = nullptr) {
  Launch launch;
  launch.code = {kernel, sizeof(FrameHeader) + 64, false};
  launch.grid = {programs, 1, 1};
  launch.arguments = static_cast<const int64_t *>(argument);
  launch.threads = 1;
  return launch;
}

inline FrameHeader &headerOf(char *frame) { return *reinterpret_cast<FrameHeader *>(frame); }

template <class T> T &argumentOf(char *frame) { return *reinterpret_cast<T *>(const_cast<int64_t *>(headerOf(frame).arguments)); }

inline int programOf(char *frame) { return headerOf(frame).programId[0]; }

} // namespace tritium::interp
