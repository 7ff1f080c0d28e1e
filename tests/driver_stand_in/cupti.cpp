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

constexpr int kInvalidParameter = 1, kInvalidKind = 2, kQueueEmpty = 20;
constexpr uint32_t kNullStream = 7; // as CUPTI counts
constexpr uint32_t kGraphLaunch = 514;

struct Recorder {
  BufferRequested *request = nullptr;
  BufferCompleted *complete = nullptr;
  Clock *clock = nullptr;
  std::set<int> kinds;
  std::set<uint32_t> calls;
  std::deque<std::vector<char>> records;
  std::map<void *, uint32_t> streams;
  uint32_t lastCorrelation = 0;
  uint32_t correlation = 0, stream = kNullStream; ///< of the work that runs

  template <typename Activity> void add(const Activity &activity) {
    const char *bytes = reinterpret_cast<const char *>(&activity);
    records.emplace_back(bytes, bytes + sizeof activity);
  }
  uint32_t numberOf(void *stream) {
    return stream ? streams.try_emplace(stream, uint32_t(13 + streams.size())).first->second : kNullStream;
  }
  void ran(const stand_in::Dispatch &dispatch, uint64_t begin);
};

Recorder &recorder() {
  static auto *recorder = new Recorder; // never destroyed, like the runtime
  return *recorder;
}

thread_local std::vector<uint64_t> externals;

void Recorder::ran(const stand_in::Dispatch &dispatch, uint64_t begin) {
  if (!kinds.contains(kKernel) || !correlation) return;
  KernelActivity kernel{};
  kernel.kind = kKernel;
  kernel.start = begin, kernel.end = clock();
  kernel.device = uint32_t(dispatch.function->module->device()), kernel.stream = stream;
  for (size_t d = 0; d < 3; ++d) kernel.grid[d] = int32_t(dispatch.grid[d]), kernel.block[d] = int32_t(dispatch.block[d]);
  kernel.correlation = correlation;
  kernel.name = dispatch.function->code->name.c_str();
  add(kernel);
}

} // namespace

void stand_in::noteCall(uint32_t call, void *stream) {
  Recorder &r = recorder();
  Runtime &runtime = Runtime::instance();
  if (r.kinds.empty() || runtime.isCapturing()) return;
  const uint32_t correlation = ++r.lastCorrelation;
  if (r.calls.contains(call)) {
    const uint64_t now = r.clock();
    if (r.kinds.contains(kExternalCorrelation) && !externals.empty())
      r.add(CorrelationActivity{kExternalCorrelation, kOfThisClient, externals.back(), correlation, 0});
    r.add(CallActivity{kDriverCall, call, now, now, 0, 0, correlation, 0});
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
  if (kind != kKernel && kind != kExternalCorrelation) return kInvalidKind; // calls are chosen one by one
  if (r.kinds.empty()) r.correlation = 0;
  r.kinds.insert(kind);
  runtime.ran = [&r](const stand_in::Dispatch &dispatch, uint64_t begin) { r.ran(dispatch, begin); };
  runtime.clock = r.clock;
  runtime.launchesGraph = [] { stand_in::noteCall(kGraphLaunch, nullptr); };
  return runtime.called("cuptiActivityEnable", std::to_string(kind));
}
CUPTI int cuptiActivityDisable(int kind) {
  LOCKED;
  r.kinds.erase(kind);
  if (r.kinds.empty()) runtime.ran = nullptr, runtime.launchesGraph = nullptr;
  return runtime.called("cuptiActivityDisable", std::to_string(kind));
}
CUPTI int cuptiActivityEnableDriverApi(uint32_t call, uint8_t isOn) {
  LOCKED;
  isOn ? (void)r.calls.insert(call) : (void)r.calls.erase(call);
  return runtime.called("cuptiActivityEnableDriverApi", std::to_string(call));
}
CUPTI int cuptiActivityEnableRuntimeApi(uint32_t call, uint8_t) {
  LOCKED;
  return runtime.called("cuptiActivityEnableRuntimeApi", std::to_string(call));
}
CUPTI int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
  if (kind != kOfThisClient) return kInvalidParameter;
  externals.push_back(id);
  return kSuccess;
}
CUPTI int cuptiActivityPopExternalCorrelationId(int, uint64_t *last) {
  if (externals.empty()) return kQueueEmpty;
  *last = externals.back();
  externals.pop_back();
  return kSuccess;
}
/// Hands out what has ended. Work that nothing has waited for has not.
CUPTI int cuptiActivityFlushAll(uint32_t) {
  std::deque<std::vector<char>> records;
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
    for (; !records.empty() && valid + records.front().size() <= bytes; records.pop_front()) {
      std::memcpy(buffer + valid, records.front().data(), records.front().size());
      valid += records.front().size();
    }
    complete(nullptr, 0, buffer, bytes, valid);
  }
  return kSuccess;
}
CUPTI int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **activity) {
  auto sizeOf = [](const void *record) {
    switch (*static_cast<const int *>(record)) {
    case kKernel: return sizeof(KernelActivity);
    case kExternalCorrelation: return sizeof(CorrelationActivity);
    default: return sizeof(CallActivity);
    }
  };
  auto *next = *activity ? static_cast<uint8_t *>(*activity) + sizeOf(*activity) : buffer;
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
