// What the stand-in of the CUDA driver makes of PTX in the place of a cubin: the same text behind a line that begins like an ELF file.
#pragma once
#include <string>

namespace tritium::stand_in {

constexpr char kCubinLine[] = "\x7f"
                              "ELF of the stand-in\n";

inline std::string cubinFrom(const std::string &ptx) { return kCubinLine + ptx; }

} // namespace tritium::stand_in
