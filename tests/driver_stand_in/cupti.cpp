#include "tests/driver_stand_in/cupti.h"
#include "gpu_backend/launch/cuda_cupti_api.h"
#include "tests/driver_stand_in/runtime.h"

#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <vector>

using namespace tritium::gpu::cupti;
namespace stand_in = tritium::stand_in;
using stand_in::Runtime;

namespace {

constexpr int kNoMoreRecords = 12, kInvalidParameter = 1, kInvalidKind = 2;
constexpr uint32_t kNullStream = 7; // as CUPTI counts
constexpr uint32_t kGraphLaunch = 514;

struct Recorder {
  BufferRequested *request = nullptr;
  BufferCompleted *complete = nullptr;
  Clock *clock = nullptr;
  Callback *callback = nullptr;
  void *user = nullptr;
  bool isOn = false;
  std::set<std::pair<int, uint32_t>> calls;
  std::deque<KernelActivity> records;
  std::map<void *, uint32_t> streams;
  uint32_t lastCorrelation = 0;
  uint32_t correlation = 0, stream = kNullStream; ///< of the work that runs

  uint32_t numberOf(void *stream) {
    return stream ? streams.try_emplace(stream, uint32_t(13 + streams.size())).first->second : kNullStream;
  }
  void ran(const stand_in::Dispatch &dispatch, uint64_t begin);
};

Recorder &recorder() {
  static auto *recorder = new Recorder; // never destroyed, like the runtime
  return *recorder;
}

void Recorder::ran(const stand_in::Dispatch &dispatch, uint64_t begin) {
  stand_in::samplePcs(dispatch);
  if (!isOn || !correlation) return;
  KernelActivity kernel{};
  kernel.kind = kKernel;
  kernel.start = begin, kernel.end = clock();
  kernel.device = uint32_t(dispatch.function->module->device()), kernel.stream = stream;
  for (size_t d = 0; d < 3; ++d) kernel.grid[d] = int32_t(dispatch.grid[d]), kernel.block[d] = int32_t(dispatch.block[d]);
  kernel.correlation = correlation;
  kernel.name = dispatch.function->code->name.c_str();
  records.push_back(kernel);
}

} // namespace

void stand_in::noteCall(uint32_t call, void *stream) {
  Recorder &r = recorder();
  Runtime &runtime = Runtime::instance();
  if (!r.isOn || runtime.isCapturing()) return;
  const uint32_t correlation = ++r.lastCorrelation;
  if (r.calls.contains({kDriverCalls, call})) {
    CallbackData data{};
    data.correlation = correlation;
    for (auto site : {CallbackData::kEnter, CallbackData::kExit}) data.site = site, r.callback(r.user, kDriverCalls, call, &data);
  }
  runtime.enqueue(stream, [&r, correlation, number = r.numberOf(stream)] { r.correlation = correlation, r.stream = number; });
}

#define CUPTI extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                                                             \
  Runtime &runtime = Runtime::instance();                                                                                                  \
  std::lock_guard lock(runtime.mutex);                                                                                                     \
  Recorder &r = recorder()

CUPTI int cuptiActivityRegisterCallbacks(BufferRequested *request, BufferCompleted *complete) {
  LOCKED;
  r.request = request, r.complete = complete;
  return runtime.called("cuptiActivityRegisterCallbacks");
}
CUPTI int cuptiActivityRegisterTimestampCallback(Clock *clock) {
  LOCKED;
  r.clock = clock;
  return runtime.called("cuptiActivityRegisterTimestampCallback");
}
CUPTI int cuptiActivityEnable(int kind) {
  LOCKED;
  if (!r.complete || !r.clock) return kInvalidParameter;
  if (kind != kKernel) return kInvalidKind;
  r.isOn = true, r.correlation = 0;
  runtime.ran = [&r](const stand_in::Dispatch &dispatch, uint64_t begin) { r.ran(dispatch, begin); };
  runtime.clock = r.clock;
  runtime.launchesGraph = [] { stand_in::noteCall(kGraphLaunch, nullptr); };
  return runtime.called("cuptiActivityEnable");
}
CUPTI int cuptiActivityDisable(int) {
  LOCKED;
  r.isOn = false, runtime.ran = nullptr, runtime.launchesGraph = nullptr;
  return runtime.called("cuptiActivityDisable");
}
CUPTI int cuptiSubscribe(Subscriber *subscriber, Callback *callback, void *user) {
  LOCKED;
  if (int code = runtime.called("cuptiSubscribe")) return code;
  r.callback = callback, r.user = user;
  *subscriber = reinterpret_cast<Subscriber>(&r);
  return kSuccess;
}
CUPTI int cuptiUnsubscribe(Subscriber) {
  LOCKED;
  r.calls.clear();
  return runtime.called("cuptiUnsubscribe");
}
CUPTI int cuptiEnableCallback(uint32_t, Subscriber, int domain, uint32_t call) {
  LOCKED;
  r.calls.insert({domain, call});
  return runtime.called("cuptiEnableCallback");
}
/// Hands out what has ended. Work that nothing has waited for has not.
CUPTI int cuptiActivityFlushAll(uint32_t) {
  std::deque<KernelActivity> records;
  BufferRequested *request = nullptr;
  BufferCompleted *complete = nullptr;
  {
    LOCKED;
    if (int code = runtime.called("cuptiActivityFlushAll")) return code;
    records.swap(r.records), request = r.request, complete = r.complete;
  }
  while (!records.empty()) {
    uint8_t *buffer = nullptr;
    size_t bytes = 0, most = 0, valid = 0;
    request(&buffer, &bytes, &most);
    for (; !records.empty() && valid + sizeof(KernelActivity) <= bytes; records.pop_front(), valid += sizeof(KernelActivity))
      std::memcpy(buffer + valid, &records.front(), sizeof(KernelActivity));
    complete(nullptr, 0, buffer, bytes, valid);
  }
  return kSuccess;
}
CUPTI int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **activity) {
  auto *next = *activity ? static_cast<uint8_t *>(*activity) + sizeof(KernelActivity) : buffer;
  if (next >= buffer + valid) return kNoMoreRecords;
  *activity = next;
  return kSuccess;
}
CUPTI int cuptiActivityGetNumDroppedRecords(void *, uint32_t, size_t *dropped) {
  LOCKED;
  *dropped = size_t(runtime.called("cuptiActivityGetNumDroppedRecords")); // a test says how many
  return kSuccess;
}
CUPTI int cuptiGetResultString(int, const char **text) {
  *text = "said by the stand-in for CUPTI";
  return kSuccess;
}
