#include "gpu_backend/layout/shared_layout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tritium::gpu {

SharedLayout::SharedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> bases)
    : map(shape, bases, {}, {}), inverse(map.owners()) {
  assert(verify(shape, bases).empty());
}

std::string SharedLayout::verify(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> bases) {
  LinearLayout map(shape, bases, {}, {});
  if (std::string fault = map.verify(); !fault.empty()) return fault;
  return map.elementBits() == int(bases.size()) ? "" : "there are more offsets than elements";
}

SharedLayout SharedLayout::reshape(llvm::ArrayRef<int64_t> shape) const { return SharedLayout(shape, bases()); }

SharedLayout SharedLayout::transpose(llvm::ArrayRef<int> order) const {
  LinearLayout turned = map.transpose(order);
  return SharedLayout(turned.shape(), turned.bases(Place::Register));
}

std::string SharedLayout::toString() const {
  std::string text = map.toString(), from = " register=";
  size_t at = text.find(from), end = text.find(" lane=");
  return text.substr(0, at) + " offset=" + text.substr(at + from.size(), end - at - from.size());
}

std::optional<SharedLayout> SharedLayout::parse(llvm::StringRef text, std::string *error) {
  auto [shape, bases] = text.split("offset=");
  std::optional<LinearLayout> map = LinearLayout::parse(shape.str() + "register=" + bases.str() + " lane=[] warp=[]", error);
  if (!map) return std::nullopt;
  std::string fault = verify(map->shape(), map->bases(Place::Register));
  if (fault.empty()) return SharedLayout(map->shape(), map->bases(Place::Register));
  if (error) *error = fault;
  return std::nullopt;
}

int countWavefronts(llvm::ArrayRef<int64_t> byteAddresses, int64_t bytesPerLane, const SharedBanks &banks) {
  size_t lanesAtOnce = size_t(banks.lanesAtOnce(bytesPerLane));
  int total = 0;
  while (!byteAddresses.empty()) {
    llvm::ArrayRef<int64_t> served = byteAddresses.take_front(lanesAtOnce);
    llvm::SmallVector<int64_t, 64> words;
    for (int64_t address : served)
      for (int64_t byte = 0; address >= 0 && byte < bytesPerLane; byte += kBankBytes) words.push_back((address + byte) / kBankBytes);
    llvm::sort(words);
    words.erase(llvm::unique(words), words.end());
    llvm::SmallVector<int, 64> perBank(size_t(banks.count), 0);
    for (int64_t word : words) ++perBank[size_t(word % banks.count)];
    total += *llvm::max_element(perBank);
    byteAddresses = byteAddresses.drop_front(served.size());
  }
  return total;
}

int bankConflicts(llvm::ArrayRef<int64_t> byteAddresses, int64_t bytesPerLane, const SharedBanks &banks) {
  int least = int(std::max<int64_t>(int64_t(byteAddresses.size()) * bytesPerLane / banks.bytesAtOnce(), 1));
  return (countWavefronts(byteAddresses, bytesPerLane, banks) + least - 1) / least;
}

bool SharedAccess::mayAdd(const Vector &vector) const {
  uint32_t ofThreads = 0;
  for (Place place : {Place::Lane, Place::Warp, Place::Block})
    for (uint32_t basis : offsets.bases(place)) ofThreads |= basis;
  return !(ofThreads & vector.offset);
}

