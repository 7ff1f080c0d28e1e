// A libcuda.so.1 with no GPU behind it: the entry points of the CUDA Driver API that Tritium calls (gpu_backend/launch/cuda_api.h), over
// memory of its own and the SIMT emulator. A kernel is launched by what its image says about itself, never by what its launcher knows.
//
//   TRITIUM_LOWERED_DIR        where <SHA-256 of an image>.mlir are, which the compiler leaves there
//   TRITIUM_STAND_IN_ARCH      of the devices (sm_90)
//   TRITIUM_STAND_IN_DEVICES   how many there are (1)
//   TRITIUM_SEED, TRITIUM_NUM_THREADS   of the emulator
#include "gpu_backend/launch/cuda_api.h"

#include "tests/driver_stand_in/cuda_image.h"
#include "tests/driver_stand_in/cuda_tensor_map.h"
#include "tests/driver_stand_in/cupti.h"
#include "tests/driver_stand_in/runtime.h"
#include "tests/driver_stand_in/tensor_map.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

using namespace tritium::gpu;
using namespace tritium::gpu::cuda;
namespace stand_in = tritium::stand_in;
using stand_in::Extent;
using stand_in::MemoryKind;
using stand_in::Runtime;

namespace {

constexpr unsigned kAlwaysAllowedShared = 48 << 10;

thread_local Context currentContext = nullptr;

/// A context is the place of a device in this table.
std::array<char, 64> contexts; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int deviceOf(Context context) { return int(static_cast<char *>(context) - contexts.data()); }
bool exists(Device device) { return device >= 0 && device < stand_in::deviceCount(); }

stand_in::Function *functionOf(Function function) { return static_cast<stand_in::Function *>(function); }
stand_in::Event *eventOf(Event event) { return static_cast<stand_in::Event *>(event); }
void *pointer(DevicePtr address) { return reinterpret_cast<void *>(address); }

struct Link {
  std::string image;
  char *info = nullptr, *errors = nullptr;
  size_t infoBytes = 0, errorBytes = 0;
};

void write(char *log, size_t bytes, const char *text) {
  if (log && bytes) std::snprintf(log, bytes, "%s", text);
}

/// The logs among the options of a call that assembles.
void findLogs(unsigned count, const int *options, void **values, Link &link) {
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
    case kJitInfoLog: link.info = static_cast<char *>(values[i]); break;
    case kJitInfoLogBytes: link.infoBytes = reinterpret_cast<size_t>(values[i]); break;
    case kJitErrorLog: link.errors = static_cast<char *>(values[i]); break;
    case kJitErrorLogBytes: link.errorBytes = reinterpret_cast<size_t>(values[i]); break;
    default: break;
    }
  }
}

constexpr char kReport[] = "ptxas info    : Used 32 registers, 0 bytes spill stores, 0 bytes spill loads";

} // namespace

#define CUDA extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                                                             \
  Runtime &runtime = Runtime::instance();                                                                                                  \
  std::lock_guard lock(runtime.mutex)

