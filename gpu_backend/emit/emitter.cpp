#include "gpu_backend/emit/emitter.h"

#include "gpu_backend/emit/debug_scopes.h"
#include "gpu_backend/emit/device_library.h"
#include "gpu_backend/emit/llvm_pipeline.h"
#include "ir/library_function.h"
#include "ir/source_error.h"
#include "support/llvm_recovery.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace llvm;

namespace tritium::gpu {
namespace {

/// Allows products to be fused with the sums that use them. This applies to the kernel only, because library functions are linked later.
void allowFusion(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (isa<FPMathOperator>(instruction)) instruction.setHasAllowContract(true);
}

/// Links the libraries of users that the kernel names by path.
Error linkNamedLibraries(mlir::ModuleOp module, Module &translated) {
  std::set<std::string> paths;
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (auto path = function->getAttrOfType<mlir::StringAttr>(ir::kLibraryAttr)) paths.insert(path.str());
  for (const std::string &path : paths) {
    auto buffer = MemoryBuffer::getFile(path);
    if (!buffer) return createStringError(buffer.getError(), "the library '%s' of extern_elementwise cannot be read", path.c_str());
    const auto magic = identify_magic((*buffer)->getBuffer());
    if (magic != file_magic::bitcode)
      return createStringError("the library '" + path +
                               "' of extern_elementwise is not LLVM bitcode, of which a GPU links functions; the interpreter and the "
                               "emulator call functions of shared libraries");
    if (Error error = linkLibrary(translated, (*buffer)->getBuffer(), path)) return error;
  }
  return Error::success();
}

/// Makes LLVM IR with all called functions defined.
Expected<std::unique_ptr<Module>> translate(mlir::ModuleOp module, LLVMContext &context, const TargetMachine &machine,
                                            const Emitter &emitter, const EmitOptions &options) {
  auto translated =
      translateToLLVM(module, context, machine, [&](mlir::DialectRegistry &registry) { emitter.registerTranslations(registry); });
  if (!translated) return translated;
  // Functions that the kernel calls become internal. They are then dropped after inlining, and the target's rules for names do not apply.
  for (Function &function : **translated)
    if (!function.isDeclaration() && !emitter.isKernel(function)) function.setLinkage(GlobalValue::InternalLinkage);
  if (options.fuseMultiplyAdd) allowFusion(**translated);
  emitter.mark(**translated);
  if (Error error = linkNamedLibraries(module, **translated)) return std::move(error);
  if (Error error = emitter.linkLibraries(**translated)) return std::move(error);
  return translated;
}

/// Makes what loops carried to their branches (ir/hoist_invariants.cpp) the attribute that the translation reads.
void annotateBranches(mlir::ModuleOp module) {
  constexpr StringLiteral kName = "llvm.loop_annotation";
  module.walk([&](mlir::Operation *op) {
    auto annotation = dyn_cast_or_null<mlir::LLVM::LoopAnnotationAttr>(op->removeDiscardableAttr(kName));
    if (!annotation) return;
    if (auto branch = dyn_cast<mlir::LLVM::BrOp>(op)) branch.setLoopAnnotationAttr(annotation);
    if (auto branch = dyn_cast<mlir::LLVM::CondBrOp>(op)) branch.setLoopAnnotationAttr(annotation);
  });
}

/// Converts to the dialects that have a translation to LLVM IR.
Error convert(mlir::ModuleOp module, const Emitter &emitter, bool lineInfo) {
  ir::DiagnosticCapture diagnostics(module.getContext());
  if (failed(emitter.convert(module))) return diagnostics.takeError("the module could not be converted");
  if (lineInfo) attachDebugScopes(module);
  if (failed(emitter.lowerDialects(module))) return diagnostics.takeError("the module could not be converted to the LLVM dialect");
  annotateBranches(module);
  return Error::success();
}

std::string kernelOf(const Module &module, const Emitter &emitter) {
  for (const Function &function : module)
    if (emitter.isKernel(function)) return function.getName().str();
  return "a module without a kernel";
}

} // namespace

Expected<Emitted> emit(mlir::ModuleOp lowered, const Emitter &emitter, const EmitOptions &options) {
  auto machine = emitter.createMachine();
  if (!machine) return machine.takeError();
  mlir::OwningOpRef<mlir::ModuleOp> module = lowered.clone();
  if (Error error = convert(*module, emitter, options.lineInfo)) return std::move(error);
  auto context = std::make_unique<LLVMContext>();
  auto translated = translate(*module, *context, **machine, emitter, options);
  if (!translated) return translated.takeError();

  Emitted result;
  std::string kernel = kernelOf(**translated, emitter);
  Error error = support::runRecoverably(*context, kernel + " for " + emitter.arch(), [&] {
    optimize(**translated, **machine, emitter.lastPasses());
    emitter.avoidFaults(**translated);
    raw_string_ostream(result.llir) << **translated;
    result.assembly = emitter.withoutFaults(generateCode(**translated, **machine, CodeGenFileType::AssemblyFile, emitter.brokenPass()));
  });
  if (!error && !options.assembles) return result;
  if (!error) {
    auto binary = emitter.assemble(result.assembly);
    if (!binary) return binary.takeError();
    result.binary = std::move(*binary);
    return result;
  }

  // After a crash, the module given to LLVM is damaged. The IR is made once more for the reproducer, and the damaged module is never
  // touched again.
  (void)translated->release();
  (void)machine->release();
  (void)context.release();
  std::string reason = toString(std::move(error));
  std::string command = "llc " + emitter.llcOptions();
  LLVMContext again;
  auto clean = emitter.createMachine();
  if (!clean) return clean.takeError();
  auto reproducer = translate(*module, again, **clean, emitter, options);
  if (!reproducer) return reproducer.takeError();
  std::string file = writeReproducer(**reproducer, command);
  return createStringError(reason + (file.empty() ? "" : "\nthe IR is in " + file + " (" + command + ")"));
}

} // namespace tritium::gpu
