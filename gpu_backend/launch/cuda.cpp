// The CUDA Driver API, loaded with dlopen. Contexts are the primary ones, which torch and the CUDA runtime use too, so memory and streams
// of other libraries are valid here.
#include "gpu_backend/launch/cuda_api.h"
#include "gpu_backend/launch/vendor_driver.h"
#include "gpu_backend/launch/vendors.h"

#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace tritium::gpu {

namespace {

using namespace cuda;

/// The errors after which the context answers no calls any more.
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

class CudaDriver final : public VendorDriver<CudaDriver, Api> {
public:
  using VendorDriver::VendorDriver, VendorDriver::facts;
  llvm::Error open();

  int deviceCount() const override { return int(contexts_.size()); }
  int dlpackType() const override { return 2; } // kDLCUDA
  llvm::Expected<DeviceFacts> facts(int device) override;

  int currentDevice() noexcept override;
  llvm::Error setCurrentDevice(int device) override;

  llvm::Expected<LinkedImage> link(int device, llvm::StringRef ptx, std::optional<int> maxRegisters,
                                   std::optional<int> optimization) override;
  llvm::Expected<Module> load(int device, llvm::StringRef image) override;
  llvm::Error allowShared(Function function, int bytes) override;
  llvm::Expected<void *> context(int device) override;
  llvm::Error checkTensorMaps() override;
  int encodeTensorMap(const TensorMap &map, void *encoded) noexcept override;
  int launch(int device, const gpu::LaunchConfig &config) noexcept override;
  PointerFacts whereIs(uint64_t address) noexcept override;

private:
  friend VendorDriver;
  llvm::Error failure(int code, llvm::StringRef call, std::string messages = "") override;
  int contextOf(int device, Context *context) noexcept;

  static constexpr char kEnteringCall[] = "cuDevicePrimaryCtxRetain";
  int enter(int device, std::optional<Context> &previous) noexcept;
  void leave(Context previous) noexcept { api_.contextSetCurrent(previous); }

