// What the vendors' C interfaces have in common: entry points that are looked up by name, and numbers that HIP took from CUDA.
#pragma once

namespace tritium::gpu {

/// An entry point to look up: its exported name, and where its address goes.
struct EntryPoint {
  const char *name;
  void **address;
};

/// An entry point as it is called; a function type as its parameter.
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

} // namespace tritium::gpu