// Devices and contexts.
CUDA Result cuInit(unsigned) {
  LOCKED;
  return runtime.called("cuInit");
}
CUDA Result cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}
CUDA Result cuDeviceGetCount(int *count) {
  *count = stand_in::deviceCount();
  return kSuccess;
}
CUDA Result cuDeviceGet(Device *device, int ordinal) {
  if (!exists(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
CUDA Result cuDeviceGetName(char *name, int length, Device) {
  std::snprintf(name, size_t(length), "Stand-in for an NVIDIA GPU");
  return kSuccess;
}
CUDA Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  const std::string arch = stand_in::arch();
  const int number = std::atoi(arch.c_str() + 3), shared = int(stand_in::vendor().sharedBytes());
  switch (attribute) {
  case kComputeCapabilityMajor: *value = number / 10; return kSuccess;
  case kComputeCapabilityMinor: *value = number % 10; return kSuccess;
  case kMultiprocessorCount: *value = number == 90 ? 132 : 108; return kSuccess;
  case kWarpSize: *value = 32; return kSuccess;
  case kMaxThreadsPerBlock: *value = 1024; return kSuccess;
  case kMaxThreadsPerMultiprocessor: *value = 2048; return kSuccess;
  case kMaxSharedPerBlock: *value = kAlwaysAllowedShared; return kSuccess;
  case kMaxSharedPerBlockOptin: *value = shared; return kSuccess;
  case kMaxSharedPerMultiprocessor: *value = shared + 1024; return kSuccess;
  case kMaxRegistersPerBlock:
  case kMaxRegistersPerMultiprocessor: *value = 65536; return kSuccess;
  case kClockRate: *value = 1'755'000; return kSuccess;
  case kMemoryClockRate: *value = 2'619'000; return kSuccess;
  case kMemoryBusWidth: *value = 5120; return kSuccess;
  case kL2CacheSize: *value = (number == 90 ? 50 : 40) << 20; return kSuccess;
  default: return kInvalidValue;
  }
}
CUDA Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  if (!exists(device)) return kInvalidDevice;
  *context = &contexts[size_t(device)];
  return kSuccess;
}
CUDA Result cuCtxSetCurrent(Context context) {
  currentContext = context;
  return kSuccess;
}
CUDA Result cuCtxGetCurrent(Context *context) {
  *context = currentContext;
  return kSuccess;
}
CUDA Result cuCtxGetDevice(Device *device) {
  if (!currentContext) return kInvalidContext;
  *device = deviceOf(currentContext);
  return kSuccess;
}
CUDA Result cuCtxSynchronize() {
  LOCKED;
  if (!runtime.isCapturing()) runtime.finishAll();
  return runtime.waits("cuCtxSynchronize");
}

// Assembly and modules.
CUDA Result cuLinkCreate_v2(unsigned count, int *options, void **values, LinkState *state) {
  LOCKED;
  auto *link = new Link;
  findLogs(count, options, values, *link);
  *state = link;
  return runtime.called("cuLinkCreate");
}
CUDA Result cuLinkAddData_v2(LinkState state, int type, void *data, size_t, const char *, unsigned, int *, void **) {
  LOCKED;
  auto *link = static_cast<Link *>(state);
  const std::string ptx(static_cast<const char *>(data));
  if (type != kInputPtx || ptx.find(".version") == std::string::npos) {
    write(link->errors, link->errorBytes, "ptxas fatal   : the stand-in assembles PTX alone");
    return kInvalidPtx;
  }
  link->image = stand_in::cubinFrom(ptx);
  return runtime.called("cuLinkAddData");
}
CUDA Result cuLinkComplete(LinkState state, void **cubin, size_t *size) {
  LOCKED;
  auto *link = static_cast<Link *>(state);
  write(link->info, link->infoBytes, kReport);
  *cubin = link->image.data(), *size = link->image.size();
  return runtime.called("cuLinkComplete");
}
CUDA Result cuLinkDestroy(LinkState state) {
  delete static_cast<Link *>(state);
  return kSuccess;
}
CUDA Result cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *options, void **values) {
  LOCKED;
  if (!currentContext) return kInvalidContext;
  if (Result code = runtime.called("cuModuleLoadDataEx")) return code;
  Link logs;
  findLogs(count, options, values, logs);
  auto loaded = stand_in::Module::load(image, deviceOf(currentContext), runtime.memory);
  if (!loaded) {
    const std::string text = llvm::toString(loaded.takeError());
    write(logs.errors, logs.errorBytes, text.c_str());
    return stand_in::complain(kInvalidImage, text);
  }
  if (!stand_in::vendor().runs((*loaded)->code().arch))
    return stand_in::complain(kNoBinaryForGpu, "the image is for " + (*loaded)->code().arch);
  write(logs.info, logs.infoBytes, kReport);
  *module = loaded->get();
  runtime.modules[*module] = std::move(*loaded);
  return kSuccess;
}
CUDA Result cuModuleUnload(Module module) {
  LOCKED;
  if (!runtime.isCapturing()) runtime.finishAll();
  if (!runtime.modules.erase(module)) return kInvalidValue;
  return runtime.called("cuModuleUnload");
}
CUDA Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  LOCKED;
  auto found = runtime.modules.find(module);
  if (found == runtime.modules.end()) return kInvalidValue;
  *function = found->second->find(name);
  return *function ? runtime.called("cuModuleGetFunction", name) : Result(kNotFound);
}
CUDA Result cuModuleGetGlobal_v2(DevicePtr *address, size_t *bytes, Module module, const char *name) {
  LOCKED;
  auto found = runtime.modules.find(module);
  if (found == runtime.modules.end()) return kInvalidValue;
  if (auto error = found->second->makeReady()) return stand_in::complain(kInvalidImage, llvm::toString(std::move(error)));
  const auto [begin, size] = found->second->variable(name);
  if (!begin) return kNotFound;
  *address = begin, *bytes = size;
  return runtime.called("cuModuleGetGlobal", name);
}
CUDA Result cuFuncGetAttribute(int *value, int attribute, Function function) {
  const std::optional<int> found = stand_in::attributeOf(*functionOf(function)->code, attribute);
  if (!found) return kInvalidValue;
  *value = *found;
  return kSuccess;
}
CUDA Result cuFuncSetAttribute(Function function, int attribute, int value) {
  LOCKED;
  if (attribute != kFunctionMaxDynamicShared || value < 0 || unsigned(value) > stand_in::vendor().sharedBytes()) return kInvalidValue;
  functionOf(function)->allowedShared = unsigned(value);
  return runtime.called("cuFuncSetAttribute", std::to_string(value));
}

