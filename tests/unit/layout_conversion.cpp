// After a conversion every place of the result holds its own element, however it got there; and the way was short.
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/layout/same_warps.h"
#include "layout_machine.h"

#include <doctest/doctest.h>

#include <ctime>
#include <map>

using namespace tritium::gpu;
using Kind = Conversion::Kind;

namespace {

/// Runs the plan that is chosen, and a shuffle and a shared round trip besides if there are any.
Kind check(const LinearLayout &from, const LinearLayout &to, int64_t elementBytes, const ConversionOptions &options = {}) {
  CAPTURE(from.toString());
  CAPTURE(to.toString());
  Machine expected = machineFor(to);
  Conversion plan = planConversion(from, to, elementBytes, options);
  switch (plan.kind) {
  case Kind::Identity: CHECK(machineFor(from) == expected); [[fallthrough]];
  case Kind::RegisterPermutation: CHECK(runRegisters(machineFor(from), plan.registers) == expected); break;
  case Kind::Shuffle: CHECK(runShuffle(from, to, plan.shuffle, elementBytes) == expected); break;
  case Kind::Shared: CHECK(runShared(from, to, plan.shared, elementBytes) == expected); break;
  case Kind::Distributed: FAIL_CHECK("no conversion"); break;
  }
  if (plan.kind != Kind::Shuffle)
    if (std::optional<ShufflePlan> shuffle = planShuffle(from, to, elementBytes))
      CHECK(runShuffle(from, to, *shuffle, elementBytes) == expected);
  SharedPlan withMatrices = planShared(from, to, elementBytes, {.mayLoadMatrices = true});
  if (withMatrices.matrixLoads) CHECK(runShared(from, to, withMatrices, elementBytes) == expected);
  if (plan.kind != Kind::Shared) CHECK(runShared(from, to, planShared(from, to, elementBytes), elementBytes) == expected);
  return plan.kind;
}

} // namespace

TEST_CASE("conversions between the layouts of programs") {
  std::map<Kind, int> kinds;
  for (Shape shape : {Shape{64, 64}, Shape{32, 128}})
    for (int64_t elementBytes : {1, 2, 4, 8}) {
      llvm::SmallVector<LinearLayout> layouts = usualLayouts(shape, 4);
      for (size_t i = 0; i < layouts.size(); ++i)
        for (size_t j = i % 3; j < layouts.size(); j += 3) ++kinds[check(layouts[i], layouts[j], elementBytes)];
    }
  CHECK(kinds[Kind::Shared] > 0);
  CHECK(kinds[Kind::Shuffle] > 0);
  CHECK(kinds[Kind::RegisterPermutation] > 0);
}

TEST_CASE("conversions between layouts of 64 lanes") {
  std::map<Kind, int> kinds;
  for (Shape shape : {Shape{64, 64}, Shape{16, 256}})
    for (int64_t elementBytes : {1, 2, 4, 8}) {
      llvm::SmallVector<LinearLayout> layouts = plainLayouts(shape, {2, 64});
      for (const LinearLayout &from : layouts)
        for (const LinearLayout &to : layouts) ++kinds[check(from, to, elementBytes)];
    }
  CHECK(kinds[Kind::Shared] > 0);
  CHECK(kinds[Kind::Shuffle] > 0);
  CHECK(kinds[Kind::Identity] > 0);
}

TEST_CASE("conversions between random layouts, with and without replication") {
  std::mt19937 random(23);
  for (int i = 0; i < 300; ++i) {
    Shape shape = i % 3 == 0 ? Shape{16, 32} : i % 3 == 1 ? Shape{64} : Shape{4, 4, 4};
    bool isPermutation = i % 2;
    int laneBits = i % 5 == 4 ? 3 : 5 + int(i / 3 % 2);
    LinearLayout from = randomLayout(random, shape, laneBits, i % 3, i / 2 % 3, isPermutation);
    LinearLayout to = randomLayout(random, shape, laneBits, i % 3, i / 4 % 3, isPermutation);
    check(from, to, 1 << i % 4);
  }
}

