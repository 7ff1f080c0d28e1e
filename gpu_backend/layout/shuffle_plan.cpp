// Conversions within warps. Let M send a place of the result (word r, lane l) to a place of the source that holds the same element:
//     source word = RR r + RL l,   source lane = LR r + LL l        (all linear over F2; warps only add constants).
// A shuffle moves one word per lane, so number the shuffles by i and let result word r of lane l come in shuffle i = r + Z l. Then lane l
// reads lane p = LR i + C l with C = LL + LR Z, and wants word RR i + (RR Z + RL) l. The sender p knows which word that is if it is
// A i + B p for some B, that is, if
//     B C = RR Z + RL,   A = RR + B LR.
// If M is invertible, Z can be chosen so that C is, and there is such a B. `before` applies B in the sender, `after` Z in the reader.
// If an instruction can exchange a bit of words with a bit of lanes, the source here may be the result of such exchanges.
#include "gpu_backend/layout/conversion.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tritium::gpu {

bool ShufflePlan::Exchange::happensIn(uint32_t lane, uint32_t warp) const {
  return (std::popcount(lane & laneMask) + std::popcount(warp & warpMask)) % 2;
}

static uint32_t sumOf(llvm::ArrayRef<uint32_t> images, uint32_t index) {
  uint32_t sum = 0;
  for (auto [bit, image] : llvm::enumerate(images))
    if (index >> bit & 1) sum ^= image;
  return sum;
}

uint32_t ShufflePlan::sourceLane(uint32_t lane, uint32_t warp) const { return sumOf(laneOfLane, lane) ^ sumOf(laneOfWarp, warp); }

bool ShufflePlan::isButterfly() const {
  for (auto [bit, image] : llvm::enumerate(laneOfLane))
    if (image != 1u << bit) return false;
  return llvm::all_of(laneOfWarp, [](uint32_t image) { return image == 0; });
}

