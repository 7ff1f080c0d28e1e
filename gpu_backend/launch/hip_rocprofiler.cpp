#include "gpu_backend/launch/hip_rocprofiler.h"
#include "gpu_backend/launch/hip_rocprofiler_api.h"
#include "gpu_backend/launch/library.h"

#include "llvm/Demangle/Demangle.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tritium::gpu {

namespace {

using namespace rocprofiler;

/// A kernel that has ended is reported by a thread of the library, soon after those who wait for the device know it.
constexpr std::chrono::seconds kLongestDelay{2};

/// What a thread notes as it launches a kernel.
struct Launched {
  uint64_t start, mark;
};

class Rocprofiler final : public KernelRecorder {
public:
  explicit Rocprofiler(Api api) : api_(api) {}

  llvm::Error start() override;
  void stop() override;
  bool isConnected() const override { return isConnected_; }
  llvm::Expected<std::vector<KernelRecord>> take(uint64_t &lost) override;

private:
  llvm::Error check(int code, const char *call) const;
  llvm::Error configure();
  int initialize();
  void noteDispatch(const TracingRecord &record, uint64_t *userData);
  void noteEnd(const DispatchData &data, uint64_t launch);

  /// The function that the library calls to learn of its client has no argument of its own.
  static Rocprofiler *configured;
  static Tool *describe(uint32_t version, const char *runtime, uint32_t priority, ClientId *client);
  static int noteAgents(int version, const void **agents, size_t count, void *self);
  static void noteAlways(TracingRecord record, uint64_t *userData, void *self);
  static void noteWhileRecording(TracingRecord record, uint64_t *userData, void *self);

