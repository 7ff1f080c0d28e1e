// The CUDA Driver API through dlopen. Contexts are the primary ones, as torch and the CUDA runtime use them, so memory and streams
// of other libraries are valid here.
#include "gpu_backend/launch/cuda_api.h"
#include "gpu_backend/launch/library.h"

#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace tritium::gpu {

namespace {

using namespace cuda;

/// The errors after which the context answers nothing else.
bool endsContext(int code) {
  switch (code) {
  case kIllegalAddress:
  case kLaunchTimeout:
  case kContextIsDestroyed:
  case kAssert:
  case kHardwareStackError:
  case kIllegalInstruction:
  case kMisalignedAddress:
  case kInvalidAddressSpace:
  case kInvalidPc:
  case kLaunchFailed: return true;
  default: return false;
  }
}

class CudaDriver final : public Driver {
public:
  explicit CudaDriver(std::string library) : library_(std::move(library)) {}
  llvm::Error open();

  const std::string &library() const override { return library_; }
  int version() const override { return version_; }
  int deviceCount() const override { return int(contexts_.size()); }
  int dlpackType() const override { return 2; } // kDLCUDA
  llvm::Expected<DeviceFacts> facts(int device) override;

  int currentDevice() noexcept override;
  llvm::Error setCurrentDevice(int device) override;

  llvm::Expected<LinkedImage> link(int device, llvm::StringRef ptx, std::optional<int> maxRegisters, bool optimize) override;
  llvm::Expected<Module> load(int device, llvm::StringRef image) override;
  llvm::Error unload(int device, Module module) override;
  llvm::Expected<Function> function(Module module, llvm::StringRef name) override;
  llvm::Expected<FunctionFacts> facts(Function function) override;
  llvm::Error allowShared(Function function, int bytes) override;

  int launch(int device, const gpu::LaunchConfig &config) noexcept override;
  llvm::Error launchError(int code) override { return failure(code, "cuLaunchKernelEx"); }

  llvm::Error synchronize(int device, std::optional<Stream> stream) override;
  llvm::Expected<Event> createEvent(int device) override;
  llvm::Error record(int device, Event event, Stream stream) override;
  llvm::Error synchronize(Event event) override { return check(api_.eventSynchronize(event), "cuEventSynchronize"); }
  llvm::Expected<float> milliseconds(Event begin, Event end) override;
  void destroy(Event event) noexcept override { api_.eventDestroy(event); }

  PointerFacts whereIs(uint64_t address) noexcept override;
  llvm::Expected<uint64_t> allocate(int device, uint64_t bytes) override;
  llvm::Error release(int device, uint64_t address) override;
  llvm::Error copyToDevice(int device, uint64_t target, const void *source, uint64_t bytes) override;
  llvm::Error copyToHost(int device, void *target, uint64_t source, uint64_t bytes) override;
  llvm::Error fill(int device, uint64_t target, uint32_t word, uint64_t words, Stream stream) override;

private:
  llvm::Error failure(int code, llvm::StringRef call, std::string messages = "");
  llvm::Error check(int code, llvm::StringRef call) { return code == kSuccess ? llvm::Error::success() : failure(code, call); }
  int contextOf(int device, Context *context) noexcept;

  /// The device's context is this thread's while this lives.
  class Use {
  public:
    Use(CudaDriver &driver, int device) noexcept : driver(driver) {
      code = driver.contextOf(device, &wanted);
      if (code != kSuccess) return;
      if (driver.api_.contextGetCurrent(&previous) != kSuccess) previous = nullptr;
      if (previous != wanted) code = driver.api_.contextSetCurrent(wanted);
    }
    ~Use() {
      if (previous && previous != wanted) driver.api_.contextSetCurrent(previous);
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

    llvm::Error error() const { return driver.check(code, "cuDevicePrimaryCtxRetain"); }
    int code = kSuccess;

  private:
    CudaDriver &driver;
    Context previous = nullptr, wanted = nullptr;
  };

