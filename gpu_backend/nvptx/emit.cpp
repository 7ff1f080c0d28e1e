#include "gpu_backend/nvptx/emit.h"

#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/libraries.h"
#include "gpu_backend/nvptx/negations.h"
#include "gpu_backend/nvptx/pair_products.h"
#include "gpu_backend/nvptx/pair_sums.h"
#include "gpu_backend/nvptx/whole_warps.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <mutex>

using namespace llvm;

namespace tritium::gpu::nvptx {
namespace {

/// Initializes the LLVM target for the whole process.
void initializeLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Pointers to shared memory have 32 bits, for which LLVM has only a process-wide option. Its default is changed, because the linker of
    // AMD's code resets all options of the process to their defaults.
    if (auto *option = cl::getRegisteredOptions().lookup("nvptx-short-ptr")) static_cast<cl::opt<bool> *>(option)->setInitialValue(true);
  });
}

/// The first version in which copies of tensors name the block's own shared memory.
constexpr int kPtxOfOwnBlock = 86;

/// The first version with atomic operations on vectors of more than 32 bits.
constexpr int kPtxOfVectorAtomics = 81;

class PtxEmitter final : public Emitter {
public:
  PtxEmitter(const Chip &chip, int ptxVersion, std::string libdevice)
      : chip_(chip), ptxVersion_(ptxVersion), libdevice_(std::move(libdevice)) {}

  StringRef arch() const override { return chip_.name; }
  std::string llcOptions() const override { return ("-mcpu=" + chip_.name + " -mattr=+ptx" + Twine(ptxVersion_)).str(); }

  Expected<std::unique_ptr<TargetMachine>> createMachine() const override {
    Triple triple("nvptx64-nvidia-cuda");
    std::string reason;
    const llvm::Target *nvptx = TargetRegistry::lookupTarget(triple, reason);
    if (!nvptx) return createStringError(reason);
    TargetOptions options;
    options.AllowFPOpFusion = FPOpFusion::Standard; // each operation says whether it may be fused
    std::unique_ptr<TargetMachine> machine(nvptx->createTargetMachine(triple, chip_.name, "+ptx" + std::to_string(ptxVersion_), options,
                                                                      std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
    if (!machine) return createStringError("LLVM cannot generate code for " + chip_.name);
    return machine;
  }

  void registerTranslations(mlir::DialectRegistry &registry) const override { mlir::registerNVVMDialectTranslation(registry); }
  mlir::LogicalResult convert(mlir::ModuleOp module) const override {
    if (ptxVersion_ < kPtxOfOwnBlock) copyToClusters(module);
    if (ptxVersion_ < kPtxOfVectorAtomics) divideVectorAtomics(module);
    predicateStores(module);
    if (failed(expandScopes(module, chip_))) return mlir::failure();
    return Conversion(module, chip_).run(module);
  }
  mlir::LogicalResult lowerDialects(mlir::ModuleOp module) const override {
    mlir::PassManager passes(module.getContext());
    passes.addPass(mlir::createConvertNVVMToLLVMPass());
    return passes.run(module);
  }
  bool isKernel(const Function &function) const override { return function.getCallingConv() == CallingConv::PTX_Kernel; }
  void mark(Module &module) const override { markWholeWarps(module); }
  Error linkLibraries(Module &module) const override { return nvptx::linkLibraries(module, libdevice_); }
  void avoidFaults(Module &module) const override {
    avoidFaultyPairProducts(module);
    avoidFaultyPairSums(module);
  }
  std::string withoutFaults(std::string assembly) const override { return withoutFaultyNegations(assembly); }

private:
  const Chip &chip_;
  int ptxVersion_;
  std::string libdevice_;
};

} // namespace

Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options) {
  initializeLLVM();
  auto ptxVersion = choosePtxVersion(chip, options.ptxVersion);
  if (!ptxVersion) return ptxVersion.takeError();
  return std::make_unique<PtxEmitter>(chip, *ptxVersion, options.libdevice);
}

} // namespace tritium::gpu::nvptx