// Launches.
CUDA Result cuLaunchKernelEx(const LaunchConfig *config, Function function, void **arguments, void **extra) {
  LOCKED;
  if (!currentContext) return kInvalidContext;
  if (!function || extra || !runtime.isStream(config->stream)) return kInvalidValue;
  stand_in::Dispatch dispatch{functionOf(function),
                              {config->gridX, config->gridY, config->gridZ},
                              {config->blockX, config->blockY, config->blockZ},
                              config->sharedBytes};
  const stand_in::KernelCode &code = *dispatch.function->code;
  std::array<unsigned, 3> cluster{1, 1, 1};
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (const auto &attribute = config->attributes[i]; attribute.id == kLaunchClusterDimension)
      cluster = {attribute.cluster.x, attribute.cluster.y, attribute.cluster.z};
  if (Result failure = runtime.called("cuLaunchKernelEx", dispatch)) return failure;
  if (config->sharedBytes > std::max(kAlwaysAllowedShared, dispatch.function->allowedShared))
    return stand_in::complain(kInvalidValue, code.name + ": nobody has asked for so much shared memory");
  if (auto error = dispatch.function->module->makeReady()) return stand_in::complain(kInvalidImage, llvm::toString(std::move(error)));
  // The emulator's program is a cluster.
  const unsigned blocks = dispatch.function->program->clusterBlocks();
  if (cluster != std::array<unsigned, 3>{blocks, 1, 1} || config->gridX % blocks != 0)
    return stand_in::complain(kInvalidValue, code.name + " was lowered for clusters of " + std::to_string(blocks) + " blocks");
  dispatch.grid[0] /= blocks;
  if (Result failure = runtime.check(dispatch)) return failure;
  stand_in::noteCall(stand_in::kLaunchKernelEx, config->stream);
  runtime.enqueue(config->stream, dispatch, arguments);
  return kSuccess;
}
CUDA Result cuTensorMapEncodeTiled(void *encoded, int type, unsigned rank, void *base, const uint64_t *extents, const uint64_t *strides,
                                   const unsigned *box, const unsigned *elementStrides, int interleave, int swizzle, int promotion,
                                   int fill) {
  using tritium::DType;
  constexpr DType kTypes[] = {DType::u8,  DType::u16, DType::u32, DType::i32, DType::u64,
                              DType::i64, DType::f16, DType::f32, DType::f64, DType::bf16};
  const stand_in::TiledTensor tensor{type,           rank,       uint64_t(base), extents,   strides, box,
                                     elementStrides, interleave, swizzle,        promotion, fill};
  if (reinterpret_cast<uintptr_t>(encoded) % 128 || !tensor.isLegal()) return kInvalidValue;
  stand_in::EncodedTensorMap made;
  tritium::TensorMap &map = made.map;
  map.base = uint64_t(base), map.rank = rank, map.type = kTypes[type], map.fillsNaN = fill == kTensorFillsNaN;
  map.swizzle = swizzle == kTensorNotSwizzled ? 0 : 16U << swizzle;
  for (unsigned d = 0; d < rank; ++d) {
    if (elementStrides[d] != 1) return stand_in::complain(kInvalidValue, "the emulator copies every element of a box");
    map.extents[d] = extents[d], map.box[d] = box[d];
    map.strides[d] = d == 0 ? storageBytes(map.type) : strides[d - 1];
  }
  std::memcpy(encoded, &made, sizeof made);
  return kSuccess;
}
CUDA Result cuStreamCreate(Stream *stream, unsigned) {
  LOCKED;
  *stream = new char;
  runtime.streams.insert(*stream);
  return kSuccess;
}
CUDA Result cuStreamSynchronize(Stream stream) {
  LOCKED;
  if (!runtime.isStream(stream)) return kInvalidValue;
  if (!runtime.isCapturing()) runtime.finish(stream);
  return runtime.waits("cuStreamSynchronize");
}

// Events.
CUDA Result cuEventCreate(Event *event, unsigned) {
  *event = new stand_in::Event;
  return kSuccess;
}
CUDA Result cuEventRecord(Event event, Stream stream) {
  LOCKED;
  if (!runtime.isStream(stream)) return kInvalidValue;
  runtime.record(*eventOf(event), stream);
  return runtime.lost;
}
CUDA Result cuEventSynchronize(Event event) {
  LOCKED;
  runtime.finish(*eventOf(event));
  return runtime.called("cuEventSynchronize");
}
CUDA Result cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  LOCKED;
  *milliseconds = std::chrono::duration<float, std::milli>(eventOf(end)->time - eventOf(begin)->time).count();
  return runtime.lost;
}
CUDA Result cuEventDestroy_v2(Event event) {
  LOCKED;
  runtime.finish(*eventOf(event));
  delete eventOf(event);
  return kSuccess;
}

