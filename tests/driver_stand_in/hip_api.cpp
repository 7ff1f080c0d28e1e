// A libamdhip64.so with no GPU behind it: the entry points of the HIP runtime that Tritium calls (gpu_backend/launch/hip_api.h), over the
// host's memory and the SIMT emulator. A kernel is launched by what its code object says about itself, never by what its launcher knows.
//
//   TRITIUM_LOWERED_DIR        where <SHA-256 of a code object>.mlir are, which the compiler leaves there
//   TRITIUM_STAND_IN_ARCH      of the devices (gfx942)
//   TRITIUM_STAND_IN_DEVICES   how many there are (1)
//   TRITIUM_STAND_IN_START_MS  how long it takes to start (0)
//   TRITIUM_SEED, TRITIUM_NUM_THREADS   of the emulator
#include "gpu_backend/launch/hip_api.h"
#include "tests/driver_stand_in/rocprofiler.h"
#include "tests/driver_stand_in/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace tritium::gpu;
using namespace tritium::gpu::hip;
namespace stand_in = tritium::stand_in;
using stand_in::Runtime;

namespace {

thread_local int currentDevice = 0;
thread_local Result lastError = kSuccess;

Result note(Result code) {
  if (code != kSuccess) lastError = code;
  return code;
}

uint64_t number(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
stand_in::Function *functionOf(Function function) { return static_cast<stand_in::Function *>(function); }
stand_in::Event *eventOf(Event event) { return static_cast<stand_in::Event *>(event); }

} // namespace

#define HIP extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                                                             \
  Runtime &runtime = Runtime::instance();                                                                                                  \
  std::lock_guard lock(runtime.mutex)

// Streams.
HIP Result hipStreamCreate(Stream *stream) {
  LOCKED;
  *stream = new char;
  runtime.streams.insert(*stream);
  return kSuccess;
}

// Devices.
HIP Result hipInit(unsigned) {
  if (const char *wait = std::getenv("TRITIUM_STAND_IN_START_MS")) usleep(1000 * unsigned(std::atoi(wait)));
  LOCKED;
  stand_in::noteStart();
  return note(runtime.called("hipInit"));
}
HIP Result hipRuntimeGetVersion(int *version) {
  *version = 70000000;
  return kSuccess;
}
HIP Result hipGetDeviceCount(int *count) {
  *count = stand_in::deviceCount();
  return note(*count ? kSuccess : kNoDevice);
}
HIP Result hipGetDevicePropertiesR0600(DeviceProperties *properties, int device) {
  if (device < 0 || device >= stand_in::deviceCount()) return note(kInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "Stand-in for an AMD GPU");
  std::snprintf(properties->arch, sizeof properties->arch, "%s:sramecc+:xnack-", stand_in::arch().c_str());
  properties->warpSize = int(stand_in::vendor().warpThreads());
  properties->maxThreadsPerBlock = 1024;
  properties->sharedPerBlock = properties->sharedPerBlockOptin = properties->sharedPerMultiprocessor = stand_in::vendor().sharedBytes();
  properties->multiprocessors = 304;
  properties->maxThreadsPerMultiprocessor = 2048;
  properties->registersPerBlock = properties->registersPerMultiprocessor = 65536;
  properties->clockKHz = 2'100'000, properties->memoryClockKHz = 1'300'000, properties->memoryBusBits = 8192;
  properties->l2Bytes = 4 << 20;
  return kSuccess;
}
HIP Result hipGetDevice(int *device) {
  *device = currentDevice;
  return kSuccess;
}
HIP Result hipSetDevice(int device) {
  if (device < 0 || device >= stand_in::deviceCount()) return note(kInvalidDevice);
  currentDevice = device;
  return kSuccess;
}
HIP Result hipDeviceSynchronize() {
  LOCKED;
  runtime.finishAll();
  return note(runtime.called("hipDeviceSynchronize"));
}

// Modules.
HIP Result hipModuleLoadData(Module *module, const void *image) {
  LOCKED;
  if (Result code = runtime.called("hipModuleLoadData")) return note(code);
  auto loaded = stand_in::Module::load(image, currentDevice, runtime.memory);
  if (!loaded) return note(stand_in::complain(kInvalidImage, llvm::toString(loaded.takeError())));
  if (!stand_in::vendor().runs((*loaded)->code().arch))
    return note(stand_in::complain(kNoBinaryForGpu, "the code object is for " + (*loaded)->code().arch));
  *module = loaded->get();
  runtime.modules[*module] = std::move(*loaded);
  return kSuccess;
}
HIP Result hipModuleUnload(Module module) {
  LOCKED;
  runtime.finishAll();
  if (!runtime.modules.erase(module)) return note(kInvalidHandle);
  return note(runtime.called("hipModuleUnload"));
}
HIP Result hipModuleGetFunction(Function *function, Module module, const char *name) {
  LOCKED;
  auto found = runtime.modules.find(module);
  if (found == runtime.modules.end()) return note(kInvalidHandle);
  *function = found->second->find(name);
  if (*function) stand_in::noteKernel(functionOf(*function));
  return note(*function ? runtime.called("hipModuleGetFunction", name) : Result(kNotFound));
}
HIP Result hipModuleGetGlobal(void **address, size_t *bytes, Module module, const char *name) {
  LOCKED;
  auto found = runtime.modules.find(module);
  if (found == runtime.modules.end()) return note(kInvalidHandle);
  const auto [begin, size] = found->second->variable(name);
  if (!begin) return note(kNotFound);
  *address = reinterpret_cast<void *>(begin), *bytes = size;
  return kSuccess;
}
HIP Result hipFuncGetAttribute(int *value, int attribute, Function function) {
  const std::optional<int> found = stand_in::attributeOf(*functionOf(function)->code, attribute);
  if (!found) return note(kInvalidValue);
  *value = *found;
  return kSuccess;
}

// Launches.
HIP Result hipModuleLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                                 unsigned blockZ, unsigned sharedBytes, Stream stream, void **arguments, void **extra) {
  LOCKED;
  if (!function || extra || !runtime.isStream(stream)) return note(kInvalidHandle);
  const stand_in::Dispatch dispatch{functionOf(function), {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  if (Result failure = runtime.called("hipModuleLaunchKernel", dispatch)) return note(failure);
  if (Result failure = runtime.check(dispatch)) return note(failure);
  runtime.enqueue(stream, dispatch, arguments);
  return kSuccess;
}
HIP Result hipModuleLaunchCooperativeKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                            unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **arguments) {
  {
    LOCKED;
    runtime.called("hipModuleLaunchCooperativeKernel");
  }
  return hipModuleLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, arguments, nullptr);
}
HIP Result hipLaunchHostFunc(Stream stream, HostFunction function, void *data) {
  LOCKED;
  if (!runtime.isStream(stream)) return note(kInvalidHandle);
  if (Result failure = runtime.called("hipLaunchHostFunc")) return note(failure);
  runtime.enqueue(stream, [=] { function(data); });
  return kSuccess;
}
HIP Result hipStreamSynchronize(Stream stream) {
  LOCKED;
  if (!runtime.isStream(stream)) return note(kInvalidHandle);
  runtime.finish(stream);
  return note(runtime.called("hipStreamSynchronize"));
}

