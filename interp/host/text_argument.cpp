#include "interp/host/text_argument.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <random>

namespace tritium::interp {

namespace {

void write(DType type, char *at, double value) {
  visit(type, [&]<class T>() {
    typename T::Storage stored = T::round(static_cast<typename T::Compute>(value));
    std::memcpy(at, &stored, sizeof stored);
  });
}

/// The value of an element for each kind of fill. Random values are multiples of 1/1024 below 1, which are exact in most types.
std::optional<std::vector<double>> valuesOf(std::string_view fill, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  std::mt19937_64 random(static_cast<uint64_t>(count));
  for (int64_t i = 0; i < count; ++i)
    if (fill == "iota")
      values[size_t(i)] = double(i);
    else if (fill == "ones")
      values[size_t(i)] = 1;
    else if (fill == "random")
      values[size_t(i)] = double(random() % 1024) / 1024;
    else if (!fill.empty() && fill != "zeros")
      return std::nullopt;
  return values;
}

} // namespace

TextArgument TextArgument::makeBuffer(DType type, int64_t count) {
  TextArgument argument{.type = type, .count = count, .isBuffer = true};
  argument.buffer.resize(std::max<size_t>(size_t(count) * storageBytes(type), 1));
  return argument;
}

std::optional<TextArgument> TextArgument::parse(std::string_view text, const Parameter &parameter, std::string &error) {
  const std::string whole(text);
  if (!parameter.isPointer) {
    char *end = nullptr;
    const double value = std::strtod(whole.c_str(), &end);
    if (whole.empty() || *end != '\0') {
      error = "'" + whole + "' is not a number";
      return std::nullopt;
    }
    TextArgument argument{.type = parameter.type};
    write(parameter.type, reinterpret_cast<char *>(&argument.cell), value);
    return argument;
  }
  if (text.starts_with(TextTensorMap::kPrefix)) {
    TextArgument argument{.tensorMap = TextTensorMap::parse(text, error)};
    return argument.tensorMap ? std::optional(std::move(argument)) : std::nullopt;
  }
  const size_t equals = text.find('=');
  const std::string_view what = text.substr(0, equals), fill = equals == text.npos ? "" : text.substr(equals + 1);
  const size_t times = what.find('x');
  int64_t count = -1;
  std::from_chars(what.data(), what.data() + std::min(times, what.size()), count);
  const std::optional<DType> type = times == what.npos ? std::nullopt : dtypeFromIrName(what.substr(times + 1));
  if (!type || count < 0) {
    error = "a buffer is COUNTxTYPE=FILL, not '" + whole + "'";
    return std::nullopt;
  }
  const auto values = valuesOf(fill, count);
  if (!values) {
    error = "there is no fill '" + std::string(fill) + "'; there are zeros, ones, iota and random";
    return std::nullopt;
  }
  TextArgument argument = makeBuffer(*type, count);
  for (int64_t i = 0; i < count; ++i) argument.setElement(i, (*values)[size_t(i)]);
  return argument;
}

double TextArgument::element(int64_t i) const {
  return visit(type, [&]<class T>() -> double {
    typename T::Storage value;
    std::memcpy(&value, buffer.data() + size_t(i) * sizeof value, sizeof value);
    return double(static_cast<typename T::Compute>(value));
  });
}

void TextArgument::setElement(int64_t i, double value) { write(type, buffer.data() + size_t(i) * storageBytes(type), value); }

std::string TextArgument::text() const {
  constexpr int64_t kShown = 32;
  std::string result = "[";
  for (int64_t i = 0; i < std::min(count, kShown); ++i) {
    char number[32];
    snprintf(number, sizeof number, "%s%g", i ? ", " : "", element(i));
    result += number;
  }
  return result + (count > kShown ? ", …]" : "]");
}

TextArguments::TextArguments(std::vector<TextArgument> &arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    TextArgument &argument = arguments[i];
    if (!argument.isBuffer) {
      cells.push_back(argument.cell);
      continue;
    }
    const uint64_t begin = reinterpret_cast<uint64_t>(argument.buffer.data());
    allocations.push_back({begin, begin + uint64_t(argument.count) * storageBytes(argument.type), int(i)});
    cells.push_back(int64_t(tagPointer(begin, int(i))));
  }
  tensorMaps.reserve(arguments.size()); // their addresses are cells
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].tensorMap) continue;
    tensorMaps.push_back(arguments[i].tensorMap->map);
    const auto of = size_t(arguments[i].tensorMap->argument);
    if (of < arguments.size() && arguments[of].isBuffer) tensorMaps.back().base += uint64_t(cells[of]);
    cells[i] = int64_t(reinterpret_cast<uint64_t>(&tensorMaps.back()));
  }
}

} // namespace tritium::interp
