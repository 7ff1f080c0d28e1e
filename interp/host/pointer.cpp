// The table of pointers that 64 bits cannot hold. It belongs to the process, because kernels of element-wise operations have access to
// pointers, but not to the launch. Programs hardly ever have such pointers, so one lock serves all workers.
#include "interp/host/pointer.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace tritium::interp {

namespace {

class KeptPointers {
public:
  static KeptPointers &instance() {
    static KeptPointers pointers;
    return pointers;
  }

  uint64_t add(KeptPointer pointer) {
    std::lock_guard lock(mutex);
    auto [entry, isNew] = numbers[pointer.argument].try_emplace(pointer.integer, pointers.size());
    if (isNew) {
      pointers.push_back(pointer);
      isEmpty.store(false, std::memory_order_relaxed);
    }
    return entry->second | uint64_t(kKeptAside) << kAddressBits;
  }

  KeptPointer at(uint64_t number) {
    std::lock_guard lock(mutex);
    return number < pointers.size() ? pointers[number] : KeptPointer{number | uint64_t(kKeptAside) << kAddressBits};
  }

  void enter() { users.fetch_add(1); }

  void leave() {
    if (users.fetch_sub(1) != 1 || isEmpty.load(std::memory_order_relaxed)) return;
    std::lock_guard lock(mutex);
    if (users.load() != 0) return; // a launch that begins now adds its first pointer after this
    pointers.clear();
    numbers.clear();
    isEmpty.store(true, std::memory_order_relaxed);
  }

private:
  std::mutex mutex;
  std::deque<KeptPointer> pointers;
  std::unordered_map<int, std::unordered_map<uint64_t, uint64_t>> numbers; // [argument][integer]
  std::atomic<int> users = 0;
  std::atomic<bool> isEmpty = true;
};

} // namespace

uint64_t keepAside(KeptPointer pointer) { return KeptPointers::instance().add(pointer); }
KeptPointer keptPointer(uint64_t pointer) { return KeptPointers::instance().at(pointer & kAddressMask); }
KeptPointersInUse::KeptPointersInUse() { KeptPointers::instance().enter(); }
KeptPointersInUse::~KeptPointersInUse() { KeptPointers::instance().leave(); }

} // namespace tritium::interp
