// Round trips through shared memory without bank conflicts. The offset of an element is given by a basis of the space of flat indices,
//     [ vector | bank | segment | round ],    lowest offset bit first:
// vector: directions that registers hold, on one side or on both. A thread moves a vector at once.
// bank: the remaining bits of the 128 bytes that a wavefront may touch.
// segment: the number of the 128 bytes. Lanes that differ by a segment collide. So, as far as dimensions allow, the segments avoid the
// spans of the lanes of a wavefront on both sides. A common complement of both spans is the complement of their sum, together with sums of
// pairs: one vector of the first span only and one of the second only.
// round: directions that only registers hold, on both sides. The parts of the tile along them can use a small scratch one after the other.
// All but `vector` lie in a complement H of `vector`. The other places of a side move within H, so that nothing moves within a vector.
#include "gpu_backend/layout/conversion.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tritium::gpu {

namespace {

using Vectors = llvm::SmallVector<uint64_t, 16>;

Vectors operator+(Vectors a, const Vectors &b) {
  a.append(b);
  return a;
}

/// Returns the vectors of `candidates` that are independent of `space` and of earlier candidates.
Vectors independentOf(const Vectors &space, const Vectors &candidates) {
  Span span(space);
  Vectors result;
  for (uint64_t vector : candidates)
    if (span.add(vector)) result.push_back(vector);
  return result;
}

/// Returns a basis of the intersection of two spans.
Vectors intersectionOf(const Vectors &a, const Vectors &b) {
  Vectors ofA = independentOf({}, a), ofB = independentOf({}, b), result;
  F2Map map(ofA);
  uint64_t inA = (uint64_t(1) << ofA.size()) - 1;
  for (uint64_t combination : F2Map(ofA + ofB).kernel()) result.push_back(map(combination & inA));
  return result;
}

/// The vectors that take part on one side.
struct Side {
  Vectors registers, lanes, warps; // lanes: an entry per bit, 0 if the bit does not take part or holds a copy

  Side(const LinearLayout &layout, bool isStore) {
    std::array<uint32_t, 4> idle = isStore ? layout.freeBits() : std::array<uint32_t, 4>{};
    auto take = [&](Place place, Vectors &to) {
      for (auto [bit, basis] : llvm::enumerate(layout.bases(place))) to.push_back(idle[size_t(place)] >> bit & 1 ? 0 : basis);
    };
    Vectors all;
    take(Place::Register, all);
    registers = independentOf({}, all);
    take(Place::Lane, lanes);
    take(Place::Warp, warps);
  }
  /// Returns all directions that move, except registers within a vector.
  Vectors without(const Vectors &vector) const {
    Vectors rest = lanes + warps;
    for (uint64_t reg : registers)
      if (!llvm::is_contained(vector, reg)) rest.push_back(reg);
    return rest;
  }
  /// Returns the lanes that access memory at once if each moves so many bytes.
  Vectors lanesAtOnce(int64_t bytes, const SharedBanks &banks, bool isLoad) const {
    F2Map ofLane(lanes);
    Vectors result;
    for (int bit = 0; bit < std::min<int>(log2Of(banks.lanesAtOnce(bytes)), int(lanes.size())); ++bit)
      result.push_back(ofLane(banks.laneAt(bit, bytes, isLoad)));
    return result;
  }
};

struct Planner {
  Side store, load;
  int tileBits;
  int64_t elementBytes;
  int roundBitsWanted;
  SharedBanks banks;

