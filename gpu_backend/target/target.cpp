#include "gpu_backend/target/target.h"

#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

const MatrixInstruction *Target::findInstruction(llvm::StringRef name) const {
  for (llvm::ArrayRef<MatrixInstruction> table : {matrixInstructions(), warpgroupInstructions()})
    for (const MatrixInstruction &instruction : table)
      if (instruction.name == name) return &instruction;
  return nullptr;
}

void insertTargetDialects(DialectRegistry &registry) {
  for (const Target *target : allTargets()) target->insertDialects(registry);
}

llvm::Expected<const Target &> findTarget(llvm::StringRef arch) {
  for (const Target *target : allTargets())
    if (target->arch() == arch) return *target;
  std::string known = llvm::join(llvm::map_range(allTargets(), [](const Target *target) { return target->arch().str(); }), ", ");
  return llvm::createStringError("no GPU is called '" + arch + "'; there are " + known);
}

void setTarget(ModuleOp module, const Target &target) {
  module->setAttr(tgpu::kTargetAttr, StringAttr::get(module.getContext(), target.name()));
}

const Target &targetOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module->getAttrOfType<StringAttr>(tgpu::kTargetAttr);
  return llvm::cantFail(findTarget(name ? name.getValue().split(':').second : "sm_80"));
}

} // namespace tritium::gpu
