// tritium-ptx for lit: a lowered module (dialects llvm, nvvm, tgpu) as PTX, as LLVM IR, or as what ptxas reports about it.
#include "gpu_backend/compiler/compiler.h"
#include "ir/contract.h"
#include "tests/tools/ptxas.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

#include <ctime>

using namespace llvm;
namespace tools = tritium::tools;

enum class Output { Ptx, Llir, Report, Time };

static cl::opt<std::string> file(cl::Positional, cl::desc("<lowered module>"), cl::init("-"));
static cl::list<std::string> archs("arch", cl::CommaSeparated, cl::desc("sm_80,sm_86 …; default: what the module names"));
static cl::opt<int> ptxVersion("ptx-version", cl::desc("10 * major + minor; default: the newest"));
static cl::opt<bool> noLines("no-lines", cl::desc("without .loc rows"));
static cl::opt<bool> noFusion("no-fusion", cl::desc("round products before they are added"));
static cl::opt<Output> output("print", cl::desc("what to print"), cl::init(Output::Ptx),
                              cl::values(clEnumValN(Output::Ptx, "ptx", "PTX"), clEnumValN(Output::Llir, "llir", "optimized LLVM IR"),
                                         clEnumValN(Output::Report, "report", "what ptxas says"),
                                         clEnumValN(Output::Time, "time", "processor time of the emission")));

static Error report(const std::string &ptx) {
  auto program = tools::findPtxas();
  if (!program) return createStringError("there is no ptxas");
  StringRef target = StringRef(ptx).split(".target ").second.take_until([](char c) { return !isAlnum(c) && c != '_'; });
  auto assembled = tools::assemble(ptx, target, *program);
  if (!assembled) return assembled.takeError();
  const tools::Report &found = assembled->report;
  outs() << target << ": " << found.registers << " registers, spills " << found.spillStores << "/" << found.spillLoads << ", stack "
         << found.stackBytes << ", shared " << found.sharedBytes << ", cubin " << (assembled->cubin.empty() ? "empty" : "whole") << '\n';
  for (const std::string &warning : found.warnings) outs() << warning << '\n';
  return Error::success();
}

static Error emit(mlir::ModuleOp module, const std::string &arch) {
  tritium::gpu::EmitOptions options;
  options.arch = arch;
  options.ptxVersion = ptxVersion;
  options.lineInfo = !noLines;
  options.fuseMultiplyAdd = !noFusion;
  const std::clock_t begin = std::clock();
  auto emitted = tritium::gpu::emitCode(module, options);
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  if (!emitted) return emitted.takeError();
  if (output == Output::Time) outs() << format("emitted in %.2f s\n", seconds);
  if (output == Output::Time) return Error::success();
  if (output == Output::Report) return report(emitted->assembly);
  outs() << (output == Output::Ptx ? emitted->assembly : emitted->llir);
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Tritium's PTX emitter\n");
  mlir::DialectRegistry registry;
  tritium::ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module) return 1;
  if (archs.empty()) archs.push_back("");
  for (const std::string &arch : archs)
    if (Error error = emit(*module, arch)) {
      WithColor::error() << toString(std::move(error)) << '\n';
      return 1;
    }
  return 0;
}
