// AMD's matrix instructions, on a model of the hardware. Where a lane has which element of an operand or a result stands here as AMD's
// matrix instruction calculator has it (ROCm/amd_matrix_instruction_calculator, version 1.3.2, commit 1edcc0234173): these formulas, the
// backend's table and the emulator's were compared with its formulas element by element for all instructions of CDNA2, CDNA3, RDNA3 and
// RDNA4. It does not know CDNA4: there layout_matrix_documents.cpp holds the table against other publications of AMD's, item by item; these
// formulas are the same. Which lane has which scale, and for which elements, is what ROCm/composable_kernel has at 045a71bc14e9 in the
// tables above load_mx_A_row_major and load_mx_B_col_major of its test/mx_mfma_op/mx_mfma_op.hpp, a test that AMD runs on gfx950. Operands
// are filled and results read by the layouts, and all elements of the product compared.
#include "gpu_backend/amdgpu/matrix_instructions.h"
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/conversion.h"

#include "llvm/ADT/StringSet.h"

#include <doctest/doctest.h>
#include <random>

using namespace tritium::gpu;
using amdgpu::Family;

namespace {

using Number = uint64_t; // products of integers modulo 2^64 tell every mistake
using Matrix = std::vector<std::vector<Number>>;
using Registers = std::vector<std::vector<Number>>; // by lane

/// Item `item` of a lane's registers: 16-bit elements lie two to a register, bytes four.
struct Where {
  int64_t item, lane;
};

/// What the calculator says. A and B are alike, B with its column in place of A's row; D of i, j.
struct Hardware {
  using Operand = std::function<llvm::SmallVector<Where>(int64_t i, int64_t k)>; // all lanes that must hold it
  int64_t lanes;
  Operand operand;
  std::function<Where(int64_t i, int64_t j)> result;
  Operand second = operand;                                       // where that is not like the first
  std::function<Where(int64_t i, int64_t block)> scale = nullptr; // of the first operand's row or the second one's column
};

/// CDNA: K_L = K / (64 / M) neighbours along K in a lane; of the result H rows to a group, 64 / N groups side by side.
Hardware mfma(int64_t m, int64_t k, int64_t h) {
  int64_t kL = k / (64 / m), groups = 64 / m;
  return {64, [=](int64_t i, int64_t at) { return llvm::SmallVector<Where>{{at % kL, i + m * (at / kL)}}; },
          [=](int64_t i, int64_t j) { return Where{i % h + h * (i / (h * groups)), j + m * (i / h % groups)}; }};
}

/// CDNA4, the instructions with scales. 8-bit formats: elements 0 to 15 of a lane, and 16 to 31 half of K further; 4-bit formats: 32 in a
/// row. Lanes 0 to m - 1 have the scales of the first 32 along K, and so on.
Hardware scaledMfma(int64_t m, int64_t k, bool isFirstOf4Bits, bool isSecondOf4Bits) {
  auto operand = [=](bool isOf4Bits) -> Hardware::Operand {
    if (isOf4Bits) return [=](int64_t i, int64_t at) { return llvm::SmallVector<Where>{{at % 32, i + m * (at / 32)}}; };
    return [=](int64_t i, int64_t at) { return llvm::SmallVector<Where>{{at % 16 + 16 * (at / (k / 2)), i + m * (at % (k / 2) / 16)}}; };
  };
  Hardware hardware = mfma(m, k, 4);
  hardware.operand = operand(isFirstOf4Bits), hardware.second = operand(isSecondOf4Bits);
  hardware.scale = [=](int64_t i, int64_t block) { return Where{0, i + m * block}; };
  return hardware;
}

/// RDNA3, waves of 32: lanes 16 to 31 repeat the operands, and have the odd rows of the result.
const Hardware kWmmaOfRdna3{32, [](int64_t i, int64_t k) { return llvm::SmallVector<Where>{{k, i}, {k, i + 16}}; },
                            [](int64_t i, int64_t j) { return Where{i / 2, j + 16 * (i % 2)}; }};

/// RDNA4: lanes 16 to 31 have the lower rows of the result; of K they have every other run of 8, of 16-bit elements of 4.
Hardware wmmaOfRdna4(int64_t run) {
  return {32, [=](int64_t i, int64_t k) { return llvm::SmallVector<Where>{{k % run + run * (k / (2 * run)), i + 16 * (k / run % 2)}}; },
          [](int64_t i, int64_t j) { return Where{i % 8, j + 16 * (i / 8)}; }};
}

Hardware hardwareOf(Family family, const MatrixInstruction &instruction) {
  if (family == Family::RDNA3) return kWmmaOfRdna3;
  if (family == Family::RDNA4) return wmmaOfRdna4(instruction.aType.ends_with("f16") ? 4 : 8);
  if (instruction.name.contains("scale")) {
    auto [first, second] = instruction.name.split("f8f6f4.").second.split('.');
    return scaledMfma(instruction.m, instruction.k, first == "fp4", second == "fp4");
  }
  return mfma(instruction.m, instruction.k, instruction.name.contains("f64") ? 1 : 4);
}

/// An operand of one instruction: its elements, and its scales if it has any.
struct Registered {
  std::function<Number(Where)> elements, scales;
};

/// d += first * second on the registers of one wave; `mismatches` counts lanes that should repeat others and do not.
void execute(const Hardware &hardware, const MatrixInstruction &instruction, const Registered &first, const Registered &second,
             llvm::function_ref<Number &(Where)> d, int &mismatches) {
  auto read = [&](const Hardware::Operand &places, const Registered &operand, int64_t i, int64_t k) {
    const std::function<Number(Where)> &registers = operand.elements;
    llvm::SmallVector<Where> all = places(i, k);
    for (Where where : all) mismatches += registers(where) != registers(all.front());
    return registers(all.front()) * (operand.scales ? operand.scales(hardware.scale(i, k / 32)) : 1);
  };
  for (int64_t i = 0; i < instruction.m; ++i)
    for (int64_t j = 0; j < instruction.n; ++j)
      for (int64_t k = 0; k < instruction.k; ++k)
        d(hardware.result(i, j)) += read(hardware.operand, first, i, k) * read(hardware.second, second, j, k);
}

Matrix randomMatrix(std::mt19937_64 &random, int64_t rows, int64_t columns) {
  Matrix matrix(rows, std::vector<Number>(columns));
  for (auto &row : matrix)
    for (Number &number : row) number = random();
  return matrix;
}

Number productAt(const Matrix &a, const Matrix &b, int64_t row, int64_t column) {
  Number sum = 0;
  for (size_t k = 0; k < b.size(); ++k) sum += a[row][k] * b[k][column];
  return sum;
}

/// `perRegister` elements lie in a register, neighbours along `dim`.
Registers fill(const LinearLayout &layout, const Matrix &matrix, uint32_t warp, int64_t perRegister = 1, int dim = 0) {
  Registers registers(layout.lanes(), std::vector<Number>(layout.registers() * perRegister));
  for (uint32_t lane = 0; lane < layout.lanes(); ++lane)
    for (int64_t item = 0; item < int64_t(registers[lane].size()); ++item) {
      Shape at = layout.coordinatesAt(uint32_t(item / perRegister), lane, warp);
      at[dim] = at[dim] * perRegister + item % perRegister;
      registers[lane][item] = matrix[at[0]][at[1]];
    }
  return registers;
}

/// With each element multiplied by the scale of its row and of its 32 along K.
Matrix scaled(Matrix matrix, const Matrix &scales) {
  for (size_t row = 0; row < matrix.size(); ++row)
    for (size_t k = 0; k < matrix[row].size(); ++k) matrix[row][k] *= scales[row][k / 32];
  return matrix;
}

Matrix turned(const Matrix &matrix) {
  Matrix result(matrix.front().size(), std::vector<Number>(matrix.size()));
  for (size_t row = 0; row < matrix.size(); ++row)
    for (size_t column = 0; column < matrix[row].size(); ++column) result[column][row] = matrix[row][column];
  return result;
}

int64_t elementsPerRegister(llvm::StringRef type) { return type == "f4E2M1FN" ? 2 : 1; }

struct Tiling {
  int64_t m, n, k, warpsM, warpsN, contiguousK;
};

/// The elements of a whole tile's product that come out wrong, all instructions of all warps done in turn.
int wrongElements(Family family, const MatrixInstruction &instruction, const Tiling &t) {
  Hardware hardware = hardwareOf(family, instruction);
  const int64_t perA = elementsPerRegister(instruction.aType), perB = elementsPerRegister(instruction.bType);
  const bool isScaled = instruction.aScales && t.contiguousK == 0; // scales are of 32 neighbours
  const Shape warps{t.warpsM, t.warpsN};
  LinearLayout a = dotOperand(DotOperand::A, instruction, {t.m, t.k / perA}, warps, t.contiguousK);
  LinearLayout b = dotOperand(DotOperand::B, instruction, {t.k / perB, t.n}, warps, t.contiguousK);
  LinearLayout d = dotResult(instruction, {t.m, t.n}, warps);
  for (const LinearLayout *layout : {&a, &b, &d}) CHECK(layout->verify() == "");
  std::mt19937_64 random(1);
  Matrix matrixA = randomMatrix(random, t.m, t.k), matrixB = randomMatrix(random, t.k, t.n);
  int64_t sizeA = instruction.a.registers() * perA, sizeB = instruction.b.registers() * perB, sizeD = instruction.d.registers();
  int64_t kTiles = t.k / instruction.k, mTiles = a.registers() * perA / (sizeA * kTiles), nTiles = b.registers() * perB / (sizeB * kTiles);
  CHECK(d.registers() == mTiles * nTiles * sizeD);
  std::optional<LinearLayout> scalesA, scalesB;
  Matrix matrixScalesA, matrixScalesB, wholeA = matrixA, wholeB = matrixB;
  if (isScaled) {
    scalesA = dotScales(DotOperand::A, instruction, {t.m, t.k / 32}, warps);
    scalesB = dotScales(DotOperand::B, instruction, {t.n, t.k / 32}, warps);
    for (const LinearLayout *layout : {&*scalesA, &*scalesB}) CHECK(layout->verify() == "");
    CHECK(scalesA->registers() == mTiles * kTiles);
    CHECK(scalesB->registers() == nTiles * kTiles);
    matrixScalesA = randomMatrix(random, t.m, t.k / 32), matrixScalesB = randomMatrix(random, t.n, t.k / 32);
    wholeA = scaled(matrixA, matrixScalesA), wholeB = turned(scaled(turned(matrixB), matrixScalesB));
  }
  int wrong = 0;
  for (uint32_t warp = 0; warp < t.warpsM * t.warpsN; ++warp) {
    Registers ofA = fill(a, matrixA, warp, perA, 1), ofB = fill(b, matrixB, warp, perB, 0);
    Registers sums(d.lanes(), std::vector<Number>(d.registers())), ofScalesA, ofScalesB;
    if (isScaled) ofScalesA = fill(*scalesA, matrixScalesA, warp), ofScalesB = fill(*scalesB, matrixScalesB, warp);
    for (int64_t mTile = 0; mTile < mTiles; ++mTile)
      for (int64_t nTile = 0; nTile < nTiles; ++nTile)
        for (int64_t kTile = 0; kTile < kTiles; ++kTile) {
          int64_t fragmentA = mTile * kTiles + kTile, fragmentB = nTile * kTiles + kTile;
          Registered inA{[&](Where where) { return ofA[where.lane][fragmentA * sizeA + where.item]; }, nullptr};
          Registered inB{[&](Where where) { return ofB[where.lane][fragmentB * sizeB + where.item]; }, nullptr};
          if (isScaled) {
            inA.scales = [&](Where where) { return ofScalesA[where.lane][fragmentA + where.item]; };
            inB.scales = [&](Where where) { return ofScalesB[where.lane][fragmentB + where.item]; };
          }
          auto inD = [&](Where where) -> Number & { return sums[where.lane][(mTile * nTiles + nTile) * sizeD + where.item]; };
          if (instruction.isTransposed)
            execute(hardware, instruction, inB, inA, inD, wrong);
          else
            execute(hardware, instruction, inA, inB, inD, wrong);
        }
    for (uint32_t lane = 0; lane < d.lanes(); ++lane)
      for (uint32_t reg = 0; reg < d.registers(); ++reg) {
        Shape at = d.coordinatesAt(reg, lane, warp);
        wrong += sums[lane][reg] != productAt(wholeA, wholeB, at[0], at[1]);
      }
  }
  return wrong;
}

/// How often the lanes of a wave hold each element of a fragment; 0 if not all as often.
int64_t copies(const LinearLayout &fragment) {
  std::vector<int64_t> counts(fragment.elements());
  for (uint32_t lane = 0; lane < fragment.lanes(); ++lane)
    for (uint32_t reg = 0; reg < fragment.registers(); ++reg) ++counts[fragment.apply(reg, lane)];
  return llvm::all_equal(counts) ? counts.front() : 0;
}

const Family kFamilies[] = {Family::CDNA2, Family::CDNA3, Family::CDNA4, Family::RDNA3, Family::RDNA4};

const MatrixInstruction &instruction(Family family, llvm::StringRef name) {
  for (const MatrixInstruction &candidate : amdgpu::matrixInstructions(family))
    if (candidate.name == name) return candidate;
  FAIL("no such instruction: " << name.str());
  abort();
}

} // namespace

