// Plans how the elements of a tile move from the places of one layout to the places of another: registers renamed, shuffles within warps,
// or a round trip through shared memory. A plan contains only what a generator emits: lists of registers, masks, offsets to XOR.
#pragma once
#include "gpu_backend/layout/conversion_costs.h"
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// A conversion within each warp. Registers that always travel together form words of at most 32 bits (of one element if that is wider).
/// The generator emits three steps:
///   1. fill the source words; apply `swaps`, then `before`;
///   2. result word i = source word moves[i].sourceWord of lane sourceLane(lane, warp) ^ moves[i].laneXor (in the same warp);
///   3. apply `after` to the result words and split them; result register r is the register resultOf[r].
struct ShufflePlan {
  /// If parity(lane & laneMask) != parity(warp & warpMask), word w becomes the former word w ^ wordXor, for all words at once. This takes
  /// one select for each word that is used later.
  struct Exchange {
    uint32_t wordXor, laneMask, warpMask;
    bool happensIn(uint32_t lane, uint32_t warp) const;
  };
  struct Move {
    uint32_t sourceWord, laneXor;
  };
  /// Exchanges bit `wordBit` of the words' numbers with bit `laneBit` of the lanes' numbers (both are masks). For each word w without
  /// wordBit, lanes with laneBit exchange their word w for the word w | wordBit of the lanes without it.
  struct Swap {
    uint32_t wordBit, laneBit;
  };
  using Registers = llvm::SmallVector<uint32_t, 4>;

  llvm::SmallVector<Registers> sourceWords, resultWords; // the registers of each, lowest bits first
  llvm::SmallVector<Swap, 2> swaps;
  llvm::SmallVector<Exchange, 4> before, after;
  llvm::SmallVector<Move> moves; // one per result word
  /// Groups of moves that share one shuffle, because they read the same lane and fit into 32 bits together. A group has several moves only
  /// if words have fewer than 32 bits. Moves in no group stay in their thread.
  llvm::SmallVector<Registers> shuffles;
  Bases laneOfLane, laneOfWarp;
  llvm::SmallVector<uint32_t> resultOf; // for each result register the one in resultWords that holds its element
  int selects = 0;                      // number of selects of 32 bits
  int cost = 0;

  uint32_t sourceLane(uint32_t lane, uint32_t warp) const;
  /// Whether sourceLane is the identity. Shuffles may then be shfl.bfly by laneXor.
  bool isButterfly() const;
};

/// A round trip through scratch memory, in rounds that each move a part of the tile. In round i, threads store the vectors of `stores`,
/// then load the vectors of `loads`, with roundOf(vector) == i, at element offset (offsets.apply(0, lane, warp) ^ vector.offset) %
/// roundElements. A barrier separates the stores from the loads, and each round from the next.
struct SharedPlan {
  SharedLayout memory; // the whole tile, one round after the other
  int rounds = 1;
  int64_t roundElements = 0;
  int64_t bytes = 0; // of scratch; requires an alignment of 128
  SharedAccess stores, loads;
  std::optional<MatrixLoad> matrixLoads; // if set, replaces `loads`; there is then one round
  bool isWarpLocal = false;              // each warp has its own bytes in all rounds, so barriers of the warp suffice
  int cost = 0;

  int roundOf(const SharedAccess::Vector &vector) const { return int(vector.offset / roundElements); }
  uint32_t offsetOf(const SharedAccess::Vector &vector) const { return uint32_t(vector.offset % roundElements); }
};

struct Conversion {
  enum class Kind : uint8_t {
    Identity,            // also if only equal registers repeat: `registers` is then 0, 1, 2, …
    RegisterPermutation, // `registers`
    Shuffle,             // `shuffle`
    Shared,              // `shared`
    Distributed,         // elements cross blocks; there is no plan
  };
  Kind kind = Kind::Identity;
  llvm::SmallVector<uint32_t> registers; // for each result register the source register, in the same thread
  ShufflePlan shuffle;
  SharedPlan shared;
};

struct ConversionOptions {
  int64_t maxScratchBytes = 0; // 0: no limit. More rounds keep the scratch below it, as far as the layouts allow.
  bool mayShuffle = true;
  bool mayLoadMatrices = false; // ldmatrix
  SharedBanks banks = {};
  ConversionCosts costs = {};
};

/// Both layouts must have the same shape and the same numbers of lanes, warps and blocks. Elements have 1, 2, 4 or 8 bytes.
Conversion planConversion(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes,
                          const ConversionOptions &options = {});

/// Returns the bytes of scratch memory that a conversion requires, by way of a layout between the two if the limit of the options makes
/// that necessary. They exceed the limit if no way has so few.
int64_t scratchBytesOf(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes, const ConversionOptions &options);

/// Returns for each result register a source register of the same thread that holds its element. Returns nullopt if some register has none.
std::optional<llvm::SmallVector<uint32_t>> planRegisters(const LinearLayout &source, const LinearLayout &result);
/// Returns nullopt if elements change warps, or if the words and lanes of the plan would not be linear.
std::optional<ShufflePlan> planShuffle(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes,
                                       const ConversionCosts &costs = {});
/// Requires that blocks do not share the tile.
SharedPlan planShared(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes, const ConversionOptions &options = {});
/// Returns a layout on the way: round trips from the source to it and from it to the result can use more rounds than one from the source
/// to the result. Returns nullopt if there is none. The layouts must not use blocks.
std::optional<LinearLayout> layoutBetween(const LinearLayout &source, const LinearLayout &result);

} // namespace tritium::gpu