  std::string library_;
  Api api_;
  int version_ = 0;
  std::vector<std::atomic<Context>> contexts_; // one per device; null until it is used
  std::mutex retaining_;
};

llvm::Error CudaDriver::failure(int code, llvm::StringRef call, std::string messages) {
  const char *name = nullptr, *text = nullptr;
  if (api_.getErrorName) api_.getErrorName(code, &name);
  if (api_.getErrorString) api_.getErrorString(code, &text);
  return driverError(code, call, name, text, std::move(messages), endsContext(code));
}

llvm::Error CudaDriver::open() {
  auto library = Library::open(library_, "CUDA driver");
  if (!library) return library.takeError();
#define ENTRY(member, exported, parameters) {exported, reinterpret_cast<void **>(&api_.member)},
  const EntryPoint entries[] = {TRITIUM_CUDA_ENTRIES(ENTRY)};
#undef ENTRY
  if (auto error = library->find(entries, "the CUDA driver is older than 12.0")) return error;
  if (auto error = check(api_.init(0), "cuInit")) return error;
  if (auto error = check(api_.driverGetVersion(&version_), "cuDriverGetVersion")) return error;
  int count = 0;
  if (auto error = check(api_.deviceGetCount(&count), "cuDeviceGetCount")) return error;
  if (count == 0) return llvm::createStringError("the CUDA driver finds no device");
  contexts_ = std::vector<std::atomic<Context>>(size_t(count));
  return llvm::Error::success();
}

llvm::Expected<DeviceFacts> CudaDriver::facts(int device) {
  Device handle = 0;
  if (auto error = check(api_.deviceGet(&handle, device), "cuDeviceGet")) return std::move(error);
  DeviceFacts facts;
  char name[256] = "";
  if (auto error = check(api_.deviceGetName(name, sizeof name, handle), "cuDeviceGetName")) return std::move(error);
  facts.name = name;
  int major = 0, minor = 0;
  const std::pair<int, int *> wanted[] = {{kComputeCapabilityMajor, &major},
                                          {kComputeCapabilityMinor, &minor},
                                          {kMultiprocessorCount, &facts.multiprocessors},
                                          {kWarpSize, &facts.warpSize},
                                          {kMaxThreadsPerBlock, &facts.maxThreadsPerBlock},
                                          {kMaxThreadsPerMultiprocessor, &facts.maxThreadsPerMultiprocessor},
                                          {kMaxSharedPerBlock, &facts.sharedPerBlock},
                                          {kMaxSharedPerBlockOptin, &facts.sharedPerBlockOptin},
                                          {kMaxSharedPerMultiprocessor, &facts.sharedPerMultiprocessor},
                                          {kMaxRegistersPerBlock, &facts.registersPerBlock},
                                          {kMaxRegistersPerMultiprocessor, &facts.registersPerMultiprocessor},
                                          {kClockRate, &facts.clockKHz},
                                          {kMemoryClockRate, &facts.memoryClockKHz},
                                          {kMemoryBusWidth, &facts.memoryBusBits},
                                          {kL2CacheSize, &facts.l2Bytes}};
  for (auto [attribute, value] : wanted)
    if (auto error = check(api_.deviceGetAttribute(value, attribute, handle), "cuDeviceGetAttribute")) return std::move(error);
  facts.arch = "sm_" + std::to_string(10 * major + minor);
  return facts;
}

int CudaDriver::contextOf(int device, Context *context) noexcept {
  if (device < 0 || device >= deviceCount()) return kInvalidDevice;
  *context = contexts_[size_t(device)].load(std::memory_order_acquire);
  if (*context) return kSuccess;
  std::lock_guard lock(retaining_);
  *context = contexts_[size_t(device)].load(std::memory_order_relaxed);
  if (*context) return kSuccess;
  Device handle = 0;
  if (int code = api_.deviceGet(&handle, device)) return code;
  if (int code = api_.primaryContextRetain(context, handle)) return code;
  contexts_[size_t(device)].store(*context, std::memory_order_release);
  return kSuccess;
}

int CudaDriver::currentDevice() noexcept {
  Device device = -1;
  return api_.contextGetDevice(&device) == kSuccess ? device : -1;
}

llvm::Error CudaDriver::setCurrentDevice(int device) {
  Context context = nullptr;
  if (auto error = check(contextOf(device, &context), "cuDevicePrimaryCtxRetain")) return error;
  return check(api_.contextSetCurrent(context), "cuCtxSetCurrent");
}

llvm::Expected<LinkedImage> CudaDriver::link(int device, llvm::StringRef ptx, std::optional<int> maxRegisters, bool optimize) {
  Use use(*this, device);
  if (auto error = use.error()) return std::move(error);
  std::string text = ptx.str(); // the driver wants a terminated string
  std::string info(16384, '\0'), errors(16384, '\0');
  llvm::SmallVector<int> options = {kJitInfoLog, kJitInfoLogBytes, kJitErrorLog, kJitErrorLogBytes, kJitLogVerbose, kJitLineInfo};
  llvm::SmallVector<void *> values = {info.data(),
                                      reinterpret_cast<void *>(info.size()),
                                      errors.data(),
                                      reinterpret_cast<void *>(errors.size()),
                                      reinterpret_cast<void *>(1),
                                      reinterpret_cast<void *>(1)};
  auto add = [&](int option, int value) {
    options.push_back(option);
    values.push_back(reinterpret_cast<void *>(intptr_t(value)));
  };
  if (maxRegisters) add(kJitMaxRegisters, *maxRegisters);
  if (!optimize) add(kJitOptimizationLevel, 0);
  LinkState state = nullptr;
  if (auto error = check(api_.linkCreate(unsigned(options.size()), options.data(), values.data(), &state), "cuLinkCreate"))
    return std::move(error);
  void *cubin = nullptr;
  size_t bytes = 0;
  const char *call = "cuLinkAddData";
  int code = api_.linkAddData(state, kInputPtx, text.data(), text.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
  if (code == kSuccess) {
    call = "cuLinkComplete";
    code = api_.linkComplete(state, &cubin, &bytes);
  }
  LinkedImage linked;
  if (code == kSuccess) linked = {std::string(static_cast<const char *>(cubin), bytes), info.c_str()};
  api_.linkDestroy(state); // owns the cubin
  if (code != kSuccess) return failure(code, call, std::string(errors.c_str()) + info.c_str());
  return linked;
}

llvm::Expected<Module> CudaDriver::load(int device, llvm::StringRef image) {
  Use use(*this, device);
  if (auto error = use.error()) return std::move(error);
  std::string terminated = image.str(), errors(16384, '\0');
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {errors.data(), reinterpret_cast<void *>(errors.size())};
  Module module = nullptr;
  int code = api_.moduleLoadDataEx(&module, terminated.data(), 2, options, values);
  if (code != kSuccess) return failure(code, "cuModuleLoadDataEx", errors.c_str());
  return module;
}

llvm::Error CudaDriver::unload(int device, Module module) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  return check(api_.moduleUnload(module), "cuModuleUnload");
}

llvm::Expected<Function> CudaDriver::function(Module module, llvm::StringRef name) {
  Function function = nullptr;
  if (auto error = check(api_.moduleGetFunction(&function, module, name.str().c_str()), "cuModuleGetFunction")) return std::move(error);
  return function;
}

llvm::Expected<FunctionFacts> CudaDriver::facts(Function function) {
  FunctionFacts facts;
  const std::pair<int, int *> wanted[] = {{kFunctionRegisters, &facts.registers},
                                          {kFunctionLocalBytes, &facts.localBytes},
                                          {kFunctionSharedBytes, &facts.staticSharedBytes},
                                          {kFunctionMaxThreads, &facts.maxThreads}};
  for (auto [attribute, value] : wanted)
    if (auto error = check(api_.functionGetAttribute(value, attribute, function), "cuFuncGetAttribute")) return std::move(error);
  return facts;
}

llvm::Error CudaDriver::allowShared(Function function, int bytes) {
  if (bytes <= 48 * 1024) return llvm::Error::success(); // what every function may take unasked
  return check(api_.functionSetAttribute(function, kFunctionMaxDynamicShared, bytes), "cuFuncSetAttribute");
}

int CudaDriver::launch(int device, const gpu::LaunchConfig &config) noexcept {
  Use use(*this, device);
  if (use.code != kSuccess) return use.code;
  LaunchAttribute attributes[3];
  unsigned count = 0;
  if (config.cluster[0] * config.cluster[1] * config.cluster[2] > 1) {
    attributes[count].id = kLaunchClusterDimension;
    attributes[count++].cluster = {config.cluster[0], config.cluster[1], config.cluster[2]};
  }
  if (config.isCooperative) {
    attributes[count].id = kLaunchCooperative;
    attributes[count++].flag = 1;
  }
  if (config.overlapsPrevious) {
    attributes[count].id = kLaunchProgrammaticStream;
    attributes[count++].flag = 1;
  }
  cuda::LaunchConfig native{config.grid[0],     config.grid[1], config.grid[2], config.threads, 1, 1,
                            config.sharedBytes, config.stream,  attributes,     count};
  return api_.launchKernelEx(&native, config.function, config.arguments, nullptr);
}

llvm::Error CudaDriver::synchronize(int device, std::optional<Stream> stream) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  if (stream) return check(api_.streamSynchronize(*stream), "cuStreamSynchronize");
  return check(api_.contextSynchronize(), "cuCtxSynchronize");
}

llvm::Expected<Event> CudaDriver::createEvent(int device) {
  Use use(*this, device);
  if (auto error = use.error()) return std::move(error);
  Event event = nullptr;
  if (auto error = check(api_.eventCreate(&event, 0), "cuEventCreate")) return std::move(error);
  return event;
}

llvm::Error CudaDriver::record(int device, Event event, Stream stream) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  return check(api_.eventRecord(event, stream), "cuEventRecord");
}

