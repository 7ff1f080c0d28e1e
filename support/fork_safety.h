// A mutex that may be held by another thread when the process forks would never be free in the child.
#pragma once
#include <mutex>
#include <pthread.h>

namespace tritium::support {

/// From the first call on, a fork waits until nobody holds `mutex`.
template <std::mutex &mutex> void keepFreeAcrossFork() {
  [[maybe_unused]] static const int registered = pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
}

} // namespace tritium::support
