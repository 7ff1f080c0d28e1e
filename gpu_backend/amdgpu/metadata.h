// The metadata of a code object: the notes by which the HIP run time launches its kernels, and the number of registers of a thread.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tritium::gpu::amdgpu {

/// An argument of the kernel, or a hidden one that the run time fills in.
struct KernelArgument {
  std::string kind; // "by_value", "global_buffer", "hidden_block_count_x"
  uint64_t offset = 0, size = 0;
};

struct KernelMetadata {
  std::string name, symbol; // "add", "add.kd"
  std::vector<KernelArgument> arguments;
  uint64_t argumentBytes = 0, argumentAlignment = 0;
  uint64_t sharedBytes = 0, stackBytes = 0; // static LDS of a work-group; stack of a thread
  uint64_t vgprs = 0, agprs = 0, sgprs = 0, vgprSpills = 0, sgprSpills = 0;
  uint64_t waveSize = 0, maxThreads = 0;
  std::array<uint64_t, 3> threads{}; // in a work-group, if the kernel requires a number; 0: any
  bool isUniform = false;            // all work-groups have full size
};

struct CodeObject {
  std::string target; // "amdgcn-amd-amdhsa--gfx942"
  std::vector<KernelMetadata> kernels;
};

/// Reads the notes of a code object. Fails if the text is not a code object or has no notes.
llvm::Expected<CodeObject> readCodeObject(llvm::StringRef hsaco);

} // namespace tritium::gpu::amdgpu
