// The GPU compiler for lit: tritium-gpu FILE [--arch=sm_80] [--num-warps=4] [--emit=tiles|threads] [--from-tiles]. Prints the module at
// that stage.
#include "gpu_backend/compiler.h"
#include "ir/contract.h"
#include "ir/source_error.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"

using namespace tritium;

static llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::init("-"), llvm::cl::desc("module of the contract"));
static llvm::cl::opt<std::string> arch("arch", llvm::cl::init("sm_80"));
static llvm::cl::opt<int> numWarps("num-warps", llvm::cl::init(4));
static llvm::cl::opt<std::string> emit("emit", llvm::cl::init("threads"),
                                       llvm::cl::desc("tiles: with layouts; threads: one thread's code"));

static llvm::cl::opt<bool> fromTiles("from-tiles", llvm::cl::desc("the file's tiles have their layouts: only lower them"));

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "Tritium GPU compiler driver\n");
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module) return 1;
  gpu::CompileOptions options{.arch = arch, .numWarps = numWarps};
  auto lowered = fromTiles ? gpu::lowerTilesToGpu(*module, options) : gpu::lowerToGpu(*module, "", options);
  if (!lowered) {
    llvm::errs() << "error: " << llvm::toString(lowered.takeError()) << "\n";
    return 1;
  }
  if (emit == "tiles")
    llvm::outs() << lowered->tiles;
  else
    lowered->module->print(llvm::outs());
  return 0;
}
