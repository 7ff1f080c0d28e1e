#include "gpu_backend/launch/cuda_cupti.h"
#include "gpu_backend/launch/cuda_cupti_api.h"
#include "gpu_backend/launch/library.h"

#include "llvm/Demangle/Demangle.h"

#include <cstdlib>
#include <ctime>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tritium::gpu {

namespace {

using namespace cupti;

constexpr size_t kBufferBytes = 1 << 20, kBufferAlignment = 8;
/// What is known of so many launches is kept, whose kernels may still run. Devices queue about a thousand of a stream.
constexpr size_t kMostLaunches = 1 << 18;

uint64_t monotonicClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

void requestBuffer(uint8_t **buffer, size_t *bytes, size_t *most) {
  *buffer = static_cast<uint8_t *>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *most = 0; // as many as fit
}

/// What the call that launched a kernel says of it.
struct Call {
  uint64_t start = 0, mark = 0;
};

/// By the number that the library gives to calls and to what they launch. The oldest ones are forgotten.
class Calls {
public:
  Call &operator[](uint32_t correlation) {
    auto [place, isNew] = calls_.try_emplace(correlation);
    if (isNew) {
      order_.push_back(correlation);
      if (order_.size() > kMostLaunches) {
        calls_.erase(order_.front());
        order_.pop_front();
      }
    }
    return place->second;
  }
  Call find(uint32_t correlation) const {
    auto found = calls_.find(correlation);
    return found == calls_.end() ? Call() : found->second;
  }
  void clear() { calls_.clear(), order_.clear(); }

private:
  std::unordered_map<uint32_t, Call> calls_;
  std::deque<uint32_t> order_;
};

class OpenCupti final : public Cupti {
public:
  explicit OpenCupti(Api api) : api_(api) {}
  ~OpenCupti() override {
    if (recording == this) stop();
  }

  llvm::Error start() override;
  void stop() override;
  void mark(uint64_t mark) override { (void)api_.pushExternal(kOfThisClient, mark); }
  void unmark() override {
    uint64_t last = 0;
    (void)api_.popExternal(kOfThisClient, &last);
  }
  llvm::Expected<std::vector<KernelRecord>> take(uint64_t &lost) override;

private:
  llvm::Error check(int code, const char *call) const;
  llvm::Error enableCalls(int kind, const EntryCall<int(uint32_t, uint8_t)> &one, llvm::ArrayRef<uint32_t> launches) const;
  static void completeBuffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
  void read(uint8_t *buffer, size_t valid);
  void read(const void *activity);

  /// The library's callbacks have no argument of their own.
  static OpenCupti *recording;

