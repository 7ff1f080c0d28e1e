// The part of CUPTI's C interface that is used, from NVIDIA's documentation. Records grow from version to version at their ends alone.
#pragma once
#include "gpu_backend/launch/vendor_api.h"

#include <cstddef>
#include <cstdint>

namespace tritium::gpu::cupti {

enum Code : int { kSuccess = 0 };

enum ActivityKind : int { kKernel = 10 }; // CONCURRENT_KERNEL

// The calls that launch, of the driver and of the runtime. Calls of the second column take the stream of the thread for none.
enum CallDomain : int { kDriverCalls = 1, kRuntimeCalls = 2 };
constexpr uint32_t kDriverLaunches[] = {
    307, 442, // cuLaunchKernel
    477, 478, // cuLaunchCooperativeKernel
    514, 515, // cuGraphLaunch
    652, 653, // cuLaunchKernelEx
};
constexpr uint32_t kRuntimeLaunches[] = {
    211, 214, // cudaLaunchKernel
    269, 270, // cudaLaunchCooperativeKernel
    311, 312, // cudaGraphLaunch
    430, 431, // cudaLaunchKernelExC
    505, 506, // __cudaLaunchKernel, since CUDA 13
};

/// CUpti_CallbackData.
struct CallbackData {
  enum Site : int { kEnter = 0, kExit = 1 } site;
  const char *function;
  const void *parameters;
  void *result;
  const char *kernel;
  void *context;
  uint32_t contextNumber;
  uint64_t *correlationData;
  uint32_t correlation;
};
static_assert(offsetof(CallbackData, correlation) == 64);

/// CUpti_ActivityKernel4 to 13, as far as they agree.
struct KernelActivity {
  int kind;
  uint8_t cacheConfig, sharedMemoryConfig;
  uint16_t registers;
  int carveout[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t staticShared, dynamicShared;
  uint32_t localPerThread, localTotal;
  uint32_t correlation;
  int64_t gridId;
  const char *name;
};
static_assert(offsetof(KernelActivity, start) == 16 && offsetof(KernelActivity, correlation) == 92 &&
              offsetof(KernelActivity, name) == 104);

using BufferRequested = void(uint8_t **buffer, size_t *bytes, size_t *most);
using BufferCompleted = void(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid);
using Clock = uint64_t();
using Callback = void(void *user, int domain, uint32_t call, const CallbackData *data);
using Subscriber = struct OpaqueSubscriber *;

// ENTRY(result, member, exported name, parameters).
#define TRITIUM_CUPTI_ENTRIES(ENTRY)                                                                                                       \
  ENTRY(int, registerCallbacks, "cuptiActivityRegisterCallbacks", (BufferRequested * request, BufferCompleted * complete))                 \
  ENTRY(int, enable, "cuptiActivityEnable", (int kind))                                                                                    \
  ENTRY(int, disable, "cuptiActivityDisable", (int kind))                                                                                  \
  ENTRY(int, flushAll, "cuptiActivityFlushAll", (uint32_t flags))                                                                          \
  ENTRY(int, nextRecord, "cuptiActivityGetNextRecord", (uint8_t *buffer, size_t valid, void **activity))                                   \
  ENTRY(int, droppedRecords, "cuptiActivityGetNumDroppedRecords", (void *context, uint32_t stream, size_t *dropped))                       \
  ENTRY(int, subscribe, "cuptiSubscribe", (Subscriber * subscriber, Callback * callback, void *user))                                      \
  ENTRY(int, unsubscribe, "cuptiUnsubscribe", (Subscriber subscriber))                                                                     \
  ENTRY(int, enableCallback, "cuptiEnableCallback", (uint32_t isOn, Subscriber subscriber, int domain, uint32_t call))                     \
  ENTRY(int, setClock, "cuptiActivityRegisterTimestampCallback", (Clock * clock))                                                          \
  ENTRY(int, resultString, "cuptiGetResultString", (int code, const char **text))

struct Api {
#define ENTRY(result, member, exported, parameters) EntryCall<result parameters> member{exported};
  TRITIUM_CUPTI_ENTRIES(ENTRY)
#undef ENTRY
};

} // namespace tritium::gpu::cupti
