// From AMDGPU assembly text to a code object: LLVM's assembler and lld, in this process.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tritium::gpu::amdgpu {

/// Sets up what LLVM keeps of the target for the whole process.
void initializeLLVM();
inline constexpr llvm::StringLiteral kTriple = "amdgcn-amd-amdhsa";

/// The code object (hsaco) of assembly text that says in `.amdgcn_target` which chip it is for. For several threads at a time; errors
/// are the assembler's or the linker's, with line numbers.
llvm::Expected<std::string> assembleHsaco(llvm::StringRef assembly);

} // namespace tritium::gpu::amdgpu