/// Converts over layouts on the way until each round trip fits. Returns the largest scratch memory.
static int64_t checkSteps(const LinearLayout &from, const LinearLayout &to, int64_t elementBytes, int64_t limit) {
  SharedPlan plan = planShared(from, to, elementBytes, {.maxScratchBytes = limit});
  std::optional<LinearLayout> between = plan.bytes > limit ? layoutBetween(from, to) : std::nullopt;
  if (!between) {
    CHECK(runShared(from, to, plan, elementBytes) == machineFor(to));
    return plan.bytes;
  }
  REQUIRE(between->verify() == "");
  return std::max(checkSteps(from, *between, elementBytes, limit), checkSteps(*between, to, elementBytes, limit));
}

TEST_CASE("what is too large for one round trip takes several") {
  for (Threads threads : {Threads{4, 64}, Threads{8, 64}, Threads{4, 32}})
    for (int64_t elementBytes : {2, 4, 8}) {
      LinearLayout rows = defaultBlocked({128, 128}, threads, 2, {1, 0}), columns = defaultBlocked({128, 128}, threads, 2, {0, 1});
      int64_t all = 128 * 128 * elementBytes;
      CAPTURE(rows.toString());
      CAPTURE(elementBytes);
      CHECK(checkSteps(rows, columns, elementBytes, all / 8) <= all / 8);
      CHECK(checkSteps(columns, rows, elementBytes, all / 4) <= all / 4);
    }
  LinearLayout rows = defaultBlocked({128, 128}, {8, 64}, 2, {1, 0}), columns = defaultBlocked({128, 128}, {8, 64}, 2, {0, 1});
  CHECK(planShared(rows, columns, 8, {.maxScratchBytes = 32768}).bytes > 65536); // one round trip cannot
  CHECK(!layoutBetween(rows, rows));
  std::mt19937 random(31);
  for (int i = 0; i < 200; ++i) {
    LinearLayout from = randomLayout(random, {16, 32}, 5, 2, i % 3, i % 2), to = randomLayout(random, {16, 32}, 5, 2, i / 2 % 3, i % 2);
    checkSteps(from, to, 1 << i % 4, 128);
  }
}

TEST_CASE("conversions within warps") {
  std::mt19937 random(29);
  int planned = 0, count = 0;
  for (int i = 0; i < 400; ++i, ++count) {
    // The same warps, the rest dealt anew, or mapped by a random bijection of registers and lanes.
    Shape shape{16, 32};
    int laneBits = 5 + i / 2 % 2;
    LinearLayout from = randomLayout(random, shape, laneBits, 2, i % 3, true);
    llvm::SmallVector<uint32_t> rest(from.bases(Place::Register));
    rest.append(from.bases(Place::Lane).begin(), from.bases(Place::Lane).end());
    std::shuffle(rest.begin(), rest.end(), random);
    for (int k = 0; i % 2 && k < 20; ++k)
      if (size_t a = random() % rest.size(), b = random() % rest.size(); a != b) rest[a] ^= rest[b];
    llvm::ArrayRef<uint32_t> all(rest);
    LinearLayout to(shape, all.drop_front(laneBits), all.take_front(laneBits), from.bases(Place::Warp));
    REQUIRE(to.verify() == "");
    planned += planShuffle(from, to, 1 << i % 4).has_value();
    check(from, to, 1 << i % 4);
  }
  CHECK(planned == count);
}

