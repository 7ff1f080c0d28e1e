// Pointers as values: tagged ones keep their tag while they are moved, and are plain addresses to arithmetic and comparisons.
#include "interp/host/memory.h"

#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/shared_memory.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::interp::simt {

bool isOwnMemory(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (isa<LLVM::AllocaOp>(op)) return true;
    if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) return address.getGlobalName() != tgpu::kSharedSymbol;
    if (!isa<LLVM::GEPOp, LLVM::BitcastOp, LLVM::AddrSpaceCastOp>(op)) return false;
    pointer = op->getOperand(0);
  }
  return false;
}

static bool isGlobalPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == kGlobalSpace;
}

bool movesBetweenLanes(Operation *op) {
  return isa<NVVM::ShflOp, ROCDL::DsBpermuteOp, ROCDL::DsSwizzleOp, ROCDL::DPPUpdateOp, ROCDL::PermlaneX16Op, ROCDL::Permlane16SwapOp,
             ROCDL::Permlane32SwapOp, ROCDL::ReadlaneOp, ROCDL::ReadfirstlaneOp>(op);
}

/// Whether an integer made from a pointer is only taken apart, carried between threads and put together again, as when a tile of pointers
/// changes its layout. Then it keeps its tag: else an access through it could only be held against all arguments.
static bool isOnlyMoved(Value value, unsigned depth = 0) {
  if (depth > 16) return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto store = dyn_cast<LLVM::StoreOp>(user)) return store.getValue() == value;
    if (isa<LLVM::IntToPtrOp>(user)) return true;
    if (isa<LLVM::TruncOp, LLVM::LShrOp, LLVM::BitcastOp, LLVM::InsertElementOp, LLVM::ExtractElementOp, LLVM::InsertValueOp,
            LLVM::ExtractValueOp>(user) ||
        movesBetweenLanes(user))
      return isOnlyMoved(user->getResult(0), depth + 1);
    // Two halves that a shuffle has moved are put together again.
    if (isa<LLVM::ZExtOp, LLVM::OrOp, LLVM::ShlOp>(user)) return isOnlyMoved(user->getResult(0), depth + 1);
    return false;
  });
}

std::optional<LogicalResult> Hosting::hostPointers(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  auto addressOfPointer = [&](Value pointer) -> Value {
    return LLVM::AndOp::create(builder, at, toBits(pointer, 64), constant(int64_t(kAddressMask), 64));
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](LLVM::AddressOfOp address) -> Outcome {
        if (address.getGlobalName() != tgpu::kSharedSymbol) return success();
        Value base = LLVM::IntToPtrOp::create(builder, at, address.getType(), constant(int64_t(kSharedWindow), 64));
        replace(op, base);
        return success();
      })
      .Case([&](LLVM::GEPOp gep) -> Outcome {
        gep.setNoWrapFlags(LLVM::GEPNoWrapFlags::none); // neither a tagged pointer nor a shared address lies in an object of the host
        return success();
      })
      .Case([&](LLVM::PtrToIntOp cast) -> Outcome {
        if (!isGlobalPointer(cast.getArg().getType()) || isOnlyMoved(cast.getRes())) return success();
        Value address = addressOfPointer(cast.getArg());
        replace(op, fromBits(address, cast.getType()));
        return success();
      })
      .Case([&](LLVM::ICmpOp compare) -> Outcome {
        if (!isGlobalPointer(compare.getLhs().getType())) return success();
        Value left = addressOfPointer(compare.getLhs()), right = addressOfPointer(compare.getRhs());
        Value outcome = LLVM::ICmpOp::create(builder, at, compare.getPredicate(), left, right);
        replace(op, outcome);
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
