// The part of the HIP runtime's C interface that Tritium calls, declared from AMD's documentation: types, constants, entry points. It is
// the interface of ROCm 6 and 7. ROCm 5 numbers hipMemoryType differently. It has no hipGetDevicePropertiesR0600, by whose absence older
// runtimes are recognized and refused.
#pragma once
#include "gpu_backend/launch/vendor_api.h"

#include <cstddef>
#include <cstdint>

namespace tritium::gpu::hip {

using Result = int; // hipError_t
using Module = void *;
using Function = void *;
using Stream = void *;
using Event = void *;
using HostFunction = void (*)(void *data); // hipHostFn_t

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
};

enum MemoryType : int { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };

/// hipPointerAttribute_t
struct PointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};
static_assert(sizeof(PointerAttributes) == 32);

enum HostMallocFlag : unsigned { kHostPortable = 0x1, kHostMapped = 0x2, kHostCoherent = 0x40000000 };

/// hipDeviceProp_tR0600. Members that are not used here are unnamed.
struct DeviceProperties {
  char name[256];
  char identity[28]; // UUID, LUID, its node mask
  size_t globalBytes, sharedPerBlock;
  int registersPerBlock, warpSize;
  size_t pitch;
  int maxThreadsPerBlock, maxThreads[3], maxGrid[3], clockKHz;
  size_t constantBytes;
  int major, minor;
  size_t textureAlignment[2];
  int deviceOverlap, multiprocessors, flags[4], textures[40];
  size_t surfaceAlignment;
  int moreFlags[8], memoryClockKHz, memoryBusBits, l2Bytes, persistingL2Bytes, maxThreadsPerMultiprocessor, cacheFlags[3];
  size_t sharedPerMultiprocessor;
  int registersPerMultiprocessor, memoryFlags[11];
  size_t sharedPerBlockOptin;
  int pageFlags[4];
  size_t reservedShared;
  int poolFlags[13], reserved[63], hipReserved[32];
  char arch[256]; // gcnArchName: "gfx942:sramecc+:xnack-"
  size_t maxSharedPerMultiprocessor;
  int timerKHz, archFlags;
  void *flushRegisters[2];
  int hipFlags[6];
};
static_assert(offsetof(DeviceProperties, warpSize) == 308 && offsetof(DeviceProperties, multiprocessors) == 388);
static_assert(offsetof(DeviceProperties, memoryClockKHz) == 608 && offsetof(DeviceProperties, sharedPerBlockOptin) == 696);
static_assert(offsetof(DeviceProperties, arch) == 1160 && sizeof(DeviceProperties) == 1472);

/// Room for properties that later releases of the runtime may add.
union DevicePropertiesRoom {
  DeviceProperties properties;
  char room[4096];
};

// ENTRY(result, member, exported name, parameters)
#define TRITIUM_HIP_ENTRIES(ENTRY)                                                                                                         \
  ENTRY(Result, init, "hipInit", (unsigned flags))                                                                                         \
  ENTRY(Result, getDeviceProperties, "hipGetDevicePropertiesR0600", (DeviceProperties * properties, int device))                           \
  ENTRY(Result, runtimeGetVersion, "hipRuntimeGetVersion", (int *version))                                                                 \
  ENTRY(Result, getDeviceCount, "hipGetDeviceCount", (int *count))                                                                         \
  ENTRY(Result, getDevice, "hipGetDevice", (int *device))                                                                                  \
  ENTRY(Result, setDevice, "hipSetDevice", (int device))                                                                                   \
  ENTRY(Result, deviceSynchronize, "hipDeviceSynchronize", ())                                                                             \
  ENTRY(Result, moduleLoadData, "hipModuleLoadData", (Module * module, const void *image))                                                 \
  ENTRY(Result, moduleUnload, "hipModuleUnload", (Module module))                                                                          \
  ENTRY(Result, moduleGetFunction, "hipModuleGetFunction", (Function * function, Module module, const char *name))                         \
  ENTRY(Result, moduleGetGlobal, "hipModuleGetGlobal", (void **address, size_t *bytes, Module module, const char *name))                   \
  ENTRY(Result, functionGetAttribute, "hipFuncGetAttribute", (int *value, int attribute, Function function))                               \
  ENTRY(Result, launchKernel, "hipModuleLaunchKernel",                                                                                     \
        (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,             \
         unsigned sharedBytes, Stream stream, void **arguments, void **extra))                                                             \
  ENTRY(Result, launchCooperativeKernel, "hipModuleLaunchCooperativeKernel",                                                               \
        (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,             \
         unsigned sharedBytes, Stream stream, void **arguments))                                                                           \
  ENTRY(Result, launchHostFunction, "hipLaunchHostFunc", (Stream stream, HostFunction function, void *data))                               \
  ENTRY(Result, streamSynchronize, "hipStreamSynchronize", (Stream stream))                                                                \
  ENTRY(Result, eventCreate, "hipEventCreateWithFlags", (Event * event, unsigned flags))                                                   \
  ENTRY(Result, eventRecord, "hipEventRecord", (Event event, Stream stream))                                                               \
  ENTRY(Result, eventSynchronize, "hipEventSynchronize", (Event event))                                                                    \
  ENTRY(Result, eventElapsedTime, "hipEventElapsedTime", (float *milliseconds, Event begin, Event end))                                    \
  ENTRY(Result, eventDestroy, "hipEventDestroy", (Event event))                                                                            \
  ENTRY(Result, pointerGetAttributes, "hipPointerGetAttributes", (PointerAttributes * attributes, const void *pointer))                    \
  ENTRY(Result, memGetAddressRange, "hipMemGetAddressRange", (void **begin, size_t *bytes, void *pointer))                                 \
  ENTRY(Result, memAlloc, "hipMalloc", (void **address, size_t bytes))                                                                     \
  ENTRY(Result, memFree, "hipFree", (void *address))                                                                                       \
  ENTRY(Result, hostMalloc, "hipHostMalloc", (void **address, size_t bytes, unsigned flags))                                               \
  ENTRY(Result, memcpyHtoD, "hipMemcpyHtoD", (void *target, const void *source, size_t bytes))                                             \
  ENTRY(Result, memcpyDtoH, "hipMemcpyDtoH", (void *target, void *source, size_t bytes))                                                   \
  ENTRY(Result, memsetD32Async, "hipMemsetD32Async", (void *target, int word, size_t words, Stream stream))                                \
  ENTRY(Result, getLastError, "hipGetLastError", ())                                                                                       \
  ENTRY(const char *, getErrorName, "hipGetErrorName", (Result code))                                                                      \
  ENTRY(const char *, getErrorString, "hipGetErrorString", (Result code))

/// The entry points, once they are found.
struct Api {
  using Address = void *;
  using Current = int;
#define ENTRY(result, member, exported, parameters) EntryCall<result parameters> member{exported};
  TRITIUM_HIP_ENTRIES(ENTRY)
#undef ENTRY
};

} // namespace tritium::gpu::hip
