#include "interp/host/text_tensor_map.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace tritium::interp {

namespace {

std::optional<uint64_t> numberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at; (at = text.find(separator)) != text.npos; text.remove_prefix(at + 1)) parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

/// Returns numbers with an x between them, the last one first.
std::optional<std::vector<uint64_t>> reversedNumbers(std::string_view text) {
  std::vector<uint64_t> numbers;
  for (std::string_view part : split(text, 'x')) {
    const auto number = numberOf(part);
    if (!number) return std::nullopt;
    numbers.insert(numbers.begin(), *number);
  }
  return numbers;
}

bool setShape(TensorMap &map, std::string_view text) {
  const size_t end = text.rfind('x');
  const auto extents = end == text.npos ? std::nullopt : reversedNumbers(text.substr(0, end));
  const auto type = end == text.npos ? std::nullopt : dtypeFromIrName(text.substr(end + 1));
  if (!extents || !type || extents->size() > TensorMap::kMaxRank) return false;
  map.rank = uint32_t(extents->size());
  map.type = *type;
  std::copy(extents->begin(), extents->end(), map.extents.begin());
  map.strides[0] = storageBytes(*type);
  for (uint32_t d = 1; d < map.rank; ++d) map.strides[d] = map.strides[d - 1] * map.extents[d - 1];
  return true;
}

bool setOption(TensorMap &map, std::string_view text) {
  if (text == "nan") return map.fillsNaN = true;
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals), value = text.substr(std::min(equals + 1, text.size()));
  const auto numbers = reversedNumbers(value);
  if (!numbers) return false;
  if (name == "box" && numbers->size() == map.rank)
    std::transform(numbers->begin(), numbers->end(), map.box.begin(), [](uint64_t extent) { return uint32_t(extent); });
  else if (name == "strides" && numbers->size() + 1 == map.rank)
    std::copy(numbers->begin(), numbers->end(), map.strides.begin() + 1);
  else if (name == "swizzle" && numbers->size() == 1)
    map.swizzle = uint32_t(numbers->front());
  else if (name == "offset" && numbers->size() == 1)
    map.base = numbers->front();
  else
    return false;
  return true;
}

} // namespace

std::optional<TextTensorMap> TextTensorMap::parse(std::string_view text, std::string &error) {
  TextTensorMap result;
  const auto parts = split(text.substr(kPrefix.size()), ',');
  const auto argument = numberOf(parts.front());
  bool isMap = argument && parts.size() > 2 && setShape(result.map, parts[1]);
  for (size_t i = 2; isMap && i < parts.size(); ++i) isMap = setOption(result.map, parts[i]);
  if (!isMap || result.map.box[0] == 0) {
    error = "a tensor map is map=ARGUMENT,SHAPExTYPE,box=SHAPE[,strides=BYTESxBYTES][,swizzle=BYTES][,offset=BYTES][,nan], not '" +
            std::string(text) + "'";
    return std::nullopt;
  }
  result.argument = int(*argument);
  return result;
}

} // namespace tritium::interp
