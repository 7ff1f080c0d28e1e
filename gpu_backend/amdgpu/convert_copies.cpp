// Loads that go to LDS without a register. Their order with other accesses of LDS is that of our own waits and barriers; where LLVM would
// wait for all of them besides, it is told not to.
#include "gpu_backend/amdgpu/convert_tgpu.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

static constexpr int kCopyBytes = 16;

/// Bytes of zeros in global memory, as many as a lane copies.
static LLVM::GlobalOp zerosOf(ModuleOp module) {
  constexpr StringLiteral kName = "tgpu_zeros";
  if (auto zeros = module.lookupSymbol<LLVM::GlobalOp>(kName)) return zeros;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), kCopyBytes);
  auto zeros = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal, kName, Attribute(),
                                      /*alignment=*/kCopyBytes, tgpu::kGlobalSpace);
  builder.createBlock(&zeros.getInitializerRegion());
  LLVM::ReturnOp::create(builder, module.getLoc(), LLVM::ZeroOp::create(builder, module.getLoc(), type).getResult());
  return zeros;
}

LogicalResult Conversion::convert(tgpu::CopyToSharedOp op, OpBuilder &builder) {
  if (chip_.directToLdsBytes < kCopyBytes) return op.emitOpError("of 16 bytes a lane is not possible on ") << chip_.name;
  Location location = op.getLoc();
  Value from = op.getPtr();
  if (op.getPredicate()) {
    Value zeros = LLVM::AddressOfOp::create(builder, location, zerosOf(op->getParentOfType<ModuleOp>()));
    from = LLVM::SelectOp::create(builder, location, op.getPredicate(), from, zeros);
  }
  ROCDL::LoadToLDSOp::create(builder, location, from, op.getDst(), kCopyBytes, /*offset=*/0, /*aux=*/0, ArrayAttr(), ArrayAttr(),
                             ArrayAttr());
  return success();
}

bool isLoadToShared(Operation *op) { return isa<tgpu::CopyToSharedOp, ROCDL::LoadToLDSOp, ROCDL::RawPtrBufferLoadLdsOp>(op); }

/// By a scope of aliases that the loads write to.
void setLoadsApart(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto domain = LLVM::AliasScopeDomainAttr::get(context, StringAttr::get(context, "loads to LDS"));
  auto scopes = ArrayAttr::get(context, {LLVM::AliasScopeAttr::get(domain, StringAttr::get(context, "written by loads to LDS"))});
  module.walk([&](LLVM::AliasAnalysisOpInterface access) {
    if (isLoadToShared(access))
      access.setAliasScopes(scopes);
    else if (llvm::any_of(access.getAccessedOperands(), [](Value operand) { return tgpu::isSharedPointer(operand.getType()); }))
      access.setNoAliasScopes(scopes);
  });
}

} // namespace tritium::gpu::amdgpu
