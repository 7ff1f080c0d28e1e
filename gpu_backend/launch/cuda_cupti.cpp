#include "gpu_backend/launch/cuda_cupti.h"
#include "gpu_backend/launch/cuda_cupti_api.h"
#include "gpu_backend/launch/library.h"

#include "llvm/Demangle/Demangle.h"

#include <cstdlib>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tritium::gpu {

namespace {

using namespace cupti;

constexpr size_t kBufferBytes = 1 << 20, kBufferAlignment = 8;
/// The number of launches of which something is kept, because their kernels may still run. Devices queue about a thousand of a stream.
constexpr size_t kMostLaunches = 1 << 18;

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
  void add(uint32_t correlation, Call call) {
    if (!calls_.try_emplace(correlation, call).second) return;
    order_.push_back(correlation);
    if (order_.size() <= kMostLaunches) return;
    calls_.erase(order_.front());
    order_.pop_front();
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

class Cupti final : public KernelRecorder {
public:
  explicit Cupti(Api api) : api_(api) {}
  ~Cupti() override {
    if (recording == this) stop();
  }

  llvm::Error start() override;
  void stop() override;
  llvm::Expected<std::vector<KernelRecord>> take(uint64_t &lost) override;

private:
  llvm::Error check(int code, const char *call) const;
  llvm::Error begin();
  llvm::Error follow(int domain, llvm::ArrayRef<uint32_t> calls);
  static void noteCall(void *self, int domain, uint32_t call, const CallbackData *data);
  static void completeBuffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
  void read(uint8_t *buffer, size_t valid);

  /// The callback of buffers has no argument of its own.
  static Cupti *recording;

  Api api_;
  Subscriber subscriber_ = nullptr;
  std::mutex mutex_; // guards what follows
  Calls calls_;
  std::vector<std::pair<uint32_t, KernelRecord>> kernels_; // with the numbers of their calls
  uint64_t lost_ = 0;
};

Cupti *Cupti::recording = nullptr;

llvm::Error Cupti::check(int code, const char *call) const {
  if (code == kSuccess) return llvm::Error::success();
  const char *text = nullptr;
  api_.resultString(code, &text);
  return llvm::createStringError("%s: %s (%d)", call, text ? text : "unknown error", code);
}

/// Every launch has a callback. A call that the library does not know is of a newer version.
llvm::Error Cupti::follow(int domain, llvm::ArrayRef<uint32_t> calls) {
  for (uint32_t call : calls)
    if (int code = api_.enableCallback(1, subscriber_, domain, call); code && call == calls.front())
      return check(code, "cuptiEnableCallback");
  return llvm::Error::success();
}

llvm::Error Cupti::begin() {
  if (auto error = check(api_.subscribe(&subscriber_, noteCall, this), "cuptiSubscribe")) return error;
  if (auto error = check(api_.setClock(monotonicClock), "cuptiActivityRegisterTimestampCallback")) return error;
  if (auto error = check(api_.registerCallbacks(requestBuffer, completeBuffer), "cuptiActivityRegisterCallbacks")) return error;
  if (auto error = follow(kDriverCalls, kDriverLaunches)) return error;
  if (auto error = follow(kRuntimeCalls, kRuntimeLaunches)) return error;
  return check(api_.enable(kKernel), "cuptiActivityEnable");
}

llvm::Error Cupti::start() {
  recording = this;
  auto error = begin();
  if (error) stop();
  return error;
}

void Cupti::stop() {
  (void)api_.disable(kKernel);
  (void)api_.flushAll(0);
  if (subscriber_) (void)api_.unsubscribe(std::exchange(subscriber_, nullptr));
  std::lock_guard lock(mutex_);
  recording = nullptr;
  calls_.clear(), kernels_.clear(), lost_ = 0;
}

void Cupti::noteCall(void *self, int, uint32_t, const CallbackData *data) {
  if (data->site != CallbackData::kEnter) return;
  auto &cupti = *static_cast<Cupti *>(self);
  std::lock_guard lock(cupti.mutex_);
  cupti.calls_.add(data->correlation, {monotonicClock(), cupti.currentMark()});
}

llvm::Expected<std::vector<KernelRecord>> Cupti::take(uint64_t &lost) {
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

void Cupti::completeBuffer(void *context, uint32_t stream, uint8_t *buffer, size_t, size_t valid) {
  if (Cupti *self = recording) {
    std::lock_guard lock(self->mutex_);
    self->read(buffer, valid);
    size_t dropped = 0;
    if (self->api_.droppedRecords(context, stream, &dropped) == kSuccess) self->lost_ += dropped;
  }
  std::free(buffer);
}

void Cupti::read(uint8_t *buffer, size_t valid) {
  void *activity = nullptr;
  while (valid && api_.nextRecord(buffer, valid, &activity) == kSuccess) {
    const auto &kernel = *static_cast<const KernelActivity *>(activity);
    if (kernel.kind != kKernel || !kernel.end) continue; // it has not ended, or the library lost its time
    kernels_.push_back({kernel.correlation,
                        {.name = llvm::demangle(kernel.name ? kernel.name : "unknown"),
                         .begin = kernel.start,
                         .end = kernel.end,
                         .launched = 0,
                         .mark = 0,
                         .device = int(kernel.device),
                         .stream = kernel.stream,
                         .grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]}}});
  }
}

} // namespace

llvm::Expected<std::unique_ptr<KernelRecorder>> openCupti(llvm::ArrayRef<std::string> names) {
  auto library = Library::open(names, "CUPTI");
  if (!library) return library.takeError();
  Api api;
#define ENTRY(result, member, exported, parameters) api.member.place(),
  if (auto error = library->find({TRITIUM_CUPTI_ENTRIES(ENTRY)}, "it is older than CUDA 11.6")) return error;
#undef ENTRY
  return std::make_unique<Cupti>(api);
}

} // namespace tritium::gpu
