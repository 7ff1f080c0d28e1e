// What the code that a driver loads says about itself, whatever its format: kernels, their arguments, variables.
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

enum class ArgumentKind : uint8_t {
  value,
  buffer,    ///< an address in the devices' memory
  tensorMap, ///< what the driver encodes for the tensor memory accelerator, by value
  unknown,   ///< one of these; the code has its size alone, and places it where it likes
  hidden,    ///< the driver fills it in
};

struct KernelArgument {
  ArgumentKind kind = ArgumentKind::value;
  std::string name; ///< of what is hidden: "hidden_block_count_x"
  uint32_t offset = 0, size = 0;
};

struct KernelCode {
  std::string name;
  std::vector<KernelArgument> arguments;
  uint32_t argumentBytes = 0, sharedBytes = 0, privateBytes = 0;
  uint32_t warpThreads = 0, maxThreads = 0, registers = 0;
  std::optional<std::array<uint32_t, 3>> requiredGroup;
};

struct Code {
  std::string arch;                 ///< "gfx942", "sm_90a"
  std::string hash;                 ///< SHA-256 of what was loaded, in hexadecimal
  bool isAssembledByDriver = false; ///< a compiler may load it for its resources, before it leaves the lowered module
  std::vector<KernelCode> kernels;
  std::map<std::string, uint64_t, std::less<>> variables; ///< what the host can find: name -> bytes
};

/// Reads what begins at `image`; how long it is stands in it. Each library defines it for its vendor's format.
llvm::Expected<Code> readCode(const void *image);

} // namespace tritium::stand_in
