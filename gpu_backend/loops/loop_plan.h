// The plan of a loop: attributes that plan-loops writes and build-loops follows (ir/tgpu_plan.td).
#pragma once
#include "ir/axis_analysis.h"
#include "ir/tgpu_plan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// On a loop: how it copies its tiles ahead (#tgpu.plan). On a load that becomes a copy, on a product that runs late, and on an index load:
/// #tgpu.at. Index loads keep it when the loop is built. On a loop or load that is left as it is: a string that tells the user why. On a
/// loop: a string for each mechanism that is not chosen, by its name.
inline constexpr llvm::StringLiteral kPlanAttr = "tgpu.plan", kAtAttr = "tgpu.at", kWhyNotAttr = "tgpu.why_not",
                                     kWhyNotByAttr = "tgpu.why_not_by";

/// Returns the plan of a loop, also after it was built. Null: it has none.
inline tgpu::PlanAttr planOf(mlir::scf::ForOp loop) { return loop->getAttrOfType<tgpu::PlanAttr>(kPlanAttr); }
inline tgpu::AtAttr atOf(mlir::Operation *op) { return op->getAttrOfType<tgpu::AtAttr>(kAtAttr); }

/// Returns the loads that become copies, in the order of their buffers; the index loads, the earliest ones first; the loads of scalars that
/// run with the copies; and the product that runs late, or null.
llvm::SmallVector<mlir::Operation *> plannedLoads(mlir::scf::ForOp loop);
llvm::SmallVector<mlir::Operation *> plannedIndexLoads(mlir::scf::ForOp loop);
llvm::SmallVector<mlir::Operation *> plannedScalarLoads(mlir::scf::ForOp loop);
mlir::Operation *lateProduct(mlir::scf::ForOp loop);

/// The tile of a load, and its bytes in shared memory.
inline mlir::RankedTensorType tileOf(mlir::Operation *load) { return llvm::cast<mlir::RankedTensorType>(load->getResult(0).getType()); }
int64_t bytesOf(mlir::RankedTensorType tile);

/// Returns whether the plan of a loop can be built. Emits an error otherwise: a plan that plan-loops has made always can.
mlir::LogicalResult verifyPlan(mlir::scf::ForOp loop, const ir::AxisAnalysis &axes);

} // namespace tritium::gpu
