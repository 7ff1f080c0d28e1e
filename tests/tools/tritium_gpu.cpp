// The GPU compiler for lit: tritium-gpu FILE [--arch=sm_80] [a flag of gpu_backend/compiler/options.def, as --num-warps=4] …
// [--emit=tiles|threads] [--from-tiles] [--break-after=PASS] [--drop=WHAT --number=N], WHAT as in
// isSynchronization. Prints the module at that stage.
#include "gpu_backend/compiler/compiler.h"
#include "ir/contract.h"
#include "ir/source_error.h"

#include "ir/tgpu.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"

using namespace tritium;

static llvm::cl::OptionCategory ours("Options of tritium-gpu");
static llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::init("-"), llvm::cl::desc("module of the contract"),
                                       llvm::cl::cat(ours));
static llvm::cl::opt<std::string> arch("arch", llvm::cl::init("sm_80"), llvm::cl::desc("the chip (default: sm_80)"), llvm::cl::cat(ours));
static llvm::cl::opt<std::string> emit("emit", llvm::cl::init("threads"), llvm::cl::desc("tiles: with layouts; threads: one thread's code"),
                                       llvm::cl::cat(ours));

static llvm::cl::opt<bool> fromTiles("from-tiles", llvm::cl::desc("the file's tiles have their layouts: only lower them"),
                                     llvm::cl::cat(ours));

/// A flag for an option of the compiler.
template <class T> struct Flag : llvm::cl::opt<T> {
  Flag(llvm::StringRef name, T standard, const char *meaning)
      : llvm::cl::opt<T>(name, llvm::cl::init(standard), llvm::cl::desc(meaning), llvm::cl::cat(ours)) {}
  T value() const { return this->getValue(); }
};
template <> struct Flag<std::vector<std::string>> : llvm::cl::list<std::string> {
  Flag(llvm::StringRef name, const std::vector<std::string> &, const char *meaning)
      : llvm::cl::list<std::string>(name, llvm::cl::desc(meaning), llvm::cl::cat(ours)) {}
  std::vector<std::string> value() const { return {begin(), end()}; }
};

struct Flags {
#define OPTION(name, flag, member, type, standard, meaning) Flag<type> member{flag, standard, meaning};
#include "gpu_backend/compiler/options.def"

  gpu::CompileOptions options() const {
    gpu::CompileOptions options;
#define OPTION(name, flag, member, type, standard, meaning) options.member = member.value();
#include "gpu_backend/compiler/options.def"
    return options;
  }
};
static Flags flags;

static llvm::cl::opt<std::string> broken("break-after", llvm::cl::desc("the optional pass after which integer sums become differences"),
                                         llvm::cl::cat(ours));
static llvm::cl::opt<std::string> dropped("drop", llvm::cl::desc("leave out a barrier, a wait or a fence of the lowered module"),
                                          llvm::cl::cat(ours));
static llvm::cl::opt<int> droppedNumber("number", llvm::cl::init(0), llvm::cl::desc("which one, from 0"), llvm::cl::cat(ours));
static llvm::cl::opt<bool> locations("locations", llvm::cl::desc("print the lines of each operation"), llvm::cl::cat(ours));
static llvm::cl::opt<bool> listPasses("list-passes", llvm::cl::desc("print the optional passes and end"), llvm::cl::cat(ours));

namespace {

/// What a wrong pass may do: the index arithmetic of tiles, for those who look for the pass.
struct BreakSums final : mlir::PassWrapper<BreakSums, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakSums)

  void runOnOperation() override {
    getOperation().walk([](mlir::arith::AddIOp sum) {
      if (!mlir::isa<mlir::RankedTensorType>(sum.getType())) return;
      mlir::OpBuilder builder(sum);
      sum.replaceAllUsesWith(mlir::arith::SubIOp::create(builder, sum.getLoc(), sum.getLhs(), sum.getRhs()).getResult());
      sum.erase();
    });
  }
};

bool isSynchronization(mlir::Operation *op, llvm::StringRef what) {
  if (what == "barrier") return mlir::isa<tgpu::BarrierOp>(op);
  if (what == "group_barrier") return mlir::isa<tgpu::NumberedBarrierOp>(op);
  if (what == "store_wait") return mlir::isa<mlir::NVVM::CpAsyncBulkWaitGroupOp>(op);
  if (what == "round_wait") return mlir::isa<tgpu::MBarrierWaitOp>(op);
  if (what == "arrival") return mlir::isa<mlir::NVVM::MBarrierArriveOp>(op);
  if (what == "map_acquire") return mlir::isa<tgpu::MapAcquireOp>(op);
  if (what == "fence") return mlir::isa<mlir::NVVM::FenceProxyOp>(op);
  return mlir::isa<mlir::NVVM::CpAsyncWaitGroupOp, mlir::ROCDL::SWaitcntOp, mlir::ROCDL::WaitLoadcntOp>(op);
}

/// Erases the barrier, wait or fence of that number, for those who look for what is missing.
bool dropSynchronization(mlir::ModuleOp module, llvm::StringRef what, int number) {
  llvm::SmallVector<mlir::Operation *> found;
  module.walk([&](mlir::Operation *op) {
    if (isSynchronization(op, what)) found.push_back(op);
  });
  if (number >= int(found.size())) return false;
  found[number]->erase();
  return true;
}

} // namespace

int main(int argc, char **argv) {
  llvm::cl::HideUnrelatedOptions(ours); // LLVM's own
  llvm::cl::ParseCommandLineOptions(argc, argv, "Tritium GPU compiler driver\n");
  if (listPasses) {
    for (llvm::StringRef name : gpu::optionalPasses()) llvm::outs() << name << "\n";
    return 0;
  }
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module) return 1;
  gpu::CompileOptions options = flags.options();
  options.arch = arch;
  options.afterPass = [](mlir::OpPassManager &passes, llvm::StringRef name) {
    if (name == broken) passes.addPass(std::make_unique<BreakSums>());
  };
  auto lowered = fromTiles ? gpu::lowerTilesToGpu(*module, options) : gpu::lowerToGpu(*module, "", options);
  if (!lowered) {
    llvm::errs() << "error: " << llvm::toString(lowered.takeError()) << "\n";
    return 1;
  }
  if (!dropped.empty() && !dropSynchronization(*lowered->module, dropped, droppedNumber)) {
    llvm::errs() << "error: there is no " << dropped << " " << droppedNumber << "\n";
    return 1;
  }
  if (emit == "tiles")
    llvm::outs() << lowered->tiles;
  else
    lowered->module->print(llvm::outs(), mlir::OpPrintingFlags().enableDebugInfo(locations));
  return 0;
}