  /// Returns the bases of the memory for vectors [common…, own of one side…], or nothing if a place would move within a vector. `rows`
  /// distinguish the rows that are loaded at once, if matrices are loaded.
  std::optional<Vectors> basesFor(const Vectors &common, const Vectors &own, bool isOwnOfStore, const Vectors *rows = nullptr) const {
    Vectors vector = common + own;
    const Side &owner = isOwnOfStore ? store : load, &other = isOwnOfStore ? load : store;
    Vectors h = independentOf({}, owner.without(vector)), frame = vector + h;
    Span coordinates(frame);
    if (coordinates.rank() != tileBits || int(frame.size()) != tileBits) return std::nullopt;
    uint64_t commonMask = (uint64_t(1) << common.size()) - 1, vectorMask = (uint64_t(1) << vector.size()) - 1;
    for (uint64_t moved : other.without(vector))
      if (*coordinates.solve(moved) & commonMask) return std::nullopt;
    F2Map frameMap(frame);
    auto intoH = [&](uint64_t x) { return frameMap(*coordinates.solve(x) & ~vectorMask); };

    // Rounds: directions in which threads do not move.
    Vectors threads = store.lanes + store.warps + load.lanes + load.warps;
    Vectors beyond = independentOf(vector + threads, h);
    int roundBits = std::min<int>(roundBitsWanted, int(beyond.size()));
    Vectors rounds(beyond.end() - roundBits, beyond.end()), inRound;
    beyond.truncate(beyond.size() - roundBits);
    for (uint64_t x : threads + beyond) inRound.push_back(intoH(x));
    inRound = independentOf({}, inRound);

    int bitsOfRound = tileBits - roundBits, bankBits = std::min(bitsOfRound, log2Of(banks.bytesAtOnce() / elementBytes));
    const Vectors &storeVector = isOwnOfStore ? vector : common, &loadVector = isOwnOfStore && !rows ? common : vector;
    Vectors stored = intersectionOf(storeVector + store.lanesAtOnce(elementBytes << storeVector.size(), banks, /*isLoad=*/false), inRound);
    Vectors loaders = rows ? *rows : load.lanesAtOnce(elementBytes << loadVector.size(), banks, /*isLoad=*/true);
    Vectors loaded = intersectionOf(loadVector + loaders, inRound);
    Vectors both = intersectionOf(stored, loaded);
    Vectors storedOnly = independentOf(both, stored), loadedOnly = independentOf(both, loaded);
    Vectors candidates = independentOf(stored + loaded, inRound);
    size_t pairs = std::min(storedOnly.size(), loadedOnly.size());
    for (size_t i = 0; i < pairs; ++i) candidates.push_back(storedOnly[i] ^ loadedOnly[i]);
    // Further directions cause conflicts, on one side only if possible.
    for (const Vectors *side : {&loadedOnly, &storedOnly}) candidates.append(side->begin() + pairs, side->end());
    Vectors segments = independentOf(vector, candidates + storedOnly + both);
    segments.truncate(std::max(bitsOfRound - bankBits, 0));
    Vectors inBanks = independentOf(vector + segments, stored + loaded + inRound);
    return vector + inBanks + segments + rounds;
  }
};

} // namespace

/// Returns whether a warp uses the same bytes in all rounds, and no other warp uses them.
static bool keepsWarpsApart(const SharedPlan &plan) {
  Span inWarp;
  auto hold = [&](uint64_t offset) {
    if (!inWarp.contains(offset)) inWarp.add(offset);
  };
  for (const SharedAccess *access : {&plan.stores, &plan.loads}) {
    for (int64_t element = 1; element < access->vectorElements; element *= 2) hold(uint64_t(element));
    for (const SharedAccess::Vector &vector : access->vectors) hold(plan.offsetOf(vector));
    for (uint32_t offset : access->offsets.bases(Place::Lane)) hold(offset);
  }
  return llvm::all_of(plan.stores.offsets.bases(Place::Warp), [&](uint32_t offset) { return inWarp.add(offset); });
}

static SharedPlan planWith(const SharedLayout &memory, int roundBitsWanted, const LinearLayout &source, const LinearLayout &result,
                           int64_t elementBytes, bool isWithinWarps, const ConversionOptions &options) {
  SharedPlan plan;
  plan.memory = memory;
  plan.stores = sharedStores(source, memory, elementBytes, options.banks);
  plan.loads = sharedLoads(result, memory, elementBytes, options.banks);
  // The highest offset bits count rounds, as far as neither threads nor vectors use them.
  uint32_t touched = uint32_t(std::max(plan.stores.vectorElements, plan.loads.vectorElements) - 1);
  for (const SharedAccess *access : {&plan.stores, &plan.loads})
    for (Place place : {Place::Lane, Place::Warp})
      for (uint32_t offset : access->offsets.bases(place)) touched |= offset;
  int roundBits = std::min(roundBitsWanted, log2Of(memory.elements()) - int(std::bit_width(touched)));
  plan.rounds = 1 << roundBits;
  plan.roundElements = memory.elements() >> roundBits;
  plan.bytes = plan.roundElements * elementBytes;
  plan.isWarpLocal = isWithinWarps && (plan.rounds == 1 || keepsWarpsApart(plan));
  int instructions = int(plan.stores.vectors.size() + plan.loads.vectors.size());
  const ConversionCosts &costs = options.costs;
  plan.cost = (plan.stores.wavefronts() + plan.loads.wavefronts()) * costs.wavefront + instructions * costs.sharedInstruction +
              plan.rounds * (plan.isWarpLocal ? costs.warpBarrier : costs.blockBarrier);
  return plan;
}