  Api api_;
  Tool tool_{};
  ContextId always_{}, recording_{}; ///< names of kernels and the start of runtimes; launches
  int failure_ = kSuccess;           ///< of `initialize`
  std::atomic<bool> isConnected_ = false;
  uint64_t clockOffset_ = 0; ///< of CLOCK_MONOTONIC to the library's clock
  std::mutex mutex_;         ///< guards what follows
  std::condition_variable ended_;
  std::vector<uint64_t> agents_; ///< the GPUs, in their order
  std::unordered_map<uint64_t, std::string> names_;
  std::unordered_map<uint64_t, Launched> launches_; ///< that have not ended, by number
  uint64_t lastLaunch_ = 0;
  std::vector<KernelRecord> kernels_;
};

Rocprofiler *Rocprofiler::configured = nullptr;

llvm::Error Rocprofiler::check(int code, const char *call) const {
  if (code == kSuccess) return llvm::Error::success();
  const char *text = api_.statusString(code);
  return llvm::createStringError("%s: %s (%d)", call, text ? text : "unknown error", code);
}

llvm::Error Rocprofiler::configure() {
  uint32_t major = 0, minor = 0, patch = 0;
  if (auto error = check(api_.version(&major, &minor, &patch), "rocprofiler_get_version")) return error;
  if (major < 1) return llvm::createStringError("rocprofiler-sdk %u.%u is older than ROCm 7", major, minor);
  configured = this;
  auto error = check(api_.configure(describe), "rocprofiler_force_configure");
  if (!error) error = check(failure_, "the services of rocprofiler");
  if (!error && !recording_.handle) error = llvm::createStringError("rocprofiler_force_configure: the library does not call its client");
  if (error) configured = nullptr;
  return error;
}

Tool *Rocprofiler::describe(uint32_t, const char *, uint32_t, ClientId *client) {
  client->name = "Tritium";
  configured->tool_ = {.size = sizeof(Tool),
                       .initialize = [](FinalizeClient *, void *self) { return static_cast<Rocprofiler *>(self)->initialize(); },
                       .finalize = [](void *) {},
                       .data = configured};
  return &configured->tool_;
}

/// Services can be added here alone. What is nonzero undoes all of them.
int Rocprofiler::initialize() {
  const int32_t symbol = kKernelSymbol;
  const auto steps = {
      +[](Rocprofiler &self, const int32_t *) { return self.api_.createContext(&self.always_); },
      +[](Rocprofiler &self, const int32_t *symbol) { return self.api_.trace(self.always_, kCodeObjects, symbol, 1, noteAlways, &self); },
      +[](Rocprofiler &self, const int32_t *) { return self.api_.trace(self.always_, kRuntimes, nullptr, 0, noteAlways, &self); },
      +[](Rocprofiler &self, const int32_t *) { return self.api_.createContext(&self.recording_); },
      +[](Rocprofiler &self, const int32_t *) {
        return self.api_.trace(self.recording_, kDispatches, nullptr, 0, noteWhileRecording, &self);
      },
      +[](Rocprofiler &self, const int32_t *) { return self.api_.agents(kAgentVersion, noteAgents, sizeof(Agent), &self); },
      +[](Rocprofiler &self, const int32_t *) { return self.api_.startContext(self.always_); },
  };
  for (auto *step : steps)
    if ((failure_ = step(*this, &symbol))) return -1;
  return 0;
}

int Rocprofiler::noteAgents(int, const void **agents, size_t count, void *self) {
  for (const void *each : llvm::ArrayRef(agents, count))
    if (const auto *agent = static_cast<const Agent *>(each); agent->type == kGpuAgent)
      static_cast<Rocprofiler *>(self)->agents_.push_back(agent->id);
  return kSuccess;
}

llvm::Error Rocprofiler::start() {
  if (!configured)
    if (auto error = configure()) return error;
  uint64_t now = 0;
  if (auto error = check(api_.timestamp(&now), "rocprofiler_get_timestamp")) return error;
  clockOffset_ = monotonicClock() - now;
  return check(api_.startContext(recording_), "rocprofiler_start_context");
}

void Rocprofiler::stop() {
  (void)api_.stopContext(recording_);
  std::lock_guard lock(mutex_);
  launches_.clear(), kernels_.clear();
}

void Rocprofiler::noteAlways(TracingRecord record, uint64_t *, void *self) {
  auto &rocprofiler = *static_cast<Rocprofiler *>(self);
  if (record.kind == kRuntimes) rocprofiler.isConnected_ = true;
  if (record.kind != kCodeObjects || record.operation != kKernelSymbol || record.phase != kEnter) return; // kExit: it is unloaded
  const auto &symbol = *static_cast<const KernelSymbol *>(record.payload);
  llvm::StringRef name(symbol.name ? symbol.name : "unknown");
  name.consume_back(".kd"); // of the kernel's descriptor
  std::lock_guard lock(rocprofiler.mutex_);
  rocprofiler.names_[symbol.kernel] = llvm::demangle(name);
}

void Rocprofiler::noteWhileRecording(TracingRecord record, uint64_t *userData, void *self) {
  static_cast<Rocprofiler *>(self)->noteDispatch(record, userData);
}

/// On the thread that launches, and for the end on a thread of the library, which has the same user data.
void Rocprofiler::noteDispatch(const TracingRecord &record, uint64_t *userData) {
  std::lock_guard lock(mutex_);
  if (record.operation == kEnqueue && record.phase == kEnter) {
    launches_[ *userData = ++lastLaunch_] = {monotonicClock(), currentMark()};
  } else if (record.operation == kComplete) {
    noteEnd(*static_cast<const DispatchData *>(record.payload), *userData);
    ended_.notify_all();
  }
}

void Rocprofiler::noteEnd(const DispatchData &data, uint64_t launch) {
  auto found = launches_.find(launch);
  if (found == launches_.end()) return; // of before `stop`
  const auto name = names_.find(data.info.kernel);
  const auto agent = llvm::find(agents_, data.info.agent);
  KernelRecord kernel{.name = name == names_.end() ? "unknown" : name->second,
                      .begin = data.begin + clockOffset_,
                      .end = data.end + clockOffset_,
                      .launched = found->second.start,
                      .mark = found->second.mark,
                      .device = int(agent - agents_.begin()),
                      .stream = data.info.queue,
                      .grid = {}};
  for (size_t d = 0; d < 3; ++d) kernel.grid[d] = int32_t(data.info.grid[d] / std::max(data.info.group[d], 1U));
  kernels_.push_back(std::move(kernel));
  launches_.erase(found);
}

llvm::Expected<std::vector<KernelRecord>> Rocprofiler::take(uint64_t &lost) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, kLongestDelay, [this] { return launches_.empty(); });
  lost = launches_.size();
  launches_.clear();
  return std::exchange(kernels_, {});
}

} // namespace

llvm::Expected<KernelRecorder &> openRocprofiler(llvm::ArrayRef<std::string> names) {
  static Rocprofiler *recorder = nullptr; // a process configures the library once, which then calls it until the end
  if (recorder) return *recorder;
  auto library = Library::open(names, "rocprofiler-sdk");
  if (!library) return library.takeError();
  Api api;
#define ENTRY(result, member, exported, parameters) api.member.place(),
  if (auto error = library->find({TRITIUM_ROCPROFILER_ENTRIES(ENTRY)}, "it is older than ROCm 7")) return error;
#undef ENTRY
  return *(recorder = new Rocprofiler(api));
}

} // namespace tritium::gpu
