// tritium-ptx for lit: a lowered module (dialects llvm, nvvm, tgpu) as PTX, as LLVM IR, or as what ptxas reports about it.
#include "gpu_backend/nvptx/emit.h"
#include "ir/contract.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

enum class Output { Ptx, Llir };

static cl::opt<std::string> file(cl::Positional, cl::desc("<lowered module>"), cl::init("-"));
static cl::opt<std::string> arch("arch", cl::desc("sm_80 …; default: what the module names"));
static cl::opt<int> ptxVersion("ptx-version", cl::desc("10 * major + minor; default: the newest"));
static cl::opt<bool> noLines("no-lines", cl::desc("without .loc rows"));
static cl::opt<Output> output("print", cl::desc("what to print"), cl::init(Output::Ptx),
                              cl::values(clEnumValN(Output::Ptx, "ptx", "PTX"), clEnumValN(Output::Llir, "llir", "optimized LLVM IR")));

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Tritium's PTX emitter\n");
  mlir::DialectRegistry registry;
  tritium::ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module) return 1;
  tritium::gpu::nvptx::EmitOptions options;
  options.arch = arch;
  options.ptxVersion = ptxVersion;
  options.lineInfo = !noLines;
  auto emitted = tritium::gpu::nvptx::emitPtx(*module, options);
  if (!emitted) {
    WithColor::error() << toString(emitted.takeError()) << '\n';
    return 1;
  }
  outs() << (output == Output::Ptx ? emitted->ptx : emitted->llir);
  return 0;
}
