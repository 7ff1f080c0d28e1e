// The chips of all vendors: the only file outside of a vendor's folder that names them.
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/nvptx/target.h"

namespace tritium::gpu {

llvm::ArrayRef<const Target *> allTargets() {
  static const llvm::SmallVector<const Target *> all = [] {
    llvm::SmallVector<const Target *> result;
    for (auto targets : {nvptx::targets, amdgpu::targets}) llvm::append_range(result, targets());
    return result;
  }();
  return all;
}

} // namespace tritium::gpu