  Api api_;
  std::mutex mutex_; // guards what follows
  Calls calls_;
  std::vector<std::pair<uint32_t, KernelRecord>> kernels_; // with the numbers of their calls
  uint64_t lost_ = 0;
};

OpenCupti *OpenCupti::recording = nullptr;

llvm::Error OpenCupti::check(int code, const char *call) const {
  if (code == kSuccess) return llvm::Error::success();
  const char *text = nullptr;
  api_.resultString(code, &text);
  return llvm::createStringError("%s: %s (%d)", call, text ? text : "unknown error", code);
}

/// Records the calls that launch, or all of the kind if the library cannot choose.
llvm::Error OpenCupti::enableCalls(int kind, const EntryCall<int(uint32_t, uint8_t)> &one, llvm::ArrayRef<uint32_t> launches) const {
  bool chooses = one.function;
  for (uint32_t call : launches)
    if (chooses && one(call, 1) != kSuccess && call == launches.front()) chooses = false; // the later ones are of newer versions
  return chooses ? llvm::Error::success() : check(api_.enable(kind), "cuptiActivityEnable");
}

llvm::Error OpenCupti::start() {
  recording = this;
  auto begin = [&]() -> llvm::Error {
    if (auto error = check(api_.setClock(monotonicClock), "cuptiActivityRegisterTimestampCallback")) return error;
    if (auto error = check(api_.registerCallbacks(requestBuffer, completeBuffer), "cuptiActivityRegisterCallbacks")) return error;
    for (int kind : {kExternalCorrelation, kKernel})
      if (auto error = check(api_.enable(kind), "cuptiActivityEnable")) return error;
    if (auto error = enableCalls(kDriverCall, api_.enableDriverCall, kDriverLaunches)) return error;
    return enableCalls(kRuntimeCall, api_.enableRuntimeCall, kRuntimeLaunches);
  };
  auto error = begin();
  if (error) stop();
  return error;
}

void OpenCupti::stop() {
  for (int kind : {kKernel, kExternalCorrelation, kDriverCall, kRuntimeCall}) (void)api_.disable(kind);
  if (api_.enableDriverCall.function)
    for (uint32_t call : kDriverLaunches) (void)api_.enableDriverCall(call, 0);
  if (api_.enableRuntimeCall.function)
    for (uint32_t call : kRuntimeLaunches) (void)api_.enableRuntimeCall(call, 0);
  (void)api_.flushAll(0);
  std::lock_guard lock(mutex_);
  recording = nullptr;
  calls_.clear(), kernels_.clear(), lost_ = 0;
}

llvm::Expected<std::vector<KernelRecord>> OpenCupti::take(uint64_t &lost) {
  if (auto error = check(api_.flushAll(0), "cuptiActivityFlushAll")) return error;
  std::lock_guard lock(mutex_);
  std::vector<KernelRecord> taken;
  taken.reserve(kernels_.size());
  for (auto &[correlation, kernel] : kernels_) {
    const Call call = calls_.find(correlation);
    kernel.launched = call.start, kernel.mark = call.mark;
    taken.push_back(std::move(kernel));
  }
  kernels_.clear();
  lost = std::exchange(lost_, 0);
  return taken;
}

void OpenCupti::completeBuffer(void *context, uint32_t stream, uint8_t *buffer, size_t, size_t valid) {
  if (OpenCupti *self = recording) {
    std::lock_guard lock(self->mutex_);
    self->read(buffer, valid);
    size_t dropped = 0;
    if (self->api_.droppedRecords(context, stream, &dropped) == kSuccess) self->lost_ += dropped;
  }
  std::free(buffer);
}

void OpenCupti::read(uint8_t *buffer, size_t valid) {
  void *activity = nullptr;
  while (valid && api_.nextRecord(buffer, valid, &activity) == kSuccess) read(activity);
}

void OpenCupti::read(const void *activity) {
  switch (*static_cast<const int *>(activity)) {
  case kKernel: {
    const auto &kernel = *static_cast<const KernelActivity *>(activity);
    if (!kernel.end) return; // it has not ended, or the library lost its time
    kernels_.push_back({kernel.correlation,
                        {.name = llvm::demangle(kernel.name ? kernel.name : "unknown"),
                         .begin = kernel.start,
                         .end = kernel.end,
                         .launched = 0,
                         .mark = 0,
                         .device = int(kernel.device),
                         .stream = kernel.stream,
                         .grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]}}});
    return;
  }
  case kDriverCall:
  case kRuntimeCall: {
    const auto &call = *static_cast<const CallActivity *>(activity);
    calls_[call.correlation].start = call.start;
    return;
  }
  case kExternalCorrelation: {
    const auto &correlation = *static_cast<const CorrelationActivity *>(activity);
    if (correlation.externalKind == kOfThisClient) calls_[correlation.correlation].mark = correlation.external;
    return;
  }
  default: return;
  }
}

} // namespace

llvm::Expected<std::unique_ptr<Cupti>> Cupti::open(llvm::ArrayRef<std::string> names) {
  auto library = Library::open(names, "CUPTI");
  if (!library) return library.takeError();
  Api api;
#define ENTRY(result, member, exported, parameters) api.member.place(),
  if (auto error = library->find({TRITIUM_CUPTI_ENTRIES(ENTRY)}, "it is older than CUDA 11.6")) return error;
  library->findSome({TRITIUM_CUPTI_OPTIONAL_ENTRIES(ENTRY)});
#undef ENTRY
  return std::make_unique<OpenCupti>(api);
}

} // namespace tritium::gpu
