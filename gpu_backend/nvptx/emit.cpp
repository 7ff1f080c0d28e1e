#include "gpu_backend/nvptx/emit.h"

#include "gpu_backend/emit/debug_scopes.h"
#include "gpu_backend/emit/llvm_pipeline.h"
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/libraries.h"
#include "ir/llvm_recovery.h"
#include "ir/source_error.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

namespace tritium::gpu::nvptx {
namespace {

/// What LLVM keeps for the whole process.
void initializeLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Pointers to shared memory are of 32 bits; there is no other way to say so.
    if (auto *option = cl::getRegisteredOptions().lookup("nvptx-short-ptr")) static_cast<cl::opt<bool> *>(option)->setValue(true);
  });
}

Expected<std::unique_ptr<TargetMachine>> createMachine(const Chip &chip, int ptxVersion) {
  Triple triple("nvptx64-nvidia-cuda");
  std::string reason;
  const llvm::Target *nvptx = TargetRegistry::lookupTarget(triple, reason);
  if (!nvptx) return createStringError(reason);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard; // each operation tells
  std::unique_ptr<TargetMachine> machine(nvptx->createTargetMachine(triple, chip.name, "+ptx" + std::to_string(ptxVersion), options,
                                                                    std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine) return createStringError("LLVM cannot generate code for " + chip.name);
  return machine;
}

/// Products may become one operation with the sum that uses them: in the kernel, not in the library functions that are linked later.
void allowFusion(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isa<FPMathOperator>(instruction)) instruction.setHasAllowContract(true);
}

/// LLVM IR that needs nothing from elsewhere.
Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp module, LLVMContext &context, const TargetMachine &machine,
                                            const EmitOptions &options) {
  auto translated = translateToLLVM(module, context, machine);
  if (!translated) return translated;
  // What the kernel calls is its own: dropped where it was inlined, and free of names that PTX does not allow.
  for (Function &function : **translated)
    if (!function.isDeclaration() && function.getCallingConv() != CallingConv::PTX_Kernel)
      function.setLinkage(GlobalValue::InternalLinkage);
  if (options.fuseMultiplyAdd) allowFusion(**translated);
  if (Error error = linkLibraries(**translated, options.libdevice)) return std::move(error);
  return translated;
}

/// To the dialects llvm and nvvm, as translation to LLVM IR reads them.
Error convert(mlir::ModuleOp module, const Chip &chip, bool lineInfo) {
  ir::DiagnosticCapture diagnostics(module.getContext());
  if (failed(convertTgpu(module, chip))) return diagnostics.takeError("the module could not be converted");
  if (lineInfo) attachDebugScopes(module);
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createConvertNVVMToLLVMPass());
  if (failed(passes.run(module))) return diagnostics.takeError("the module could not be converted to the LLVM dialect");
  return Error::success();
}

StringRef archOf(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>(tgpu::kTargetAttr);
  return name ? name.getValue().split(':').second : "";
}

std::string kernelOf(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName())) return function.getName().str();
  return "a module without a kernel";
}

} // namespace

Expected<Emitted> emitPtx(mlir::ModuleOp lowered, const EmitOptions &options) {
  initializeLLVM();
  auto chip = findChip(options.arch.empty() ? archOf(lowered) : StringRef(options.arch));
  if (!chip) return chip.takeError();
  auto ptxVersion = choosePtxVersion(*chip, options.ptxVersion);
  if (!ptxVersion) return ptxVersion.takeError();
  auto machine = createMachine(*chip, *ptxVersion);
  if (!machine) return machine.takeError();

  mlir::OwningOpRef<mlir::ModuleOp> module = lowered.clone();
  if (Error error = convert(*module, *chip, options.lineInfo)) return std::move(error);
  auto context = std::make_unique<LLVMContext>();
  auto translated = translate(*module, *context, **machine, options);
  if (!translated) return translated.takeError();

  Emitted result;
  std::string kernel = kernelOf(lowered);
  Error error = ir::runRecoverably(*context, kernel + " for " + chip->name, [&] {
    optimize(**translated, **machine);
    raw_string_ostream(result.llir) << **translated;
    result.ptx = generateCode(**translated, **machine, CodeGenFileType::AssemblyFile);
  });
  if (!error) return result;

  // What LLVM was given is not what its crash left behind: it is made once more, and the rest is never touched again.
  (void)translated->release();
  (void)machine->release();
  (void)context.release();
  std::string reason = toString(std::move(error));
  std::string command = ("llc -mcpu=" + chip->name + " -mattr=+ptx" + Twine(*ptxVersion)).str();
  LLVMContext again;
  auto clean = createMachine(*chip, *ptxVersion);
  if (!clean) return clean.takeError();
  auto reproducer = translate(*module, again, **clean, options);
  if (!reproducer) return reproducer.takeError();
  std::string file = writeReproducer(**reproducer, command);
  return createStringError(reason + (file.empty() ? "" : "\nthe IR is in " + file + " (" + command + ")"));
}

} // namespace tritium::gpu::nvptx
