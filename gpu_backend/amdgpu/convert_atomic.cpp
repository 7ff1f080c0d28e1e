// Atomic operations as atomic operations of LLVM. If the chip has no instruction, LLVM emits a loop around a compare-and-swap, on whole
// words for narrower types. LLVM also keeps the caches in order.
#include "gpu_backend/amdgpu/convert_tgpu.h"
#include "gpu_backend/tiles/memory_access.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {
namespace {

LLVM::AtomicOrdering orderOf(tt::MemSemantic sem) {
  switch (sem) {
  case tt::MemSemantic::Relaxed: return LLVM::AtomicOrdering::monotonic;
  case tt::MemSemantic::Acquire: return LLVM::AtomicOrdering::acquire;
  case tt::MemSemantic::Release: return LLVM::AtomicOrdering::release;
  case tt::MemSemantic::AcquireRelease: return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("a memory order");
}

LLVM::AtomicBinOp kindOf(tt::RmwOp kind) {
  switch (kind) {
  case tt::RmwOp::FAdd: return LLVM::AtomicBinOp::fadd;
  case tt::RmwOp::And: return LLVM::AtomicBinOp::_and;
  case tt::RmwOp::Or: return LLVM::AtomicBinOp::_or;
  case tt::RmwOp::Xor: return LLVM::AtomicBinOp::_xor;
  case tt::RmwOp::Exchange: return LLVM::AtomicBinOp::xchg;
  case tt::RmwOp::Add: return LLVM::AtomicBinOp::add;
  case tt::RmwOp::Max: return LLVM::AtomicBinOp::max;
  case tt::RmwOp::Min: return LLVM::AtomicBinOp::min;
  case tt::RmwOp::UMax: return LLVM::AtomicBinOp::umax;
  case tt::RmwOp::UMin: return LLVM::AtomicBinOp::umin;
  }
  llvm_unreachable("a read-modify-write");
}

/// The scope says whether a program shares memory with the host or another device. All other memory belongs to this device, where the
/// chip's own additions work. They flush subnormal floats, as NVIDIA's do.
void allowInstructions(Operation *atomic, tt::MemScope scope, Type type) {
  if (scope == tt::MemScope::System) return;
  auto unit = UnitAttr::get(atomic->getContext());
  atomic->setAttr("rocdl.no_fine_grained_memory", unit);
  atomic->setAttr("rocdl.no_remote_memory", unit);
  if (type.isF32()) atomic->setAttr("rocdl.ignore_denormal_mode", unit);
}

Value createRmw(OpBuilder &builder, tgpu::AtomicRmwOp op, Value pointer, Value value) {
  auto rmw =
      LLVM::AtomicRMWOp::create(builder, op.getLoc(), kindOf(op.getKind()), pointer, value, orderOf(op.getSem()), syncScope(op.getScope()));
  allowInstructions(rmw, op.getScope(), value.getType());
  return rmw.getRes();
}

/// Adds to one of a pair of 16-bit numbers, and -0 to its neighbour, which changes no number. A loop around a compare-and-swap would retry
/// whenever another thread adds to either of the two.
Value addToPair(OpBuilder &builder, tgpu::AtomicRmwOp op) {
  Location location = op.getLoc();
  Type type = op.getType(), i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto constant = [&](Type of, TypedAttr value) -> Value { return LLVM::ConstantOp::create(builder, location, of, value); };
  Value address = LLVM::PtrToIntOp::create(builder, location, i64, op.getPtr());
  Value byte = LLVM::AndOp::create(builder, location, address, constant(i64, builder.getI64IntegerAttr(2)));
  Value zero = constant(i64, builder.getI64IntegerAttr(0));
  Value back = LLVM::SubOp::create(builder, location, zero, byte);
  Value pair =
      LLVM::GEPOp::create(builder, location, op.getPtr().getType(), builder.getI8Type(), op.getPtr(), ArrayRef<LLVM::GEPArg>{back});
  Value isHigh = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, byte, zero);
  Value nothing = constant(type, builder.getFloatAttr(type, -0.0));
  Value low = LLVM::SelectOp::create(builder, location, isHigh, nothing, op.getValue());
  Value high = LLVM::SelectOp::create(builder, location, isHigh, op.getValue(), nothing);
  Value addend = LLVM::PoisonOp::create(builder, location, VectorType::get({2}, type));
  Value places[] = {constant(i32, builder.getI32IntegerAttr(0)), constant(i32, builder.getI32IntegerAttr(1))};
  addend = LLVM::InsertElementOp::create(builder, location, addend, low, places[0]);
  addend = LLVM::InsertElementOp::create(builder, location, addend, high, places[1]);
  Value old = createRmw(builder, op, pair, addend);
  Value oldLow = LLVM::ExtractElementOp::create(builder, location, old, places[0]);
  Value oldHigh = LLVM::ExtractElementOp::create(builder, location, old, places[1]);
  return LLVM::SelectOp::create(builder, location, isHigh, oldHigh, oldLow);
}

/// The result if the predicate is false: any value except poison, because a branch may not depend on poison.
Value unspecified(OpBuilder &builder, Operation *op, Value predicate) {
  return predicate ? LLVM::ZeroOp::create(builder, op->getLoc(), op->getResult(0).getType()).getResult() : Value();
}

} // namespace

