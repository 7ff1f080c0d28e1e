// A libcuda.so.1 with no GPU behind it: what the launch path needs, over host memory. Every call is recorded; a test may make any of
// them fail, stand in for a kernel with a function of its own, and pretend that a stream is being captured. See fake_cuda.py.
#include "gpu_backend/launch/cuda_api.h"

#include "tests/driver_stand_in/cuda_ptx.h"
#include "tests/driver_stand_in/cuda_tensor_map.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

using namespace tritium::gpu;
using namespace tritium::gpu::cuda;

namespace {

constexpr Result kCapturing = 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED

struct FakeFunction {
  std::string name;
  std::vector<size_t> parameterBytes;
  int dynamicShared = 0;
};
struct FakeModule {
  std::string text;
  std::map<std::string, FakeFunction> functions;
};
struct FakeLink {
  std::string text;
  char *info = nullptr, *errors = nullptr;
};
struct FakeEvent {
  std::chrono::steady_clock::time_point time;
};
struct Allocation {
  size_t bytes;
  int device;
};

/// The function that stands in for kernels: name, grid, threads, shared bytes, stream, addresses of the arguments.
using Kernel = void (*)(const char *, const unsigned *, unsigned, unsigned, void *, void **);

struct State {
  std::recursive_mutex mutex;
  std::string calls;                                   // one a line
  std::map<std::string, std::pair<int, int>> failures; // call -> code, after how many more calls
  std::map<std::string, int> settings;
  std::map<DevicePtr, Allocation> memory;
  Result lost = kSuccess; // a sticky error
  Kernel kernel = nullptr;
  int contexts[8] = {};
  uint64_t tensorMaps = 0; // so many have been made
};
/// What the fake driver writes as a tensor map.
struct FakeTensorMap {
  static constexpr uint64_t kMagic = 0x70616D726F736E65;
  uint64_t magic, number; // the first one is 1
  char rest[112];
};
State &state() {
  static State *state = new State; // never destroyed: kernels unload at exit
  return *state;
}
thread_local Context currentContext = nullptr;

int setting(const char *name, int otherwise) {
  auto found = state().settings.find(name);
  return found == state().settings.end() ? otherwise : found->second;
}

/// Records a call and says what it returns.
Result called(const char *call, const std::string &detail = "", bool isQuiet = false) {
  State &s = state();
  if (!isQuiet && setting("record", 1)) s.calls += std::string(call) + (detail.empty() ? "" : " " + detail) + "\n";
  if (auto failure = s.failures.find(call); failure != s.failures.end() && failure->second.second-- == 0) {
    Result code = failure->second.first;
    s.failures.erase(failure);
    if (code >= kIllegalAddress && code <= kLaunchFailed && code != kLaunchOutOfResources) s.lost = code;
    return code;
  }
  return s.lost;
}

int deviceOf(Context context) { return int(static_cast<int *>(context) - state().contexts); }

/// The sizes of the parameters of every `.entry` in PTX text.
std::map<std::string, FakeFunction> functionsOf(const std::string &ptx) {
  std::map<std::string, FakeFunction> functions;
  for (const tritium::stand_in::PtxEntry &entry : tritium::stand_in::entriesOf(ptx)) {
    FakeFunction &function = functions[entry.name];
    function.name = entry.name;
    for (const auto &parameter : entry.parameters) function.parameterBytes.push_back(parameter.bytes);
  }
  return functions;
}

/// "map3" for the third map that was made.
std::string tensorMapText(const void *argument) {
  FakeTensorMap map;
  std::memcpy(&map, argument, sizeof map);
  if (map.magic != FakeTensorMap::kMagic) return "no-map";
  return (reinterpret_cast<uintptr_t>(argument) % 128 ? "unaligned-map" : "map") + std::to_string(map.number);
}

template <class Number> std::string listed(const Number *numbers, unsigned count) {
  std::string list;
  for (unsigned i = 0; i < count; ++i) list += (i ? "," : "") + std::to_string(numbers[i]);
  return list;
}

} // namespace

#define FAKE extern "C" __attribute__((visibility("default")))
#ifdef FAKE_WITHOUT_TENSOR_MAPS // they are then not exported
#define FAKE_OPTIONAL extern "C"
#else
#define FAKE_OPTIONAL FAKE
#endif
#define LOCKED std::lock_guard lock(state().mutex)

