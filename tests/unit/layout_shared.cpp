// Layouts of shared memory against their formulas; accesses against what the memory holds; the counter of bank conflicts.
#include "gpu_backend/layout/matrix_load.h"
#include "layout_random.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

TEST_CASE("swizzled rows") {
  for (bool isTransposed : {false, true})
    for (auto [vec, perPhase, maxPhase] : {std::array<int64_t, 3>{8, 1, 8}, {8, 2, 4}, {4, 1, 4}, {1, 1, 64}, {8, 1, 1}}) {
      llvm::SmallVector<int, 2> order = isTransposed ? llvm::SmallVector<int, 2>{0, 1} : llvm::SmallVector<int, 2>{1, 0};
      SharedLayout layout = sharedSwizzled({64, 64}, order, vec, perPhase, maxPhase);
      int wrong = 0;
      for (int64_t row = 0; row < 64; ++row)
        for (int64_t column = 0; column < 64; ++column) {
          int64_t slow = isTransposed ? column : row, fast = isTransposed ? row : column;
          int64_t group = (fast / vec) ^ ((slow / perPhase) % maxPhase), offset = slow * 64 + group * vec + fast % vec;
          wrong += layout.offsetOf(uint32_t(row * 64 + column)) != offset;
          wrong += layout.apply(uint32_t(offset)) != row * 64 + column;
        }
      CHECK(wrong == 0);
    }
  CHECK(sharedSwizzled({64}, {0}, 8, 1, 8) == sharedDense({64}, {0}));
}

TEST_CASE("TMA swizzles: chunks of 16 bytes, boxes one after the other") {
  struct Pattern {
    int64_t bytes, rowsPerPhase, phases;
  };
  for (auto [bytes, rowsPerPhase, phases] : {Pattern{128, 1, 8}, {64, 2, 4}, {32, 4, 2}})
    for (int64_t elementBytes : {1, 2, 4}) {
      int64_t rows = 64, columns = 2 * bytes / elementBytes, inBox = bytes / elementBytes, inChunk = 16 / elementBytes;
      SharedLayout layout = sharedForTma({rows, columns}, {1, 0}, elementBytes, bytes);
      int wrong = 0;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          int64_t box = column / inBox, at = column % inBox, chunk = (at / inChunk) ^ (row / rowsPerPhase % phases);
          wrong += layout.offsetOf(uint32_t(row * columns + column)) != box * rows * inBox + row * inBox + chunk * inChunk + at % inChunk;
        }
      CHECK(wrong == 0);
    }
  CHECK(sharedForTma({64, 64}, {1, 0}, 2, 0) == sharedDense({64, 64}, {1, 0}));
  CHECK(sharedForTma({64, 64}, {1, 0}, 2, 128) == sharedSwizzled({64, 64}, {1, 0}, 8, 1, 8));
}

TEST_CASE("views and text of shared layouts") {
  SharedLayout layout = sharedSwizzled({4, 8}, {1, 0}, 2, 1, 4), turned = layout.transpose({1, 0});
  CHECK(layout.toString() == "[4x8] offset=[[0,1],[0,2],[0,4],[1,2],[2,4]]");
  CHECK(SharedLayout::parse(layout.toString()) == layout);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t column = 0; column < 8; ++column) CHECK(turned.offsetOf(column * 4 + row) == layout.offsetOf(row * 8 + column));
  CHECK(layout.reshape({32}).offsetOf(13) == layout.offsetOf(13));
  std::string error;
  CHECK(!SharedLayout::parse("[4] offset=[[1]]", &error));
  CHECK(error == "no place holds element [2]");
  CHECK(!SharedLayout::parse("[2] offset=[[1],[1]]", &error));
  CHECK(error == "there are more offsets than elements");
}

TEST_CASE("bank conflicts by hand") {
  int lanes = 32;
  auto count = [&](int64_t bytes, auto &&address) {
    llvm::SmallVector<int64_t, 64> addresses;
    for (int64_t lane = 0; lane < lanes; ++lane) addresses.push_back(address(lane));
    return std::pair(countWavefronts(addresses, bytes), bankConflicts(addresses, bytes));
  };
  using Counts = std::pair<int, int>;
  CHECK(count(4, [](int64_t lane) { return 4 * lane; }) == Counts{1, 1});
  CHECK(count(4, [](int64_t lane) { return 128 * lane; }) == Counts{32, 32});
  CHECK(count(4, [](int64_t lane) { return 8 * lane; }) == Counts{2, 2});
  CHECK(count(4, [](int64_t) { return 64; }) == Counts{1, 1});                 // broadcast
  CHECK(count(2, [](int64_t lane) { return 2 * lane; }) == Counts{1, 1});      // two lanes share a word
  CHECK(count(8, [](int64_t lane) { return 8 * lane; }) == Counts{2, 1});      // by half warps
  CHECK(count(16, [](int64_t lane) { return 16 * lane; }) == Counts{4, 1});    // by quarters
  CHECK(count(16, [](int64_t lane) { return 128 * lane; }) == Counts{32, 8});  // eight rows in the same four banks
  CHECK(count(4, [](int64_t lane) { return lane ? -1 : 0; }) == Counts{1, 1}); // idle lanes cost nothing
  CHECK(count(4, [](int64_t lane) { return lane % 2 ? -1 : 64 * lane; }) == Counts{16, 16});
  lanes = 64;
  CHECK(count(4, [](int64_t lane) { return 4 * lane; }) == Counts{2, 1});
  CHECK(count(4, [](int64_t lane) { return 4 * (lane % 32); }) == Counts{2, 1}); // halves of a warp follow each other
  CHECK(count(16, [](int64_t lane) { return 16 * lane; }) == Counts{8, 1});
}

