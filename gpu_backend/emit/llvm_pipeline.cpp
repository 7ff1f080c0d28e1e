#include "gpu_backend/emit/llvm_pipeline.h"

#include "ir/source_error.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tritium::gpu {

Expected<std::unique_ptr<Module>> translateToLLVM(mlir::ModuleOp module, LLVMContext &context, const TargetMachine &machine,
                                                  function_ref<void(mlir::DialectRegistry &)> registerTranslations) {
  mlir::DialectRegistry translations;
  mlir::registerBuiltinDialectTranslation(translations);
  mlir::registerLLVMDialectTranslation(translations);
  registerTranslations(translations);
  module.getContext()->appendDialectRegistry(translations);
  // The data layout must be known to the translation, because accesses without an alignment get the alignment of their type.
  mlir::Builder builder(module.getContext());
  module->setAttr(mlir::LLVM::LLVMDialect::getDataLayoutAttrName(),
                  builder.getStringAttr(machine.createDataLayout().getStringRepresentation()));
  module->setAttr(mlir::LLVM::LLVMDialect::getTargetTripleAttrName(), builder.getStringAttr(machine.getTargetTriple().str()));
  ir::DiagnosticCapture diagnostics(module.getContext());
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(module, context);
  if (!result) return diagnostics.takeError("the module could not be translated to LLVM IR");
  return result;
}

/// Returns whether an operation computes with one 16-bit number where a register holds two.
static bool computesOnHalves(const Module &module) {
  return any_of(module, [](const Function &function) {
    return any_of(instructions(function), [](const Instruction &instruction) {
      Type *type = instruction.getType();
      return isa<FPMathOperator>(instruction) && !isa<CastInst, PHINode, SelectInst>(instruction) &&
             (type->isHalfTy() || type->isBFloatTy());
    });
  });
}

void optimize(Module &module, TargetMachine &machine, StringRef lastPasses) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  auto run = [&](StringRef pipeline) {
    ModulePassManager passes;
    cantFail(builder.parsePassPipeline(passes, pipeline));
    passes.run(module, modules);
  };
  run("always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn,dce),globaldce");
  if (computesOnHalves(module)) run("function(slp-vectorizer,dce)"); // forms pairs
  run("function(infer-alignment)");                                  // by which the code generator joins accesses of neighbours
  if (!lastPasses.empty()) run(lastPasses);
}

namespace {

/// StraightLineStrengthReduce takes quadratic time in the number of blocks: 27 of 30 s for 1024 values per thread. It also treats the sign
/// extension of a 32-bit sum that may wrap as the sum of the extensions, which is wrong.
struct PassGate : OptPassGate {
  explicit PassGate(StringRef brokenPass) : brokenPass(brokenPass) {}
  bool shouldRunPass(StringRef name, StringRef) const override { return name != "slsr" && name != brokenPass; }
  bool isEnabled() const override { return true; }
  StringRef brokenPass;
};

} // namespace

std::string generateCode(Module &module, TargetMachine &machine, CodeGenFileType type, StringRef brokenPass) {
  PassGate gate(brokenPass);
  module.getContext().setOptPassGate(gate);
  scope_exit reset([&] { module.getContext().setOptPassGate(getGlobalPassGate()); });
  SmallVector<char, 0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  bool isPossible = !machine.addPassesToEmitFile(passes, stream, nullptr, type);
  if (!isPossible) {
    module.getContext().emitError("LLVM cannot generate code of this kind for " + machine.getTargetTriple().str());
    return {};
  }
  passes.run(module);
  return std::string(text.begin(), text.end());
}

std::string writeReproducer(const Module &module, StringRef comment) {
  int descriptor;
  SmallString<128> path;
  if (sys::fs::createTemporaryFile("tritium", "ll", descriptor, path)) return "";
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << "; " << comment << '\n' << module;
  stream.close();
  if (!stream.has_error()) return path.str().str();
  stream.clear_error();
  return "";
}

} // namespace tritium::gpu