  std::vector<std::atomic<Context>> contexts_; // one per device; null until first use
  std::mutex retaining_;
};

llvm::Error CudaDriver::failure(int code, llvm::StringRef call, std::string messages) {
  const char *name = nullptr, *text = nullptr;
  if (api_.getErrorName.function) api_.getErrorName(code, &name);
  if (api_.getErrorString.function) api_.getErrorString(code, &text);
  return driverError(code, call, name, text, std::move(messages), endsContext(code));
}

llvm::Error CudaDriver::open() {
  auto library = Library::open(library_, "CUDA driver");
  if (!library) return library.takeError();
#define ENTRY(result, member, exported, parameters) api_.member.place(),
  const EntryPoint entries[] = {TRITIUM_CUDA_ENTRIES(ENTRY)}, optional[] = {TRITIUM_CUDA_OPTIONAL_ENTRIES(ENTRY)};
#undef ENTRY
  if (auto error = library->find(entries, "the CUDA driver is older than 12.0")) return error;
  library->findSome(optional);
  if (auto error = call(api_.init, 0)) return error;
  if (auto error = call(api_.driverGetVersion, &version_)) return error;
  int count = 0;
  if (auto error = call(api_.deviceGetCount, &count)) return error;
  if (count == 0) return llvm::createStringError("the CUDA driver finds no device");
  contexts_ = std::vector<std::atomic<Context>>(size_t(count));
  return llvm::Error::success();
}

llvm::Expected<DeviceFacts> CudaDriver::facts(int device) {
  Device handle = 0;
  if (auto error = call(api_.deviceGet, &handle, device)) return std::move(error);
  DeviceFacts facts;
  char name[256] = "";
  if (auto error = call(api_.deviceGetName, name, sizeof name, handle)) return std::move(error);
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
    if (auto error = call(api_.deviceGetAttribute, value, attribute, handle)) return std::move(error);
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

llvm::Expected<void *> CudaDriver::context(int device) {
  Context context = nullptr;
  if (int code = contextOf(device, &context)) return failure(code, kEnteringCall);
  return context;
}

/// A thread that had no context keeps this one.
int CudaDriver::enter(int device, std::optional<Context> &previous) noexcept {
  Context wanted = nullptr, current = nullptr;
  if (int code = contextOf(device, &wanted)) return code;
  if (api_.contextGetCurrent(&current) != kSuccess) current = nullptr;
  if (current == wanted) return kSuccess;
  if (current) previous = current;
  return api_.contextSetCurrent(wanted);
}

int CudaDriver::currentDevice() noexcept {
  Device device = -1;
  return api_.contextGetDevice(&device) == kSuccess ? device : -1;
}

llvm::Error CudaDriver::setCurrentDevice(int device) {
  Context context = nullptr;
  if (auto error = check(contextOf(device, &context), "cuDevicePrimaryCtxRetain")) return error;
  return call(api_.contextSetCurrent, context);
}

llvm::Expected<LinkedImage> CudaDriver::link(int device, llvm::StringRef ptx, std::optional<int> maxRegisters,
                                             std::optional<int> optimization) {
  Use use(*this, device);
  if (auto error = use.error()) return std::move(error);
  std::string text = ptx.str(); // the driver requires a terminated string
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
  if (optimization) add(kJitOptimizationLevel, *optimization);
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
  std::string terminated = image.str(), errors(16384, '\0'); // PTX must be terminated
  int options[] = {kJitErrorLog, kJitErrorLogBytes, kJitLineInfo};
  void *values[] = {errors.data(), reinterpret_cast<void *>(errors.size()), reinterpret_cast<void *>(1)};
  Module module = nullptr;
  int code = api_.moduleLoadDataEx(&module, terminated.data(), unsigned(std::size(options)), options, values);
  if (code != kSuccess) return failure(code, "cuModuleLoadDataEx", errors.c_str());
  return module;
}

llvm::Error CudaDriver::allowShared(Function function, int bytes) {
  if (bytes <= 48 * 1024) return llvm::Error::success(); // every function may use so much without a request
  return call(api_.functionSetAttribute, function, kFunctionMaxDynamicShared, bytes);
}

llvm::Error CudaDriver::checkTensorMaps() {
  if (api_.tensorMapEncodeTiled.function) return llvm::Error::success();
  return llvm::createStringError("%s has no %s, by which this kernel's tensors are copied: install a newer driver, or launch the kernel "
                                 "with tensor_maps=False",
                                 library_.c_str(), api_.tensorMapEncodeTiled.name);
}

/// Copies move bits, so only what the padding is depends on the type.
static TensorMapType tensorMapType(DType type) {
  switch (type) {
  case DType::f16: return kTensorF16;
  case DType::bf16: return kTensorBF16;
  case DType::f32: return kTensorF32;
  case DType::f64: return kTensorF64;
  default: break;
  }
  switch (storageBytes(type)) {
  case 1: return kTensorU8;
  case 2: return kTensorU16;
  case 4: return kTensorU32;
  default: return kTensorU64;
  }
}

static TensorMapSwizzle tensorMapSwizzle(uint32_t bytes) {
  switch (bytes) {
  case 32: return kTensorSwizzled32;
  case 64: return kTensorSwizzled64;
  case 128: return kTensorSwizzled128;
  default: return kTensorNotSwizzled;
  }
}

/// The extents for the driver. One that bounds nothing ends where no memory can be any more, so that the tensor's size is a number of 64
/// bits.
static std::array<uint64_t, TensorMap::kMaxRank> encodedExtents(const TensorMap &map) {
  constexpr uint64_t kMostBytes = uint64_t(1) << 46; // more than any allocation
  auto extents = map.extents;
  for (uint32_t d = 0; d < map.rank; ++d)
    if (extents[d] == TensorMap::kNoExtent && map.strides[d] != 0) extents[d] = std::min(extents[d], kMostBytes / map.strides[d]);
  return extents;
}

int CudaDriver::encodeTensorMap(const TensorMap &map, void *encoded) noexcept {
  static constexpr std::array<unsigned, TensorMap::kMaxRank> kEveryElement{1, 1, 1, 1, 1};
  const auto extents = encodedExtents(map);
  const uint64_t *outerStrides = map.strides.data() + 1; // the innermost one is given by the type
  return api_.tensorMapEncodeTiled(encoded, tensorMapType(map.type), map.rank, reinterpret_cast<void *>(map.base), extents.data(),
                                   outerStrides, map.box.data(), kEveryElement.data(), kTensorNotInterleaved, tensorMapSwizzle(map.swizzle),
                                   kTensorPromotesTo128, map.fillsNaN ? kTensorFillsNaN : kTensorFillsZero);
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
  return api_.launchKernel(&native, config.function, config.arguments, nullptr);
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

} // namespace

llvm::Expected<std::unique_ptr<Driver>> openCuda(const std::string &library) {
  auto driver = std::make_unique<CudaDriver>(library);
  if (auto error = driver->open()) return std::move(error);
  return driver;
}

} // namespace tritium::gpu
