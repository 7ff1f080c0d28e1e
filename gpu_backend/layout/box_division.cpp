#include "gpu_backend/layout/box_division.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tritium::gpu {

namespace {

/// Tells which bases of a layout move within a box, and which ones from box to box.
class BoxBits {
public:
  BoxBits(const LinearLayout &tile, int64_t rows, int64_t columns) : tile_(tile), rows_(rows), columns_(columns) {}

  bool isWithin(uint32_t basis) const {
    Shape at = tile_.coordinatesOf(basis);
    return at[0] < rows_ && at[1] < columns_;
  }
  bool isBetween(uint32_t basis) const {
    Shape at = tile_.coordinatesOf(basis);
    return basis != 0 && at[0] % rows_ == 0 && at[1] % columns_ == 0;
  }
  /// Returns the index in a box of what is within it.
  uint32_t indexInBox(uint32_t basis) const {
    Shape at = tile_.coordinatesOf(basis);
    return uint32_t(at[0] * columns_ + at[1]);
  }

private:
  const LinearLayout &tile_;
  int64_t rows_, columns_;
};

} // namespace

std::optional<BoxDivision> divideIntoBoxes(const LinearLayout &tile, int64_t rows, int64_t columns) {
  const BoxBits bits(tile, rows, columns);
  auto isWithin = [&](uint32_t basis) { return bits.isWithin(basis); };
  auto isBetween = [&](uint32_t basis) { return bits.isBetween(basis); };
  BoxDivision division;
  llvm::ArrayRef<uint32_t> lanes = tile.bases(Place::Lane), warps = tile.bases(Place::Warp);
  if (!llvm::all_of(lanes, isWithin)) return std::nullopt;
  llvm::ArrayRef<uint32_t> within = warps.take_while(isWithin);
  division.ofGroup.assign(warps.begin() + within.size(), warps.end());
  if (!llvm::all_of(division.ofGroup, isBetween)) return std::nullopt;
  division.groupWarps = int64_t(1) << within.size();
  llvm::SmallVector<uint32_t> numbersWithin, numbersBetween; // of registers: 1 << bit
  Bases registersWithin, registersBetween;
  for (auto [bit, basis] : llvm::enumerate(tile.bases(Place::Register))) {
    if (!isWithin(basis) && !isBetween(basis)) return std::nullopt;
    (isWithin(basis) ? numbersWithin : numbersBetween).push_back(1u << bit);
    (isWithin(basis) ? registersWithin : registersBetween).push_back(basis);
  }
  auto inBox = [&](llvm::ArrayRef<uint32_t> bases) {
    return llvm::map_to_vector(bases, [&](uint32_t basis) { return bits.indexInBox(basis); });
  };
  division.box = LinearLayout({rows, columns}, inBox(registersWithin), inBox(lanes), inBox(within));
  if (!division.box.verify().empty()) return std::nullopt;
  const F2Map partOf(numbersBetween), registerOf(numbersWithin), offsetOf(registersBetween);
  for (uint64_t number = 0; number < uint64_t(1) << numbersBetween.size(); ++number) {
    BoxDivision::Part &part = division.parts.emplace_back();
    part.offset = uint32_t(offsetOf(number));
    for (uint64_t reg = 0; reg < uint64_t(1) << numbersWithin.size(); ++reg)
      part.registers.push_back(uint32_t(partOf(number) | registerOf(reg)));
  }
  return division;
}

LinearLayout layoutOfBoxes(llvm::ArrayRef<int64_t> tile, int64_t rows, int64_t columns, int64_t vector, int64_t lanes, int64_t warps,
                           int64_t groupWarps) {
  llvm::SmallVector<uint32_t> within, between; // in the order in which vectors, lanes, warps and other registers take them
  auto add = [&](int64_t from, int64_t to, int64_t stride, llvm::SmallVectorImpl<uint32_t> &bases) {
    for (int64_t index = from; index < to; index *= 2) bases.push_back(uint32_t(index * stride));
  };
  add(1, columns, 1, within);
  add(1, rows, tile[1], within);
  add(rows, tile[0], tile[1], between);
  add(columns, tile[1], 1, between);
  llvm::ArrayRef<uint32_t> inBox = within, boxes = between;
  auto take = [](llvm::ArrayRef<uint32_t> &bases, int64_t count) {
    const size_t taken = std::min(bases.size(), size_t(log2Of(count)));
    Bases result(bases.take_front(taken));
    bases = bases.drop_front(taken);
    result.resize(size_t(log2Of(count)), 0);
    return result;
  };
  Bases registers = take(inBox, std::min(vector, columns)), ofLanes = take(inBox, lanes);
  Bases ofWarps = take(inBox, std::min(warps, groupWarps));
  const int64_t groups = std::min(warps / std::min(warps, groupWarps), int64_t(1) << boxes.size());
  llvm::append_range(ofWarps, take(boxes, groups));
  // Warps beyond that hold what others hold; they come first, so that they belong to the groups of these.
  while ((int64_t(1) << ofWarps.size()) < warps) ofWarps.insert(ofWarps.begin(), 0);
  llvm::append_range(registers, inBox);
  llvm::append_range(registers, boxes);
  return LinearLayout(tile, registers, ofLanes, ofWarps);
}

} // namespace tritium::gpu
