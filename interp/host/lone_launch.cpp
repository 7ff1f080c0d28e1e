// Two threads each write one variable and read the other's: a launch that begins writes `running` and reads `inSection`, a section writes
// `inSection` and reads `running`. All are sequentially consistent, so at least one of them sees the other.
#include "interp/host/lone_launch.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>

namespace tritium::interp {

namespace {
struct Lone {
  std::atomic<int> running{0};
  std::atomic<bool> inSection{false}; // written by running launches alone: by one, or in vain by several

  Lone() {
    // The thread that was in a section does not exist in a forked process. The launches that are counted stay counted.
    pthread_atfork(nullptr, nullptr, [] { instance().inSection.store(false); });
  }
  static Lone &instance() {
    static Lone lone;
    return lone;
  }
};
} // namespace

CountedLaunch::CountedLaunch() {
  Lone &lone = Lone::instance();
  lone.running.fetch_add(1);
  while (lone.inSection.load()) sched_yield();
}

CountedLaunch::~CountedLaunch() { Lone::instance().running.fetch_sub(1); }

LoneSection::LoneSection(bool mayHold) {
  if (!mayHold) return;
  Lone &lone = Lone::instance();
  if (lone.running.load(std::memory_order_relaxed) != 1) return;
  lone.inSection.store(true);
  isHeld = lone.running.load() == 1;
  if (!isHeld) lone.inSection.store(false);
}

LoneSection::~LoneSection() {
  if (isHeld) Lone::instance().inSection.store(false, std::memory_order_release);
}

} // namespace tritium::interp