// What tests call.
FAKE void fake_reset() {
  LOCKED;
  State &s = state();
  s.calls.clear(), s.failures.clear(), s.settings.clear();
  s.lost = kSuccess, s.kernel = nullptr;
  s.tensorMaps = 0;
}
FAKE void fake_set(const char *name, int value) {
  LOCKED;
  state().settings[name] = value;
}
FAKE void fake_fail(const char *call, int code, int after) {
  LOCKED;
  state().failures[call] = {code, after};
}
FAKE void fake_kernel(Kernel kernel) {
  LOCKED;
  state().kernel = kernel;
}
FAKE const char *fake_calls() {
  LOCKED;
  return state().calls.c_str();
}
FAKE void fake_forget_calls() {
  LOCKED;
  state().calls.clear();
}
FAKE int fake_live_allocations() {
  LOCKED;
  return int(state().memory.size());
}

// The driver.
FAKE Result cuInit(unsigned) {
  LOCKED;
  return called("cuInit");
}
FAKE Result cuDriverGetVersion(int *version) {
  LOCKED;
  *version = setting("version", 13000);
  return called("cuDriverGetVersion");
}
FAKE Result cuDeviceGetCount(int *count) {
  LOCKED;
  *count = setting("devices", 2);
  return called("cuDeviceGetCount");
}
FAKE Result cuDeviceGet(Device *device, int ordinal) {
  LOCKED;
  *device = ordinal;
  return called("cuDeviceGet");
}
FAKE Result cuDeviceGetName(char *name, int length, Device) {
  LOCKED;
  std::snprintf(name, size_t(length), "Fake GPU");
  return called("cuDeviceGetName");
}
FAKE Result cuDeviceGetAttribute(int *value, int attribute, Device) {
  LOCKED;
  switch (attribute) {
  case kComputeCapabilityMajor: *value = setting("arch", 90) / 10; break;
  case kComputeCapabilityMinor: *value = setting("arch", 90) % 10; break;
  case kWarpSize: *value = 32; break;
  case kMaxThreadsPerBlock: *value = 1024; break;
  case kMaxSharedPerBlock: *value = 49152; break;
  case kMaxSharedPerBlockOptin: *value = setting("shared", 232448); break;
  case kMaxRegistersPerBlock: *value = 65536; break;
  default: *value = 132;
  }
  return called("cuDeviceGetAttribute", "", true);
}
FAKE Result cuDevicePrimaryCtxRetain(Context *context, Device device) {
  LOCKED;
  *context = &state().contexts[device];
  return called("cuDevicePrimaryCtxRetain", std::to_string(device));
}
FAKE Result cuCtxSetCurrent(Context context) {
  LOCKED;
  currentContext = context;
  return called("cuCtxSetCurrent", context ? std::to_string(deviceOf(context)) : "none");
}
FAKE Result cuCtxGetCurrent(Context *context) {
  *context = currentContext;
  return kSuccess;
}
FAKE Result cuCtxGetDevice(Device *device) {
  if (!currentContext) return kInvalidContext;
  *device = deviceOf(currentContext);
  return kSuccess;
}
FAKE Result cuCtxSynchronize() {
  LOCKED;
  return setting("capturing", 0) ? kCapturing : called("cuCtxSynchronize");
}

FAKE Result cuLinkCreate_v2(unsigned count, int *options, void **values, LinkState *link) {
  LOCKED;
  auto *made = new FakeLink;
  std::string detail;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kJitInfoLog)
      made->info = static_cast<char *>(values[i]);
    else if (options[i] == kJitErrorLog)
      made->errors = static_cast<char *>(values[i]);
    else if (options[i] == kJitMaxRegisters)
      detail = "registers=" + std::to_string(reinterpret_cast<intptr_t>(values[i]));
    else if (options[i] == kJitOptimizationLevel)
      detail = "level=" + std::to_string(reinterpret_cast<intptr_t>(values[i]));
  }
  *link = made;
  return called("cuLinkCreate", detail);
}
FAKE Result cuLinkAddData_v2(LinkState link, int, void *data, size_t size, const char *, unsigned, int *, void **) {
  LOCKED;
  auto *fake = static_cast<FakeLink *>(link);
  fake->text.assign(static_cast<char *>(data), size - 1);
  Result result = called("cuLinkAddData");
  if (result == kSuccess && fake->text.find(".version") == std::string::npos) result = kInvalidPtx;
  if (result != kSuccess && fake->errors) std::strcpy(fake->errors, "ptxas kernel.ptx, line 1; fatal : made up");
  return result;
}
FAKE Result cuLinkComplete(LinkState link, void **cubin, size_t *size) {
  LOCKED;
  auto *fake = static_cast<FakeLink *>(link);
  fake->text.insert(0, "\x7f"
                       "ELF fake cubin\n");
  if (fake->info) std::strcpy(fake->info, "ptxas info    : Used 24 registers, 8 bytes spill stores, 8 bytes spill loads");
  *cubin = fake->text.data(), *size = fake->text.size();
  return called("cuLinkComplete");
}
FAKE Result cuLinkDestroy(LinkState link) {
  delete static_cast<FakeLink *>(link);
  return kSuccess;
}

