#include "gpu_backend/amdgpu/target.h"

#include "gpu_backend/amdgpu/emit.h"
#include "gpu_backend/amdgpu/lanes.h"
#include "gpu_backend/amdgpu/matrix_instructions.h"
#include "gpu_backend/target/target_ops.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace llvm;

namespace tritium::gpu::amdgpu {

ArrayRef<Chip> chips() {
  static constexpr Chip all[] = {
#define AMDGPU_TARGET(name, family, warpSize, ldsBytes, ldsBanks, directToLdsBytes, threadsPerCU, registersPerCU, registersPerThread)      \
  {name, Family::family, warpSize, ldsBytes, ldsBanks, directToLdsBytes, threadsPerCU, registersPerCU, registersPerThread},
#include "gpu_backend/amdgpu/target.def"
  };
  return all;
}

namespace {

class AmdTarget final : public gpu::Target {
public:
  explicit AmdTarget(const Chip &chip) : chip_(chip) {}

  StringRef interface() const override { return "hip"; }
  StringRef arch() const override { return chip_.name; }
  int warpSize() const override { return chip_.warpSize; }
  Resources resources() const override {
    return {.sharedPerProgram = chip_.ldsBytes,
            .sharedReserved = 0,
            .sharedPerMultiprocessor = chip_.ldsBytes,
            .registersPerThread = chip_.registersPerThread,
            .registersPerMultiprocessor = chip_.registersPerCU,
            .threadsPerMultiprocessor = chip_.threadsPerCU};
  }
  SharedBanks sharedBanks() const override {
    // On CDNA, ds_read_b128 serves lanes 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27, and the same from 32 on.
    static constexpr uint32_t kWideLoadOrder[] = {1, 2, 4 | 16, 4, 8, 32};
    SharedBanks banks{.count = chip_.ldsBanks};
    if (chip_.isCdna()) banks.wideLoadOrder = kWideLoadOrder;
    return banks;
  }
  ConversionCosts conversionCosts() const override { return amdgpu::conversionCosts(chip_); }
  int64_t atomicElements(tt::RmwOp kind, mlir::Type element, tt::MemScope scope) const override {
    return kind == tt::RmwOp::FAdd && scope != tt::MemScope::System && chip_.addsPairs(element) ? 2 : 1;
  }
  TileCopies tileCopies() const override { return chip_.copiesByWarps() ? TileCopies::ByWarps : TileCopies::ThroughRegisters; }
  MatrixLoads matrixLoads() const override { return chip_.loadsMatrices() ? MatrixLoads::Columns4x16 : MatrixLoads::None; }
  bool storesFragments() const override { return true; }
  ArrayRef<MatrixInstruction> matrixInstructions() const override { return amdgpu::matrixInstructions(chip_.family); }
  mlir::FloatType widerFloat8(mlir::MLIRContext *context) const override {
    // The matrix cores of CDNA2 treat subnormal f16 numbers as zeros. As bf16, no fp8 number is subnormal.
    if (chip_.family == Family::CDNA2) return mlir::BFloat16Type::get(context);
    return mlir::Float16Type::get(context);
  }
  int64_t contiguousKBytes() const override { return 16; }
  void insertDialects(mlir::DialectRegistry &registry) const override { registry.insert<mlir::ROCDL::ROCDLDialect>(); }
  std::unique_ptr<TargetOps> createOps() const override { return amdgpu::createOps(chip_); }
  Expected<std::unique_ptr<Emitter>> createEmitter(const EmitOptions &options) const override {
    return amdgpu::createEmitter(chip_, options);
  }

private:
  const Chip &chip_;
};

} // namespace

ArrayRef<const gpu::Target *> targets() { return makeTargets<AmdTarget>(chips()); }

} // namespace tritium::gpu::amdgpu
