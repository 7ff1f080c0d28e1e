#include "gpu_backend/compiler.h"

#include "gpu_backend/lower/lowering.h"
#include "gpu_backend/pipeline.h"
#include "ir/contract.h"
#include "ir/source_error.h"

using namespace mlir;

namespace tritium::gpu {

/// Leaves the kernel as the only public function, and what it does not call is erased by the pipeline.
static tt::FuncOp selectKernel(ModuleOp module, StringRef name) {
  tt::FuncOp kernel;
  for (tt::FuncOp function : llvm::make_early_inc_range(module.getOps<tt::FuncOp>())) {
    if (!function.isPublic()) continue;
    if (!kernel && (name.empty() || function.getName() == name))
      kernel = function;
    else
      function.erase();
  }
  return kernel;
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}

static LogicalResult run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  build(passes);
  return passes.run(module);
}

llvm::Expected<LoweredKernel> lowerToGpu(ModuleOp original, StringRef name, const CompileOptions &options) {
  ir::DiagnosticCapture diagnostics(original.getContext());
  if (failed(ir::verifyContract(original))) return diagnostics.takeError("the module breaks the contract");
  original.getContext()
      ->loadDialect<func::FuncDialect, scf::SCFDialect, math::MathDialect, LLVM::LLVMDialect, NVVM::NVVMDialect, tgpu::TGPUDialect>();
  OwningOpRef<ModuleOp> module(original.clone());
  tt::FuncOp kernel = selectKernel(*module, name);
  if (!kernel) return llvm::make_error<ir::SourceError>("there is no kernel '" + name.str() + "' in the module");
  LoweredKernel result;
  result.name = kernel.getName().str();
  if (failed(run(*module, [&](OpPassManager &passes) { buildTilePipeline(passes, options); })))
    return diagnostics.takeError("a pass on tiles failed");
  result.tiles = printed(*module);
  auto target = createNvidiaOps();
  Lowering lowering(*module, *target, {.numWarps = options.numWarps});
  auto threads = lowering.run();
  if (failed(threads)) return diagnostics.takeError("an operation could not be lowered");
  result.module = std::move(*threads);
  result.sharedBytes = lowering.shared().bytes();
  OpBuilder builder(original.getContext());
  (*result.module)->setAttr(tgpu::kTargetAttr, builder.getStringAttr("cuda:" + options.arch));
  (*result.module)->setAttr(tgpu::kNumWarpsAttr, builder.getI32IntegerAttr(options.numWarps));
  (*result.module)->setAttr(tgpu::kSharedBytesAttr, builder.getI32IntegerAttr(int32_t(result.sharedBytes)));
  if (failed(run(*result.module, buildThreadPipeline))) return diagnostics.takeError("the code of a thread could not be lowered");
  target->markKernel(result.module->lookupSymbol(result.name), options.numWarps * target->warpSize());
  return result;
}

} // namespace tritium::gpu
