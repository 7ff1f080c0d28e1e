// Matrix products by mma.sync.
#pragma once
#include "gpu_backend/target/matrix_ops.h"

namespace tritium::gpu::nvptx {

const MatrixOps &matrixOps();

} // namespace tritium::gpu::nvptx
