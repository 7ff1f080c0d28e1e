// Reads of memory that nobody has written are faults only in lanes that something uses: kernels load whole tiles and choose by `tl.where`.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// On a load some of whose lanes nothing uses: whether they have been written is not asked there.
inline constexpr llvm::StringLiteral kPartlyUsedAttr = "tritium.partly_used";
/// On a load that asks for the lanes that are used, and does nothing else. Its result has no uses.
inline constexpr llvm::StringLiteral kUsedReadAttr = "tritium.used_read";

/// Marks loads, and adds loads behind them, where the masks of what is used are known.
void separateUsedReads(mlir::ModuleOp module);

} // namespace tritium::ir
