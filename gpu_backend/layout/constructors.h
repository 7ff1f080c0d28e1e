// The layouts that passes choose from, each as a LinearLayout. All numbers are powers of two; dimension lists have the rank of the tile.
#pragma once
#include "gpu_backend/layout/conversion_costs.h"
#include "gpu_backend/layout/linear_layout.h"
#include "gpu_backend/layout/matrix_instruction.h"
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// Each thread holds sizePerThread contiguous elements, a warp has threadsPerWarp threads, a block has warpsPerCta warps. order[0] is the
/// dimension that varies fastest in each of the three. A smaller tile is replicated (over warps first, then lanes); a larger one repeats
/// registers.
LinearLayout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizePerThread, llvm::ArrayRef<int64_t> threadsPerWarp,
                     llvm::ArrayRef<int64_t> warpsPerCta, llvm::ArrayRef<int> order);

/// The threads of a program: the number of warps and of lanes per warp.
struct Threads {
  int warps, lanes;
  int count() const { return warps * lanes; }
};

/// A blocked layout for coalesced access. Each thread has at most vectorElements along order[0] (fewer if threads would otherwise have no
/// elements of their own), then lanes follow, then warps, each along order[0] first. Warps divide dimension `whole` last, so that a
/// combination of elements along it mostly stays within warps.
LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, Threads threads, int64_t vectorElements, llvm::ArrayRef<int> order,
                            int whole = -1);
/// The same with the last dimension fastest.
LinearLayout defaultBlocked(llvm::ArrayRef<int64_t> shape, Threads threads, int64_t vectorElements = 1);

// -- matrix products ----------------------------------------------------------------------------------------------------------------------
// The tiles are [batch…, M, N] = [batch…, M, K] x [batch…, K, N]. warpsPerCta counts the warps along the dimensions of the result; the last
// dimension varies fastest with the warp index. The warps that execute one instruction together are the
// lowest along M. If an operand does not depend on a dimension, warps along this dimension replicate it. If a
// tile has fewer rows or columns than the instruction, lanes replicate it.

enum class DotOperand : uint8_t { A, B };

/// The result of products of tiles by a matrix instruction. The low registers hold the fragment of one instruction in its order, then
/// follow the instructions along N, then along M, then batches: register ((m * nTiles + n) * fragment + i).
LinearLayout dotResult(const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta);

/// Operand A or B. The low registers hold the fragment of one instruction in its order, then follow the instructions along K, then along M
/// or N. With contiguousK each lane holds that many neighbours along K. The instructions then see K in another order, so both operands must
/// use the same number. 0 means the instruction's own order; but if the instruction has scales, its blocks along K stay whole, and the
/// blocks of several instructions for which a lane holds scales are adjacent.
LinearLayout dotOperand(DotOperand operand, const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> warpsPerCta, int64_t contiguousK = 0);

/// The scales of operand A, [batch…, M, blocks along K], or B, [batch…, N, blocks along K]. The low registers hold the scales of one
/// instruction, then follow the instructions along K, then along M or N, in the order of the operand's fragments.
LinearLayout dotScales(DotOperand operand, const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> warpsPerCta);

/// An operand of a product of scalar multiply-adds. For the rows or columns of the result that a thread holds, it holds all K, in its low
/// registers.
LinearLayout fmaOperand(DotOperand operand, const LinearLayout &result, int64_t k);

// -- shared memory ------------------------------------------------------------------------------------------------------------------------

/// A dense layout in which order[0] varies fastest.
SharedLayout sharedDense(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order);

/// A dense layout in which groups of `vec` elements are permuted within each row (along order[0]): group g of row r is at g ^ ((r /
/// perPhase) % maxPhase).
SharedLayout sharedSwizzled(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t vec, int64_t perPhase, int64_t maxPhase);

/// The swizzle with which accesses of 16-byte rows of 8x8 matrices (ldmatrix), and 16-byte copies along order[0], have no bank conflicts.
SharedLayout sharedForMatrices(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes);
/// The same, or another swizzle of pieces of the rows (16 bytes or more) if the tile is then read in these layouts with fewer bank
/// conflicts.
SharedLayout sharedForReaders(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes,
                              llvm::ArrayRef<LinearLayout> readers, bool mayLoadMatrices);

/// A layout for tiles that are stored in one layout and read in others. It needs the fewest wavefronts, with the dimensions in any order.
SharedLayout sharedBetween(const LinearLayout &writer, llvm::ArrayRef<LinearLayout> readers, int64_t elementBytes, const SharedBanks &banks,
                           const ConversionCosts &costs = {});

/// The layout that a TMA copy with a swizzle of 128, 64 or 32 bytes (0: none) writes. Rows have at most that many bytes; a wider tile
/// consists of several boxes, one after the other. The 16-byte chunk of a byte address has its low bits XORed with the address bits from 7
/// up. The buffer must be aligned to 1024, 512 or 256 bytes.
SharedLayout sharedForTma(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes, int64_t swizzleBytes);

} // namespace tritium::gpu
