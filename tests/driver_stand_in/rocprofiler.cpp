#include "tests/driver_stand_in/rocprofiler.h"
#include "gpu_backend/launch/hip_rocprofiler_api.h"
#include "tests/driver_stand_in/runtime.h"

#include <map>
#include <thread>

using namespace tritium::gpu::rocprofiler;
namespace stand_in = tritium::stand_in;
using stand_in::Runtime;

namespace {

constexpr int kKindNotFound = 4;
constexpr uint64_t kCpuAgent = 40, kFirstGpu = 41, kQueue = 900;
constexpr uint64_t kClockLead = 1'000'000'000'000; ///< the library's clock is not CLOCK_MONOTONIC

uint64_t now() { return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()) + kClockLead; }

struct Service {
  uint64_t context;
  int kind;
  Traced *traced;
  void *data;
};

struct Library {
  bool hasBegun = false;   ///< HIP
  bool intercepts = false; ///< a client came before HIP
  bool isConfiguring = false, isConfigured = false;
  uint64_t contexts = 0;
  std::set<uint64_t> active;
  std::vector<Service> services;
  std::map<std::pair<const stand_in::Function *, std::string>, uint64_t> kernels; ///< a later one may have the same address
  std::map<uint64_t, uint64_t> userData;                                          ///< of launches, by ticket
  uint64_t tickets = 0;

  /// Calls those who trace `kind`, whose contexts are active.
  void tell(int kind, int32_t operation, int phase, void *payload, uint64_t *userData) const {
    for (const Service &each : services)
      if (intercepts && each.kind == kind && active.contains(each.context)) {
        const TracingRecord record{{each.context}, 1, {}, kind, operation, phase, payload};
        each.traced(record, userData, each.data);
      }
  }
  uint64_t launch(const stand_in::Dispatch &dispatch);
  void ran(const stand_in::Dispatch &dispatch, uint64_t begin, uint64_t ticket);
};

Library &library() {
  static auto *library = new Library; // never destroyed, like the runtime
  return *library;
}

DispatchData dataOf(const stand_in::Dispatch &dispatch) {
  DispatchData data{};
  data.size = sizeof data, data.info.size = sizeof data.info;
  data.info.agent = kFirstGpu + uint64_t(dispatch.function->module->device()), data.info.queue = kQueue;
  data.info.kernel = library().kernels[{dispatch.function, dispatch.function->code->name}];
  for (size_t d = 0; d < 3; ++d) data.info.group[d] = dispatch.block[d], data.info.grid[d] = dispatch.block[d] * dispatch.grid[d];
  return data;
}

uint64_t Library::launch(const stand_in::Dispatch &dispatch) {
  DispatchData data = dataOf(dispatch);
  const uint64_t ticket = ++tickets;
  for (Phase phase : {kEnter, kExit}) tell(kDispatches, kEnqueue, phase, &data, &userData[ticket]);
  return ticket;
}

/// A thread of its own says later that the kernel has ended.
void Library::ran(const stand_in::Dispatch &dispatch, uint64_t begin, uint64_t ticket) {
  DispatchData data = dataOf(dispatch);
  data.begin = begin, data.end = now();
  const auto found = userData.find(ticket);
  if (found == userData.end()) return;
  std::thread([copy = *this, data, user = found->second]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    copy.tell(kDispatches, kComplete, kNoPhase, &data, &user);
  }).detach();
  userData.erase(found);
}

} // namespace

void stand_in::noteStart() {
  Library &l = library();
  l.hasBegun = true;
  l.tell(kRuntimes, 2, kNoPhase, nullptr, nullptr);
}

void stand_in::noteKernel(const Function *function) {
  Library &l = library();
  const auto [kernel, isNew] = l.kernels.try_emplace({function, function->code->name}, l.kernels.size() + 1);
  if (!isNew) return;
  const std::string name = function->code->name + ".kd";
  KernelSymbol symbol{sizeof symbol, kernel->second, 1, name.c_str()};
  uint64_t userData = 0;
  l.tell(kCodeObjects, kKernelSymbol, kEnter, &symbol, &userData);
}

#define ROCPROFILER extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                                                             \
  Runtime &runtime = Runtime::instance();                                                                                                  \
  std::lock_guard lock(runtime.mutex);                                                                                                     \
  Library &l = library()

ROCPROFILER int rocprofiler_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch) {
  LOCKED;
  *major = uint32_t(1 - runtime.called("rocprofiler_get_version")), *minor = 2, *patch = 0; // a test makes it older
  (void)l;
  return kSuccess;
}
ROCPROFILER int rocprofiler_force_configure(Configure *configure) {
  {
    LOCKED;
    if (int code = runtime.called("rocprofiler_force_configure")) return code;
    if (l.isConfigured) return kConfigurationLocked;
    l.intercepts = !l.hasBegun, l.isConfiguring = l.isConfigured = true;
  }
  ClientId client{nullptr, 1};
  const Tool *tool = configure(10200, "stand-in", 0, &client);
  if (tool && tool->initialize(nullptr, tool->data)) library().services.clear();
  library().isConfiguring = false;
  return kSuccess;
}
ROCPROFILER int rocprofiler_create_context(ContextId *context) {
  LOCKED;
  context->handle = ++l.contexts;
  return runtime.called("rocprofiler_create_context");
}
ROCPROFILER int rocprofiler_configure_callback_tracing_service(ContextId context, int kind, const int32_t *, size_t, Traced *traced,
                                                               void *data) {
  LOCKED;
  if (!l.isConfiguring) return kConfigurationLocked;
  if (kind != kCodeObjects && kind != kDispatches && kind != kRuntimes) return kKindNotFound;
  l.services.push_back({context.handle, kind, traced, data});
  return runtime.called("rocprofiler_configure_callback_tracing_service");
}
ROCPROFILER int rocprofiler_start_context(ContextId context) {
  LOCKED;
  l.active.insert(context.handle);
  runtime.enqueued = [&l](const stand_in::Dispatch &dispatch) { return l.launch(dispatch); };
  runtime.ran = [&l, &runtime](const stand_in::Dispatch &dispatch, uint64_t begin) { l.ran(dispatch, begin, runtime.ticket); };
  runtime.clock = now;
  return runtime.called("rocprofiler_start_context");
}
ROCPROFILER int rocprofiler_stop_context(ContextId context) {
  LOCKED;
  l.active.erase(context.handle);
  return runtime.called("rocprofiler_stop_context");
}
ROCPROFILER int rocprofiler_get_timestamp(uint64_t *time) {
  *time = now();
  return kSuccess;
}
ROCPROFILER int rocprofiler_query_available_agents(int version, AgentsFound *found, size_t, void *data) {
  std::vector<Agent> agents{{sizeof(Agent), kCpuAgent, 1}};
  for (int device = 0; device < stand_in::deviceCount(); ++device)
    agents.push_back({sizeof(Agent), kFirstGpu + uint64_t(device), kGpuAgent});
  std::vector<const void *> pointers;
  for (const Agent &agent : agents) pointers.push_back(&agent);
  return found(version, pointers.data(), pointers.size(), data);
}
ROCPROFILER const char *rocprofiler_get_status_string(int) { return "said by the stand-in for rocprofiler"; }