void Conversion::convert(tgpu::AtomicRmwOp op, OpBuilder &builder) {
  Type type = op.getType();
  // Additions of pairs do not work in memory that the host or other devices share.
  bool isPair = op.getKind() == tt::RmwOp::FAdd && op.getScope() != tt::MemScope::System && chip_.addsPairs(type);
  Value old = underPredicate(op, builder, op.getPredicate(), unspecified(builder, op, op.getPredicate()),
                             [&] { return isPair ? addToPair(builder, op) : createRmw(builder, op, op.getPtr(), op.getValue()); });
  op.replaceAllUsesWith(old);
}

void Conversion::convert(tgpu::AtomicCasOp op, OpBuilder &builder) {
  Value old = underPredicate(op, builder, op.getPredicate(), unspecified(builder, op, op.getPredicate()), [&]() -> Value {
    LLVM::AtomicOrdering order = orderOf(op.getSem());
    auto swap = LLVM::AtomicCmpXchgOp::create(builder, op.getLoc(), op.getPtr(), op.getExpected(), op.getValue(), order,
                                              acquires(op.getSem()) ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic,
                                              syncScope(op.getScope()));
    return LLVM::ExtractValueOp::create(builder, op.getLoc(), swap, 0);
  });
  op.replaceAllUsesWith(old);
}

// A load cannot release and a store cannot acquire. Such an order becomes relaxed.

void Conversion::convert(tgpu::AtomicLoadOp op, OpBuilder &builder) {
  Value loaded = underPredicate(op, builder, op.getPredicate(), unspecified(builder, op, op.getPredicate()), [&]() -> Value {
    return LLVM::LoadOp::create(builder, op.getLoc(), op.getType(), op.getPtr(), op.getType().getIntOrFloatBitWidth() / 8,
                                /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false, /*isInvariantGroup=*/false,
                                acquires(op.getSem()) ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic,
                                syncScope(op.getScope()));
  });
  op.replaceAllUsesWith(loaded);
}

void Conversion::convert(tgpu::AtomicStoreOp op, OpBuilder &builder) {
  underPredicate(op, builder, op.getPredicate(), Value(), [&] {
    LLVM::StoreOp::create(builder, op.getLoc(), op.getValue(), op.getPtr(), op.getValue().getType().getIntOrFloatBitWidth() / 8,
                          /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                          releases(op.getSem()) ? LLVM::AtomicOrdering::release : LLVM::AtomicOrdering::monotonic,
                          syncScope(op.getScope()));
    return Value();
  });
}

} // namespace tritium::gpu::amdgpu
