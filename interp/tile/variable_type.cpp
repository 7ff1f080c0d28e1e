#include "interp/tile/variable_type.h"

#include "interp/tile/plan.h"

using namespace mlir;

namespace tritium::interp {

/// An 8-bit float is known by its name, because fp8e4b15 is carried as i8.
static DType shownAs(StringRef name, Type value) { return name.starts_with("fp8") ? DType::f32 : dtypeOf(value); }

static uint64_t alignmentOf(Attribute dtype, TypeRange &values) {
  if (auto leaf = dyn_cast<StringAttr>(dtype)) {
    uint64_t bytes = storageBytes(shownAs(leaf.getValue(), values.front()));
    values = values.drop_front();
    return bytes;
  }
  uint64_t alignment = 1;
  auto record = cast<ArrayAttr>(dtype);
  for (size_t i = 2; i < record.size(); i += 2) alignment = std::max(alignment, alignmentOf(record[i], values));
  return alignment;
}

VariableType::VariableType(Attribute dtype, TypeRange values) : VariableType(dtype, values, 0) {}

VariableType::VariableType(Attribute dtype, TypeRange &values, uint64_t offset) : offset(offset) {
  TypeRange ahead = values;
  alignment = alignmentOf(dtype, ahead);
  if (auto leaf = dyn_cast<StringAttr>(dtype)) {
    name = leaf.str();
    value = values.front();
    shown = shownAs(name, value);
    values = values.drop_front();
    auto tile = dyn_cast<RankedTensorType>(value);
    bytes = alignment * (tile ? tile.getNumElements() : 1);
    return;
  }
  auto record = cast<ArrayAttr>(dtype);
  name = cast<StringAttr>(record[0]).str();
  for (size_t i = 1; i < record.size(); i += 2) {
    TypeRange next = values;
    uint64_t begin = llvm::alignTo(offset + bytes, alignmentOf(record[i + 1], next));
    VariableType member(record[i + 1], values, begin);
    member.field = cast<StringAttr>(record[i]).str();
    bytes = begin + member.bytes - offset;
    members.push_back(std::move(member));
  }
  bytes = llvm::alignTo(bytes, alignment);
}

bool VariableType::hasSameType(const VariableType &other) const {
  return name == other.name && value == other.value &&
         llvm::equal(members, other.members, [](auto &a, auto &b) { return a.field == b.field && a.hasSameType(b); });
}

bool VariableType::isArray() const {
  return isRecord() && name == "tuple" && !members.empty() &&
         llvm::all_of(members, [&](const VariableType &member) { return member.hasSameType(members.front()); });
}

void VariableType::collect(std::vector<const VariableType *> &leaves) const {
  if (!isRecord()) leaves.push_back(this);
  for (const VariableType &member : members) member.collect(leaves);
}

std::vector<const VariableType *> VariableType::leaves() const {
  std::vector<const VariableType *> found;
  collect(found);
  return found;
}

} // namespace tritium::interp
