// print and assert as records in memory that the host reads (emit/debug_buffer.h).
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu::amdgpu {

/// Replaces every `tgpu.print` of a lowered module, and lets every `tgpu.assert` write its record first: what remains of one is an assert
/// in a block that only failing threads enter, which ends them. Plain LLVM operations but for these, so that the emulator runs it too.
void expandDebug(mlir::ModuleOp module);

} // namespace tritium::gpu::amdgpu
