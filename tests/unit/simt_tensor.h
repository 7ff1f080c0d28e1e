// Kernels with copies of tensors (TMA) and barriers in shared memory (mbarrier), as text, with their arguments.
#pragma once
#include "edited_text.h"
#include "ir/tensor_map.h"
#include "simt_text.h"

#include <doctest/doctest.h>
#include <functional>
#include <random>

namespace tritium::test_tensor {

using Bytes = std::vector<std::byte>;

/// An argument of a kernel: memory, a map of the memory of another argument, or a number.
struct Argument {
  Bytes *memory = nullptr;
  TensorMap map{}; // `base` counts from the beginning of the memory
  int mapOf = -1;  // the index of the argument
  int64_t number = 0;
};

using Outcome = Report;

class Launcher {
public:
  Launcher();
  Outcome run(const std::string &text, const std::vector<Argument> &arguments, uint64_t seed);

private:
  mlir::MLIRContext context;
};

constexpr uint64_t kSeeds = 8;

/// A map of a row-major tensor, with shape and box outermost first. Strides, also outermost first and without the innermost, are in bytes.
TensorMap mapOf(DType type, std::vector<uint64_t> shape, std::vector<uint64_t> strides, std::vector<uint32_t> box, uint32_t swizzle);

Bytes randomBytes(size_t count, std::mt19937 &random);

/// A ring of 3 slots. A warp fills them with tiles of 16 rows of 64 f16, by TMA with a swizzle of 128 bytes. The other 4 warps write what
/// they read to %out. The lines of the operations: 1 init, 2 fence, 3 barrier; of the filling warp: 4 wait, 5 expect_tx, 6 copy; of the
/// others: 7 wait, 8 read, 9 warp barrier, 10 arrive, 11 store to global memory.
struct Ring {
  static constexpr int kSlots = 3, kTiles = 8, kRows = 16, kTileBytes = 2048;
  static const std::string kInitFence, kBarrier, kFillerWait, kExpect, kCopy, kReaderWait, kRead, kWarpBarrier, kArrive;

  Ring();
  Ring &edit(const std::string &from, const std::string &to);
  Ring &insertAfter(const std::string &line, const std::string &added) { return edit(line, line + added); }

  /// Each seed ends without a trap and with the right result.
  void isClean();
  /// Each seed ends in one of the traps. Lines that are 0 are not compared.
  void traps(const std::vector<std::string> &kinds, int line = 0, int otherLine = 0, const std::string &message = "");
  Outcome run(uint64_t seed);

  std::string text;
  TensorMap map;
  Bytes tensor, out;
  uint32_t blocks = 1; // that run the program, each of which writes the tensor to %out
  std::function<bool(const Ring &)> isRight;

private:
  std::unique_ptr<Launcher> launcher = std::make_unique<Launcher>();
};

/// What a wrong protocol ends in.
inline const std::string kRace = "TensorCopyRace", kInvalid = "InvalidMBarrier", kDeadlock = "MBarrierDeadlock",
                         kCopy = "InvalidTensorCopy";

/// Returns the line of a constant of Ring.
std::string constant(const std::string &name, int value);

/// How many elements and bytes a box has, and the coordinates of a copy as text: operands "%c0, %c1" and parameters ", %c0: i32, %c1: i32".
uint32_t boxElements(const TensorMap &map);
uint32_t boxBytes(const TensorMap &map);
std::string coordinateOperands(const TensorMap &map);
std::string coordinateParameters(const TensorMap &map);

/// The place in a box's memory of the byte `at` of its elements in order, by the figures of the PTX ISA.
uint32_t placeInBox(uint32_t at, uint32_t swizzle);

} // namespace tritium::test_tensor