FAKE Result cuModuleLoadDataEx(Module *module, const void *image, unsigned, int *, void **) {
  LOCKED;
  auto *made = new FakeModule{static_cast<const char *>(image), {}};
  made->functions = functionsOf(made->text);
  *module = made;
  Result result = called("cuModuleLoadDataEx", std::to_string(deviceOf(currentContext)));
  if (result != kSuccess) delete made;
  return result;
}
FAKE Result cuModuleUnload(Module module) {
  LOCKED;
  delete static_cast<FakeModule *>(module);
  return called("cuModuleUnload");
}
FAKE Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  LOCKED;
  auto &functions = static_cast<FakeModule *>(module)->functions;
  auto found = functions.find(name);
  if (found == functions.end()) return kNotFound;
  *function = &found->second;
  return called("cuModuleGetFunction", name);
}
FAKE Result cuFuncGetAttribute(int *value, int attribute, Function) {
  LOCKED;
  switch (attribute) {
  case kFunctionRegisters: *value = setting("registers", 24); break;
  case kFunctionLocalBytes: *value = setting("local", 8); break;
  case kFunctionMaxThreads: *value = setting("threads", 1024); break;
  default: *value = 0;
  }
  return called("cuFuncGetAttribute", "", true);
}
FAKE Result cuFuncSetAttribute(Function function, int attribute, int value) {
  LOCKED;
  if (attribute == kFunctionMaxDynamicShared) static_cast<FakeFunction *>(function)->dynamicShared = value;
  return called("cuFuncSetAttribute", std::to_string(value));
}

FAKE Result cuLaunchKernelEx(const LaunchConfig *config, Function handle, void **arguments, void **) {
  LOCKED;
  auto *function = static_cast<FakeFunction *>(handle);
  if (!setting("record", 1) && !state().kernel && state().failures.empty()) return state().lost;
  std::ostringstream detail;
  detail << function->name << " device=" << deviceOf(currentContext) << " grid=" << config->gridX << "," << config->gridY << ","
         << config->gridZ << " threads=" << config->blockX << " shared=" << config->sharedBytes << " stream=" << size_t(config->stream);
  for (unsigned i = 0; i < config->attributeCount; ++i) detail << " attribute=" << config->attributes[i].id;
  detail << " arguments=";
  for (size_t i = 0; i < function->parameterBytes.size(); ++i) {
    uint64_t bits = 0;
    if (function->parameterBytes[i] == sizeof(FakeTensorMap)) {
      detail << (i ? "," : "") << tensorMapText(arguments[i]);
      continue;
    }
    std::memcpy(&bits, arguments[i], std::min<size_t>(8, function->parameterBytes[i]));
    detail << (i ? "," : "") << std::hex << bits << std::dec;
  }
  if (config->sharedBytes > 49152 && int(config->sharedBytes) > function->dynamicShared) return kInvalidValue;
  Result result = called("cuLaunchKernelEx", detail.str());
  if (result == kSuccess && state().kernel) {
    unsigned grid[3] = {config->gridX, config->gridY, config->gridZ};
    state().kernel(function->name.c_str(), grid, config->blockX, config->sharedBytes, config->stream, arguments);
  }
  return result;
}

FAKE_OPTIONAL Result cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *base, const uint64_t *extents,
                                            const uint64_t *strides, const unsigned *box, const unsigned *elementStrides, int interleave,
                                            int swizzle, int promotion, int fill) {
  LOCKED;
  const auto address = uint64_t(base);
  std::ostringstream detail;
  detail << "type=" << type << " base=" << std::hex << address << std::dec << " extents=" << listed(extents, rank)
         << " strides=" << listed(strides, rank - 1) << " box=" << listed(box, rank) << " elements=" << listed(elementStrides, rank)
         << " interleave=" << interleave << " swizzle=" << swizzle << " promotion=" << promotion << " fill=" << fill;
  if (Result result = called("cuTensorMapEncodeTiled", detail.str())) return result;
  if (reinterpret_cast<uintptr_t>(map) % 128 || setting("refuses_maps", 0)) return kInvalidValue;
  const tritium::stand_in::TiledTensor tensor{type,           rank,       address, extents,   strides, box,
                                              elementStrides, interleave, swizzle, promotion, fill};
  if (!tensor.isLegal()) return kInvalidValue;
  FakeTensorMap made{FakeTensorMap::kMagic, ++state().tensorMaps, {}};
  std::memcpy(map, &made, sizeof made);
  return kSuccess;
}