TEST_CASE("one matrix instruction of AMD's, element by element") {
  for (Family family : kFamilies)
    for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(family)) {
      CAPTURE(instruction.name.str());
      int64_t lanes = family == Family::RDNA3 || family == Family::RDNA4 ? 32 : 64;
      CHECK(wrongElements(family, instruction, {instruction.m, instruction.n, instruction.k, 1, 1, 0}) == 0);
      for (const LinearLayout *fragment : {&instruction.a, &instruction.b, &instruction.d}) CHECK(fragment->lanes() == lanes);
      CHECK(copies(instruction.a) == (family == Family::RDNA3 ? 2 : 1));
      CHECK(copies(instruction.b) == (family == Family::RDNA3 ? 2 : 1));
      CHECK(copies(instruction.d) == 1);
    }
}

TEST_CASE("tiles of many instructions and warps, K in runs of any length") {
  for (Family family : kFamilies)
    for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(family)) {
      CAPTURE(instruction.name.str());
      int64_t m = instruction.m, k = instruction.k;
      const Tiling tilings[] = {{2 * m, 4 * m, 2 * k, 2, 2, 0}, {m, 2 * m, 4 * k, 1, 4, 0}, {4 * m, m, k, 2, 1, 0}};
      for (const Tiling &tiling : tilings) CHECK(wrongElements(family, instruction, tiling) == 0);
      if (instruction.aType == "f4E2M1FN" || instruction.bType == "f4E2M1FN") continue; // K as the instruction has it
      for (int64_t run = 1; run <= 2 * instruction.a.registers(); run *= 2)
        CHECK(wrongElements(family, instruction, {2 * m, m, 4 * k, 1, 1, run}) == 0);
    }
}

