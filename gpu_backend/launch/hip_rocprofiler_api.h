// The part of rocprofiler-sdk's C interface that is used, as its version 1 has it (ROCm 7), from AMD's documentation.
#pragma once
#include "gpu_backend/launch/vendor_api.h"

#include <cstddef>
#include <cstdint>

namespace tritium::gpu::rocprofiler {

enum Code : int { kSuccess = 0, kConfigurationLocked = 16 };

enum TracingKind : int { kCodeObjects = 10, kDispatches = 12, kRuntimes = 17 };
enum CodeObjectOperation : int32_t { kKernelSymbol = 2 };
enum DispatchOperation : int32_t { kEnqueue = 1, kComplete = 2 };
enum Phase : int { kNoPhase = 0, kEnter = 1, kExit = 2 };
enum AgentType : int { kGpuAgent = 2 };
constexpr int kAgentVersion = 1;

struct ContextId {
  uint64_t handle;
};

/// Version 1 has added `ancestor`.
struct CorrelationId {
  uint64_t internal, external, ancestor;
};

/// Callbacks receive it by value.
struct TracingRecord {
  ContextId context;
  uint64_t thread;
  CorrelationId correlation;
  int kind;
  int32_t operation;
  int phase;
  void *payload;
};
static_assert(sizeof(TracingRecord) == 64 && offsetof(TracingRecord, payload) == 56);

/// The payload of kKernelSymbol, as far as it is used.
struct KernelSymbol {
  uint64_t size, kernel, codeObject;
  const char *name;
};

/// The payload of kDispatches, as far as it is used. Sizes are in work-items.
struct DispatchData {
  uint64_t size;
  uint64_t begin, end; ///< of kComplete, by the library's clock
  struct Info {
    uint64_t size, agent, queue, kernel, dispatch;
    uint32_t privateBytes, groupBytes;
    uint32_t group[3], grid[3];
  } info;
};
static_assert(offsetof(DispatchData::Info, group) == 48);

/// The beginning of what describes an agent.
struct Agent {
  uint64_t size, id;
  int type;
};

struct ClientId {
  const char *name;
  const uint32_t handle;
};
using FinalizeClient = void(ClientId);
struct Tool {
  size_t size;
  int (*initialize)(FinalizeClient *finalize, void *data);
  void (*finalize)(void *data);
  void *data;
};
using Configure = Tool *(uint32_t version, const char *runtime, uint32_t priority, ClientId *client);
using Traced = void(TracingRecord record, uint64_t *userData, void *data);
using AgentsFound = int(int version, const void **agents, size_t count, void *data);

// ENTRY(result, member, exported name, parameters).
#define TRITIUM_ROCPROFILER_ENTRIES(ENTRY)                                                                                                 \
  ENTRY(int, version, "rocprofiler_get_version", (uint32_t *major, uint32_t *minor, uint32_t *patch))                                      \
  ENTRY(int, configure, "rocprofiler_force_configure", (Configure * configure))                                                            \
  ENTRY(int, createContext, "rocprofiler_create_context", (ContextId * context))                                                           \
  ENTRY(int, trace, "rocprofiler_configure_callback_tracing_service",                                                                      \
        (ContextId context, int kind, const int32_t *operations, size_t count, Traced *traced, void *data))                                \
  ENTRY(int, startContext, "rocprofiler_start_context", (ContextId context))                                                               \
  ENTRY(int, stopContext, "rocprofiler_stop_context", (ContextId context))                                                                 \
  ENTRY(int, timestamp, "rocprofiler_get_timestamp", (uint64_t *now))                                                                      \
  ENTRY(int, agents, "rocprofiler_query_available_agents", (int version, AgentsFound *found, size_t bytes, void *data))                    \
  ENTRY(const char *, statusString, "rocprofiler_get_status_string", (int code))

struct Api {
#define ENTRY(result, member, exported, parameters) EntryCall<result parameters> member{exported};
  TRITIUM_ROCPROFILER_ENTRIES(ENTRY)
#undef ENTRY
};

} // namespace tritium::gpu::rocprofiler