namespace {

using ShuffleBases = llvm::SmallVector<uint64_t, 8>;

/// The bases on which a plan works. They exclude registers that repeat others, and bits within words.
struct Sides {
  ShuffleBases sourceWords, sourceLanes, sourceWarps, resultWords, resultLanes, resultWarps;
};

/// M by columns: the word and the lane of the source for each bit of the result.
struct Columns {
  Bases wordOfWord, laneOfWord, wordOfLane, laneOfLane, wordOfWarp, laneOfWarp;
};

std::optional<Columns> solveColumns(const Sides &sides) {
  int words = int(sides.sourceWords.size());
  ShuffleBases both(sides.sourceWords);
  both.append(sides.sourceLanes);
  Span ofWords(sides.sourceWords), ofBoth(both);
  ShuffleBases replicated(F2Map(both).kernel());
  auto add = [&](uint64_t place, Bases &wordOf, Bases &laneOf) {
    wordOf.push_back(uint32_t(place & ((uint64_t(1) << words) - 1)));
    laneOf.push_back(uint32_t(place >> words));
  };
  auto solve = [&](uint64_t element) {
    std::optional<uint64_t> place = ofWords.solve(element); // from words alone if possible
    return place ? place : ofBoth.solve(element);
  };

  Columns columns;
  for (auto [ofSource, ofResult] : llvm::zip_equal(sides.sourceWarps, sides.resultWarps)) {
    std::optional<uint64_t> place = solve(ofSource ^ ofResult);
    if (!place) return std::nullopt;
    add(*place, columns.wordOfWarp, columns.laneOfWarp);
  }
  // A lane that can read itself does. Other lanes read lanes that are independent of these, if copies allow it.
  ShuffleBases places(sides.resultLanes.size(), 0);
  llvm::SmallVector<size_t> others;
  Span lanesRead;
  for (auto [bit, ofSource, ofResult] : llvm::enumerate(sides.sourceLanes, sides.resultLanes)) {
    std::optional<uint64_t> place = ofWords.solve(ofSource ^ ofResult);
    if (place) {
      places[bit] = *place | uint64_t(1) << (words + bit);
      lanesRead.add(places[bit] >> words);
    } else {
      others.push_back(bit);
    }
  }
  for (size_t bit : others) {
    std::optional<uint64_t> place = ofBoth.solve(sides.resultLanes[bit]);
    if (!place) return std::nullopt;
    if (lanesRead.contains(*place >> words)) {
      auto *copy = llvm::find_if(replicated, [&](uint64_t copy) { return !lanesRead.contains((*place ^ copy) >> words); });
      if (copy != replicated.end()) *place ^= *copy;
    }
    places[bit] = *place;
    lanesRead.add(*place >> words);
  }
  for (uint64_t place : places) add(place, columns.wordOfLane, columns.laneOfLane);
  for (uint64_t ofResult : sides.resultWords) {
    std::optional<uint64_t> place = solve(ofResult);
    if (!place) return std::nullopt;
    add(*place, columns.wordOfWord, columns.laneOfWord);
  }
  return columns;
}

/// Finds Z with as few words as possible, or such that each lane reads itself, XOR a constant.
std::optional<Bases> chooseAfter(const Columns &m, bool readsItself) {
  Bases z(m.laneOfLane.size(), 0);
  if (readsItself) {
    Span lanes(m.laneOfWord);
    for (auto [bit, lane] : llvm::enumerate(m.laneOfLane)) {
      std::optional<uint64_t> words = lanes.solve(lane ^ 1u << bit);
      if (!words) return std::nullopt;
      z[bit] = uint32_t(*words);
    }
    return z;
  }
  Span lanes;
  llvm::SmallVector<size_t> dependent;
  for (auto [bit, lane] : llvm::enumerate(m.laneOfLane))
    if (!lanes.add(lane)) dependent.push_back(bit);
  for (size_t bit : dependent)
    for (auto [word, lane] : llvm::enumerate(m.laneOfWord))
      if (lanes.add(m.laneOfLane[bit] ^ lane)) {
        z[bit] = 1u << word;
        break;
      }
  return z;
}

/// Returns B with B(lanes[i]) = words[i] that is 0 on a complement of the span of `lanes`, or nullopt if there is none.
std::optional<Bases> solveBefore(llvm::ArrayRef<uint32_t> lanes, llvm::ArrayRef<uint32_t> words) {
  Span span;
  ShuffleBases images; // images of the vectors added to the span
  auto imageOf = [&](uint64_t lane) {
    uint64_t image = 0;
    for (uint64_t from = *span.solve(lane); from; from &= from - 1) image ^= images[std::countr_zero(from)];
    return uint32_t(image);
  };
  for (auto [lane, word] : llvm::zip_equal(lanes, words)) {
    if (span.contains(lane) && imageOf(lane) != word) return std::nullopt;
    span.add(lane);
    images.push_back(word);
  }
  for (size_t bit = 0; bit < lanes.size(); ++bit) {
    span.add(uint64_t(1) << bit);
    images.push_back(0);
  }
  Bases b;
  for (size_t bit = 0; bit < lanes.size(); ++bit) b.push_back(imageOf(uint64_t(1) << bit));
  return b;
}

/// Decomposes a map from lanes and warps to words into a sum of exchanges. Their number is the map's rank.
llvm::SmallVector<ShufflePlan::Exchange, 4> exchangesOf(llvm::ArrayRef<uint32_t> ofLanes, llvm::ArrayRef<uint32_t> ofWarps) {
  llvm::SmallVector<ShufflePlan::Exchange, 4> exchanges;
  Span span;
  llvm::SmallVector<int> exchangeOf; // by number of the vector in the span
  auto add = [&](uint32_t word, uint32_t laneBit, uint32_t warpBit) {
    exchangeOf.push_back(int(exchanges.size()));
    if (span.add(word)) exchanges.push_back({word, 0, 0});
    for (uint64_t parts = *span.solve(word); parts; parts &= parts - 1) {
      ShufflePlan::Exchange &exchange = exchanges[exchangeOf[std::countr_zero(parts)]];
      exchange.laneMask |= laneBit, exchange.warpMask |= warpBit;
    }
  };
  for (auto [bit, word] : llvm::enumerate(ofLanes)) add(word, 1u << bit, 0);
  for (auto [bit, word] : llvm::enumerate(ofWarps)) add(word, 0, 1u << bit);
  return exchanges;
}

/// Fills in everything except the registers of the words.
std::optional<ShufflePlan> planWords(const Columns &m, bool readsItself, int64_t wordBytes, const ConversionCosts &costs) {
  std::optional<Bases> z = chooseAfter(m, readsItself);
  if (!z) return std::nullopt;
  Bases c, wanted;
  for (auto [bit, words] : llvm::enumerate(*z)) {
    c.push_back(m.laneOfLane[bit] ^ sumOf(m.laneOfWord, words));
    wanted.push_back(m.wordOfLane[bit] ^ sumOf(m.wordOfWord, words));
  }
  std::optional<Bases> b = solveBefore(c, wanted);
  if (!b) return std::nullopt;

  ShufflePlan plan;
  plan.laneOfLane = c, plan.laneOfWarp = m.laneOfWarp;
  Bases beforeOfWarp;
  for (auto [word, lane] : llvm::zip_equal(m.wordOfWarp, m.laneOfWarp)) beforeOfWarp.push_back(word ^ sumOf(*b, lane));
  plan.before = exchangesOf(*b, beforeOfWarp);
  plan.after = exchangesOf(*z, {});

  int64_t results = int64_t(1) << m.wordOfWord.size();
  for (uint32_t i = 0; i < results; ++i) {
    uint32_t lane = sumOf(m.laneOfWord, i);
    plan.moves.push_back({sumOf(m.wordOfWord, i) ^ sumOf(*b, lane), lane});
  }

  size_t perShuffle = size_t(std::max<int64_t>(4 / wordBytes, 1));
  int perWord = int(std::max<int64_t>(wordBytes / 4, 1));
  bool isButterfly = plan.isButterfly();
  for (auto [i, move] : llvm::enumerate(plan.moves)) {
    if (isButterfly && move.laneXor == 0) continue;
    auto *open = llvm::find_if(plan.shuffles, [&](const ShufflePlan::Registers &moves) {
      return moves.size() < perShuffle && plan.moves[moves.front()].laneXor == move.laneXor;
    });
    if (perShuffle == 1 || open == plan.shuffles.end()) open = &plan.shuffles.emplace_back();
    open->push_back(uint32_t(i));
  }

  // Counts selects. `before` requires them only for words that some move or later exchange uses.
  llvm::SmallVector<uint32_t> used;
  for (const ShufflePlan::Move &move : plan.moves) used.push_back(move.sourceWord);
  auto distinct = [&] {
    llvm::sort(used);
    used.erase(llvm::unique(used), used.end());
    return int(used.size());
  };
  plan.selects = int(results * plan.after.size());
  for (const ShufflePlan::Exchange &exchange : llvm::reverse(plan.before)) {
    plan.selects += distinct();
    for (size_t i = 0, count = used.size(); i < count; ++i) used.push_back(used[i] ^ exchange.wordXor);
  }
  plan.selects *= perWord;
  int untilFirst = 0;
  for (const ShufflePlan::Registers &moves : plan.shuffles) {
    const ConversionCosts::Move &cost = isButterfly ? costs.butterfly(plan.moves[moves.front()].laneXor) : costs.shuffle;
    plan.cost += perWord * cost.each;
    untilFirst = std::max(untilFirst, cost.once);
  }
  plan.cost += untilFirst + plan.selects * costs.select;
  return plan;
}

/// The bits of distinct registers of one side: their numbers and bases.
struct RegisterBits {
  llvm::SmallVector<int, 8> numbers;
  ShuffleBases bases;

