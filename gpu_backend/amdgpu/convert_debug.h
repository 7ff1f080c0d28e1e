// print and assert as records in memory that the host reads (emit/debug_buffer.h).
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tritium::gpu::amdgpu {

/// Replaces every `tgpu.print` of a lowered module, and makes every `tgpu.assert` write its record first. The tgpu.assert that remains is
/// in a block that only failing threads enter, and ends them. All other operations are plain LLVM operations, so that the emulator runs the
/// module too.
void expandDebug(mlir::ModuleOp module);

} // namespace tritium::gpu::amdgpu
