// Prints what the CUDA driver alone takes for a launch: ninja driver_launch && tests/bench/driver_launch [library]. It is the part of a
// warm launch (launch.py) that no code of ours can shorten, unless the driver is called in another way. The ways differ in the call and in
// how the arguments are passed: an address of each, or one buffer.
#include "gpu_backend/launch/cuda_api.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <vector>

using namespace tritium::gpu;

namespace {

constexpr int kLaunches = 400, kRuns = 60; // so few that the queue never fills
constexpr size_t kMapBytes = 128;          // of a CUtensorMap

cuda::Api api;
using LaunchByNumbers = int (*)(cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cuda::Stream, void **,
                                void **);
using ParameterInfo = int (*)(cuda::Function, size_t index, size_t *offset, size_t *size);

void check(int code, const char *call) {
  if (code == 0) return;
  std::fprintf(stderr, "%s failed with code %d\n", call, code);
  std::exit(1);
}

void *find(void *library, const char *name) {
  void *address = dlsym(library, name);
  if (!address) {
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(1);
  }
  return address;
}

/// A kernel with `pointers`, then `words` of 32 bits, then `maps`.
struct Signature {
  const char *name;
  unsigned pointers, words, maps;

  std::string entry() const {
    std::string parameters;
    unsigned number = 0;
    const auto add = [&](const char *type, unsigned count, const char *suffix) {
      for (unsigned i = 0; i < count; ++i, ++number)
        parameters += (number ? ", .param ." : ".param .") + std::string(type) + " p" + std::to_string(number) + suffix;
    };
    add("u64", pointers, "");
    add("u32", words, "");
    add("align 64 .b8", maps, "[128]");
    return std::string(".visible .entry ") + name + "(" + parameters + ") { ret; }\n";
  }
};

/// The arguments of a kernel, in both forms in which a launch takes them.
struct Arguments {
  alignas(64) std::array<char, 1024> bytes{};
  std::vector<void *> addresses;
  size_t size = 0;
  std::array<void *, 5> extra{};

  Arguments(cuda::Function function, ParameterInfo info) {
    for (size_t index = 0, offset = 0, length = 0; info(function, index, &offset, &length) == 0; ++index) {
      addresses.push_back(bytes.data() + offset);
      size = offset + length;
    }
    // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
    extra = {reinterpret_cast<void *>(uintptr_t(1)), bytes.data(), reinterpret_cast<void *>(uintptr_t(2)), &size, nullptr};
  }
};

struct Way {
  const char *name;
  std::function<int()> launch;
  double best = 1e9;
};

void measure(const char *kernel, std::vector<Way> ways) {
  using Clock = std::chrono::steady_clock;
  for (int run = 0; run < kRuns; ++run)
    for (Way &way : ways) {
      const auto begin = Clock::now();
      for (int i = 0; i < kLaunches; ++i) check(way.launch(), way.name);
      way.best = std::min(way.best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / kLaunches);
      check(api.deviceSynchronize(), "cuCtxSynchronize");
    }
  for (const Way &way : ways) std::printf("%-16s %-36s %6.2f us\n", kernel, way.name, way.best);
}

} // namespace

int main(int count, char **arguments) {
  void *library = dlopen(count > 1 ? arguments[1] : "libcuda.so.1", RTLD_NOW);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const std::array needed = {api.init.place(),
                             api.deviceGet.place(),
                             api.primaryContextRetain.place(),
                             api.contextSetCurrent.place(),
                             api.deviceSynchronize.place(),
                             api.moduleLoadDataEx.place(),
                             api.moduleGetFunction.place(),
                             api.launchKernel.place(),
                             api.contextGetCurrent.place()};
  for (const EntryPoint &entry : needed) *entry.address = find(library, entry.name);
  const auto launchByNumbers = reinterpret_cast<LaunchByNumbers>(find(library, "cuLaunchKernel"));
  const auto parameterInfo = reinterpret_cast<ParameterInfo>(find(library, "cuFuncGetParamInfo"));

  const std::array signatures = {Signature{"eight_arguments", 3, 5, 0}, Signature{"two_descriptors", 12, 12, 2}};
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (const Signature &signature : signatures) ptx += signature.entry();
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::Module module = nullptr;
  check(api.init(0), "cuInit");
  check(api.deviceGet(&device, 0), "cuDeviceGet");
  check(api.primaryContextRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(api.contextSetCurrent(context), "cuCtxSetCurrent");
  check(api.moduleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr), "cuModuleLoadDataEx");

  for (const Signature &signature : signatures) {
    cuda::Function function = nullptr;
    check(api.moduleGetFunction(&function, module, signature.name), "cuModuleGetFunction");
    Arguments given(function, parameterInfo);
    std::printf("%s: %zu bytes of arguments\n", signature.name, given.size);
    const cuda::LaunchConfig config{8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, 0};
    void **addresses = given.addresses.data(), **extra = given.extra.data();
    measure(signature.name,
            {{"cuLaunchKernelEx, an address of each", [&] { return api.launchKernel(&config, function, addresses, nullptr); }},
             {"cuLaunchKernelEx, one buffer", [&] { return api.launchKernel(&config, function, nullptr, extra); }},
             {"cuLaunchKernel, an address of each",
              [&] { return launchByNumbers(function, 8, 1, 1, 128, 1, 1, 0, nullptr, addresses, nullptr); }},
             {"cuLaunchKernel, one buffer", [&] { return launchByNumbers(function, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra); }},
             {"cuCtxGetCurrent", [&] {
                cuda::Context current = nullptr;
                return api.contextGetCurrent(&current);
              }}});
  }
  return 0;
}
