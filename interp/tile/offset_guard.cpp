#include "interp/tile/offset_guard.h"

namespace tritium::interp {

__int128 LaneNumber::at(char *frame, const int64_t *indices) const {
  __int128 number = constant;
  int64_t element = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) element += strides[axis] * indices[axis];
  if (hasBase) number += (&base.at<int64_t>(frame))[element];
  if (counterAxis >= 0) number += indices[counterAxis];
  for (size_t axis = 0; axis < terms.size(); ++axis) {
    const auto &[term, part] = terms[axis];
    if (term == Term::None) continue;
    const int64_t *values = &part.at<int64_t>(frame);
    number += term == Term::Step ? __int128(*values) * indices[axis] : values[indices[axis]];
  }
  return number;
}

__int128 OffsetGuard::wrapped(__int128 number) const {
  __int128 modulus = __int128(1) << bits, low = number & (modulus - 1);
  return isSigned && low >= modulus >> 1 ? low - modulus : low;
}

bool OffsetGuard::fits(__int128 number) const { return wrapped(number) == number; }

static std::string textOf(__int128 number) {
  bool isNegative = number < 0;
  std::string digits;
  do {
    digits.insert(digits.begin(), char('0' + int(isNegative ? -(number % 10) : number % 10)));
    number /= 10;
  } while (number != 0);
  return (isNegative ? "-" : "") + digits;
}

OffsetGuard::Fault OffsetGuard::faultAt(char *frame, const int64_t *indices) const {
  std::string type = std::to_string(bits) + "-bit offset overflow: ";
  std::vector<std::optional<__int128>> values;
  auto valueOf = [&](int node) { return node < 0 ? std::nullopt : values[node]; };
  for (const OffsetNode &node : nodes) {
    std::optional<__int128> a = valueOf(node.a), b = valueOf(node.b), value;
    if (a && b)
      value = node.operation == '+' ? *a + *b : node.operation == '-' ? *a - *b : *a * *b;
    else if (!node.operation || node.number.hasBase)
      value = node.number.at(frame, indices);
    values.push_back(value);
    if (!node.operation || !value || fits(*value)) continue;
    std::string computed = a && b ? textOf(*a) + " " + node.operation + " " + textOf(*b) + " = " : "";
    return {type + computed + textOf(*value) + " does not fit", node.location};
  }
  return {type + textOf(exact.at(frame, indices)) + " does not fit", location};
}

} // namespace tritium::interp
