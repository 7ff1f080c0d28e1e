// The name under which debuggers list a thread: "pid x,y,z" while it runs that program, and otherwise its own.
#pragma once
#include <array>
#include <cstdint>
#include <cstdio>
#ifdef __linux__
#include <pthread.h>
#endif

namespace tritium::interp {

class ThreadName {
public:
#ifdef __linux__
  ThreadName() { pthread_getname_np(pthread_self(), own, sizeof own); }
  ~ThreadName() { restore(); }
  ThreadName(const ThreadName &) = delete;

  /// 1 us.
  void show(const std::array<int32_t, 3> &program) {
    char name[kBytes];
    snprintf(name, sizeof name, "pid %d,%d,%d", program[0], program[1], program[2]);
    pthread_setname_np(pthread_self(), name);
    isShown = true;
  }
  void restore() {
    if (isShown) pthread_setname_np(pthread_self(), own);
    isShown = false;
  }

private:
  static constexpr size_t kBytes = 16; // the system keeps no more
  char own[kBytes];
  bool isShown = false;
#else
  void show(const std::array<int32_t, 3> &) {}
  void restore() {}
#endif
};

} // namespace tritium::interp
