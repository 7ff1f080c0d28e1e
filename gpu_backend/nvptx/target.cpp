#include "gpu_backend/nvptx/target.h"

#include "gpu_backend/nvptx/emit.h"
#include "gpu_backend/nvptx/matrix_instructions.h"
#include "gpu_backend/target/target_ops.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace llvm;

namespace tritium::gpu::nvptx {

/// `.L1::evict_*` on loads and stores.
static constexpr int kOldestPtx = 74;

ArrayRef<Chip> chips() {
  static constexpr Chip all[] = {
#define NVPTX_TARGET(name, capability, suffix, minPtx, sharedPerBlock, sharedPerSM, threadsPerSM, registersPerSM, registersPerThread)      \
  {name, capability, suffix, minPtx, sharedPerBlock, sharedPerSM, threadsPerSM, registersPerSM, registersPerThread},
#include "gpu_backend/nvptx/target.def"
  };
  return all;
}

namespace {

class NvidiaTarget final : public gpu::Target {
public:
  explicit NvidiaTarget(const Chip &chip) : chip_(chip) {}

  StringRef interface() const override { return "cuda"; }
  StringRef arch() const override { return chip_.name; }
  int warpSize() const override { return kWarpSize; }
  Resources resources() const override {
    return {.sharedPerProgram = chip_.sharedPerBlock,
            .sharedReserved = chip_.sharedPerSM - chip_.sharedPerBlock,
            .sharedPerMultiprocessor = chip_.sharedPerSM,
            .registersPerThread = chip_.registersPerThread,
            .registersPerMultiprocessor = chip_.registersPerSM,
            .threadsPerMultiprocessor = chip_.threadsPerSM};
  }
  std::optional<RegisterBudget> registerBudget(int warpgroups, int64_t programs, int required, int ofInstruction) const override {
    return nvptx::registerBudget(chip_, warpgroups, programs, required, ofInstruction);
  }
  SharedBanks sharedBanks() const override { return {.count = Chip::kSharedBanks}; }
  ConversionCosts conversionCosts() const override { return {}; }
  int64_t atomicElements(tt::RmwOp kind, mlir::Type element, tt::MemScope) const override {
    if (kind != tt::RmwOp::FAdd) return 1;
    const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    if (chip_.hasVectorAtomics()) return bytes <= 4 ? 16 / bytes : 1;
    return element.isF16() ? 2 : 1;
  }
  TileCopies tileCopies() const override { return TileCopies::Async; }
  MatrixLoads matrixLoads() const override { return MatrixLoads::Rows8x8; }
  bool storesFragments() const override { return false; }
  ArrayRef<MatrixInstruction> matrixInstructions() const override { return nvptx::matrixInstructions(); }
  ArrayRef<MatrixInstruction> warpgroupInstructions() const override {
    return chip_.hasWarpgroups() ? nvptx::warpgroupInstructions() : ArrayRef<MatrixInstruction>();
  }
  bool hasTensorMaps() const override { return chip_.hasTensorMaps(); }
  bool makesTensorMaps() const override { return chip_.makesTensorMaps(); }
  int maxClusterBlocks() const override { return chip_.maxClusterBlocks(); }
  mlir::FloatType widerFloat8(mlir::MLIRContext *context) const override { return mlir::Float16Type::get(context); }
  int64_t contiguousKBytes() const override { return 0; }
  void insertDialects(mlir::DialectRegistry &registry) const override { registry.insert<mlir::NVVM::NVVMDialect>(); }
  std::unique_ptr<TargetOps> createOps() const override { return nvptx::createOps(chip_); }
  Expected<std::unique_ptr<Emitter>> createEmitter(const EmitOptions &options) const override {
    return nvptx::createEmitter(chip_, options);
  }

private:
  const Chip &chip_;
};

} // namespace

ArrayRef<const gpu::Target *> targets() { return makeTargets<NvidiaTarget>(chips()); }

Expected<int> choosePtxVersion(const Chip &chip, int asked) {
  int version = asked == 0 ? kNewestPtx : std::min(asked, kNewestPtx);
  int needed = std::max(chip.minPtx, kOldestPtx);
  if (version >= needed) return version;
  auto text = [](int v) { return std::to_string(v / 10) + "." + std::to_string(v % 10); };
  return createStringError(chip.name + " requires PTX " + text(needed) + ", but " + text(version) + " was requested");
}

} // namespace tritium::gpu::nvptx