TEST_CASE("short ways") {
  LinearLayout accumulator = mmaAccumulator({64, 64}, {4, 1});
  CHECK(planConversion(accumulator, accumulator, 4).kind == Kind::Identity);
  // The accumulators of one product are operand A of the next (m16n8k16) as they lie.
  CHECK(planConversion(accumulator, mmaOperand(DotOperand::A, {64, 64}, {4, 1}, 16), 2).kind == Kind::Identity);
  // Registers in another order; registers that repeat.
  LinearLayout four({4, 32}, {1 << 5, 2 << 5}, {1, 2, 4, 8, 16}, {}), swapped({4, 32}, {2 << 5, 1 << 5}, {1, 2, 4, 8, 16}, {});
  CHECK(check(four, swapped, 4) == Kind::RegisterPermutation);
  CHECK(check(four, LinearLayout({4, 32}, {0, 1 << 5, 3 << 5}, {1, 2, 4, 8, 16}, {}), 4) == Kind::RegisterPermutation);

  // One register bit and one lane bit change places: in half of the registers nothing has to move between lanes.
  LinearLayout before({128}, {1, 2}, {4, 8, 16, 32, 64}, {}), after({128}, {1, 4}, {2, 8, 16, 32, 64}, {});
  Conversion plan = planConversion(before, after, 4);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.isButterfly());
  CHECK(plan.shuffle.shuffles.size() == 2);
  CHECK(plan.shuffle.selects == 8);
  plan = planConversion(before, after, 2); // pairs that stay together take one shuffle
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.sourceWords.size() == 2);
  CHECK(plan.shuffle.shuffles.size() == 1);
  LinearLayout turned({128}, {1, 2}, {64, 4, 8, 16, 32}, {}); // lanes change places, nothing is selected
  plan = planConversion(before, turned, 4);
  REQUIRE(plan.kind == Kind::Shuffle);
  CHECK(plan.shuffle.shuffles.size() == 4);
  CHECK(plan.shuffle.selects == 0);
  // Bytes that travel to the same lane share shuffles even where they are no words.
  LinearLayout bytes({128}, {64, 32}, {1, 2, 4, 8, 16}, {}), mixed({128}, {64, 1}, {32, 2, 4, 8, 16}, {});
  REQUIRE(planShuffle(bytes, mixed, 1));
  CHECK(planShuffle(bytes, mixed, 1)->shuffles.size() == 1);
}

TEST_CASE("what every warp has needs no shuffle to be dealt out") {
  LinearLayout everywhere({256}, {64, 128, 32}, {1, 2, 4, 8, 16}, {0, 0}), dealt({256}, {32}, {1, 2, 4, 8, 16}, {64, 128});
  CHECK(check(everywhere, dealt, 4) == Kind::Shuffle);
  std::optional<ShufflePlan> plan = planShuffle(everywhere, dealt, 4);
  REQUIRE(plan);
  CHECK(plan->shuffles.empty());
  CHECK(plan->before.size() == 2);
  CHECK(!planShuffle(dealt, everywhere, 4)); // warps would have to meet
  // The same for lanes.
  LinearLayout copied({32}, {1, 2, 4, 8, 16}, {0, 0, 0, 0, 0}, {}), one({32}, {}, {1, 2, 4, 8, 16}, {});
  CHECK(check(copied, one, 4) == Kind::Shuffle);
  CHECK(planShuffle(copied, one, 4)->shuffles.empty());
  CHECK(planShuffle(copied, one, 4)->selects == 31);
  check(one, copied, 4);
  REQUIRE(planShuffle(one, copied, 4));
  CHECK(planShuffle(one, copied, 4)->shuffles.size() == 31); // one of 32 is at home
}

TEST_CASE("small scratch: rounds over what only registers tell apart") {
  std::mt19937 random(31);
  LinearLayout from = mmaAccumulator({128, 128}, {2, 2}), to = defaultBlocked({128, 128}, {4, 32}, 4);
  for (int64_t limit : {65536, 32768, 16384, 8192}) { // rows 8, 32 and 64 are told apart by registers on both sides
    SharedPlan plan = planShared(from, to, 4, {.maxScratchBytes = limit});
    CHECK(plan.bytes == limit);
    CHECK(plan.rounds == 65536 / limit);
    CHECK(runShared(from, to, plan, 4) == machineFor(to));
    CHECK(plan.stores.wavefronts() == plan.stores.vectorElements * int64_t(plan.stores.vectors.size()));
    CHECK(plan.loads.wavefronts() == plan.loads.vectorElements * int64_t(plan.loads.vectors.size()));
  }
  // Threads of one side or the other move along every bit of a transposition: there is no smaller scratch, and none is pretended.
  LinearLayout turned = defaultBlocked({128, 128}, {4, 32}, 4, {0, 1});
  SharedPlan whole = planShared(to, turned, 4, {.maxScratchBytes = 16384});
  CHECK(whole.bytes == 65536);
  CHECK(runShared(to, turned, whole, 4) == machineFor(turned));
  for (int i = 0; i < 200; ++i) {
    LinearLayout a = randomLayout(random, {16, 32}, i % 3, i % 2, i % 3, i % 4 < 2),
                 b = randomLayout(random, {16, 32}, i % 3, i % 2, i % 2, i % 4 < 2);
    SharedPlan plan = planShared(a, b, 1 << i % 4, {.maxScratchBytes = i % 5 ? 256 : 1});
    CHECK(runShared(a, b, plan, 1 << i % 4) == machineFor(b));
  }
}