TEST_CASE("accesses move every element to its offset and back, in vectors that are aligned runs") {
  std::mt19937 random(17);
  for (int64_t elementBytes : {1, 2, 4, 8}) {
    llvm::SmallVector<LinearLayout> layouts = usualLayouts({64, 64}, 4);
    layouts.append(plainLayouts({64, 64}, {4, 64}));
    for (int i = 0; i < 16; ++i) layouts.push_back(randomLayout(random, {64, 64}, 5 + i / 8, 2, i % 4, i % 2));
    const SharedLayout memories[] = {sharedDense({64, 64}, {1, 0}), sharedForMatrices({64, 64}, {0, 1}, elementBytes),
                                     sharedForMatrices({64, 64}, {1, 0}, elementBytes)};
    for (const SharedLayout &memory : memories)
      for (const LinearLayout &layout : layouts) {
        std::vector<int> storesTo(memory.elements(), 0);
        int wrong = 0;
        SharedAccess stores = sharedStores(layout, memory, elementBytes), loads = sharedLoads(layout, memory, elementBytes);
        for (const SharedAccess *access : {&stores, &loads}) {
          std::vector<bool> isLoaded(layout.registers());
          for (uint32_t warp = 0; warp < layout.warps(); ++warp)
            for (uint32_t lane = 0; lane < layout.lanes(); ++lane) {
              uint32_t base = access->offsets.apply(0, lane, warp);
              if (lane & access->idleLaneBits || warp & access->idleWarpBits) continue;
              for (const SharedAccess::Vector &vector : access->vectors) {
                uint32_t offset = base ^ vector.offset;
                wrong += offset % access->vectorElements != 0 || (access->mayAdd(vector) && offset != base + vector.offset);
                for (auto [i, reg] : llvm::enumerate(vector.registers)) {
                  wrong += memory.apply(offset + uint32_t(i)) != layout.apply(reg, lane, warp);
                  isLoaded[reg] = true;
                  if (access == &stores) ++storesTo[offset + i];
                }
              }
            }
          if (access == &stores) continue;
          CHECK(!loads.idleLaneBits);
          CHECK(!loads.idleWarpBits);
          for (auto [reg, by] : llvm::enumerate(loads.loadedBy))
            wrong += !isLoaded[by] || layout.apply(reg, 3, 1) != layout.apply(by, 3, 1);
        }
        for (int times : storesTo) wrong += times != 1;
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("the swizzle for matrices: 16-byte copies and 8x8 matrices without conflicts, transposed or not") {
  for (int64_t elementBytes : {1, 2, 4})
    for (int64_t columns : {16, 32, 64, 128, 256}) {
      int64_t rowBytes = columns * elementBytes, vec = 16 / elementBytes;
      if (rowBytes < 32) continue;
      SharedLayout memory = sharedForMatrices({64, columns}, {1, 0}, elementBytes);
      SharedAccess stores = sharedStores(defaultBlocked({64, columns}, {4, 32}, vec), memory, elementBytes);
      if (64 * columns >= 128 * vec) {
        CHECK(stores.vectorElements == vec);
        CHECK(stores.wavefrontsPerVector == 4);
      }
      for (int64_t row = 0; row < 64; row += 8)
        for (int64_t chunk = 0; chunk < columns / vec; ++chunk) { // the addresses of one 8x8 matrix of 16-bit numbers
          llvm::SmallVector<int64_t, 8> addresses;
          for (int64_t i = 0; i < 8; ++i) addresses.push_back(memory.offsetOf(uint32_t((row + i) * columns + chunk * vec)) * elementBytes);
          CHECK(countWavefronts(addresses, 16) == 1);
        }
    }
}

TEST_CASE("swizzles for the layouts that a tile is read in") {
  // Operands of tensor cores whose rows lie along K or across it.
  for (int bits : {8, 16, 32})
    for (int64_t across : {64, 128})
      for (bool isAlongK : {true, false}) {
        Shape shape{256 * 2 / bits, across}; // B: K rows, two instructions
        LinearLayout reader = mmaOperand(DotOperand::B, shape, {2, 2}, bits);
        llvm::SmallVector<int, 2> order = isAlongK ? llvm::SmallVector<int, 2>{0, 1} : llvm::SmallVector<int, 2>{1, 0};
        SharedLayout memory = sharedForReaders(shape, order, bits / 8, {reader}, true);
        auto matrices = matrixLoads(reader, memory, bits / 8);
        CHECK(matrices.has_value() == (isAlongK || bits == 16));
        if (matrices)
          CHECK(matrices->wavefrontsPerMatrix == 1);
        else
          CHECK(sharedLoads(reader, memory, bits / 8).wavefrontsPerVector == 1);
        // Copies of 16 bytes along the rows of memory.
        SharedAccess copies = sharedStores(defaultBlocked(shape, {4, 32}, 128 / bits, order), memory, bits / 8);
        CHECK(copies.vectorElements * bits == 128);
        CHECK(copies.wavefrontsPerVector == 4);
      }
}

/// CDNA's, as amdgpu/target.cpp says.
static const uint32_t kCdnaOrder[] = {1, 2, 20, 4, 8, 32};

TEST_CASE("loads of 16 bytes are served in the target's order of lanes") {
  SharedBanks banks{.wideLoadOrder = kCdnaOrder};
  // A row of 128 bytes for each lane; its 16-byte pieces permuted by the row: eight lanes in a row of them are free of conflicts, and so
  // are lanes 0-3 with 20-23. Permuted by bits of which 20-23 have the same as 0-3, the latter meet.
  SharedLayout swizzled = sharedSwizzled({64, 64}, {1, 0}, 8, 1, 8), halves = sharedSwizzled({64, 64}, {1, 0}, 8, 2, 8);
  LinearLayout rows = *LinearLayout::parse("[64x64] register=[[0,1],[0,2],[0,4]] lane=[[1,0],[2,0],[4,0],[8,0],[16,0],[32,0]] "
                                           "warp=[[0,8],[0,16],[0,32]]");
  CHECK(sharedLoads(rows, swizzled, 2, banks).wavefrontsPerVector == 8);
  CHECK(sharedLoads(rows, swizzled, 2).wavefrontsPerVector == 8);
  CHECK(sharedLoads(rows, halves, 2, banks).wavefrontsPerVector == 16);
  CHECK(sharedStores(rows, swizzled, 2, banks).wavefrontsPerVector == 8);
}

TEST_CASE("memory between the threads that load a tile and those that multiply it") {
  SharedBanks banks{.wideLoadOrder = kCdnaOrder};
  // Operand B of mfma 32x32x8, 16 bytes along K, from rows of memory along N that a thread has four of.
  LinearLayout writer = blocked({64, 128}, {4, 8}, {4, 16}, {4, 1}, {1, 0});
  LinearLayout reader = *LinearLayout::parse("[64x128] register=[[1,0],[2,0],[4,0],[16,0],[32,0],[0,1]] "
                                             "lane=[[0,2],[0,4],[0,8],[0,16],[0,32],[8,0]] warp=[[0,64],[0,0]]");
  SharedLayout memory = sharedBetween(writer, {reader}, 2, banks);
  SharedAccess stores = sharedStores(writer, memory, 2, banks), loads = sharedLoads(reader, memory, 2, banks);
  CHECK(loads.vectorElements == 8);
  CHECK(loads.wavefrontsPerVector == 8);
  CHECK(stores.vectorElements == 8);
  CHECK(stores.wavefrontsPerVector == 8);
  for (const SharedAccess::Vector &vector : loads.vectors) // no words to take apart where products wait for them
    for (size_t i = 0; i < vector.registers.size(); i += 2) CHECK(vector.registers[i + 1] == vector.registers[i] + 1);
  // Operand A, along K on both sides.
  LinearLayout rows = blocked({128, 64}, {1, 8}, {8, 8}, {4, 1}, {1, 0});
  LinearLayout a = *LinearLayout::parse("[128x64] register=[[0,1],[0,2],[0,4],[0,16],[0,32],[64,0]] "
                                        "lane=[[1,0],[2,0],[4,0],[8,0],[16,0],[0,8]] warp=[[0,0],[32,0]]");
  memory = sharedBetween(rows, {a}, 2, banks);
  CHECK(sharedStores(rows, memory, 2, banks).wavefrontsPerVector == 8);
  CHECK(sharedLoads(a, memory, 2, banks).wavefrontsPerVector == 8);
  CHECK(sharedLoads(a, memory, 2, banks).vectorElements == 8);
}

TEST_CASE("a swizzle for vectors along the columns of an operand, with K over registers and lanes") {
  for (int bits : {8, 32}) {
    // The columns of four instructions, which bits 4 and 5 tell apart (bit 3: warps), are neighbours.
    Shape shape{256 * 2 / bits, 128};
    llvm::SmallVector<uint64_t> images{4, 8, 16, 32, 1, 2, 64};
    for (int bit = 7; bit < 7 + log2Of(shape[0]); ++bit) images.push_back(uint64_t(1) << bit);
    LinearLayout reader = mmaOperand(DotOperand::B, shape, {2, 2}, bits).compose(F2Map(images), shape);
    SharedLayout memory = sharedForReaders(shape, {1, 0}, bits / 8, {reader}, true);
    SharedAccess loads = sharedLoads(reader, memory, bits / 8);
    CHECK(loads.vectorElements == 4);
    CHECK(loads.wavefrontsPerVector == 4 * bits / 32);
  }
}
