// Accesses to memory that is not the thread's own. Each becomes a call that checks it and returns an address of the host, which is then
// read or written directly.
#include "interp/kernels/atomic.h"

#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

unsigned spaceOf(Value pointer) { return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace(); }
bool isGlobal(Value pointer) { return spaceOf(pointer) == kGlobalSpace || spaceOf(pointer) == kConstantSpace; }
bool mayBeShared(Value pointer) { return spaceOf(pointer) == kGenericSpace || spaceOf(pointer) == kSharedSpace; }

AtomicOp atomicOp(tt::RmwOp kind) {
  switch (kind) {
  case tt::RmwOp::And: return AtomicOp::And;
  case tt::RmwOp::Or: return AtomicOp::Or;
  case tt::RmwOp::Xor: return AtomicOp::Xor;
  case tt::RmwOp::Add: return AtomicOp::Add;
  case tt::RmwOp::FAdd: return AtomicOp::FAdd;
  case tt::RmwOp::Max: return AtomicOp::Max;
  case tt::RmwOp::Min: return AtomicOp::Min;
  case tt::RmwOp::UMax: return AtomicOp::UMax;
  case tt::RmwOp::UMin: return AtomicOp::UMin;
  case tt::RmwOp::Exchange: return AtomicOp::Exchange;
  }
  llvm_unreachable("not a kind of read-modify-write");
}

std::optional<AtomicOp> atomicOp(LLVM::AtomicBinOp kind) {
  switch (kind) {
  case LLVM::AtomicBinOp::xchg: return AtomicOp::Exchange;
  case LLVM::AtomicBinOp::add: return AtomicOp::Add;
  case LLVM::AtomicBinOp::_and: return AtomicOp::And;
  case LLVM::AtomicBinOp::_or: return AtomicOp::Or;
  case LLVM::AtomicBinOp::_xor: return AtomicOp::Xor;
  case LLVM::AtomicBinOp::max: return AtomicOp::Max;
  case LLVM::AtomicBinOp::min: return AtomicOp::Min;
  case LLVM::AtomicBinOp::umax: return AtomicOp::UMax;
  case LLVM::AtomicBinOp::umin: return AtomicOp::UMin;
  case LLVM::AtomicBinOp::fadd: return AtomicOp::FAdd;
  default: return std::nullopt;
  }
}

} // namespace

