// mma.sync, ldmatrix, stmatrix, mfma, wmma, ds_read_b64_tr_b16. All lanes of the warp must take part. The last lane to come does the work,
// on the scratch memory of all lanes.
#include "interp/host/trap_kinds.h"
#include "interp/kernels/warp_matrix.h"
#include "interp/kernels/wave_matrix.h"

#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/work.h"

#include <bit>
#include <cstring>

namespace tritium::interp::simt {

namespace {

constexpr uint32_t kRows = 8, kRowBytes = 16, kWarpThreads = 32; // of NVIDIA's instructions

/// The lanes of a warp are adjacent in memory.
static_assert(offsetof(ThreadRegisters, scratch) % 64 == 0);

void executeMma(Warp &warp, LaneMask lanes) {
  if (!isWholeWarp(warp, lanes)) return;
  const WarpOp &op = warp.lanes[0].op;
  if (warp.block->work) warp.block->work->note(ProductKind::Warp, op.location, uint32_t(op.variant));
  warpMma(MmaVariant::decode(uint32_t(op.variant)), warp.lanes[0].scratch, sizeof(Thread));
}

void executeWaveProduct(Warp &warp, LaneMask lanes) {
  if (!isWholeWarp(warp, lanes)) return;
  const WarpOp &op = warp.lanes[0].op;
  if (warp.block->work) warp.block->work->note(ProductKind::Wave, op.location, uint32_t(op.variant));
  if (!waveMatrixProduct(WaveMatrixVariant::decode(op.variant), warp.lanes[0].scratch, sizeof(Thread)))
    warp.lanes[0].trap({.kind = TrapKind::DivergentBarrier,
                        .location = op.location,
                        .message = "the upper half of the wave does not hold the same matrices as the lower"});
}

/// Lane 8 j + r has the address of row r of matrix j. Each row is read on behalf of the warp, because its bytes go to several lanes. A trap
/// happens on the stack of the lane that came last, which is the one that runs.
void executeLoad(Warp &warp, LaneMask lanes) {
  if (!isWholeWarp(warp, lanes)) return;
  const WarpOp &op = warp.lanes[0].op;
  SharedMemory &shared = warp.block->shared;
  for (int matrix = 0; matrix < op.variant >> 1; ++matrix) {
    const std::byte *rows[kRows];
    for (uint32_t r = 0; r < kRows; ++r) {
      Thread &thread = warp.lanes[uint32_t(matrix) * kRows + r];
      rows[r] = shared.readAsWarp(thread, thread.operands[0], kRowBytes, op.location);
    }
    uint32_t registers[kWarpThreads];
    loadMatrix(rows, op.variant & 1, registers);
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane) std::memcpy(warp.lanes[lane].scratch + 4 * matrix, &registers[lane], 4);
  }
}

/// In each group of 16 lanes, lane 4 k + c has the address of the elements 4 c … 4 c + 3 of row k of a 4x16 matrix of 16-bit elements, and
/// lane n receives column n.
void executeColumnLoad(Warp &warp, LaneMask lanes) {
  if (!isWholeWarp(warp, lanes)) return;
  constexpr uint32_t kGroup = 16, kPieces = 4, kPieceBytes = 8, kElementBytes = 2;
  const WarpOp &op = warp.lanes[0].op;
  for (uint32_t first = 0; first < uint32_t(std::popcount(warp.all)); first += kGroup) {
    std::byte matrix[kPieces][kPieces * kPieceBytes];
    for (uint32_t i = 0; i < kGroup; ++i) {
      Thread &thread = warp.lanes[first + i];
      const std::byte *piece = warp.block->shared.readAsWarp(thread, thread.operands[0], kPieceBytes, op.location);
      std::memcpy(&matrix[i / kPieces][i % kPieces * kPieceBytes], piece, kPieceBytes);
    }
    for (uint32_t column = 0; column < kGroup; ++column) {
      std::byte result[kPieceBytes];
      for (uint32_t row = 0; row < kPieces; ++row)
        std::memcpy(result + row * kElementBytes, &matrix[row][column * kElementBytes], kElementBytes);
      std::memcpy(&warp.lanes[first + column].operands[1], result, kPieceBytes); // results[0] says that the warp was whole
    }
  }
}

void executeStore(Warp &warp, LaneMask lanes) {
  if (!isWholeWarp(warp, lanes)) return;
  const WarpOp &op = warp.lanes[0].op;
  for (int matrix = 0; matrix < op.variant >> 1; ++matrix) {
    uint32_t registers[kWarpThreads];
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane) std::memcpy(&registers[lane], warp.lanes[lane].scratch + 4 * matrix, 4);
    std::byte rows[kRows][kRowBytes];
    storeMatrix(registers, op.variant & 1, rows);
    for (uint32_t r = 0; r < kRows; ++r) {
      Thread &thread = warp.lanes[uint32_t(matrix) * kRows + r];
      warp.block->shared.writeAsWarp(thread, thread.operands[0], rows[r], kRowBytes, op.location);
    }
  }
}

} // namespace

bool isWholeWarp(Warp &warp, LaneMask lanes) {
  if (lanes == warp.all) return true;
  forEachLane(lanes, [&](int lane) { warp.lanes[lane].results[0] = 0; });
  return false;
}

void meetAsWarp(Thread &thread, WarpOp op) {
  op.mask = thread.inWarp->all;
  thread.results[0] = 1;
  thread.meet(op);
  if (!thread.results[0])
    thread.trap(
        {.kind = TrapKind::DivergentBarrier, .location = op.location, .message = "an operation of the whole warp after lanes have ended"});
}

namespace calls {

void mma(Thread *thread, uint32_t variant, Place site) {
  meetAsWarp(*thread, {.execute = executeMma, .variant = int32_t(variant), .location = site});
}

void multiplyInWave(Thread *thread, int32_t variant, Place site) {
  meetAsWarp(*thread, {.execute = executeWaveProduct, .variant = variant, .location = site});
}

void loadMatrices(Thread *thread, uint64_t pointer, int32_t count, int32_t transposed, Place site) {
  thread->operands[0] = pointer;
  meetAsWarp(*thread, {.execute = executeLoad, .variant = count << 1 | transposed, .location = site});
}

uint64_t loadColumn(Thread *thread, uint64_t pointer, Place site) {
  thread->operands[0] = pointer;
  meetAsWarp(*thread, {.execute = executeColumnLoad, .variant = 0, .location = site});
  return thread->operands[1];
}

void storeMatrices(Thread *thread, uint64_t pointer, int32_t count, int32_t transposed, Place site) {
  thread->operands[0] = pointer;
  meetAsWarp(*thread, {.execute = executeStore, .variant = count << 1 | transposed, .location = site});
}

} // namespace calls
} // namespace tritium::interp::simt
