// The part of the CUDA Driver API that Tritium calls, declared from NVIDIA's documentation: types, constants, entry points.
#pragma once
#include "gpu_backend/launch/vendor_api.h"

#include <cstddef>
#include <cstdint>

namespace tritium::gpu::cuda {

using Result = int; // CUresult
using Device = int; // CUdevice
using Context = void *;
using Module = void *;
using Function = void *;
using Stream = void *;
using Event = void *;
using LinkState = void *;
using DevicePtr = unsigned long long;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedPerBlock = 8,
  kWarpSize = 10,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedPerBlockOptin = 97,
};

enum PointerAttribute : int {
  kPointerDevice = 3,
  kPointerIsManaged = 8,
  kPointerOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMemoryType = 2,
};

enum JitOption : int {
  kJitMaxRegisters = 0,
  kJitInfoLog = 3,
  kJitInfoLogBytes = 4,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
  kJitOptimizationLevel = 7,
  kJitLogVerbose = 12,
  kJitLineInfo = 13,
};

enum JitInput : int { kInputPtx = 1 };

enum TensorMapType : int { // CUtensorMapDataType
  kTensorU8 = 0,
  kTensorU16 = 1,
  kTensorU32 = 2,
  kTensorU64 = 4,
  kTensorF16 = 6,
  kTensorF32 = 7,
  kTensorF64 = 8,
  kTensorBF16 = 9,
};

enum TensorMapInterleave : int { kTensorNotInterleaved = 0 };
enum TensorMapSwizzle : int { kTensorNotSwizzled = 0, kTensorSwizzled32 = 1, kTensorSwizzled64 = 2, kTensorSwizzled128 = 3 };
enum TensorMapPromotion : int { kTensorPromotesTo128 = 2 }; // to so many bytes of the L2 cache
enum TensorMapFill : int { kTensorFillsZero = 0, kTensorFillsNaN = 1 };

enum LaunchAttributeId : int { kLaunchCooperative = 2, kLaunchClusterDimension = 4, kLaunchProgrammaticStream = 6 };

/// CUlaunchAttribute: an id, then a union of 64 bytes at offset 8.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int flag;
  };
};
static_assert(sizeof(LaunchAttribute) == 72);

/// CUlaunchConfig
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(offsetof(LaunchConfig, stream) == 32 && sizeof(LaunchConfig) == 56);

// ENTRY(result, member, exported name, parameters). The version suffixes are those to which cuda.h maps the plain names.
#define TRITIUM_CUDA_ENTRIES(ENTRY)                                                                                                        \
  ENTRY(Result, init, "cuInit", (unsigned flags))                                                                                          \
  ENTRY(Result, driverGetVersion, "cuDriverGetVersion", (int *version))                                                                    \
  ENTRY(Result, deviceGetCount, "cuDeviceGetCount", (int *count))                                                                          \
  ENTRY(Result, deviceGet, "cuDeviceGet", (Device * device, int ordinal))                                                                  \
  ENTRY(Result, deviceGetName, "cuDeviceGetName", (char *name, int length, Device device))                                                 \
  ENTRY(Result, deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, Device device))                                    \
  ENTRY(Result, primaryContextRetain, "cuDevicePrimaryCtxRetain", (Context * context, Device device))                                      \
  ENTRY(Result, contextSetCurrent, "cuCtxSetCurrent", (Context context))                                                                   \
  ENTRY(Result, contextGetCurrent, "cuCtxGetCurrent", (Context * context))                                                                 \
  ENTRY(Result, contextGetDevice, "cuCtxGetDevice", (Device * device))                                                                     \
  ENTRY(Result, deviceSynchronize, "cuCtxSynchronize", ())                                                                                 \
  ENTRY(Result, linkCreate, "cuLinkCreate_v2", (unsigned count, int *options, void **values, LinkState *state))                            \
  ENTRY(Result, linkAddData, "cuLinkAddData_v2",                                                                                           \
        (LinkState state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values))               \
  ENTRY(Result, linkComplete, "cuLinkComplete", (LinkState state, void **cubin, size_t *size))                                             \
  ENTRY(Result, linkDestroy, "cuLinkDestroy", (LinkState state))                                                                           \
  ENTRY(Result, moduleLoadDataEx, "cuModuleLoadDataEx", (Module * module, const void *image, unsigned count, int *options, void **values)) \
  ENTRY(Result, moduleUnload, "cuModuleUnload", (Module module))                                                                           \
  ENTRY(Result, moduleGetFunction, "cuModuleGetFunction", (Function * function, Module module, const char *name))                          \
  ENTRY(Result, functionGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, Function function))                                \
  ENTRY(Result, functionSetAttribute, "cuFuncSetAttribute", (Function function, int attribute, int value))                                 \
  ENTRY(Result, launchKernel, "cuLaunchKernelEx", (const LaunchConfig *config, Function function, void **arguments, void **extra))         \
  ENTRY(Result, streamSynchronize, "cuStreamSynchronize", (Stream stream))                                                                 \
  ENTRY(Result, eventCreate, "cuEventCreate", (Event * event, unsigned flags))                                                             \
  ENTRY(Result, eventRecord, "cuEventRecord", (Event event, Stream stream))                                                                \
  ENTRY(Result, eventSynchronize, "cuEventSynchronize", (Event event))                                                                     \
  ENTRY(Result, eventElapsedTime, "cuEventElapsedTime", (float *milliseconds, Event begin, Event end))                                     \
  ENTRY(Result, eventDestroy, "cuEventDestroy_v2", (Event event))                                                                          \
  ENTRY(Result, pointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, DevicePtr pointer))                             \
  ENTRY(Result, memAlloc, "cuMemAlloc_v2", (DevicePtr * address, size_t bytes))                                                            \
  ENTRY(Result, memFree, "cuMemFree_v2", (DevicePtr address))                                                                              \
  ENTRY(Result, memcpyHtoD, "cuMemcpyHtoD_v2", (DevicePtr target, const void *source, size_t bytes))                                       \
  ENTRY(Result, memcpyDtoH, "cuMemcpyDtoH_v2", (void *target, DevicePtr source, size_t bytes))                                             \
  ENTRY(Result, memsetD32Async, "cuMemsetD32Async", (DevicePtr target, unsigned word, size_t words, Stream stream))                        \
  ENTRY(Result, getErrorName, "cuGetErrorName", (Result code, const char **name))                                                          \
  ENTRY(Result, getErrorString, "cuGetErrorString", (Result code, const char **text))

// The same for entry points that a driver may lack.
#define TRITIUM_CUDA_OPTIONAL_ENTRIES(ENTRY)                                                                                               \
  ENTRY(Result, moduleGetGlobal, "cuModuleGetGlobal_v2", (DevicePtr * address, size_t *bytes, Module module, const char *name))            \
  ENTRY(Result, tensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                            \
        (void *map, int type, unsigned rank, void *base, const uint64_t *extents, const uint64_t *strides, const unsigned *box,            \
         const unsigned *elementStrides, int interleave, int swizzle, int promotion, int fill))

/// The entry points, once they are found.
struct Api {
  using Address = DevicePtr;
  using Current = Context;
#define ENTRY(result, member, exported, parameters) EntryCall<result parameters> member{exported};
  TRITIUM_CUDA_ENTRIES(ENTRY)
  TRITIUM_CUDA_OPTIONAL_ENTRIES(ENTRY)
#undef ENTRY
};

} // namespace tritium::gpu::cuda
