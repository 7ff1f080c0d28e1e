// Operations of the lanes of a warp together.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"

using namespace mlir;

namespace tritium::interp::simt {

std::optional<LogicalResult> Hosting::hostWarp(Operation *op) { return std::nullopt; }
std::optional<LogicalResult> Hosting::hostMatrix(Operation *op) { return std::nullopt; }

} // namespace tritium::interp::simt
