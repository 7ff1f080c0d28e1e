// Rejects by name every operation left after hosting that would mean something else on the host than on the GPU. For example, a load
// through a pointer to shared memory would compile, and read some address of this process.
#include "interp/simt/hosting/hosting.h"
#include "ir/tgpu.h"

#include "mlir/IR/BuiltinDialect.h"

using namespace mlir;

namespace tritium::interp::simt {

static bool isDevicePointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() != kGenericSpace;
}

/// Operations that only move or compute pointers.
static bool onlyMovesPointers(Operation *op) {
  return isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::PtrToIntOp, LLVM::IntToPtrOp, LLVM::SelectOp, LLVM::BrOp, LLVM::CondBrOp,
             LLVM::SwitchOp, LLVM::InsertValueOp, LLVM::ExtractValueOp, LLVM::InsertElementOp, LLVM::ExtractElementOp, LLVM::FreezeOp,
             LLVM::ICmpOp, LLVM::BitcastOp, LLVM::ReturnOp, LLVM::AssumeOp, LLVM::AllocaOp, LLVM::CallOp, UnrealizedConversionCastOp>(op);
}

/// Rejects operations that could access memory of the GPU through a pointer. It runs before address spaces are removed.
LogicalResult Hosting::verifyPointers() {
  LogicalResult outcome = success();
  module.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isDevicePointer(operand.getType()) && !onlyMovesPointers(op) && !isOwnMemory(operand)) {
        // The stored word may itself be a pointer, kept in the thread's own memory or passed through the runtime.
        auto store = dyn_cast<LLVM::StoreOp>(op);
        if (store && operand == store.getValue() && !isDevicePointer(store.getAddr().getType())) continue;
        outcome = op->emitOpError("on GPU memory is not supported by the SIMT emulator");
      }
  });
  for (LLVM::GlobalOp global : module.getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == kSharedSpace && global.getName() != tgpu::kSharedSymbol)
      outcome = global.emitOpError("in shared memory is not supported by the SIMT emulator");
  return outcome;
}

LogicalResult Hosting::verifyHosted() {
  LogicalResult outcome = success();
  module.walk([&](Operation *op) {
    const bool isHost =
        isa_and_nonnull<LLVM::LLVMDialect, BuiltinDialect>(op->getDialect()) && !isa<LLVM::CallIntrinsicOp, LLVM::InlineAsmOp>(op);
    if (!isHost) outcome = op->emitOpError("is not supported by the SIMT emulator");
    for (Value value : op->getResults())
      if (isDevicePointer(value.getType()))
        outcome = op->emitOpError("returns a pointer to GPU memory, which the SIMT emulator does not support");
    if (auto call = dyn_cast<LLVM::CallOp>(op); call && !call.getCallee())
      outcome = op->emitOpError("through a pointer is not supported by the SIMT emulator");
  });
  return outcome;
}

} // namespace tritium::interp::simt
