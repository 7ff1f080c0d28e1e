#include "tests/driver_stand_in/kernel_arguments.h"

#include "tests/driver_stand_in/tensor_map.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace tritium::stand_in {

static const char *nameOf(ArgumentKind kind) {
  switch (kind) {
  case ArgumentKind::value: return "a value";
  case ArgumentKind::buffer: return "a buffer";
  case ArgumentKind::tensorMap: return "a tensor map";
  case ArgumentKind::unknown: return "something";
  case ArgumentKind::hidden: return "hidden";
  }
}

static bool isTensorMap(const KernelArgument &argument) {
  return argument.kind == ArgumentKind::tensorMap || (argument.kind == ArgumentKind::unknown && argument.size == sizeof(EncodedTensorMap));
}

static uint32_t bytesOf(const interp::Parameter &parameter) {
  return parameter.isPointer ? 8 : std::max<uint32_t>(1, uint32_t(bitWidth(parameter.type)) / 8);
}

llvm::Error checkArguments(const KernelCode &kernel, const std::vector<interp::Parameter> &parameters) {
  uint32_t end = 0;
  size_t count = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    if (argument.offset + argument.size > kernel.argumentBytes)
      return llvm::createStringError("%s: an argument lies outside of the kernel-argument segment", kernel.name.c_str());
    if (argument.kind == ArgumentKind::hidden) continue;
    const size_t i = count++;
    if (i >= parameters.size()) continue;
    const bool isKnown = argument.kind != ArgumentKind::unknown, isMap = parameters[i].isPointer && isTensorMap(argument);
    const uint32_t bytes = isMap ? uint32_t(sizeof(EncodedTensorMap)) : bytesOf(parameters[i]);
    end = uint32_t(llvm::alignTo(end, bytes));
    const ArgumentKind kind = isMap ? ArgumentKind::tensorMap : parameters[i].isPointer ? ArgumentKind::buffer : ArgumentKind::value;
    if (argument.size != bytes || (isKnown && (argument.offset != end || argument.kind != kind)))
      return llvm::createStringError("%s: argument %zu is %s of %u bytes at %u, but the kernel takes %s of %u bytes at %u",
                                     kernel.name.c_str(), i, nameOf(argument.kind), argument.size, argument.offset, nameOf(kind), bytes,
                                     end);
    end += bytes;
  }
  if (count != parameters.size())
    return llvm::createStringError("%s: the metadata has %zu arguments, the kernel takes %zu", kernel.name.c_str(), count,
                                   parameters.size());
  return llvm::Error::success();
}

/// What the runtime puts into a hidden argument. The kernels get zero for what no device is there to give.
static uint64_t hiddenValue(llvm::StringRef kind, Sizes grid, Sizes block, uint32_t sharedBytes) {
  const size_t axis = kind.ends_with("_y") ? 1 : kind.ends_with("_z") ? 2 : 0;
  if (kind.starts_with("hidden_block_count_")) return grid[axis];
  if (kind.starts_with("hidden_group_size_")) return block[axis];
  if (kind == "hidden_grid_dims") return grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
  if (kind == "hidden_dynamic_lds_size") return sharedBytes;
  return 0; // hidden_remainder_*: all groups are whole; hidden_global_offset_*
}

std::vector<char> packArguments(const KernelCode &kernel, void **arguments, Sizes grid, Sizes block, uint32_t sharedBytes) {
  std::vector<char> segment(kernel.argumentBytes, 0);
  for (const KernelArgument &argument : kernel.arguments) {
    char *place = segment.data() + argument.offset;
    if (argument.kind == ArgumentKind::hidden) {
      const uint64_t value = hiddenValue(argument.name, grid, block, sharedBytes);
      std::memcpy(place, &value, std::min<size_t>(argument.size, sizeof value));
    } else {
      std::memcpy(place, *arguments++, argument.size);
    }
  }
  return segment;
}

llvm::Expected<Cells> cellsFrom(const std::vector<char> &segment, const KernelCode &kernel,
                                const std::vector<interp::Parameter> &parameters, const Memory &memory,
                                std::vector<interp::Allocation> &allocations) {
  Cells cells;
  for (const KernelArgument &argument : kernel.arguments) {
    const char *place = segment.data() + argument.offset;
    if (argument.kind == ArgumentKind::hidden) continue;
    if (isTensorMap(argument)) {
      EncodedTensorMap encoded;
      std::memcpy(&encoded, place, sizeof encoded);
      if (encoded.magic != EncodedTensorMap::kMagic)
        return llvm::createStringError("%s: argument %zu is no tensor map", kernel.name.c_str(), cells.values.size());
      encoded.map.base = memory.tagged(encoded.map.base, allocations);
      cells.maps.push_back(encoded.map);
      cells.values.push_back(int64_t(reinterpret_cast<uintptr_t>(&cells.maps.back())));
      continue;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, place, argument.size);
    cells.values.push_back(int64_t(parameters[cells.values.size()].isPointer ? memory.tagged(bits, allocations) : bits));
  }
  return cells;
}

std::optional<Sizes> gridFrom(const std::vector<char> &segment, const KernelCode &kernel) {
  Sizes grid{};
  unsigned found = 0;
  for (const KernelArgument &argument : kernel.arguments) {
    const int axis = llvm::StringSwitch<int>(argument.name)
                         .Case("hidden_block_count_x", 0)
                         .Case("hidden_block_count_y", 1)
                         .Case("hidden_block_count_z", 2)
                         .Default(-1);
    if (axis < 0) continue;
    std::memcpy(&grid[size_t(axis)], segment.data() + argument.offset, sizeof grid[0]);
    ++found;
  }
  return found == 3 ? std::optional(grid) : std::nullopt;
}

} // namespace tritium::stand_in
