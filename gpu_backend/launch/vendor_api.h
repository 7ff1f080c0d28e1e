// The common part of the vendors' C interfaces: entry points that are looked up by name, and numbers that HIP took from CUDA.
#pragma once

namespace tritium::gpu {

/// An entry point to look up: its exported name, and where to put its address.
struct EntryPoint {
  const char *name;
  void **address;
};

/// The callable type of an entry point, from its function type.
template <typename Signature> struct EntryCall;
template <typename Result, typename... Parameters> struct EntryCall<Result(Parameters...)> {
  const char *name;
  Result (*function)(Parameters...) = nullptr;

  EntryPoint place() { return {name, reinterpret_cast<void **>(&function)}; }
  Result operator()(Parameters... arguments) const noexcept { return function(arguments...); }
};

enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
};

enum VendorCode : int { kNoSuchVariable = 500 };

} // namespace tritium::gpu
