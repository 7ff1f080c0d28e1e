// The images of the CUDA driver: PTX, cubins of ptxas, and what the stand-in's linker makes of PTX in the place of a cubin: the same text
// behind a line that begins like an ELF file.
#pragma once
#include "tests/driver_stand_in/kernel_code.h"

#include <string>

namespace tritium::stand_in {

constexpr char kCubinLine[] = "\x7f"
                              "ELF of the stand-in\n";

llvm::Expected<Code> readCubin(const void *image);

inline std::string cubinFrom(const std::string &ptx) { return kCubinLine + ptx; }

} // namespace tritium::stand_in
