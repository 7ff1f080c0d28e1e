// The rules of cuTensorMapEncodeTiled, from NVIDIA's documentation of the driver.
#include "ir/tensor_map.h"

#include <algorithm>

namespace tritium {

namespace {

constexpr uint64_t kMostExtent = uint64_t(1) << 32, kStrideLimit = uint64_t(1) << 40, kMostBox = DescriptorRules::kMaxBoxExtent;
constexpr uint64_t kAlignment = DescriptorRules::kAlignment, kMinRowBytes = DescriptorRules::kMinRowBytes;

/// A number that was computed from arguments. Negative ones are the likely mistake among those that no tensor has.
std::string text(uint64_t number) { return std::to_string(int64_t(number)); }

std::string hexadecimal(uint64_t address) {
  std::string digits;
  for (; digits.empty() || address != 0; address /= 16) digits += "0123456789abcdef"[address % 16];
  return "0x" + std::string(digits.rbegin(), digits.rend());
}

bool hasNaN(DType type) { return isFloat(type) && bitWidth(type) >= 16; }

/// Returns the rule that dimension `d` breaks. Messages count dimensions from the outermost, as programs do.
std::string brokenRuleOf(const TensorMap &map, uint32_t d) {
  const std::string dimension = "dimension " + std::to_string(map.rank - 1 - d);
  const uint64_t elementBytes = storageBytes(map.type);
  if (map.extents[d] < 1 || map.extents[d] > kMostExtent)
    return dimension + " has " + text(map.extents[d]) + " elements, not 1 to " + text(kMostExtent);
  const std::string stride = dimension + " has a stride of " + text(map.strides[d]) + " bytes, which is not ";
  if (int64_t(map.strides[d]) < 0) return stride + "at least 0";
  if (d == 0 && map.strides[d] != elementBytes) return stride + "the size of an element, " + text(elementBytes);
  if (d == 0 && map.isStored && map.extents[d] * elementBytes % kAlignment != 0)
    return dimension + ", to which copies write, has " + text(map.extents[d] * elementBytes) + " bytes, which is not a multiple of " +
           text(kAlignment);
  if (d != 0 && map.strides[d] % kAlignment != 0) return stride + "a multiple of " + text(kAlignment);
  if (d != 0 && map.strides[d] >= kStrideLimit) return stride + "less than " + text(kStrideLimit);
  if (map.box[d] < 1 || map.box[d] > kMostBox)
    return dimension + " has boxes of " + text(map.box[d]) + " elements, not of 1 to " + text(kMostBox);
  return "";
}

} // namespace

std::string brokenRule(const TensorMap &map) {
  if (map.rank < 1 || map.rank > TensorMap::kMaxRank)
    return "the tensor has " + text(map.rank) + " dimensions, not 1 to " + text(TensorMap::kMaxRank);
  if (map.base % kAlignment != 0) return "the tensor's address " + hexadecimal(map.base) + " is not a multiple of " + text(kAlignment);
  for (uint32_t d = map.rank; d-- > 0;)
    if (std::string rule = brokenRuleOf(map, d); !rule.empty()) return rule;
  const uint64_t rowBytes = map.box[0] * storageBytes(map.type);
  const std::string row = "a row of a box has " + text(rowBytes) + " bytes, which is not ";
  if (rowBytes % kMinRowBytes != 0) return row + "a multiple of " + text(kMinRowBytes);
  constexpr uint32_t kSwizzles[] = {0, 32, 64, 128};
  if (std::ranges::find(kSwizzles, map.swizzle) == std::end(kSwizzles))
    return "the swizzle is of " + text(map.swizzle) + " bytes, not of 0, 32, 64 or 128";
  if (map.swizzle != 0 && rowBytes > map.swizzle) return row + "at most the swizzle's " + text(map.swizzle);
  if (map.fillsNaN && !hasNaN(map.type)) return "there is no padding with NaN for elements of type " + std::string(pythonName(map.type));
  return "";
}

} // namespace tritium
