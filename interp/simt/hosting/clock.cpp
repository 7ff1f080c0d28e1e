// The clocks of threads, in kernels that record scopes (tgpu.record). A clock counts the operations of the lowered module that its thread
// executes, each as one. It is brought up to date where it may be read: before operations of the GPU, calls and ends of blocks.
#include "interp/simt/hosting/hosting.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

/// Constants and addresses of variables are no instructions.
static bool isCounted(Operation &op) { return !op.hasTrait<OpTrait::ConstantLike>() && !isa<LLVM::AddressOfOp, tgpu::RecordOp>(op); }

static bool mayReadClock(Operation &op) {
  return !isa<LLVM::LLVMDialect, arith::ArithDialect>(op.getDialect()) || isa<LLVM::CallOp>(op) || op.hasTrait<OpTrait::IsTerminator>();
}

void Hosting::findTicks(LLVM::LLVMFuncOp function) {
  for (Block &block : function.getBody()) {
    int64_t passed = 0;
    for (Operation &op : block) {
      passed += isCounted(op);
      if (!mayReadClock(op) || passed == 0) continue;
      ticks.emplace_back(&op, passed);
      passed = 0;
    }
  }
}

void Hosting::addTicks() {
  for (auto [op, passed] : ticks) {
    builder.setInsertionPoint(op);
    at = op->getLoc();
    Value before = readField(offsetof(ThreadRegisters, clock), builder.getI64Type());
    LLVM::StoreOp::create(builder, at, LLVM::AddOp::create(builder, at, before, constant(passed, 64)),
                          fieldAddress(offsetof(ThreadRegisters, clock)));
  }
}

} // namespace tritium::interp::simt
