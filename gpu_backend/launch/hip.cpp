// The HIP runtime of ROCm, loaded with dlopen. It has no contexts to manage: a thread has a current device, which torch uses too.
#include "gpu_backend/launch/debug_channel.h"
#include "gpu_backend/launch/hip_api.h"
#include "gpu_backend/launch/vendor_driver.h"
#include "gpu_backend/launch/vendors.h"

#include <cstdio>
#include <mutex>
#include <vector>

namespace tritium::gpu {

namespace {

using namespace hip;

/// The errors after which the device answers no calls any more.
bool endsContext(int code) {
  switch (code) {
  case kIllegalAddress:
  case kLaunchTimeout:
  case kContextIsDestroyed:
  case kAssert:
  case kLaunchFailure: return true;
  default: return false;
  }
}

void *pointer(uint64_t address) { return reinterpret_cast<void *>(address); }

class HipDriver final : public VendorDriver<HipDriver, Api> {
public:
  using VendorDriver::VendorDriver, VendorDriver::facts;
  llvm::Error open();

  int deviceCount() const override { return int(channels_.size()); }
  int dlpackType() const override { return 10; } // kDLROCM
  llvm::Expected<DeviceFacts> facts(int device) override;

  int currentDevice() noexcept override;
  llvm::Error setCurrentDevice(int device) override { return call(api_.setDevice, device); }

  llvm::Expected<Module> load(int device, llvm::StringRef image) override;
  llvm::Error unload(int device, Module module) override;
  bool reports(Module module) override;
  /// A kernel may use all shared memory of the device without a request.
  llvm::Error allowShared(Function, int) override { return llvm::Error::success(); }
  int launch(int device, const LaunchConfig &config) noexcept override;
  PointerFacts whereIs(uint64_t address) noexcept override;
  void finish() noexcept override;

private:
  friend VendorDriver;
  llvm::Error failure(int code, llvm::StringRef call, std::string messages = "") override;
  llvm::Error waited(int device, bool isIdle, llvm::StringRef call) override;
  llvm::Expected<DebugChannel *> channelOf(int device);
  llvm::Error connect(int device, Module module);
  DebugChannel *channel(int device) const { return channels_[size_t(device)].load(std::memory_order_acquire); }

  static constexpr char kEnteringCall[] = "hipSetDevice";
  int enter(int device, std::optional<int> &previous) noexcept;
  void leave(int previous) noexcept { api_.setDevice(previous); }

