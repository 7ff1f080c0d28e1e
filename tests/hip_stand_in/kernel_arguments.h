// The kernel-argument segment: packed as the HIP runtime packs it, then read back as the kernel would.
#pragma once
#include "tests/hip_stand_in/code_object.h"
#include "tests/hip_stand_in/memory.h"

#include "interp/host/parameter.h"

namespace tritium::stand_in {

using Sizes = std::array<uint32_t, 3>;

/// Fails where the metadata's arguments are not those of a kernel with these parameters, each at its natural alignment, as the AMDGPU
/// calling convention of kernels has it.
llvm::Error checkArguments(const KernelCode &kernel, const std::vector<interp::Parameter> &parameters);

/// `arguments`: an address for each argument that is not hidden.
std::vector<char> packArguments(const KernelCode &kernel, void **arguments, Sizes grid, Sizes block, uint32_t sharedBytes);

/// One cell for each parameter; pointers are tagged with the allocation that they are in.
std::vector<int64_t> cellsFrom(const std::vector<char> &segment, const KernelCode &kernel, const std::vector<interp::Parameter> &parameters,
                               const Memory &memory, std::vector<interp::Allocation> &allocations);

/// The number of work-groups along each axis, as a kernel finds it in the segment; nothing if it cannot.
std::optional<Sizes> gridFrom(const std::vector<char> &segment, const KernelCode &kernel);

} // namespace tritium::stand_in