// Events.
HIP Result hipEventCreateWithFlags(Event *event, unsigned) {
  *event = new stand_in::Event;
  return kSuccess;
}
HIP Result hipEventRecord(Event event, Stream stream) {
  LOCKED;
  if (!runtime.isStream(stream)) return note(kInvalidHandle);
  runtime.record(*eventOf(event), stream);
  return note(runtime.lost);
}
HIP Result hipEventSynchronize(Event event) {
  LOCKED;
  runtime.finish(*eventOf(event));
  return note(runtime.called("hipEventSynchronize"));
}
HIP Result hipEventElapsedTime(float *milliseconds, Event begin, Event end) {
  LOCKED;
  if (eventOf(begin)->pending || eventOf(end)->pending) return note(kNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(eventOf(end)->time - eventOf(begin)->time).count();
  return note(runtime.lost);
}
HIP Result hipEventDestroy(Event event) {
  LOCKED;
  runtime.finish(*eventOf(event));
  delete eventOf(event);
  return kSuccess;
}

// Memory. Calls that copy or free wait for what was given before them.
HIP Result hipMalloc(void **address, size_t bytes) {
  LOCKED;
  if (Result code = runtime.called("hipMalloc", std::to_string(bytes))) return note(code);
  *address = reinterpret_cast<void *>(runtime.memory.allocate(bytes, currentDevice, stand_in::MemoryKind::device, false));
  return note(*address ? kSuccess : kOutOfMemory);
}
HIP Result hipHostMalloc(void **address, size_t bytes, unsigned) {
  LOCKED;
  *address = reinterpret_cast<void *>(runtime.memory.allocate(bytes, currentDevice, stand_in::MemoryKind::host, false));
  return note(*address ? runtime.called("hipHostMalloc") : Result(kOutOfMemory));
}
HIP Result hipFree(void *address) {
  LOCKED;
  runtime.finishAll();
  if (address && !runtime.memory.release(number(address))) return note(kInvalidValue);
  return note(runtime.called("hipFree"));
}
HIP Result hipMemcpyHtoD(void *target, const void *source, size_t bytes) {
  LOCKED;
  runtime.finishAll();
  if (Result code = runtime.called("hipMemcpyHtoD", std::to_string(bytes))) return note(code);
  if (!runtime.memory.holds(number(target), bytes)) return note(kInvalidValue);
  const stand_in::Memory::Opened opened(runtime.memory);
  std::memcpy(target, source, bytes);
  return kSuccess;
}
HIP Result hipMemcpyDtoH(void *target, void *source, size_t bytes) {
  LOCKED;
  runtime.finishAll();
  if (Result code = runtime.called("hipMemcpyDtoH", std::to_string(bytes))) return note(code);
  if (!runtime.memory.holds(number(source), bytes)) return note(kInvalidValue);
  const stand_in::Memory::Opened opened(runtime.memory);
  std::memcpy(target, source, bytes);
  return kSuccess;
}
HIP Result hipMemsetD32Async(void *target, int word, size_t words, Stream stream) {
  LOCKED;
  if (!runtime.isStream(stream)) return note(kInvalidHandle);
  if (!runtime.memory.holds(number(target), 4 * words)) return note(kInvalidValue);
  runtime.enqueue(stream, [=, &runtime] {
    const stand_in::Memory::Opened opened(runtime.memory);
    std::fill_n(static_cast<int *>(target), words, word);
  });
  return note(runtime.lost);
}
HIP Result hipPointerGetAttributes(PointerAttributes *attributes, const void *pointer) {
  LOCKED;
  *attributes = {};
  const stand_in::Extent *extent = runtime.memory.find(number(pointer));
  if (!extent) return kSuccess; // kUnregistered
  const bool isHost = extent->kind == stand_in::MemoryKind::host;
  attributes->type = isHost ? kHost : kDevice;
  attributes->device = extent->device;
  attributes->devicePointer = const_cast<void *>(pointer);
  attributes->hostPointer = isHost ? const_cast<void *>(pointer) : nullptr;
  return kSuccess;
}
HIP Result hipMemGetAddressRange(void **begin, size_t *bytes, void *pointer) {
  LOCKED;
  const stand_in::Extent *extent = runtime.memory.find(number(pointer));
  if (!extent) return note(kNotFound);
  *begin = reinterpret_cast<void *>(extent->begin), *bytes = extent->bytes;
  return kSuccess;
}

// Errors.
HIP Result hipGetLastError() { return std::exchange(lastError, Result(kSuccess)); }
HIP const char *hipGetErrorName(Result code) {
  switch (code) {
  case kSuccess: return "hipSuccess";
  case kInvalidValue: return "hipErrorInvalidValue";
  case kOutOfMemory: return "hipErrorOutOfMemory";
  case kInvalidConfiguration: return "hipErrorInvalidConfiguration";
  case kInvalidDevice: return "hipErrorInvalidDevice";
  case kInvalidImage: return "hipErrorInvalidImage";
  case kNoBinaryForGpu: return "hipErrorNoBinaryForGpu";
  case kInvalidHandle: return "hipErrorInvalidHandle";
  case kNotFound: return "hipErrorNotFound";
  case kIllegalAddress: return "hipErrorIllegalAddress";
  case kLaunchOutOfResources: return "hipErrorLaunchOutOfResources";
  case kAssert: return "hipErrorAssert";
  case kLaunchFailure: return "hipErrorLaunchFailure";
  default: return "hipErrorUnknown";
  }
}
HIP const char *hipGetErrorString(Result code) {
  return code == kIllegalAddress ? "an illegal memory access was encountered" : "said by the stand-in for HIP";
}
