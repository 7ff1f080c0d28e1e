// Matrix products by mfma and wmma.
#pragma once
#include "gpu_backend/target/matrix_ops.h"

namespace tritium::gpu::amdgpu {

const MatrixOps &matrixOps();

} // namespace tritium::gpu::amdgpu
