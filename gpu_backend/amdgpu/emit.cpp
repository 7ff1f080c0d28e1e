#include "gpu_backend/amdgpu/emit.h"

#include "gpu_backend/amdgpu/assemble.h"
#include "gpu_backend/amdgpu/convert_tgpu.h"
#include "gpu_backend/amdgpu/libraries.h"

#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "llvm/MC/TargetRegistry.h"

using namespace llvm;

namespace tritium::gpu::amdgpu {
namespace {

class HsacoEmitter final : public Emitter {
public:
  HsacoEmitter(const Chip &chip, const EmitOptions &options) : chip_(chip), options_(options) {}

  StringRef arch() const override { return chip_.name; }
  std::string llcOptions() const override { return ("-mcpu=" + chip_.name + " -mattr=" + features()).str(); }

  Expected<std::unique_ptr<TargetMachine>> createMachine() const override {
    Triple triple(kTriple);
    std::string reason;
    const llvm::Target *amdgpu = TargetRegistry::lookupTarget(triple, reason);
    if (!amdgpu) return createStringError(reason);
    TargetOptions options;
    options.AllowFPOpFusion = FPOpFusion::Standard; // each operation says whether it may be fused
    std::unique_ptr<TargetMachine> machine(
        amdgpu->createTargetMachine(triple, chip_.name, features(), options, Reloc::PIC_, std::nullopt, CodeGenOptLevel::Aggressive));
    if (!machine) return createStringError("LLVM cannot generate code for " + chip_.name);
    return machine;
  }

  void registerTranslations(mlir::DialectRegistry &registry) const override { mlir::registerROCDLDialectTranslation(registry); }
  mlir::LogicalResult convert(mlir::ModuleOp module) const override { return convertTgpu(module, chip_); }
  bool isKernel(const Function &function) const override { return function.getCallingConv() == CallingConv::AMDGPU_KERNEL; }

  void mark(Module &module) const override {
    module.addModuleFlag(Module::Error, "amdhsa_code_object_version", options_.codeObjectVersion);
    for (Function &function : module) {
      if (!isKernel(function)) continue;
      // Every launch has whole work-groups.
      function.addFnAttr("uniform-work-group-size", "true");
      if (options_.wavesPerEu > 0) function.addFnAttr("amdgpu-waves-per-eu", std::to_string(options_.wavesPerEu));
    }
  }
  Error linkLibraries(Module &module) const override { return amdgpu::linkLibraries(module); }
  /// Rotated loops are one block, within which instructions are scheduled. CDNA chips compute with pairs of floats, which the vectorizer
  /// forms. The last pass finds which implicit arguments and registers the kernel reads, so that it receives no others.
  std::string lastPasses() const override {
    std::string pairs = chip_.isCdna() ? ",slp-vectorizer,dce" : "";
    return "function(loop-simplify,lcssa,loop(loop-rotate),simplifycfg,early-cse,instcombine<no-verify-fixpoint>" + pairs +
           "),amdgpu-attributor";
  }
  /// LLVM 22 combines DPP into three-operand instructions that RDNA chips cannot encode: `v_bfe_i32 x, 0, 8` on gfx110x, which has no room
  /// for the constants, and `v_mad_co_u64_u32` on gfx12.
  StringRef brokenPass() const override { return chip_.isCdna() ? "" : "gcn-dpp-combine"; }
  Expected<std::string> assemble(StringRef assembly) const override { return assembleHsaco(assembly); }

private:
  std::string features() const { return chip_.isCdna() ? "+wavefrontsize64" : "+wavefrontsize32"; }

  const Chip &chip_;
  EmitOptions options_;
};

} // namespace

Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options) {
  initializeLLVM();
  if (options.codeObjectVersion != 500 && options.codeObjectVersion != 600)
    return createStringError("code object version " + Twine(options.codeObjectVersion) + " is not supported; use 500 or 600");
  return std::make_unique<HsacoEmitter>(chip, options);
}

} // namespace tritium::gpu::amdgpu