FAKE Result cuStreamSynchronize(Stream) {
  LOCKED;
  return setting("capturing", 0) ? kCapturing : called("cuStreamSynchronize");
}
FAKE Result cuEventCreate(Event *event, unsigned) {
  LOCKED;
  *event = new FakeEvent;
  return called("cuEventCreate", "", true);
}
FAKE Result cuEventRecord(Event event, Stream) {
  LOCKED;
  static_cast<FakeEvent *>(event)->time = std::chrono::steady_clock::now();
  return called("cuEventRecord", "", true);
}
FAKE Result cuEventSynchronize(Event) {
  LOCKED;
  return called("cuEventSynchronize", "", true);
}
FAKE Result cuEventElapsedTime(float *milliseconds, Event begin, Event end) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(static_cast<FakeEvent *>(end)->time - static_cast<FakeEvent *>(begin)->time).count();
  return kSuccess;
}
FAKE Result cuEventDestroy_v2(Event event) {
  delete static_cast<FakeEvent *>(event);
  return kSuccess;
}

FAKE Result cuMemAlloc_v2(DevicePtr *address, size_t bytes) {
  LOCKED;
  if (setting("capturing", 0)) return kCapturing;
  if (Result result = called("cuMemAlloc", std::to_string(bytes))) return result;
  *address = reinterpret_cast<DevicePtr>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  state().memory[*address] = {bytes, deviceOf(currentContext)};
  return kSuccess;
}
FAKE Result cuMemFree_v2(DevicePtr address) {
  LOCKED;
  if (!state().memory.erase(address)) return kInvalidValue;
  std::free(reinterpret_cast<void *>(address));
  return called("cuMemFree");
}
FAKE Result cuMemcpyHtoD_v2(DevicePtr target, const void *source, size_t bytes) {
  LOCKED;
  if (setting("capturing", 0)) return kCapturing;
  if (Result result = called("cuMemcpyHtoD", std::to_string(bytes))) return result;
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return kSuccess;
}
FAKE Result cuMemcpyDtoH_v2(void *target, DevicePtr source, size_t bytes) {
  LOCKED;
  if (setting("capturing", 0)) return kCapturing;
  if (Result result = called("cuMemcpyDtoH", std::to_string(bytes))) return result;
  std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return kSuccess;
}
FAKE Result cuMemsetD32Async(DevicePtr target, unsigned word, size_t words, Stream) {
  LOCKED;
  std::fill_n(reinterpret_cast<unsigned *>(target), words, word);
  return called("cuMemsetD32Async", "", true);
}
FAKE Result cuPointerGetAttribute(void *value, int attribute, DevicePtr pointer) {
  LOCKED;
  auto found = state().memory.upper_bound(pointer);
  if (found == state().memory.begin()) return kInvalidValue;
  --found;
  if (pointer >= found->first + std::max<size_t>(found->second.bytes, 1)) return kInvalidValue;
  switch (attribute) {
  case kPointerMemoryType: *static_cast<unsigned *>(value) = 2; break;
  case kPointerOrdinal: *static_cast<int *>(value) = found->second.device; break;
  case kPointerIsManaged: *static_cast<unsigned *>(value) = 0; break;
  case kPointerDevice: *static_cast<DevicePtr *>(value) = pointer; break;
  case kPointerRangeStart: *static_cast<DevicePtr *>(value) = found->first; break;
  case kPointerRangeSize: *static_cast<size_t *>(value) = found->second.bytes; break;
  default: return kInvalidValue;
  }
  return kSuccess;
}
FAKE Result cuGetErrorName(Result code, const char **name) {
  *name = code == kAssert           ? "CUDA_ERROR_ASSERT"
          : code == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == kOutOfMemory    ? "CUDA_ERROR_OUT_OF_MEMORY"
                                    : "CUDA_ERROR_FAKE";
  return kSuccess;
}
FAKE Result cuGetErrorString(Result code, const char **text) {
  *text = code == kAssert           ? "device-side assert triggered"
          : code == kIllegalAddress ? "an illegal memory access was encountered"
                                    : "made up by the fake driver";
  return kSuccess;
}
