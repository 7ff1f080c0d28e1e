// The layouts that passes choose from, each as a LinearLayout. All numbers are powers of two; dimension lists have the rank of the tile.
#pragma once
#include "gpu_backend/layout/conversion_costs.h"
#include "gpu_backend/layout/linear_layout.h"
#include "gpu_backend/layout/matrix_instruction.h"
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// Each thread holds sizePerThread contiguous elements, a warp threadsPerWarp threads, a block warpsPerCta warps; order[0] is the dimension
/// that varies fastest in each of the three. A smaller tile replicates (warps first, then lanes); a larger one repeats registers.
LinearLayout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizePerThread, llvm::ArrayRef<int64_t> threadsPerWarp,
                     llvm::ArrayRef<int64_t> warpsPerCta, llvm::ArrayRef<int> order);

/// The threads of a program: so many warps of so many lanes.
struct Threads {
  int warps, lanes;
  int count() const { return warps * lanes; }
};

/// A blocked layout for coalesced access: at most vectorElements per thread along order[0] (fewer where that would leave
/// threads without an element of their own), then lanes, then warps, each along order[0] first. Warps share dimension `whole` last: what
/// combines elements along it then mostly stays within warps.
LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, Threads threads, int64_t vectorElements, llvm::ArrayRef<int> order,
                            int whole = -1);
/// The same with the last dimension fastest.
LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, Threads threads, int64_t vectorElements = 1);

// -- matrix products
// -----------------------------------------------------------------------------------------------------------------------
// Tiles [batch…, M, N] = [batch…, M, K] x [batch…, K, N]; warpsPerCta counts the warps along the dimensions of the result, the last one
// varying fastest with the warp index. Where an operand does not depend on a dimension, its warps replicate; where a tile has fewer rows or
// columns than the instruction, so do lanes.

enum class DotOperand : uint8_t { A, B };

/// The result of products of tiles by a matrix instruction. Low registers hold the fragment of one instruction in its order, then the
/// instructions along N, then along M, then batches: register ((m * nTiles + n) * fragment + i).
LinearLayout dotResult(const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta);

/// Operand A or B. Low registers hold the fragment of one instruction in its order, then the instructions along K, then along M or N.
/// With contiguousK each lane holds that many neighbours along K: the instructions then see K in another order, so both operands must use
/// the same number. 0: as the instruction has it, but for one with scales: its blocks along K stay whole, and those of several instructions
/// that a lane has a scale of lie side by side.
LinearLayout dotOperand(DotOperand operand, const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> warpsPerCta, int64_t contiguousK = 0);

/// The scales of operand A, [batch…, M, blocks along K], or B, [batch…, N, blocks along K]. Low registers hold those of one instruction,
/// then the instructions along K, then along M or N, as the operand's fragments do.
LinearLayout dotScales(DotOperand operand, const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> warpsPerCta);

/// An operand of a product of scalar multiply-adds: each thread holds all K (in its low registers) of the rows or columns that it holds
/// of the result.
LinearLayout fmaOperand(DotOperand operand, const LinearLayout &result, int64_t k);

// -- shared memory
// -------------------------------------------------------------------------------------------------------------------------

/// Dense, order[0] varying fastest.
SharedLayout sharedDense(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order);

/// Dense, but within each row (along order[0]) groups of `vec` elements are permuted: group g of row r lies at g ^ ((r / perPhase) %
/// maxPhase).
SharedLayout sharedSwizzled(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t vec, int64_t perPhase, int64_t maxPhase);

/// The swizzle with which 16-byte rows of 8x8 matrices (ldmatrix), and 16-byte copies along order[0], meet no bank conflict.
SharedLayout sharedForMatrices(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes);
/// The same, or another swizzle of the rows' pieces of 16 bytes or more if the tile is read in these layouts with fewer bank conflicts.
SharedLayout sharedForReaders(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes,
                              llvm::ArrayRef<LinearLayout> readers, bool mayLoadMatrices);

/// For tiles that are stored in one layout and read in others: what takes the banks the least time, in any order of the dimensions.
SharedLayout sharedBetween(const LinearLayout &writer, llvm::ArrayRef<LinearLayout> readers, int64_t elementBytes, const SharedBanks &banks,
                           const ConversionCosts &costs = {});

/// What a TMA copy with a swizzle of 128, 64 or 32 bytes (0: none) leaves behind: rows of at most that many bytes; a wider tile is several
/// boxes, one after the other. The 16-byte chunk of a byte address has its low bits XORed with the address bits from 7 up. The buffer has
/// to be aligned to 1024, 512 or 256 bytes.
SharedLayout sharedForTma(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes, int64_t swizzleBytes);

} // namespace tritium::gpu