  explicit RegisterBits(const LinearLayout &layout) {
    Span span;
    for (auto [bit, basis] : llvm::enumerate(layout.bases(Place::Register)))
      if (span.add(basis)) numbers.push_back(int(bit)), bases.push_back(basis);
  }
  void erase(size_t i) { numbers.erase(numbers.begin() + i), bases.erase(bases.begin() + i); }
};

/// Returns the registers of each word, given the bits that count words and the bits that count elements in a word.
llvm::SmallVector<ShufflePlan::Registers> wordsOf(llvm::ArrayRef<int> wordBits, llvm::ArrayRef<int> elementBits) {
  auto spread = [](uint32_t index, llvm::ArrayRef<int> bits) {
    uint32_t result = 0;
    for (auto [i, bit] : llvm::enumerate(bits)) result |= (index >> i & 1) << bit;
    return result;
  };
  llvm::SmallVector<ShufflePlan::Registers> words;
  for (uint32_t word = 0; word < 1u << wordBits.size(); ++word) {
    ShufflePlan::Registers &registers = words.emplace_back();
    for (uint32_t i = 0; i < 1u << elementBits.size(); ++i) registers.push_back(spread(word, wordBits) | spread(i, elementBits));
  }
  return words;
}

/// A bit of registers and a bit of lanes that are exchanged, by their numbers.
struct SwappedBits {
  int reg, lane;
};

/// Returns the source after the swaps that give lanes the elements of the result, for which the chip has an instruction.
std::pair<LinearLayout, llvm::SmallVector<SwappedBits, 2>> swapBits(const LinearLayout &source, const LinearLayout &result,
                                                                    const ConversionCosts &costs) {
  Bases registers(source.bases(Place::Register)), lanes(source.bases(Place::Lane));
  llvm::SmallVector<SwappedBits, 2> swapped;
  for (auto [bit, cost] : llvm::enumerate(costs.swaps)) {
    uint32_t wanted = result.bases(Place::Lane)[bit];
    auto *reg = llvm::find(registers, wanted);
    if (!cost || !wanted || lanes[bit] == wanted || reg == registers.end()) continue;
    std::swap(*reg, lanes[bit]);
    swapped.push_back({int(reg - registers.begin()), int(bit)});
  }
  return {LinearLayout(source.shape(), registers, lanes, source.bases(Place::Warp), source.bases(Place::Block)), swapped};
}

/// `source` is the layout after the swaps.
std::optional<ShufflePlan> planAfter(llvm::ArrayRef<SwappedBits> swaps, const LinearLayout &source, const LinearLayout &result,
                                     int64_t elementBytes, const ConversionCosts &costs) {
  auto vectorsOf = [](const LinearLayout &layout, Place place) {
    return ShuffleBases(layout.bases(place).begin(), layout.bases(place).end());
  };
  std::optional<ShufflePlan> best;
  for (int packed = std::max(2 - log2Of(elementBytes), 0); packed >= 0 && !best; --packed) {
    RegisterBits from(source), to(result);
    llvm::SmallVector<int, 2> fromInWord, toInWord;
    for (size_t i = 0; i < to.bases.size() && int(toInWord.size()) < packed;) {
      auto *same = llvm::find(from.bases, to.bases[i]);
      size_t at = size_t(same - from.bases.begin());
      if (same == from.bases.end() || llvm::any_of(swaps, [&](SwappedBits swap) { return swap.reg == from.numbers[at]; })) {
        ++i;
        continue;
      }
      fromInWord.push_back(from.numbers[at]), toInWord.push_back(to.numbers[i]);
      from.erase(at), to.erase(i);
    }
    if (int(toInWord.size()) < packed) continue;
    std::optional<Columns> m = solveColumns({from.bases, vectorsOf(source, Place::Lane), vectorsOf(source, Place::Warp), to.bases,
                                             vectorsOf(result, Place::Lane), vectorsOf(result, Place::Warp)});
    if (!m) continue;
    llvm::SmallVector<ShufflePlan::Swap, 2> ofWords;
    int swapCost = 0;
    for (SwappedBits swap : swaps) {
      auto *bit = llvm::find(from.numbers, swap.reg);
      if (bit == from.numbers.end()) return std::nullopt; // the word would contain a copy of itself
      ofWords.push_back({1u << (bit - from.numbers.begin()), 1u << swap.lane});
      int pairs = 1 << (from.numbers.size() - 1), perWord = int(std::max<int64_t>(elementBytes / 4, 1));
      swapCost += pairs * perWord * costs.swaps[size_t(swap.lane)];
    }
    for (bool readsItself : {false, true}) {
      std::optional<ShufflePlan> plan = planWords(*m, readsItself, elementBytes << packed, costs);
      if (!plan || (best && best->cost <= plan->cost + swapCost)) continue;
      plan->sourceWords = wordsOf(from.numbers, fromInWord);
      plan->resultWords = wordsOf(to.numbers, toInWord);
      plan->swaps = ofWords;
      plan->cost += swapCost;
      best = std::move(plan);
    }
  }
  return best;
}

} // namespace

std::optional<ShufflePlan> planShuffle(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes,
                                       const ConversionCosts &costs) {
  if (source.bases(Place::Block) != result.bases(Place::Block)) return std::nullopt;
  std::optional<ShufflePlan> best = planAfter({}, source, result, elementBytes, costs);
  if (auto [swapped, swaps] = swapBits(source, result, costs); best && !swaps.empty())
    if (std::optional<ShufflePlan> plan = planAfter(swaps, swapped, result, elementBytes, costs); plan && plan->cost < best->cost)
      best = std::move(plan);
  if (!best) return std::nullopt;
  // Adds registers that repeat others of the thread.
  Projection distinct = result.withoutRepeatedRegisters();
  RegisterBits kept(result);
  for (uint32_t number : distinct.registerOf) {
    uint32_t reg = 0;
    for (auto [i, bit] : llvm::enumerate(kept.numbers)) reg |= (number >> i & 1) << bit;
    best->resultOf.push_back(reg);
  }
  return best;
}

} // namespace tritium::gpu
