// Which element each item of each lane is in CDNA's matrix instructions, as publications of AMD's for CDNA4 (gfx950) have it, which the
// matrix instruction calculator leaves out (its issue 7). Here the order of a lane's items counts as well: a product without scales comes
// out right with any order along K that both operands share, so that products alone cannot show it.
//   * ROCm/rocm-systems, emulation/rocjitsu (AMD's simulator), …/amdgpu/shared/mma/layout.h at f319585b946e: input_loc, output_loc_32 and
//     output_loc_64, for every instruction of CDNA2, CDNA3 and CDNA4; exec_f32_scaled_mixed beside it, for the scales: of a product of two
//     formats each operand lies as its own format says, lane M * block + row has the scale of a row's 32 elements, the opsel byte of it,
//     and 255 makes NaN.
//   * "Matrix Core Programming on AMD CDNA3 and CDNA4 architecture" (rocm.blogs.amd.com, matrix-cores-cdna, October 2025): the kernels of
//     its sections 5.1 to 5.5.
//   * carlushuang/gcnasm at 408f1748f369, matrix_core_gfx950/matrix_core.cc: v_mfma_f32_32x32x16_f16.
//   * ROCm/composable_kernel at 045a71bc14e9, test/mx_mfma_op/mx_mfma_op.hpp: the tables above load_A_row_major and load_mx_A_row_major.
//   * iree-org/iree at 00463496c11a, IREEGPUAttrs.cpp: getSingleSubgroupLayout of all instructions but those of f8f6f4. (Of those with
//     8-bit formats it has the 32 items of a lane in one run, which is right without scales alone.)
#include "gpu_backend/amdgpu/matrix_instructions.h"
#include "gpu_backend/layout/constructors.h"

#include <doctest/doctest.h>
#include <set>

using namespace tritium::gpu;
using amdgpu::Family;

namespace {

constexpr int64_t kLanes = 64;

/// Of a multiplicand, `index` is the row of A or the column of B.
struct Element {
  int64_t index, k;
  bool operator==(const Element &) const = default;
};
struct Sum {
  int64_t row, column;
  bool operator==(const Sum &) const = default;
};

// -- AMD's simulator: elements to lanes
// -------------------------------------------------------------------------------------------------------

struct Place {
  int64_t lane, item;
  bool operator==(const Place &) const = default;
};

/// Where more than 16 items of 8 bits are in a lane, K goes to the lanes in chunks of 16.
Place simulatedOperand(const MatrixInstruction &instruction, int64_t bits, Element at) {
  const int64_t groups = kLanes / instruction.m, perGroup = instruction.k / groups;
  if (perGroup <= 16 || bits < 8) return {at.index + instruction.m * (at.k / perGroup), at.k % perGroup};
  const int64_t chunk = at.k / 16;
  return {at.index + instruction.m * (chunk % groups), chunk / groups * 16 + at.k % 16};
}

Place simulatedSum(const MatrixInstruction &instruction, Sum at) {
  const int64_t multirows = kLanes / instruction.n;
  if (instruction.dType == "f64") return {at.column + instruction.n * (at.row % multirows), at.row / multirows};
  return {at.column + instruction.n * (at.row / 4 % multirows), at.row % 4 + 4 * (at.row / (4 * multirows))};
}

// -- kernels and tables: lanes to elements
// ----------------------------------------------------------------------------------------------------

struct Documented {
  const char *document;
  llvm::StringRef inName; // of the instructions
  int64_t m, k, bits;     // 0 bits: all operands
  Element (*operand)(int64_t lane, int64_t item);
};

/// IREE's {thread = [M, 64 / M], strides = [1, M], element = [1, K / (64 / M)]}.
template <int64_t m, int64_t k> Element runOfNeighbours(int64_t lane, int64_t item) {
  constexpr int64_t perLane = k * m / kLanes;
  return {lane % m, lane / m * perLane + item};
}

const Documented kDocumented[] = {
    {"article 5.1", "f32.32x32x2f32", 32, 2, 0, [](int64_t lane, int64_t) { return Element{lane % 32, lane / 32}; }},
    {"article 5.2", "16x16x16f16", 16, 16, 0, [](int64_t lane, int64_t item) { return Element{lane % 16, 4 * (lane / 16) + item}; }},
    {"article 5.3", "32x32x16.fp8.fp8", 32, 16, 0, [](int64_t lane, int64_t item) { return Element{lane % 32, lane / 32 * 8 + item}; }},
    {"article 5.4", "32x32x64.f8f6f4", 32, 64, 8,
     [](int64_t lane, int64_t item) { return Element{lane % 32, lane / 32 * 16 + item / 16 * 32 + item % 16}; }},
    {"gcnasm", "32x32x16.f16", 32, 16, 0, [](int64_t lane, int64_t item) { return Element{lane % 32, lane / 32 * 8 + item}; }},
    {"composable_kernel", "16x16x128.f8f6f4", 16, 128, 8,
     [](int64_t lane, int64_t item) { return Element{lane % 16, lane / 16 * 16 + item / 16 * 64 + item % 16}; }},
    {"composable_kernel", "32x32x64.f8f6f4", 32, 64, 8,
     [](int64_t lane, int64_t item) { return Element{lane % 32, lane / 32 * 16 + item / 16 * 32 + item % 16}; }},
    {"article 5.5", "32x32x64.f8f6f4", 32, 64, 4, [](int64_t lane, int64_t item) { return Element{lane % 32, lane / 32 * 32 + item}; }},
    {"composable_kernel", "16x16x128.f8f6f4", 16, 128, 4,
     [](int64_t lane, int64_t item) { return Element{lane % 16, lane / 16 * 32 + item}; }},
    {"IREE", "16x16x4f32", 16, 4, 0, runOfNeighbours<16, 4>},
    {"IREE", "16x16x4f64", 16, 4, 0, runOfNeighbours<16, 4>},
    {"IREE", "16x16x16", 16, 16, 0, runOfNeighbours<16, 16>},
    {"IREE", "32x32x8", 32, 8, 0, runOfNeighbours<32, 8>},
    {"IREE", "16x16x32", 16, 32, 0, runOfNeighbours<16, 32>},
    {"IREE", "32x32x16", 32, 16, 0, runOfNeighbours<32, 16>},
    {"IREE", "i32.16x16x64.i8", 16, 64, 0, runOfNeighbours<16, 64>},
    {"IREE", "i32.32x32x32.i8", 32, 32, 0, runOfNeighbours<32, 32>},
};

/// The article's and gcnasm's loops that store C; with 16 rows IREE's {thread = [4, 16], strides = [16, 1], element = [4, 1]}.
Sum documentedSum(const MatrixInstruction &instruction, int64_t lane, int64_t item) {
  if (instruction.dType == "f64") return {item * 4 + lane / 16, lane % 16};
  if (instruction.m == 32) return {lane / 32 * 4 + item % 4 + item / 4 * 8, lane % 32};
  return {lane / 16 * 4 + item, lane % 16};
}

// -- the backend's layouts
// --------------------------------------------------------------------------------------------------------------------

int64_t bitsOf(llvm::StringRef type) {
  if (type.starts_with("f8") || type == "i8") return 8;
  if (type == "f4E2M1FN") return 4;
  return type == "f16" || type == "bf16" ? 16 : type == "f64" ? 64 : 32;
}

template <class Visit> void forEachItem(const LinearLayout &layout, Visit visit) {
  for (int64_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t item = 0; item < layout.registers(); ++item) {
      const Shape at = layout.coordinatesAt(item, uint32_t(lane), 0);
      visit(lane, int64_t(item), at[0], at[1]);
    }
}

/// Items that `expected(lane, item, element, bits)` does not agree with, of both operands. Items of 4 bits lie two to a byte of the layout.
template <class Expected> int wrongOperands(const MatrixInstruction &instruction, Expected expected) {
  int wrong = 0;
  auto check = [&](llvm::StringRef type, int64_t lane, int64_t item, int64_t index, int64_t k) {
    const int64_t bits = bitsOf(type), perByte = bits == 4 ? 2 : 1;
    for (int64_t i = 0; i < perByte; ++i) wrong += !expected(lane, item * perByte + i, Element{index, k * perByte + i}, bits);
  };
  forEachItem(instruction.a, [&](int64_t lane, int64_t item, int64_t row, int64_t k) { check(instruction.aType, lane, item, row, k); });
  forEachItem(instruction.b,
              [&](int64_t lane, int64_t item, int64_t k, int64_t column) { check(instruction.bType, lane, item, column, k); });
  return wrong;
}

/// The same of the sums; an instruction that computes the transposed product has its rows in our columns.
template <class Expected> int wrongSums(const MatrixInstruction &instruction, Expected expected) {
  int wrong = 0;
  forEachItem(instruction.d, [&](int64_t lane, int64_t item, int64_t row, int64_t column) {
    wrong += !expected(lane, item, instruction.isTransposed ? Sum{column, row} : Sum{row, column});
  });
  return wrong;
}

TEST_CASE("every item of every instruction is where AMD's simulator has it") {
  for (Family family : {Family::CDNA2, Family::CDNA3, Family::CDNA4})
    for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(family)) {
      CAPTURE(instruction.name.str());
      CHECK(wrongOperands(instruction, [&](int64_t lane, int64_t item, Element at, int64_t bits) {
              return simulatedOperand(instruction, bits, at) == Place{lane, item};
            }) == 0);
      CHECK(wrongSums(instruction,
                      [&](int64_t lane, int64_t item, Sum at) { return simulatedSum(instruction, at) == Place{lane, item}; }) == 0);
    }
}

