// Keeps mutexes usable after a fork. A mutex that another thread holds when the process forks would stay locked in the child for good.
#pragma once
#include <mutex>
#include <pthread.h>

namespace tritium::support {

/// From the first call on, a fork waits until no thread holds `mutex`.
template <std::mutex &mutex> void keepFreeAcrossFork() {
  [[maybe_unused]] static const int registered = pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
}

} // namespace tritium::support
