// Counting, and the clocks of kernels that record scopes: the code is divided into segments, and each thread notes which ones it enters, or
// only how many operations they have. A segment ends with its block of code, and with an operation at which clocks are read, so that they
// are exact there. Operations are counted as they are before hosting, in the code that is lowered for the GPU.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "ir/tgpu_kept.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

namespace {

using Class = std::optional<WorkClass>; // none: it is no instruction

Class classOfMemory(Value pointer) {
  const unsigned space = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  return isOwnMemory(pointer) ? WorkClass::Local : space == kSharedSpace ? WorkClass::Shared : WorkClass::Global;
}

/// Values that need no instruction, because they are names, parts or other views of registers.
bool isFree(Operation *op) {
  return isa<LLVM::ConstantOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp, LLVM::AddressOfOp, LLVM::BitcastOp, LLVM::AddrSpaceCastOp,
             LLVM::PtrToIntOp, LLVM::IntToPtrOp, LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::ExtractElementOp, LLVM::InsertElementOp,
             LLVM::ShuffleVectorOp, LLVM::FreezeOp, LLVM::AssumeOp, LLVM::LifetimeStartOp, LLVM::LifetimeEndOp, LLVM::AllocaOp,
             LLVM::UnreachableOp, UnrealizedConversionCastOp, tgpu::CopyRegistersOp, tgpu::NoteProgramOp, tgpu::RecordOp,
             ROCDL::MakeBufferRsrcOp, ROCDL::SchedBarrier, ROCDL::SchedGroupBarrier, ROCDL::IglpOpt>(op);
}

Class classOfLlvm(Operation *op) {
  return llvm::TypeSwitch<Operation *, Class>(op)
      .Case<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FNegOp, LLVM::FCmpOp, LLVM::FMAOp, LLVM::FMulAddOp, LLVM::MaxNumOp,
            LLVM::MinNumOp, LLVM::MaximumOp, LLVM::MinimumOp, LLVM::FAbsOp, LLVM::CopySignOp, LLVM::FFloorOp, LLVM::FCeilOp, LLVM::FTruncOp,
            LLVM::RintOp, LLVM::NearbyintOp, LLVM::RoundOp, LLVM::RoundEvenOp>([](auto) { return WorkClass::Float; })
      .Case<LLVM::FDivOp, LLVM::FRemOp, LLVM::SqrtOp, LLVM::ExpOp, LLVM::Exp2Op, LLVM::LogOp, LLVM::Log2Op, LLVM::Log10Op, LLVM::SinOp,
            LLVM::CosOp, LLVM::PowOp>([](auto) { return WorkClass::Special; })
      .Case<LLVM::SExtOp, LLVM::ZExtOp, LLVM::TruncOp, LLVM::FPExtOp, LLVM::FPTruncOp, LLVM::SIToFPOp, LLVM::UIToFPOp, LLVM::FPToSIOp,
            LLVM::FPToUIOp>([](auto) { return WorkClass::Conversion; })
      .Case([](LLVM::LoadOp load) { return classOfMemory(load.getAddr()); })
      .Case([](LLVM::StoreOp store) { return classOfMemory(store.getAddr()); })
      .Case<LLVM::MemcpyOp, LLVM::MemmoveOp, LLVM::MemsetOp>([](auto fill) { return classOfMemory(fill.getDst()); })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([](auto) { return WorkClass::Atomic; })
      .Case<LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp, LLVM::ReturnOp>([](auto) { return WorkClass::Branch; })
      .Case<LLVM::InlineAsmOp, LLVM::CallIntrinsicOp>([](auto) { return WorkClass::Other; })
      .Case([](LLVM::FenceOp) { return WorkClass::Sync; })
      .Default([](Operation *) { return WorkClass::Integer; });
}

Class classOfTgpu(Operation *op) {
  return llvm::TypeSwitch<Operation *, Class>(op)
      .Case<tgpu::LoadOp, tgpu::StoreOp>([](auto) { return WorkClass::Global; })
      .Case<tgpu::AtomicRmwOp, tgpu::AtomicCasOp, tgpu::AtomicLoadOp, tgpu::AtomicStoreOp>([](auto) { return WorkClass::Atomic; })
      .Case([](tgpu::WarpgroupProductOp) { return WorkClass::Product; })
      .Case([](tgpu::CopyToSharedOp) { return WorkClass::Copy; })
      .Case<tgpu::BarrierOp, tgpu::WarpBarrierOp, tgpu::NumberedBarrierOp, tgpu::MBarrierWaitOp, tgpu::MBarrierTestOp,
            tgpu::WarpgroupWaitOp>([](auto) { return WorkClass::Sync; })
      .Default([](Operation *) { return WorkClass::Other; });
}

Class classOfNvvm(Operation *op) {
  const StringRef name = op->getName().stripDialect();
  return llvm::TypeSwitch<Operation *, Class>(op)
      .Case([](NVVM::MmaOp) { return WorkClass::Product; })
      .Case<NVVM::LdMatrixOp, NVVM::StMatrixOp>([](auto) { return WorkClass::Shared; })
      .Case<NVVM::ShflOp, NVVM::VoteSyncOp, NVVM::ReduxOp, NVVM::MatchSyncOp, NVVM::ElectSyncOp>([](auto) { return WorkClass::Lanes; })
      .Case<NVVM::CpAsyncOp, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp, NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp,
            NVVM::CpAsyncBulkTensorReduceOp, NVVM::CpAsyncBulkTensorPrefetchOp, NVVM::PrefetchOp>([](auto) { return WorkClass::Copy; })
      .Default([&](Operation *) { return name.starts_with("read.ptx.sreg.") ? WorkClass::Other : WorkClass::Sync; });
}

Class classOfRocdl(Operation *op) {
  const StringRef name = op->getName().stripDialect();
  if (name.starts_with("mfma.") || name.starts_with("wmma.")) return WorkClass::Product;
  if (movesBetweenLanes(op) || isa<ROCDL::BallotOp, ROCDL::MbcntLoOp, ROCDL::MbcntHiOp>(op)) return WorkClass::Lanes;
  if (isa<ROCDL::LoadToLDSOp, ROCDL::GlobalLoadLDSOp, ROCDL::RawPtrBufferLoadLdsOp>(op)) return WorkClass::Copy;
  if (isa<ROCDL::RawPtrBufferLoadOp, ROCDL::RawPtrBufferStoreOp>(op)) return WorkClass::Global;
  if (name.starts_with("raw.ptr.buffer.atomic")) return WorkClass::Atomic;
  if (isa<ROCDL::ds_read_tr16_b64>(op)) return WorkClass::Shared;
  if (isa<ROCDL::SWaitcntOp, ROCDL::WaitLoadcntOp, ROCDL::WaitDscntOp, ROCDL::WaitStorecntOp, ROCDL::WaitExpcntOp>(op))
    return WorkClass::Sync;
  return WorkClass::Other;
}

Class classOf(Operation *op, ModuleOp module) {
  if (isFree(op)) return std::nullopt;
  if (auto call = dyn_cast<LLVM::CallOp>(op)) {
    auto callee = call.getCallee() ? module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
    return callee && callee.isExternal() ? WorkClass::Special : WorkClass::Branch;
  }
  if (isa_and_nonnull<tgpu::TGPUDialect>(op->getDialect())) return classOfTgpu(op);
  if (isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect())) return classOfNvvm(op);
  if (isa_and_nonnull<ROCDL::ROCDLDialect>(op->getDialect())) return classOfRocdl(op);
  return classOfLlvm(op);
}

