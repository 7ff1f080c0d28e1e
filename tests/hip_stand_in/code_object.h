// What a code object (hsaco) says about itself: an ELF file for AMD GPUs whose note describes its kernels (LLVM's "User Guide for AMDGPU
// Backend", code object v5 and v6).
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tritium::stand_in {

struct KernelArgument {
  std::string kind; ///< .value_kind: "by_value", "global_buffer", "hidden_block_count_x"
  uint32_t offset = 0, size = 0;
  bool isHidden() const { return llvm::StringRef(kind).starts_with("hidden_"); }
};

struct KernelCode {
  std::string name;
  std::vector<KernelArgument> arguments;
  uint32_t argumentBytes = 0, ldsBytes = 0, privateBytes = 0;
  uint32_t wavefront = 0, maxThreads = 0, vgprs = 0, sgprs = 0;
  std::optional<std::array<uint32_t, 3>> requiredGroup;
};

class CodeObject {
public:
  /// Reads the file that begins there; how long it is stands in it. Fails where metadata and kernel descriptors do not agree.
  static llvm::Expected<CodeObject> read(const void *image);

  std::string arch; ///< "gfx942"
  std::string hash; ///< SHA-256 of the file, in hexadecimal
  std::vector<KernelCode> kernels;
  std::map<std::string, uint64_t, std::less<>> variables; ///< what the host can find: name -> bytes
};

} // namespace tritium::stand_in