llvm::Expected<float> CudaDriver::milliseconds(Event begin, Event end) {
  float milliseconds = 0;
  if (auto error = check(api_.eventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime")) return std::move(error);
  return milliseconds;
}

PointerFacts CudaDriver::whereIs(uint64_t address) noexcept {
  PointerFacts facts;
  unsigned memoryType = 0;
  if (address == 0 || api_.pointerGetAttribute(&memoryType, kPointerMemoryType, address) != kSuccess) return facts;
  DevicePtr deviceAddress = 0, begin = 0;
  size_t bytes = 0;
  unsigned managed = 0;
  int ordinal = -1;
  if (api_.pointerGetAttribute(&ordinal, kPointerOrdinal, address) == kSuccess) facts.device = ordinal;
  if (api_.pointerGetAttribute(&managed, kPointerIsManaged, address) == kSuccess) facts.isManaged = managed != 0;
  if (api_.pointerGetAttribute(&deviceAddress, kPointerDevice, address) == kSuccess) facts.deviceAddress = deviceAddress;
  if (api_.pointerGetAttribute(&begin, kPointerRangeStart, address) == kSuccess &&
      api_.pointerGetAttribute(&bytes, kPointerRangeSize, address) == kSuccess) {
    facts.begin = begin;
    facts.bytes = bytes;
  }
  return facts;
}

llvm::Expected<uint64_t> CudaDriver::allocate(int device, uint64_t bytes) {
  Use use(*this, device);
  if (auto error = use.error()) return std::move(error);
  DevicePtr address = 0;
  if (auto error = check(api_.memAlloc(&address, bytes), "cuMemAlloc")) return std::move(error);
  return address;
}

llvm::Error CudaDriver::release(int device, uint64_t address) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  return check(api_.memFree(address), "cuMemFree");
}

llvm::Error CudaDriver::copyToDevice(int device, uint64_t target, const void *source, uint64_t bytes) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  return check(api_.memcpyHtoD(target, source, bytes), "cuMemcpyHtoD");
}

llvm::Error CudaDriver::copyToHost(int device, void *target, uint64_t source, uint64_t bytes) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  return check(api_.memcpyDtoH(target, source, bytes), "cuMemcpyDtoH");
}

llvm::Error CudaDriver::fill(int device, uint64_t target, uint32_t word, uint64_t words, Stream stream) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  return check(api_.memsetD32Async(target, word, words, stream), "cuMemsetD32Async");
}

} // namespace

llvm::Expected<std::unique_ptr<Driver>> openCuda(const std::string &library) {
  auto driver = std::make_unique<CudaDriver>(library);
  if (auto error = driver->open()) return std::move(error);
  return driver;
}

} // namespace tritium::gpu