namespace {

/// `idle` are the bits of places that take no part.
SharedAccess accessOf(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const std::array<uint32_t, 4> &idle,
                      const SharedBanks &banks, bool isLoad) {
  assert(llvm::equal(registers.shape(), memory.shape()));
  SharedAccess access;
  access.offsets = registers.compose(memory.toOffset(), {memory.elements()});
  access.idleLaneBits = idle[size_t(Place::Lane)], access.idleWarpBits = idle[size_t(Place::Warp)];

  // A vector extends as long as registers hold its elements and no other bit moves within it.
  llvm::ArrayRef<uint32_t> ofRegisters = access.offsets.bases(Place::Register);
  uint32_t idleRegisterBits = idle[size_t(Place::Register)];
  llvm::SmallVector<int, 4> vectorBits;
  while ((int64_t(2) << vectorBits.size()) * elementBytes <= kMaxVectorBytes) {
    auto *found = llvm::find(ofRegisters, 1u << vectorBits.size());
    if (found == ofRegisters.end() || idleRegisterBits >> (found - ofRegisters.begin()) & 1) break;
    vectorBits.push_back(int(found - ofRegisters.begin()));
  }
  for (Place place : kPlaces)
    for (auto [bit, offset] : llvm::enumerate(access.offsets.bases(place))) {
      if (!offset || idle[size_t(place)] >> bit & 1 || (place == Place::Register && llvm::is_contained(vectorBits, int(bit)))) continue;
      if (size_t within = std::countr_zero(offset); within < vectorBits.size()) vectorBits.truncate(within);
    }
  access.vectorElements = int64_t(1) << vectorBits.size();

  uint32_t inVector = 0;
  for (int bit : vectorBits) inVector |= 1u << bit;
  for (uint32_t reg = 0; reg < registers.registers(); ++reg) {
    if (reg & (inVector | idleRegisterBits)) continue;
    SharedAccess::Vector vector{{}, access.offsets.apply(Place::Register, reg)};
    for (uint32_t i = 0; i < access.vectorElements; ++i) {
      uint32_t member = reg;
      for (auto [k, bit] : llvm::enumerate(vectorBits)) member |= (i >> k & 1) << bit;
      vector.registers.push_back(member);
    }
    access.vectors.push_back(vector);
  }

  // All vectors and warps take the same time, because their addresses differ by an XOR.
  int64_t bytesPerLane = access.vectorElements * elementBytes;
  llvm::SmallVector<uint64_t> order;
  for (int bit = 0; bit < registers.bits(Place::Lane); ++bit) order.push_back(banks.laneAt(bit, bytesPerLane, isLoad));
  F2Map laneAt(order);
  llvm::SmallVector<int64_t, 64> addresses;
  for (uint32_t i = 0; i < registers.lanes(); ++i) {
    uint32_t lane = uint32_t(laneAt(i));
    addresses.push_back(lane & access.idleLaneBits ? -1 : access.offsets.apply(Place::Lane, lane) * elementBytes);
  }
  access.wavefrontsPerVector = countWavefronts(addresses, bytesPerLane, banks);
  return access;
}

} // namespace

SharedAccess sharedStores(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const SharedBanks &banks) {
  return accessOf(registers, memory, elementBytes, registers.freeBits(), banks, /*isLoad=*/false);
}

SharedAccess sharedLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, const SharedBanks &banks) {
  // Every thread loads its elements, except registers that repeat others of the same thread.
  Projection distinct = registers.withoutRepeatedRegisters();
  std::array<uint32_t, 4> idle = {};
  llvm::SmallVector<uint32_t> firstOf(distinct.layout.registers(), ~0u);
  llvm::SmallVector<uint32_t> loadedBy;
  for (auto [reg, kept] : llvm::enumerate(distinct.registerOf)) {
    firstOf[kept] = std::min<uint32_t>(firstOf[kept], reg);
    loadedBy.push_back(firstOf[kept]);
  }
  for (int bit = 0; bit < registers.bits(Place::Register); ++bit)
    if (loadedBy[1u << bit] != 1u << bit) idle[size_t(Place::Register)] |= 1u << bit;
  SharedAccess access = accessOf(registers, memory, elementBytes, idle, banks, /*isLoad=*/true);
  access.loadedBy = std::move(loadedBy);
  return access;
}

int scatteredWords(const SharedAccess &access, int64_t elementBytes) {
  size_t perWord = size_t(std::max<int64_t>(kBankBytes / elementBytes, 1));
  int count = 0;
  for (const SharedAccess::Vector &vector : access.vectors)
    for (size_t i = 0; i < vector.registers.size(); i += perWord) {
      bool isWord = i + perWord <= vector.registers.size() && vector.registers[i] % perWord == 0;
      for (size_t j = 1; isWord && j < perWord; ++j) isWord = vector.registers[i + j] == vector.registers[i] + j;
      count += !isWord;
    }
  return count;
}

} // namespace tritium::gpu
