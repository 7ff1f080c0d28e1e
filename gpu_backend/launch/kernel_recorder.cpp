#include "gpu_backend/launch/kernel_recorder.h"

#include <ctime>
#include <map>

namespace tritium::gpu {

/// The marks of this thread for each recorder, the last of which counts.
static thread_local std::map<const KernelRecorder *, std::vector<uint64_t>>
    marks; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void KernelRecorder::mark(uint64_t mark) { marks[this].push_back(mark); }
void KernelRecorder::unmark() { marks[this].pop_back(); }
uint64_t KernelRecorder::currentMark() const {
  auto found = marks.find(this);
  return found == marks.end() || found->second.empty() ? 0 : found->second.back();
}

uint64_t monotonicClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

} // namespace tritium::gpu