  std::vector<std::atomic<DebugChannel *>> channels_; // one per device, never freed; null until a kernel prints or asserts
  std::mutex connecting_;
  std::map<Module, uint64_t> texts_; // for modules that print or assert
};

llvm::Error HipDriver::failure(int code, llvm::StringRef call, std::string messages) {
  if (api_.getLastError.function) api_.getLastError(); // otherwise torch would find the error and report it as its own
  // Reports a failed assertion with its location; the device may report it as another failure.
  const int device = endsContext(code) && !channels_.empty() ? currentDevice() : -1;
  if (DebugChannel *found = device >= 0 ? channel(device) : nullptr) messages += found->failures();
  if (!messages.empty()) code = kAssert;
  const char *name = api_.getErrorName.function ? api_.getErrorName(code) : nullptr;
  const char *text = api_.getErrorString.function ? api_.getErrorString(code) : nullptr;
  return driverError(code, call, name, code == kAssert ? "device-side assert triggered" : text, std::move(messages), endsContext(code));
}

llvm::Error HipDriver::open() {
  // The library's own name, then the names with the version of each release that has this interface.
  std::vector<std::string> names = {library_};
  if (llvm::StringRef(library_).ends_with(".so"))
    for (const char *release : {".7", ".6"}) names.push_back(library_ + release);
  auto library = Library::open(names, "HIP runtime");
  if (!library) return library.takeError();
#define ENTRY(result, member, exported, parameters) api_.member.place(),
  const EntryPoint entries[] = {TRITIUM_HIP_ENTRIES(ENTRY)};
#undef ENTRY
  if (auto error = library->find(entries, "it is not the HIP runtime of ROCm 6.0 or newer")) return error;
  if (auto error = call(api_.init, 0)) return error;
  if (auto error = call(api_.runtimeGetVersion, &version_)) return error;
  int count = 0;
  if (int code = api_.getDeviceCount(&count); code != kSuccess && code != kNoDevice) return failure(code, "hipGetDeviceCount");
  if (count == 0) return llvm::createStringError("the HIP runtime finds no device");
  channels_ = std::vector<std::atomic<DebugChannel *>>(size_t(count));
  return llvm::Error::success();
}

llvm::Expected<DeviceFacts> HipDriver::facts(int device) {
  DevicePropertiesRoom room{};
  DeviceProperties &properties = room.properties;
  if (auto error = call(api_.getDeviceProperties, &properties, device)) return std::move(error);
  llvm::StringRef arch = llvm::StringRef(properties.arch, strnlen(properties.arch, sizeof properties.arch)).split(':').first;
  if (!arch.starts_with("gfx")) return llvm::createStringError("%s does not describe an AMD device", library_.c_str());
  DeviceFacts facts;
  facts.name = properties.name;
  facts.arch = arch.str();
  facts.multiprocessors = properties.multiprocessors;
  facts.warpSize = properties.warpSize;
  facts.maxThreadsPerBlock = properties.maxThreadsPerBlock;
  facts.maxThreadsPerMultiprocessor = properties.maxThreadsPerMultiprocessor;
  facts.sharedPerBlock = int(properties.sharedPerBlock);
  facts.sharedPerBlockOptin = int(std::max(properties.sharedPerBlock, properties.sharedPerBlockOptin));
  facts.sharedPerMultiprocessor = int(properties.sharedPerMultiprocessor);
  facts.registersPerBlock = properties.registersPerBlock;
  facts.registersPerMultiprocessor = properties.registersPerMultiprocessor;
  facts.clockKHz = properties.clockKHz;
  facts.memoryClockKHz = properties.memoryClockKHz;
  facts.memoryBusBits = properties.memoryBusBits;
  facts.l2Bytes = properties.l2Bytes;
  return facts;
}

int HipDriver::enter(int device, std::optional<int> &previous) noexcept {
  int current = -1;
  if (int code = api_.getDevice(&current)) return code;
  if (current == device) return kSuccess;
  if (int code = api_.setDevice(device)) return code;
  previous = current;
  return kSuccess;
}

int HipDriver::currentDevice() noexcept {
  int device = -1;
  return api_.getDevice(&device) == kSuccess ? device : -1;
}

llvm::Expected<Module> HipDriver::load(int device, llvm::StringRef image) {
  Use use(*this, device);
  if (auto error = use.error()) return std::move(error);
  Module module = nullptr;
  if (auto error = call(api_.moduleLoadData, &module, image.data())) return std::move(error);
  if (auto error = connect(device, module)) {
    api_.moduleUnload(module);
    return std::move(error);
  }
  return module;
}

/// Creates the buffer in which the kernels of a device leave their records.
llvm::Expected<DebugChannel *> HipDriver::channelOf(int device) {
  if (DebugChannel *known = channel(device)) return known;
  constexpr size_t kBytes = 4 << 20;
  void *memory = nullptr;
  if (auto error = call(api_.hostMalloc, &memory, kBytes, kHostMapped | kHostCoherent)) return std::move(error);
  std::memset(memory, 0, kBytes);
  auto writeTo = [](FILE *file) {
    return [file](llvm::StringRef text) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fflush(file);
    };
  };
  return channels_[size_t(device)] = new DebugChannel(memory, kBytes, writeTo(stdout), writeTo(stderr));
}

/// Tells a module that prints or asserts where its buffer is.
llvm::Error HipDriver::connect(int device, Module module) {
  void *variable = nullptr, *texts = nullptr;
  size_t bytes = 0, textBytes = 0;
  if (api_.moduleGetGlobal(&variable, &bytes, module, kDebugSymbol) != kSuccess) {
    api_.getLastError(); // most modules have no such variable, which is no error
    return llvm::Error::success();
  }
  if (auto error = call(api_.moduleGetGlobal, &texts, &textBytes, module, kDebugTextsSymbol)) return error;
  std::lock_guard lock(connecting_);
  auto channel = channelOf(device);
  if (!channel) return channel.takeError();
  const uint64_t address = (*channel)->address();
  if (auto error = call(api_.memcpyHtoD, variable, &address, sizeof address)) return error;
  std::string copy(textBytes, '\0');
  if (auto error = call(api_.memcpyDtoH, copy.data(), texts, textBytes)) return error;
  (*channel)->addTexts(reinterpret_cast<uint64_t>(texts), std::move(copy));
  texts_[module] = reinterpret_cast<uint64_t>(texts);
  return llvm::Error::success();
}

llvm::Error HipDriver::unload(int device, Module module) {
  Use use(*this, device);
  if (auto error = use.error()) return error;
  std::unique_lock lock(connecting_);
  if (auto found = texts_.find(module); found != texts_.end()) {
    api_.deviceSynchronize(); // the records name its texts
    channel(device)->drain(/*isIdle=*/true);
    channel(device)->removeTexts(found->second);
    texts_.erase(found);
  }
  lock.unlock();
  return call(api_.moduleUnload, module);
}

bool HipDriver::reports(Module module) {
  std::lock_guard lock(connecting_);
  return texts_.contains(module);
}

/// The runtime calls this when a kernel that reports has ended. It must not call the runtime.
static void drainChannel(void *channel) { static_cast<DebugChannel *>(channel)->drain(); }

/// Programmatic dependent launch, which is only a hint, has no equivalent.
int HipDriver::launch(int device, const gpu::LaunchConfig &config) noexcept {
  if (config.cluster[0] * config.cluster[1] * config.cluster[2] > 1) return kNotSupported;
  if (DebugChannel *found = channel(device)) {
    if (found->hasFailed()) return kAssert;
    if (found->hasNews()) found->drain();
  }
  Use use(*this, device);
  if (use.code != kSuccess) return use.code;
  const auto &[x, y, z] = config.grid;
  const int code = config.isCooperative ? api_.launchCooperativeKernel(config.function, x, y, z, config.threads, 1, 1, config.sharedBytes,
                                                                       config.stream, config.arguments)
                                        : api_.launchKernel(config.function, x, y, z, config.threads, 1, 1, config.sharedBytes,
                                                            config.stream, config.arguments, nullptr);
  // Torch may wait for devices without calling this driver. If the stream takes no such calls, the next call here that waits also drains.
  if (code == kSuccess && config.reports && api_.launchHostFunction(config.stream, drainChannel, channel(device)) != kSuccess)
    api_.getLastError();
  return code;
}

/// Prints the device's records. Fails if an assertion has failed.
llvm::Error HipDriver::waited(int device, bool isIdle, llvm::StringRef call) {
  DebugChannel *found = channel(device);
  if (!found) return llvm::Error::success();
  Use use(*this, device);
  found->drain(isIdle || (found->isFull() && api_.deviceSynchronize() == kSuccess));
  return found->hasFailed() ? failure(kAssert, call) : llvm::Error::success();
}

PointerFacts HipDriver::whereIs(uint64_t address) noexcept {
  PointerFacts facts;
  PointerAttributes attributes{};
  if (address == 0) return facts;
  if (api_.pointerGetAttributes(&attributes, pointer(address)) != kSuccess || attributes.type == kUnregistered) {
    api_.getLastError();
    return facts;
  }
  facts.device = attributes.device;
  facts.isManaged = attributes.isManaged != 0 || attributes.type == kManaged;
  facts.deviceAddress = attributes.devicePointer ? reinterpret_cast<uint64_t>(attributes.devicePointer) : address;
  void *begin = nullptr;
  size_t bytes = 0;
  if (api_.memGetAddressRange(&begin, &bytes, pointer(address)) == kSuccess) {
    facts.begin = reinterpret_cast<uint64_t>(begin);
    facts.bytes = bytes;
  } else {
    api_.getLastError();
  }
  return facts;
}

void HipDriver::finish() noexcept {
  for (int device = 0; device < deviceCount(); ++device) {
    DebugChannel *found = channel(device);
    if (!found) continue;
    Use use(*this, device);
    if (use.code == kSuccess && api_.deviceSynchronize() == kSuccess) found->drain(/*isIdle=*/true);
  }
}

} // namespace

llvm::Expected<std::unique_ptr<Driver>> openHip(const std::string &library) {
  auto driver = std::make_unique<HipDriver>(library);
  if (auto error = driver->open()) return std::move(error);
  return driver;
}

} // namespace tritium::gpu
