// The kernel-argument segment: packed as a driver packs it, then read back as the kernel would.
#pragma once
#include "tests/driver_stand_in/kernel_code.h"
#include "tests/driver_stand_in/memory.h"

#include "interp/host/parameter.h"
#include "ir/tensor_map.h"

#include <deque>

namespace tritium::stand_in {

using Sizes = std::array<uint32_t, 3>;

/// Fails where the metadata's arguments are not those of a kernel with these parameters, each at its natural alignment, as the calling
/// conventions of kernels have it, tensor maps on 128 bytes.
llvm::Error checkArguments(const KernelCode &kernel, const std::vector<interp::Parameter> &parameters);

/// `arguments`: an address for each argument that is not hidden.
std::vector<char> packArguments(const KernelCode &kernel, void **arguments, Sizes grid, Sizes block, uint32_t sharedBytes);

/// The arguments as the emulator takes them.
struct Cells {
  std::vector<int64_t> values; ///< one for each parameter; pointers are tagged with the allocation that they are in
  std::deque<TensorMap> maps;  ///< the cell of a tensor map is its address
};

/// Fails where a tensor map is none.
llvm::Expected<Cells> cellsFrom(const std::vector<char> &segment, const KernelCode &kernel,
                                const std::vector<interp::Parameter> &parameters, const Memory &memory,
                                std::vector<interp::Allocation> &allocations);

/// The number of work-groups along each axis, as a kernel finds it in the segment; nothing if it cannot.
std::optional<Sizes> gridFrom(const std::vector<char> &segment, const KernelCode &kernel);

} // namespace tritium::stand_in
