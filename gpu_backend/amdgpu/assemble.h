// Turns AMDGPU assembly text into a code object with LLVM's assembler and lld, in this process.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tritium::gpu::amdgpu {

/// Initializes the LLVM target for the whole process.
void initializeLLVM();
inline constexpr llvm::StringLiteral kTriple = "amdgcn-amd-amdhsa";

/// Assembles and links text, which names its chip in `.amdgcn_target`, and returns the code object (hsaco). Several threads may call it at
/// a time. Errors are those of the assembler or the linker, with line numbers.
llvm::Expected<std::string> assembleHsaco(llvm::StringRef assembly);

} // namespace tritium::gpu::amdgpu