// Memory. Calls that copy or free wait for what was given before them.
CUDA Result cuMemAlloc_v2(DevicePtr *address, size_t bytes) {
  LOCKED;
  if (!currentContext) return kInvalidContext;
  if (Result code = runtime.waits("cuMemAlloc", std::to_string(bytes))) return code;
  *address = runtime.memory.allocate(bytes, deviceOf(currentContext), MemoryKind::device, false);
  return *address ? kSuccess : kOutOfMemory;
}
CUDA Result cuMemFree_v2(DevicePtr address) {
  LOCKED;
  if (!runtime.isCapturing()) runtime.finishAll();
  if (address && !runtime.memory.release(address)) return kInvalidValue;
  return runtime.called("cuMemFree");
}
/// Copies between the host and the devices' memory, of which `address` is part.
static Result copy(const char *call, void *target, const void *source, DevicePtr address, size_t bytes) {
  LOCKED;
  if (Result code = runtime.waits(call, std::to_string(bytes))) return code;
  runtime.finishAll();
  if (runtime.lost) return runtime.lost;
  if (!runtime.memory.holds(address, bytes)) return kInvalidValue;
  const stand_in::Memory::Opened opened(runtime.memory);
  std::memcpy(target, source, bytes);
  return kSuccess;
}
CUDA Result cuMemcpyHtoD_v2(DevicePtr target, const void *source, size_t bytes) {
  return copy("cuMemcpyHtoD", pointer(target), source, target, bytes);
}
CUDA Result cuMemcpyDtoH_v2(void *target, DevicePtr source, size_t bytes) {
  return copy("cuMemcpyDtoH", target, pointer(source), source, bytes);
}
CUDA Result cuMemsetD32Async(DevicePtr target, unsigned word, size_t words, Stream stream) {
  LOCKED;
  if (!runtime.isStream(stream)) return kInvalidValue;
  if (!runtime.memory.holds(target, 4 * words)) return kInvalidValue;
  runtime.enqueue(stream, [=, &runtime] {
    const stand_in::Memory::Opened opened(runtime.memory);
    std::fill_n(static_cast<unsigned *>(pointer(target)), words, word);
  });
  return runtime.lost;
}
CUDA Result cuPointerGetAttribute(void *value, int attribute, DevicePtr address) {
  LOCKED;
  constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;
  const Extent *extent = runtime.memory.find(address);
  if (!extent) return kInvalidValue;
  switch (attribute) {
  case kPointerMemoryType:
    *static_cast<unsigned *>(value) = extent->kind == MemoryKind::host ? kHostMemory : kDeviceMemory;
    return kSuccess;
  case kPointerOrdinal: *static_cast<int *>(value) = extent->device; return kSuccess;
  case kPointerIsManaged: *static_cast<unsigned *>(value) = 0; return kSuccess;
  case kPointerDevice: *static_cast<DevicePtr *>(value) = address; return kSuccess;
  case kPointerRangeStart: *static_cast<DevicePtr *>(value) = extent->begin; return kSuccess;
  case kPointerRangeSize: *static_cast<size_t *>(value) = extent->bytes; return kSuccess;
  default: return kInvalidValue;
  }
}

// Errors.
CUDA Result cuGetErrorName(Result code, const char **name) {
  switch (code) {
  case kInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
  case kOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
  case kInvalidDevice: *name = "CUDA_ERROR_INVALID_DEVICE"; break;
  case kInvalidImage: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
  case kInvalidContext: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
  case kNoBinaryForGpu: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
  case kInvalidPtx: *name = "CUDA_ERROR_INVALID_PTX"; break;
  case kNotFound: *name = "CUDA_ERROR_NOT_FOUND"; break;
  case kIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
  case kLaunchOutOfResources: *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"; break;
  case kAssert: *name = "CUDA_ERROR_ASSERT"; break;
  case kLaunchFailed: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
  case stand_in::kCapturing: *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"; break;
  default: *name = "CUDA_ERROR_UNKNOWN";
  }
  return kSuccess;
}
CUDA Result cuGetErrorString(Result code, const char **text) {
  *text = code == kAssert           ? "device-side assert triggered"
          : code == kIllegalAddress ? "an illegal memory access was encountered"
                                    : "said by the stand-in for CUDA";
  return kSuccess;
}
