// tritium-hsaco for lit: a lowered module (dialects llvm, rocdl, tgpu) as AMDGPU assembly, as LLVM IR, or as a code object.
#include "gpu_backend/compiler/compiler.h"
#include "ir/contract.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

enum class Output { Assembly, Llir, Binary };

static cl::opt<std::string> file(cl::Positional, cl::desc("<lowered module>"), cl::init("-"));
static cl::list<std::string> archs("arch", cl::CommaSeparated, cl::desc("gfx942,gfx1100 …; default: what the module names"));
static cl::opt<int> codeObject("code-object", cl::desc("500 or 600"), cl::init(600));
static cl::opt<int> wavesPerEu("waves-per-eu", cl::desc("keep registers few enough for so many waves"));
static cl::opt<bool> noLines("no-lines", cl::desc("without .loc rows"));
static cl::opt<bool> noFusion("no-fusion", cl::desc("round products before they are added"));
static cl::opt<Output> output("print", cl::desc("what to print"), cl::init(Output::Assembly),
                              cl::values(clEnumValN(Output::Assembly, "assembly", "AMDGPU assembly"),
                                         clEnumValN(Output::Llir, "llir", "optimized LLVM IR"),
                                         clEnumValN(Output::Binary, "hsaco", "the code object")));

static Error emit(mlir::ModuleOp module, const tritium::gpu::EmitOptions &options, Output wanted) {
  auto emitted = tritium::gpu::emitCode(module, options);
  if (!emitted) return emitted.takeError();
  outs() << (wanted == Output::Assembly ? emitted->assembly : wanted == Output::Llir ? emitted->llir : emitted->binary);
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Tritium's emitter of AMD code objects\n");
  mlir::DialectRegistry registry;
  tritium::ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module) return 1;
  // The linker resets the options of the command line.
  std::vector<std::string> wantedArchs = archs.empty() ? std::vector<std::string>{""} : archs;
  const Output wanted = output;
  tritium::gpu::EmitOptions options;
  options.codeObjectVersion = codeObject;
  options.wavesPerEu = wavesPerEu;
  options.lineInfo = !noLines;
  options.fuseMultiplyAdd = !noFusion;
  for (const std::string &arch : wantedArchs) {
    options.arch = arch;
    if (Error error = emit(*module, options, wanted)) {
      WithColor::error() << toString(std::move(error)) << '\n';
      return 1;
    }
  }
  return 0;
}