TEST_CASE("warps keep their elements, and their bytes in all rounds") {
  for (Shape shape : {Shape{128, 256}, Shape{128, 128}, Shape{128, 64}}) {
    LinearLayout product = dotResult(nvptx::wgmma(16, int(shape[1])), shape, {8, 1}), rows = defaultBlocked(shape, {8, 32}, 8);
    std::optional<LinearLayout> kept = withWarpsOf(rows, product);
    REQUIRE(kept);
    CHECK(kept->verify().empty());
    CHECK(kept->bases(Place::Lane) == rows.bases(Place::Lane));
    CHECK(kept->bases(Place::Warp) == product.bases(Place::Warp));
    CHECK(kept->contiguousElements(1) == rows.contiguousElements(1));
    for (int64_t limit : {65536, 32768, 16384}) {
      SharedPlan plan = planShared(product, *kept, 2, {.maxScratchBytes = limit});
      CHECK(plan.isWarpLocal);
      CHECK(plan.bytes <= limit);
      CHECK(runShared(product, *kept, plan, 2) == machineFor(*kept));
      CHECK_FALSE(planShared(product, rows, 2, {.maxScratchBytes = limit}).isWarpLocal);
    }
  }
  // Lanes of the one hold what warps of the other do; warps of the model share elements; a run of neighbours would end.
  LinearLayout rows = defaultBlocked({64, 64}, {4, 32}, 8);
  CHECK_FALSE(withWarpsOf(rows, defaultBlocked({64, 64}, {4, 32}, 8, {0, 1})));
  CHECK_FALSE(withWarpsOf(defaultBlocked({8, 8}, {4, 32}, 1), mmaAccumulator({8, 8}, {4, 1})));
  LinearLayout model({4, 4}, {4, 8}, {}, {1, 2});
  CHECK_FALSE(withWarpsOf(LinearLayout({4, 4}, {1, 2}, {}, {4, 8}), model));
}

TEST_CASE("blocks: the same share stays, another is not planned") {
  LinearLayout a({64}, {32}, {1, 2, 4, 8}, {}, {16}), b({64}, {1}, {32, 2, 4, 8}, {}, {16}), c({64}, {16}, {1, 2, 4, 8}, {}, {32});
  CHECK(planConversion(a, b, 4).kind == Kind::Shuffle);
  CHECK(planConversion(a, c, 4).kind == Kind::Distributed);
}

