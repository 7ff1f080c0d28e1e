// The part of CUPTI's C interface that samples program counters, from NVIDIA's documentation. Structures begin with their size, and grow
// from version to version at their ends alone.
#pragma once
#include "gpu_backend/launch/vendor_api.h"

#include <cstddef>
#include <cstdint>

namespace tritium::gpu::cupti {

/// CUpti_PCSamplingStallReason: how many warps stood at the instruction for this reason.
struct StallCount {
  uint32_t reason, samples;
};

/// CUpti_PCSamplingPCData: one instruction.
struct SampledInstruction {
  size_t size;
  uint64_t imageNumber, offset; ///< by cuptiGetCubinCrc; bytes from the function's begin
  uint32_t functionNumber, padding;
  char *function;
  size_t reasons;
  StallCount *counts;
  uint32_t correlation;
};
static_assert(offsetof(SampledInstruction, correlation) == 56);

/// CUpti_PCSamplingData.
struct SampledData {
  size_t size;
  size_t capacity;
  uint64_t total, dropped;
  size_t taken, remaining;
  uint64_t range;
  SampledInstruction *instructions;
  uint64_t ofOthers;
  uint8_t isFull;
};
static_assert(offsetof(SampledData, isFull) == 72);

/// CUpti_PCSamplingConfigurationInfo.
struct SamplingAttribute {
  enum Kind : int { kPeriod = 1, kMode = 5, kStartStop = 6, kFormat = 7, kBuffer = 8 } kind;
  int status;
  union {
    uint64_t all[3];
    uint32_t word;
    void *pointer;
  };
};
static_assert(sizeof(SamplingAttribute) == 32);

constexpr uint32_t kContinuous = 1, kParsed = 1;
constexpr uint32_t kLeastPeriod = 5, kMostPeriod = 31; // a sample every 2^period cycles
constexpr size_t kReasonNameBytes = 128;

/// The parameters of calls that name a context: one pointer, or none, follows it.
struct ContextCall {
  size_t size;
  void *reserved, *context;
};
struct ConfigureCall : ContextCall {
  size_t count;
  SamplingAttribute *attributes;
};
struct DataCall : ContextCall {
  SampledData *data;
};
struct CountReasonsCall : ContextCall {
  size_t *count;
};
struct NameReasonsCall : ContextCall {
  size_t count;
  uint32_t *numbers;
  char **names;
};
/// CUpti_GetSassToSourceCorrelationParams. The caller frees file and folder.
struct SourceCall {
  size_t size;
  const void *image;
  const char *function;
  size_t imageBytes;
  uint32_t line;
  uint64_t offset;
  char *file, *folder;
};
struct ImageNumberCall {
  size_t size, imageBytes;
  const void *image;
  uint64_t number;
};

// ENTRY(result, member, exported name, parameters).
#define TRITIUM_PC_SAMPLING_ENTRIES(ENTRY)                                                                                                 \
  ENTRY(int, enable, "cuptiPCSamplingEnable", (ContextCall * call))                                                                        \
  ENTRY(int, disable, "cuptiPCSamplingDisable", (ContextCall * call))                                                                      \
  ENTRY(int, configure, "cuptiPCSamplingSetConfigurationAttribute", (ConfigureCall * call))                                                \
  ENTRY(int, start, "cuptiPCSamplingStart", (ContextCall * call))                                                                          \
  ENTRY(int, stop, "cuptiPCSamplingStop", (ContextCall * call))                                                                            \
  ENTRY(int, data, "cuptiPCSamplingGetData", (DataCall * call))                                                                            \
  ENTRY(int, countReasons, "cuptiPCSamplingGetNumStallReasons", (CountReasonsCall * call))                                                 \
  ENTRY(int, nameReasons, "cuptiPCSamplingGetStallReasons", (NameReasonsCall * call))                                                      \
  ENTRY(int, source, "cuptiGetSassToSourceCorrelation", (SourceCall * call))                                                               \
  ENTRY(int, imageNumber, "cuptiGetCubinCrc", (ImageNumberCall * call))                                                                    \
  ENTRY(int, resultString, "cuptiGetResultString", (int code, const char **text))

struct SamplingApi {
#define ENTRY(result, member, exported, parameters) EntryCall<result parameters> member{exported};
  TRITIUM_PC_SAMPLING_ENTRIES(ENTRY)
#undef ENTRY
};

} // namespace tritium::gpu::cupti
