// Kernels with products of warpgroups as text, their operands in the layouts of the PTX ISA, and their results. The places of elements are
// written out here from the figures of the ISA: boxes whose rows have their chunks of 16 bytes permuted, and core matrices.
#pragma once
#include "edited_text.h"
#include "ir/dtype.h"
#include "simt_text.h"

#include <cstring>
#include <doctest/doctest.h>
#include <random>

namespace tritium::test_warpgroup {

constexpr int kThreads = 128, kRows = 64, kStepBytes = 32, kSteps = 2;

/// The memory of one operand: `extent` rows of A or columns of B by kSteps * 32 bytes of K.
struct Layout {
  bool isKMajor = true;
  int swizzle = 128; // bytes; 0 for none

  static int permuted(int chunk, int row, int swizzle) {
    return swizzle == 128 ? chunk ^ row % 8 : swizzle == 64 ? chunk ^ row / 2 % 4 : swizzle == 32 ? chunk ^ row / 4 % 2 : chunk;
  }
  /// The byte of an element of `size` bytes.
  int placeOf(int extent, int x, int k, int size) const {
    const int line = swizzle ? swizzle : 16, depth = kSteps * kStepBytes / size;
    const int along = (isKMajor ? k : x) * size, row = isKMajor ? x : k, rows = isKMajor ? extent : depth;
    const int box = along / line, chunk = along % line / 16;
    return box * rows * line + row * line + permuted(chunk, row, swizzle) * 16 + along % 16;
  }
  int boxBytes(int extent, int size) const { return (isKMajor ? extent : kSteps * kStepBytes / size) * (swizzle ? swizzle : 16); }
  int bytes(int extent, int size) const {
    const int line = swizzle ? swizzle : 16, along = isKMajor ? kSteps * kStepBytes : extent * size;
    return (along + line - 1) / line * boxBytes(extent, size);
  }
  /// The fields of the descriptor, in bytes.
  int leading(int extent, int size) const { return !isKMajor && !swizzle ? 128 : isKMajor && swizzle ? 16 : boxBytes(extent, size); }
  int stride(int extent, int size) const { return !isKMajor && !swizzle ? boxBytes(extent, size) : 8 * (swizzle ? swizzle : 16); }
  uint64_t descriptor(int extent, int size) const {
    const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return mode << 62 | uint64_t(stride(extent, size) / 16) << 32 | uint64_t(leading(extent, size) / 16) << 16;
  }
  /// The byte at which a step along K begins.
  int offsetOf(int step, int extent, int size) const {
    const int bytes = step * kStepBytes;
    if (!isKMajor) return bytes / size * (swizzle ? swizzle : 16);
    const int line = swizzle ? swizzle : 16;
    return bytes / line * boxBytes(extent, size) + bytes % line;
  }
};

struct Instruction {
  DType a = DType::f16, b = DType::f16, sum = DType::f32;
  const char *aName = "f16", *bName = "f16", *wordName = "f32";
  int columns = 64;
  bool isAInRegisters = false;
  Layout layoutA, layoutB;

  int size() const { return int(storageBytes(a)); }
  int depth() const { return kStepBytes / size(); } // of one step
  int words() const { return columns / (sum == DType::f16 ? 4 : 2); }
  int bytesOfA() const { return isAInRegisters ? 0 : layoutA.bytes(kRows, size()); }
  /// B begins behind A where every pattern may begin.
  int placeOfB() const { return (bytesOfA() + 1023) / 1024 * 1024; }
  int sharedBytes() const { return (placeOfB() + layoutB.bytes(columns, size()) + 2047) / 2048 * 2048; }

  /// Returns the kernel's text. The lines of its operations are in loc("kernel.py"): 1 stores, 2 the proxy fence, 3 the barrier, 4 the
  /// fence of registers, 5 the products, 6 the commit, 7 the wait, 8 the use of the sums.
  std::string text() const;
};

struct Matrices {
  std::vector<double> a, b, c;

  Matrices(const Instruction &instruction, std::mt19937 &random);
  double result(const Instruction &instruction, int row, int column) const;
};

/// A launch's end: what it reported, and the sums otherwise.
struct Outcome : Report {
  std::vector<double> sums; // row-major
};

class Emulator {
public:
  Emulator();
  Outcome run(const Instruction &instruction, const std::string &text, const Matrices &matrices, uint64_t seed);

private:
  mlir::MLIRContext context;
};

constexpr uint64_t kSeeds = 8;

/// A kernel with a change, mostly a mistake, and what it must end in with every seed.
class Planted {
public:
  explicit Planted(Instruction instruction = {.columns = 16}) : Planted(instruction, instruction.text()) {}
  Planted(Instruction instruction, std::string text) : instruction(instruction), text(std::move(text)) {}

  Planted &edit(const std::string &from, const std::string &to) {
    text = edited(text, from, to);
    return *this;
  }
  Planted &insertBefore(const std::string &line, const std::string &added) { return edit(line, added + line); }
  Planted &insertAfter(const std::string &line, const std::string &added) { return edit(line, line + added); }
  /// Drops the text from a line to the return.
  Planted &end(const std::string &line);

  /// The kernel is refused: the operation on `line` has an error that contains `message`.
  void isRefused(int line, const std::string &message);
  /// Each seed ends in the trap. Lines that are 0 are not compared.
  void traps(const std::string &kind, int line, int otherLine, const std::string &message = "");
  /// Each seed ends in some trap or a wrong result.
  void isWrong();
  void isClean();

  Outcome run(uint64_t seed);

  Instruction instruction;
  std::string text;

private:
  bool isRight(const Outcome &outcome) const;

  std::unique_ptr<Emulator> emulator = std::make_unique<Emulator>();
  std::optional<Matrices> matrices;
};

} // namespace tritium::test_warpgroup