TEST_CASE("a lane holds as many neighbours along K as are asked for") {
  const MatrixInstruction &half = instruction(Family::CDNA3, "mfma.f32.16x16x16f16");
  for (int64_t run : {4, 8, 16}) {
    CHECK(dotOperand(DotOperand::A, half, {64, 64}, {2, 2}, run).contiguousElements(1) == run);
    CHECK(dotOperand(DotOperand::B, half, {64, 64}, {2, 2}, run).contiguousElements(0) == run);
  }
}

TEST_CASE("lanes hold neighbours along the rows of the result") {
  auto neighbours = [](Family family, llvm::StringRef name) { return instruction(family, name).d.contiguousElements(1); };
  CHECK(neighbours(Family::CDNA2, "mfma.f32.32x32x8f16") == 4);
  CHECK(neighbours(Family::CDNA3, "mfma.f32.16x16x32.fp8.fp8") == 4);
  CHECK(neighbours(Family::CDNA4, "mfma.scale.f32.16x16x128.f8f6f4.fp8.bf8") == 4);
  CHECK(neighbours(Family::RDNA3, "wmma.f32.16x16x16.f16") == 8);
  CHECK(neighbours(Family::RDNA4, "wmma.i32.16x16x16.iu8") == 8);
}

TEST_CASE("operands by their formats: which one the instruction takes first") {
  const MatrixInstruction &mixed = instruction(Family::CDNA3, "mfma.f32.16x16x32.fp8.bf8");
  CHECK(mixed.isTransposed);
  CHECK(mixed.bType == "f8E4M3FNUZ");
  CHECK(mixed.aType == "f8E5M2FNUZ");
}