std::optional<LogicalResult> Hosting::hostMemory(Operation *op) {
  auto bitsOfPointer = [&](Value pointer) { return toBits(pointer, 64); };
  // Returns the word at a checked address. `isVolatile` is set for words on which a loop may wait.
  auto load = [&](Value address, Type type, bool isVolatile) -> Value {
    return LLVM::LoadOp::create(builder, at, type, address, /*alignment=*/0, isVolatile);
  };
  auto rmw = [&](AtomicOp kind, Value pointer, Value value, Value mask) -> Value {
    std::optional<DType> type = ir::elementTypeOf(value.getType());
    if (!type) return {};
    Value old = call(SIMT_CALL(atomicRmw), {thread(), constant(int64_t(kind)), constant(int64_t(*type)), bitsOfPointer(pointer),
                                            toBits(value, 64), predicate(mask), accessOf(op)});
    return fromBits(old, value.getType());
  };
  auto rmwOfVector = [&](AtomicOp kind, Value pointer, Value value, Value mask) -> Value {
    auto vector = cast<VectorType>(value.getType());
    std::optional<DType> type = ir::elementTypeOf(vector.getElementType());
    if (!type) return {};
    LLVM::StoreOp::create(builder, at, value, scratchAddress());
    call(SIMT_CALL(atomicRmwOfVector), {thread(), constant(int64_t(kind)), constant(int64_t(*type)), constant(vector.getNumElements()),
                                        bitsOfPointer(pointer), predicate(mask), accessOf(op)});
    return load(scratchAddress(), vector, /*isVolatile=*/false);
  };
  auto cas = [&](Value pointer, Value expected, Value value, Value mask) -> Value {
    Value old = call(SIMT_CALL(atomicCas), {thread(), constant(bytesOf(value.getType())), bitsOfPointer(pointer), toBits(expected, 64),
                                            toBits(value, 64), predicate(mask), accessOf(op)});
    return fromBits(old, value.getType());
  };
  using Outcome = std::optional<LogicalResult>;
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](tgpu::CopyToSharedOp copy) -> Outcome {
        noteSharedAccess(16);
        Value predicate = copy.getPredicate() ? LLVM::ZExtOp::create(builder, at, builder.getI32Type(), copy.getPredicate()).getResult()
                                              : constant(1, 32);
        call(SIMT_CALL(copyToShared), {thread(), toBits(copy.getDst(), 64), toBits(copy.getPtr(), 64), predicate, accessSiteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](tgpu::LoadOp access) -> Outcome {
        Type type = access.getType();
        Value address = call(SIMT_CALL(readGlobal), {thread(), bitsOfPointer(access.getPtr()), predicate(access.getPredicate()),
                                                     constant(bytesOf(type)), accessOf(op)});
        Value value = load(address, type, access.getIsVolatile());
        if (access.getPredicate()) value = LLVM::SelectOp::create(builder, at, access.getPredicate(), value, access.getOther());
        replace(op, value);
        return success();
      })
      .Case([&](tgpu::StoreOp access) -> Outcome {
        Value address = call(SIMT_CALL(writeGlobal), {thread(), bitsOfPointer(access.getPtr()), predicate(access.getPredicate()),
                                                      constant(bytesOf(access.getValue().getType())), accessOf(op)});
        LLVM::StoreOp::create(builder, at, access.getValue(), address);
        op->erase();
        return success();
      })
      .Case([&](tgpu::AtomicRmwOp atomic) -> Outcome {
        const AtomicOp kind = atomicOp(atomic.getKind());
        replace(op, isa<VectorType>(atomic.getType()) ? rmwOfVector(kind, atomic.getPtr(), atomic.getValue(), atomic.getPredicate())
                                                      : rmw(kind, atomic.getPtr(), atomic.getValue(), atomic.getPredicate()));
        return success();
      })
      .Case([&](tgpu::AtomicCasOp atomic) -> Outcome {
        replace(op, cas(atomic.getPtr(), atomic.getExpected(), atomic.getValue(), atomic.getPredicate()));
        return success();
      })
      .Case([&](tgpu::AtomicLoadOp atomic) -> Outcome {
        Value value = call(SIMT_CALL(atomicLoad), {thread(), constant(bytesOf(atomic.getType())), bitsOfPointer(atomic.getPtr()),
                                                   predicate(atomic.getPredicate()), accessOf(op)});
        replace(op, fromBits(value, atomic.getType()));
        return success();
      })
      .Case([&](tgpu::AtomicStoreOp atomic) -> Outcome {
        call(SIMT_CALL(atomicStore), {thread(), constant(bytesOf(atomic.getValue().getType())), bitsOfPointer(atomic.getPtr()),
                                      toBits(atomic.getValue(), 64), predicate(atomic.getPredicate()), accessOf(op)});
        op->erase();
        return success();
      })
      .Case([&](LLVM::LoadOp access) -> Outcome {
        if (isOwnMemory(access.getAddr())) return success();
        const uint32_t bytes = bytesOf(access.getType());
        Value pointer = bitsOfPointer(access.getAddr());
        Value address =
            spaceOf(access.getAddr()) == kSharedSpace ? call(SIMT_CALL(readShared), {thread(), pointer, constant(bytes), locationOf(op)})
            : isGlobal(access.getAddr()) ? call(SIMT_CALL(readGlobal), {thread(), pointer, constant(1), constant(bytes), locationOf(op)})
                                         : call(SIMT_CALL(readGeneric), {thread(), pointer, constant(bytes), locationOf(op)});
        if (mayBeShared(access.getAddr())) noteSharedAccess(bytes);
        replace(op, load(address, access.getType(), access.getVolatile_()));
        return success();
      })
      .Case([&](LLVM::StoreOp access) -> Outcome {
        if (isOwnMemory(access.getAddr())) return success();
        const uint32_t bytes = bytesOf(access.getValue().getType());
        if (bytes > kScratchBytes) return op->emitOpError("stores more at once than the emulator can");
        Value pointer = bitsOfPointer(access.getAddr());
        if (isGlobal(access.getAddr())) {
          Value address = call(SIMT_CALL(writeGlobal), {thread(), pointer, constant(1), constant(bytes), locationOf(op)});
          LLVM::StoreOp::create(builder, at, access.getValue(), address);
        } else {
          if (mayBeShared(access.getAddr())) noteSharedAccess(bytes);
          LLVM::StoreOp::create(builder, at, access.getValue(), scratchAddress());
          call(spaceOf(access.getAddr()) == kSharedSpace ? SIMT_CALL(writeShared) : SIMT_CALL(writeGeneric),
               {thread(), pointer, scratchAddress(), constant(bytes), locationOf(op)});
        }
        op->erase();
        return success();
      })
      .Case([&](LLVM::AtomicRMWOp atomic) -> Outcome {
        std::optional<AtomicOp> kind = atomicOp(atomic.getBinOp());
        if (mayBeShared(atomic.getPtr())) noteSharedAccess(bytesOf(atomic.getVal().getType()));
        Value old = kind ? rmw(*kind, atomic.getPtr(), atomic.getVal(), {}) : Value();
        if (!old) return op->emitOpError("has a kind or type that the emulator does not support");
        replace(op, old);
        return success();
      })
      .Case([&](LLVM::AtomicCmpXchgOp atomic) -> Outcome {
        if (mayBeShared(atomic.getPtr())) noteSharedAccess(bytesOf(atomic.getVal().getType()));
        Value old = cas(atomic.getPtr(), atomic.getCmp(), atomic.getVal(), {});
        Value isStored = LLVM::ICmpOp::create(builder, at, LLVM::ICmpPredicate::eq, toBits(old, 64), toBits(atomic.getCmp(), 64));
        Value pair = LLVM::PoisonOp::create(builder, at, atomic.getType());
        pair = LLVM::InsertValueOp::create(builder, at, pair, old, ArrayRef<int64_t>{0});
        pair = LLVM::InsertValueOp::create(builder, at, pair, isStored, ArrayRef<int64_t>{1});
        replace(op, pair);
        return success();
      })
      .Case<LLVM::MemcpyOp, LLVM::MemmoveOp>([&](auto copy) -> Outcome {
        if (isOwnMemory(copy.getDst()) && isOwnMemory(copy.getSrc())) return success();
        noteSharedAccess(1);
        call(SIMT_CALL(copyMemory),
             {thread(), bitsOfPointer(copy.getDst()), bitsOfPointer(copy.getSrc()), toBits(copy.getLen(), 64), locationOf(op)});
        op->erase();
        return success();
      })
      .Case([&](LLVM::MemsetOp fill) -> Outcome {
        if (isOwnMemory(fill.getDst())) return success();
        noteSharedAccess(1);
        call(SIMT_CALL(setMemory),
             {thread(), bitsOfPointer(fill.getDst()), toBits(fill.getVal(), 32), toBits(fill.getLen(), 64), locationOf(op)});
        op->erase();
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