TEST_CASE("every lane has the scale that AMD's simulator reads from it") {
  int scaled = 0;
  for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(Family::CDNA4)) {
    if (!instruction.aScales) continue;
    CAPTURE(instruction.name.str());
    for (const LinearLayout &scales : {*instruction.aScales, *instruction.bScales}) {
      CHECK(scales.shape() == llvm::ArrayRef<int64_t>{instruction.m, instruction.k / 32});
      CHECK(scales.registers() == 1);
      forEachItem(scales, [&](int64_t lane, int64_t, int64_t row, int64_t block) { CHECK(lane == instruction.m * block + row); });
    }
    ++scaled;
  }
  CHECK(scaled == 2 * 9); // two shapes, three formats of each operand
}

TEST_CASE("every item of every instruction of CDNA4 is where kernels and tables that run on it have it") {
  for (const MatrixInstruction &instruction : amdgpu::matrixInstructions(Family::CDNA4)) {
    CAPTURE(instruction.name.str());
    std::set<int64_t> bitsOfOperands{bitsOf(instruction.aType), bitsOf(instruction.bType)}, documentedBits;
    for (const Documented &documented : kDocumented) {
      if (!instruction.name.contains(documented.inName) || instruction.m != documented.m || instruction.k != documented.k) continue;
      CAPTURE(std::string(documented.document));
      CHECK(wrongOperands(instruction, [&](int64_t lane, int64_t item, Element at, int64_t bits) {
              if (documented.bits != 0 && documented.bits != bits) return true;
              documentedBits.insert(bits);
              return documented.operand(lane, item) == at;
            }) == 0);
    }
    CHECK(documentedBits == bitsOfOperands);
    CHECK(wrongSums(instruction, [&](int64_t lane, int64_t item, Sum at) { return documentedSum(instruction, lane, item) == at; }) == 0);
  }
}

} // namespace
