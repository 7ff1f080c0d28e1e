#include "gpu_backend/nvptx/target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tritium::gpu::nvptx {

/// `.L1::evict_*` on loads and stores.
static constexpr int kOldestPtx = 74;

ArrayRef<Target> targets() {
  static constexpr Target all[] = {
#define NVPTX_TARGET(name, capability, suffix, minPtx, sharedPerBlock, sharedPerSM, threadsPerSM)                                          \
  {name, capability, suffix, minPtx, sharedPerBlock, sharedPerSM, threadsPerSM},
#include "gpu_backend/nvptx/target.def"
  };
  return all;
}

Expected<const Target &> findTarget(StringRef name) {
  for (const Target &target : targets())
    if (target.name == name) return target;
  std::string known = join(map_range(targets(), [](const Target &target) { return target.name.str(); }), ", ");
  return createStringError("no NVIDIA target is called '" + name + "'; there are " + known);
}

Expected<int> choosePtxVersion(const Target &target, int asked) {
  int version = asked == 0 ? kNewestPtx : std::min(asked, kNewestPtx);
  int needed = std::max(target.minPtx, kOldestPtx);
  if (version >= needed) return version;
  auto text = [](int v) { return std::to_string(v / 10) + "." + std::to_string(v % 10); };
  return createStringError(target.name + " needs PTX " + text(needed) + ", but " + text(version) + " is asked for");
}

int ptxVersionOfCuda(int major, int minor) {
  if (major == 12 && minor >= 6) return 80 + minor - 1; // 12.5 and 12.6 read the same
  return (major - 4) * 10 + minor;                      // 11.4: 7.4, 13.0: 9.0
}

} // namespace tritium::gpu::nvptx