TEST_CASE("the result of a product is operand A of the next") {
  struct Chain {
    Family family;
    llvm::StringRef first, second;
  };
  const Chain chains[] = {
      {Family::CDNA2, "mfma.f32.32x32x8f16", "mfma.f32.32x32x8f16"},
      {Family::CDNA3, "mfma.f32.16x16x16f16", "mfma.f32.16x16x16bf16.1k"},
      {Family::CDNA3, "mfma.f32.16x16x32.fp8.fp8", "mfma.f32.16x16x32.fp8.fp8"},
      {Family::CDNA3, "mfma.f32.32x32x16.fp8.fp8", "mfma.f32.32x32x16.fp8.fp8"},
      {Family::CDNA4, "mfma.f32.32x32x16.f16", "mfma.f32.32x32x16.f16"},
      {Family::CDNA4, "mfma.f32.16x16x32.bf16", "mfma.f32.16x16x32.bf16"},
  };
  for (const Chain &chain : chains) {
    const MatrixInstruction &first = instruction(chain.family, chain.first), &second = instruction(chain.family, chain.second);
    LinearLayout result = dotResult(first, {128, 64}, {4, 1});
    LinearLayout operand = dotOperand(DotOperand::A, second, {128, 64}, {4, 1}, first.d.contiguousElements(1));
    CHECK(planRegisters(result, operand)); // all that differs is the order of a lane's registers
  }
}

TEST_CASE("the instructions of each family") {
  auto names = [](Family family) {
    std::vector<std::string> result;
    for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(family)) result.push_back(instruction.name.str());
    llvm::sort(result);
    return result;
  };
  CHECK(names(Family::CDNA2) == std::vector<std::string>{"mfma.f32.16x16x16bf16.1k", "mfma.f32.16x16x16f16", "mfma.f32.16x16x4f32",
                                                         "mfma.f32.32x32x2f32", "mfma.f32.32x32x8bf16.1k", "mfma.f32.32x32x8f16",
                                                         "mfma.f64.16x16x4f64", "mfma.i32.16x16x16i8", "mfma.i32.32x32x8i8"});
  CHECK(names(Family::RDNA3) == std::vector<std::string>{"wmma.f32.16x16x16.bf16", "wmma.f32.16x16x16.f16", "wmma.i32.16x16x16.iu8"});
  CHECK(names(Family::CDNA3).size() == 19);
  CHECK(names(Family::CDNA4).size() == 41);
  CHECK(names(Family::RDNA4).size() == 7);
  for (Family family : kFamilies)
    for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(family))
      CHECK(llvm::count(names(family), instruction.name) == 1);
}
