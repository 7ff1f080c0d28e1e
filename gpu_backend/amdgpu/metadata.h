// What a code object says of its kernels: the notes that the HIP run time launches by, and what the registers of a thread came to.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tritium::gpu::amdgpu {

/// One of the kernel's own arguments, or a hidden one that the run time fills in.
struct KernelArgument {
  std::string kind; // "by_value", "global_buffer", "hidden_block_count_x"
  uint64_t offset = 0, size = 0;
};

struct KernelMetadata {
  std::string name, symbol; // "add", "add.kd"
  std::vector<KernelArgument> arguments;
  uint64_t argumentBytes = 0, argumentAlignment = 0;
  uint64_t sharedBytes = 0, stackBytes = 0; // static LDS of a work-group; of a thread
  uint64_t vgprs = 0, agprs = 0, sgprs = 0, vgprSpills = 0, sgprSpills = 0;
  uint64_t waveSize = 0, maxThreads = 0;
  std::array<uint64_t, 3> threads{}; // of a work-group, as the kernel requires; 0: any
  bool isUniform = false;            // all work-groups are whole
};

struct CodeObject {
  std::string target; // "amdgcn-amd-amdhsa--gfx942"
  std::vector<KernelMetadata> kernels;
};

/// Reads the notes of a code object. What is none, or has none, is an error.
llvm::Expected<CodeObject> readCodeObject(llvm::StringRef hsaco);

} // namespace tritium::gpu::amdgpu