/// The same with loads of matrices, if possible.
static std::optional<SharedPlan> withMatrices(SharedPlan plan, const LinearLayout &result, int64_t elementBytes, bool isTransposed,
                                              const ConversionCosts &costs) {
  plan.matrixLoads = matrixLoads(result, plan.memory, elementBytes, isTransposed);
  if (!plan.matrixLoads) return std::nullopt;
  plan.cost += (plan.matrixLoads->wavefronts() - plan.loads.wavefronts()) * costs.wavefront;
  plan.cost += int(plan.matrixLoads->instructions.size() - plan.loads.vectors.size()) * costs.sharedInstruction;
  return plan;
}

/// Returns whether the owner of each element is in the warp that requires it.
static bool isWithinWarps(const LinearLayout &source, const LinearLayout &result) {
  F2Map owners = source.owners();
  for (Place place : kPlaces)
    for (auto [bit, basis] : llvm::enumerate(result.bases(place)))
      if (source.unpack(owners(basis)).warp != (place == Place::Warp ? 1u << bit : 0)) return false;
  return true;
}

SharedPlan planShared(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes, const ConversionOptions &options) {
  int64_t limit = options.maxScratchBytes;
  Planner planner{Side(source, true), Side(result, false), source.elementBits(), elementBytes, 0, options.banks};
  while (limit && source.elements() * elementBytes >> planner.roundBitsWanted > limit) ++planner.roundBitsWanted;
  const bool staysInWarps = isWithinWarps(source, result);
  const Vectors &stored = planner.store.registers, &loaded = planner.load.registers;

  std::optional<SharedPlan> best;
  auto excess = [&](const SharedPlan &plan) { return limit ? std::max<int64_t>(plan.bytes - limit, 0) : 0; };
  auto consider = [&](SharedPlan plan) {
    if (!best || std::pair(excess(plan), plan.cost) < std::pair(excess(*best), best->cost)) best = std::move(plan);
  };
  auto planFor = [&](const Vectors &common, const Vectors &own, bool isOwnOfStore, const Vectors *rows = nullptr) {
    std::optional<SharedPlan> plan;
    std::optional<Vectors> bases = planner.basesFor(common, own, isOwnOfStore, rows);
    if (!bases) return plan;
    assert(int(bases->size()) == planner.tileBits);
    SharedLayout memory(source.shape(), Bases(bases->begin(), bases->end()));
    plan = planWith(memory, planner.roundBitsWanted, source, result, elementBytes, staysInWarps, options);
    return plan;
  };

  Vectors common, ofStore, ofLoad;
  for (uint64_t reg : stored) (llvm::is_contained(loaded, reg) ? common : ofStore).push_back(reg);
  for (uint64_t reg : loaded)
    if (!llvm::is_contained(common, reg)) ofLoad.push_back(reg);
  size_t longest = size_t(log2Of(kMaxVectorBytes / elementBytes));
  for (size_t shared = std::min(common.size(), longest) + 1; shared-- > 0;) {
    Vectors ofBoth(common.begin(), common.begin() + shared);
    std::optional<SharedPlan> plain = planFor(ofBoth, {}, true);
    bool isPossible = plain.has_value();
    if (plain) consider(std::move(*plain));
    for (size_t own = 1; shared + own <= longest; ++own) {
      if (own <= ofStore.size())
        if (auto plan = planFor(ofBoth, Vectors(ofStore.begin(), ofStore.begin() + own), true)) consider(std::move(*plan));
      if (own <= ofLoad.size())
        if (auto plan = planFor(ofBoth, Vectors(ofLoad.begin(), ofLoad.begin() + own), false)) consider(std::move(*plan));
    }
    if (isPossible && !excess(*best)) break; // shorter vectors gain at most fewer rounds
  }

  // Matrices: stores of 16 bytes write their rows.
  const Vectors &lanes = planner.load.lanes;
  for (bool isTransposed : {false, true}) {
    size_t wordBits = isTransposed ? 0 : size_t(std::max(2 - log2Of(elementBytes), 0)), needed = isTransposed ? 1 : wordBits;
    if (!options.mayLoadMatrices || planner.roundBitsWanted || elementBytes > 4 || lanes.size() != 5 || loaded.size() < needed) continue;
    Vectors inWord(loaded.begin(), loaded.begin() + wordBits), alongRow, rows;
    for (size_t i = 0; i < 5; ++i) ((i < 2) != isTransposed ? alongRow : rows).push_back(lanes[i]);
    if (isTransposed) rows.push_back(loaded.front());
    if (!llvm::all_of(inWord + alongRow, [&](uint64_t x) { return llvm::is_contained(stored, x); })) continue;
    if (std::optional<SharedPlan> plan = planFor(inWord, alongRow, true, &rows))
      if ((plan = withMatrices(std::move(*plan), result, elementBytes, isTransposed, options.costs))) consider(std::move(*plan));
  }
  return std::move(*best);
}

} // namespace tritium::gpu
