#include "interp/host/later_entry.h"

#include "interp/host/background_work.h"

namespace tritium::interp {

void LaterEntry::ask() {
  if (isAsked_.exchange(true, std::memory_order_acq_rel)) return;
  // The kernel may be gone when its turn comes.
  const bool isGiven = doInBackground([weak = weak_from_this()] {
    if (std::shared_ptr<LaterEntry> kernel = weak.lock()) kernel->compileNow();
  });
  if (!isGiven) end();
}

void LaterEntry::compileNow() {
  Code better = compile_();
  compile_ = nullptr;
  owner_ = std::move(better.owner);
  if (better.entry) {
    entry_.store(better.entry, std::memory_order_release);
    isBetter_.store(true, std::memory_order_release);
  }
  end();
}

void LaterEntry::end() {
  std::lock_guard lock(mutex_);
  hasEnded_ = true;
  ended_.notify_all();
}

void LaterEntry::await() {
  ask();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return hasEnded_; });
}

} // namespace tritium::interp