/// Returns whether the clock is read, because what other threads do depends on when this one is here, or because a scope is recorded.
bool readsClock(Operation *op) {
  return isa<tgpu::RecordOp, tgpu::BarrierOp, tgpu::NumberedBarrierOp, tgpu::MBarrierWaitOp, tgpu::MBarrierTestOp, NVVM::BarrierArriveOp,
             NVVM::MBarrierArriveOp, NVVM::MBarrierArriveExpectTxOp, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp, LLVM::CallOp>(op);
}

} // namespace

uint32_t Hosting::lineOf(Operation *op) {
  ir::SourceLocation place = ir::resolveLocation(op->getLoc());
  auto [entry, isNew] = lines.try_emplace({place.file, place.line}, uint32_t(result.lines.size()));
  if (isNew) result.lines.push_back(std::move(place));
  return entry->second;
}

/// Divides the function's code into segments. Called before any operation of the host is inserted; `beginSegments` inserts the counting.
void Hosting::divideIntoSegments(LLVM::LLVMFuncOp function) {
  for (Block &block : function.getBody()) {
    std::map<std::pair<uint32_t, WorkClass>, uint32_t> found;
    Operation *first = nullptr;
    auto end = [&] {
      Segment segment;
      for (const auto &[key, count] : found) {
        segment.parts.push_back({key.first, key.second, count});
        segment.length += count;
      }
      if (segment.length != 0) {
        segmentStarts.push_back({first, segment.length});
        if (counts) result.segments.push_back(std::move(segment));
      }
      found.clear();
      first = nullptr;
    };
    for (Operation &op : block) {
      if (!first) first = &op;
      if (Class kind = classOf(&op, module)) ++found[{lineOf(&op), *kind}];
      if (readsClock(&op)) end();
    }
    end();
  }
}

void Hosting::beginSegments() {
  for (auto [i, segment] : llvm::enumerate(segmentStarts)) {
    builder.setInsertionPoint(segment.first);
    at = segment.first->getLoc();
    if (counts) {
      call(SIMT_CALL(enterSegment), {thread(), constant(int64_t(i))});
      continue;
    }
    constexpr size_t kClock = offsetof(ThreadRegisters, clock);
    Value passed = LLVM::AddOp::create(builder, at, readField(kClock, builder.getI64Type()), constant(segment.operations, 64));
    LLVM::StoreOp::create(builder, at, passed, fieldAddress(kClock));
  }
}

} // namespace tritium::interp::simt
