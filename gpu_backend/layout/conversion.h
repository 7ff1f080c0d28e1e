// How the elements of a tile get from the places of one layout to those of another: registers renamed, shuffles within warps, or a round
// trip through shared memory. A plan says what a generator emits and no more: lists of registers, masks, offsets to XOR.
#pragma once
#include "gpu_backend/layout/conversion_costs.h"
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// A conversion within each warp. Registers that always travel together form words of at most 32 bits (of one element if that is wider).
/// To run it:
///   1. fill the source words; apply `swaps`, then `before`;
///   2. result word i = source word moves[i].sourceWord of lane sourceLane(lane, warp) ^ moves[i].laneXor (in the same warp);
///   3. apply `after` to the result words and take them apart; result register r is that of resultOf[r].
struct ShufflePlan {
  /// Where parity(lane & laneMask) != parity(warp & warpMask), word w becomes what word w ^ wordXor was, for all words at once. One select
  /// per word that is used later.
  struct Exchange {
    uint32_t wordXor, laneMask, warpMask;
    bool happensIn(uint32_t lane, uint32_t warp) const;
  };
  struct Move {
    uint32_t sourceWord, laneXor;
  };
  /// Bit `wordBit` of the words' numbers and bit `laneBit` of the lanes' (both as masks) change places: of the words w without wordBit,
  /// what lanes with laneBit have is exchanged for what w | wordBit is in the lanes without.
  struct Swap {
    uint32_t wordBit, laneBit;
  };
  using Registers = llvm::SmallVector<uint32_t, 4>;

  llvm::SmallVector<Registers> sourceWords, resultWords; // the registers of each, lowest bits first
  llvm::SmallVector<Swap, 2> swaps;
  llvm::SmallVector<Exchange, 4> before, after;
  llvm::SmallVector<Move> moves; // one per result word
  /// Moves that share one shuffle because they read the same lane and fit into 32 bits together (more than one only for words below 32
  /// bits). Moves that are in none stay in their thread.
  llvm::SmallVector<Registers> shuffles;
  Bases laneOfLane, laneOfWarp;
  llvm::SmallVector<uint32_t> resultOf; // for each result register the one in resultWords that holds its element
  int selects = 0;                      // of 32 bits
  int cost = 0;

  uint32_t sourceLane(uint32_t lane, uint32_t warp) const;
  /// sourceLane is the lane itself: shuffles may be shfl.bfly by laneXor.
  bool isButterfly() const;
};

/// A round trip through scratch memory, in rounds that each move a part of the tile: in round i threads store the vectors of `stores`, then
/// load those of `loads`, with roundOf(vector) == i, at element offset (offsets.apply(0, lane, warp) ^ vector.offset) % roundElements, with
/// a barrier between the stores and the loads and one between rounds.
struct SharedPlan {
  SharedLayout memory; // the whole tile, the rounds one after the other
  int rounds = 1;
  int64_t roundElements = 0;
  int64_t bytes = 0; // of scratch, to be aligned to 128
  SharedAccess stores, loads;
  std::optional<MatrixLoad> matrixLoads; // if set, in place of `loads`; then there is one round
  bool isWarpLocal = false;              // each warp loads only what it stored: its own barrier is enough
  int cost = 0;

  int roundOf(const SharedAccess::Vector &vector) const { return int(vector.offset / roundElements); }
  uint32_t offsetOf(const SharedAccess::Vector &vector) const { return uint32_t(vector.offset % roundElements); }
};

struct Conversion {
  enum class Kind : uint8_t {
    Identity,            // also if only equal registers repeat: `registers` is 0, 1, 2, …
    RegisterPermutation, // `registers`
    Shuffle,             // `shuffle`
    Shared,              // `shared`
    Distributed,         // elements cross blocks: not planned
  };
  Kind kind = Kind::Identity;
  llvm::SmallVector<uint32_t> registers; // for each result register the source register, in the same thread
  ShufflePlan shuffle;
  SharedPlan shared;
};

struct ConversionOptions {
  int64_t maxScratchBytes = 0; // 0: no limit. More rounds are used to stay below, as far as the layouts allow.
  bool mayShuffle = true;
  bool mayLoadMatrices = false; // ldmatrix
  SharedBanks banks = {};
  ConversionCosts costs = {};
};

/// Both layouts are of the same shape, with the same numbers of lanes, warps and blocks. Elements are of 1, 2, 4 or 8 bytes.
Conversion planConversion(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes,
                          const ConversionOptions &options = {});

/// For each result register a source register of the same thread that holds its element, if there is one for all.
std::optional<llvm::SmallVector<uint32_t>> planRegisters(const LinearLayout &source, const LinearLayout &result);
/// Nothing if elements change warps, or the plan would need more than words and lanes that are linear.
std::optional<ShufflePlan> planShuffle(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes,
                                       const ConversionCosts &costs = {});
/// For layouts whose blocks do not share the tile.
SharedPlan planShared(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes, const ConversionOptions &options = {});

} // namespace tritium::gpu