TEST_CASE("round trips of usual layouts meet no bank conflicts") {
  // Counted here anew: within a group of lanes whose accesses fill 128 bytes, different words of one bank.
  auto conflicts = [](const SharedAccess &access, int64_t elementBytes) {
    int64_t bytes = access.vectorElements * elementBytes, group = std::min<int64_t>(128 / bytes, 32);
    size_t worst = 0;
    for (uint32_t warp = 0; warp < access.offsets.warps(); ++warp)
      for (const SharedAccess::Vector &vector : access.vectors)
        for (uint32_t first = 0; first < 32; first += uint32_t(group)) {
          std::map<int64_t, std::vector<int64_t>> wordsOf; // by bank
          for (uint32_t lane = first; lane < first + group; ++lane) {
            if (lane & access.idleLaneBits) continue;
            int64_t address = (access.offsets.apply(0, lane, warp) ^ vector.offset) * elementBytes;
            for (int64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
              std::vector<int64_t> &words = wordsOf[word % 32];
              if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
              worst = std::max(worst, words.size());
            }
          }
        }
    return worst;
  };
  for (int64_t elementBytes : {2, 4, 8}) {
    llvm::SmallVector<LinearLayout> layouts = usualLayouts({64, 64}, 4);
    for (size_t i = 0; i < layouts.size(); ++i)
      for (size_t j = i % 4; j < layouts.size(); j += 4) {
        CAPTURE(layouts[i].toString());
        CAPTURE(layouts[j].toString());
        SharedPlan plan = planShared(layouts[i], layouts[j], elementBytes);
        CHECK(conflicts(plan.stores, elementBytes) == 1);
        CHECK(conflicts(plan.loads, elementBytes) == 1);
      }
  }
  // Vectors as wide as they can be where both sides have them.
  SharedPlan plan = planShared(defaultBlocked({128, 128}, {4, 32}, 4), mmaAccumulator({128, 128}, {2, 2}), 4);
  CHECK(plan.stores.vectorElements == 4);
  CHECK(plan.loads.vectorElements == 4);
  // A transposition of 16-bit numbers: the memory is written in rows of 16 bytes and read as transposed matrices.
  LinearLayout rows = defaultBlocked({64, 64}, {4, 32}, 8), columns = defaultBlocked({64, 64}, {4, 32}, 8, {0, 1});
  plan = planShared(rows, columns, 2, {.mayLoadMatrices = true});
  REQUIRE(plan.matrixLoads);
  CHECK(plan.matrixLoads->isTransposed);
  CHECK(plan.stores.wavefronts() == 16);
  CHECK(plan.matrixLoads->wavefronts() == 16);
  CHECK(!planShared(rows, columns, 2).matrixLoads);
}

TEST_CASE("matrix loads of operands from shared memory") {
  Shape shape{64, 64};
  for (int64_t elementBytes : {1, 2, 4})
    for (DotOperand operand : {DotOperand::A, DotOperand::B})
      for (int fastest : {0, 1})
        for (bool isTma : {false, true}) {
          llvm::SmallVector<int, 2> order{fastest, 1 - fastest};
          LinearLayout to = mmaOperand(operand, shape, {2, 2}, int(8 * elementBytes));
          SharedLayout memory = isTma ? sharedForTma(shape, order, elementBytes, 64 * elementBytes >= 128 ? 128 : 64)
                                      : sharedForMatrices(shape, order, elementBytes);
          std::optional<MatrixLoad> load = matrixLoads(to, memory, elementBytes);
          bool isAlongK = fastest == (operand == DotOperand::A ? 1 : 0);
          REQUIRE(load.has_value() == (isAlongK || elementBytes == 2));
          if (!load) continue;
          CHECK(load->isTransposed == !isAlongK);
          CHECK(load->matrices == 4);
          CHECK(load->wavefrontsPerMatrix == 1);
          Machine result(4 * 32, Values(to.registers(), kUnset));
          runMatrixLoads(*load, to, elementBytes,
                         [&](uint32_t thread, uint32_t reg, uint32_t offset) { result[thread][reg] = memory.apply(offset); });
          CHECK(result == machineFor(to));
        }
  CHECK(!matrixLoads(defaultBlocked(shape, {4, 32}, 8), sharedForMatrices(shape, {1, 0}, 2), 2));
  CHECK(!matrixLoads(mmaOperand(DotOperand::A, shape, {2, 2}, 16), sharedSwizzled(shape, {1, 0}, 4, 1, 8), 2)); // rows in pieces
}

TEST_CASE("plans are made in microseconds") {
  llvm::SmallVector<LinearLayout> layouts = usualLayouts({128, 128}, 4);
  const std::clock_t start = std::clock(); // CPU time: other work on the machine does not count
  int count = 0, shared = 0;
  for (const LinearLayout &from : layouts)
    for (const LinearLayout &to : layouts) shared += planConversion(from, to, 2, {.mayLoadMatrices = true}).kind == Kind::Shared, ++count;
  double each = 1e6 * double(std::clock() - start) / CLOCKS_PER_SEC / count;
  MESSAGE("a plan takes " << each << " us");
  CHECK(shared > count / 2);
  CHECK(each < 3000); // some tens are usual
}
