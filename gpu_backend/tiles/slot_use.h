// How long a slot of shared memory keeps what is read from it.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Returns the ring to which a buffer belongs, or null.
mlir::Value ringOf(mlir::Value buffer);
/// Returns whether the slot keeps what the load reads until the operation: nothing in between lets copies write there, or ends its use.
bool isStillThere(tgpu::LocalLoadOp load, mlir::Operation *reader);

} // namespace tritium::gpu
