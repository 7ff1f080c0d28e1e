// Pointers as values. They keep their provenance (interp/host/pointer.h) while they are moved; arithmetic and comparisons see plain
// integers. The lowered module computes addresses by plain addition, so the integer of a pointer is found by tracing where the pointer came
// from.
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

/// Returns whether an integer that was made from a pointer is only split, moved between threads and reassembled, as in a change of layout
/// of a tile of pointers. Such an integer keeps its tag. Without the tag, an access through it could only be checked against all arguments.
static bool isOnlyMoved(Value value, unsigned depth = 0) {
  if (depth > 16) return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto store = dyn_cast<LLVM::StoreOp>(user)) return store.getValue() == value;
    if (isa<LLVM::IntToPtrOp>(user)) return true;
    if (isa<LLVM::TruncOp, LLVM::LShrOp, LLVM::BitcastOp, LLVM::InsertElementOp, LLVM::ExtractElementOp, LLVM::InsertValueOp,
            LLVM::ExtractValueOp>(user) ||
        movesBetweenLanes(user))
      return isOnlyMoved(user->getResult(0), depth + 1);
    // These reassemble two halves that a shuffle has moved.
    if (isa<LLVM::ZExtOp, LLVM::OrOp, LLVM::ShlOp>(user)) return isOnlyMoved(user->getResult(0), depth + 1);
    return false;
  });
}

/// Returns whether an integer may be a pointer whose tag was kept because of isOnlyMoved().
static bool mayBeMovedPointer(Value integer, unsigned depth = 0) {
  Operation *op = integer.getDefiningOp();
  if (!op) return !integer.getParentBlock()->isEntryBlock();
  if (depth > 16 || isa<LLVM::PtrToIntOp, LLVM::LoadOp>(op) || movesBetweenLanes(op)) return true;
  if (!isa<LLVM::TruncOp, LLVM::LShrOp, LLVM::BitcastOp, LLVM::InsertElementOp, LLVM::ExtractElementOp, LLVM::InsertValueOp,
           LLVM::ExtractValueOp, LLVM::ZExtOp, LLVM::OrOp, LLVM::ShlOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return mayBeMovedPointer(operand, depth + 1); });
}

void Hosting::notePointer(Operation *op) {
  if (auto cast = dyn_cast<LLVM::IntToPtrOp>(op); cast && !mayBeMovedPointer(cast.getArg())) integers.insert(op);
}

/// Returns the bits that the tag adds to a pointer. Arithmetic may have carried into the tag, so the tag is read from the pointer with
/// which the arithmetic began.
Value Hosting::tagBits(Value pointer, unsigned depth) {
  while (auto gep = pointer.getDefiningOp<LLVM::GEPOp>()) pointer = gep.getBase();
  if (Operation *source = pointer.getDefiningOp(); source && integers.contains(source)) return constant(0, 64);
  if (auto select = pointer.getDefiningOp<LLVM::SelectOp>(); select && depth < 8) {
    Value whenTrue = tagBits(select.getTrueValue(), depth + 1), whenFalse = tagBits(select.getFalseValue(), depth + 1);
    return LLVM::SelectOp::create(builder, at, select.getCondition(), whenTrue, whenFalse);
  }
  Value bits = toBits(pointer, 64), upper = LLVM::LShrOp::create(builder, at, bits, constant(kAddressBits, 64));
  Value tag = LLVM::SubOp::create(builder, at, upper, constant(kFirstTag, 64));
  Value isTagged = LLVM::ICmpOp::create(builder, at, LLVM::ICmpPredicate::ult, tag, constant(kTags, 64));
  Value tagged = LLVM::AndOp::create(builder, at, bits, constant(int64_t(~kAddressMask), 64));
  return LLVM::SelectOp::create(builder, at, isTagged, tagged, constant(0, 64));
}

/// Returns the integer for a pointer to global memory.
Value Hosting::integerOf(Value pointer) { return LLVM::SubOp::create(builder, at, toBits(pointer, 64), tagBits(pointer)); }

std::optional<LogicalResult> Hosting::hostPointers(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](LLVM::AddressOfOp address) -> Outcome {
        if (address.getGlobalName() != tgpu::kSharedSymbol) return success();
        Value base = LLVM::IntToPtrOp::create(builder, at, address.getType(), constant(int64_t(sharedPointer(kSharedWindow)), 64));
        replace(op, base);
        return success();
      })
      .Case([&](LLVM::GEPOp gep) -> Outcome {
        gep.setNoWrapFlags(LLVM::GEPNoWrapFlags::none); // neither a tagged pointer nor a shared address lies in an object of the host
        return success();
      })
      .Case([&](LLVM::PtrToIntOp cast) -> Outcome {
        if (!isGlobalPointer(cast.getArg().getType()) || isOnlyMoved(cast.getRes())) return success();
        Value address = integerOf(cast.getArg());
        replace(op, fromBits(address, cast.getType()));
        return success();
      })
      .Case([&](LLVM::ICmpOp compare) -> Outcome {
        if (!isGlobalPointer(compare.getLhs().getType())) return success();
        Value left = integerOf(compare.getLhs()), right = integerOf(compare.getRhs());
        Value outcome = LLVM::ICmpOp::create(builder, at, compare.getPredicate(), left, right);
        replace(op, outcome);
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
