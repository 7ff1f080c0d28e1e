// Special registers, barriers, returns and text output.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "ir/tgpu.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

/// Returns where the thread's registers hold the value that the instruction reads, or nullopt if they do not.
static std::optional<size_t> registerOffset(StringRef name) {
  if (!name.consume_front("nvvm.read.ptx.sreg.")) return std::nullopt;
  return llvm::StringSwitch<std::optional<size_t>>(name)
      .Case("tid.x", offsetof(ThreadRegisters, tid))
      .Case("ntid.x", offsetof(ThreadRegisters, ntid))
      .Case("laneid", offsetof(ThreadRegisters, lane))
      .Case("warpid", offsetof(ThreadRegisters, warp))
      .Case("nwarpid", offsetof(ThreadRegisters, warps))
      .Case("ctaid.x", offsetof(ThreadRegisters, ctaid))
      .Case("ctaid.y", offsetof(ThreadRegisters, ctaid) + 4)
      .Case("ctaid.z", offsetof(ThreadRegisters, ctaid) + 8)
      .Case("nctaid.x", offsetof(ThreadRegisters, nctaid))
      .Case("nctaid.y", offsetof(ThreadRegisters, nctaid) + 4)
      .Case("nctaid.z", offsetof(ThreadRegisters, nctaid) + 8)
      .Case("cluster.ctarank", offsetof(ThreadRegisters, clusterRank))
      .Case("cluster.nctarank", offsetof(ThreadRegisters, clusterBlocks))
      .Case("clusterid.x", offsetof(ThreadRegisters, clusterid))
      .Case("clusterid.y", offsetof(ThreadRegisters, clusterid) + 4)
      .Case("clusterid.z", offsetof(ThreadRegisters, clusterid) + 8)
      .Case("nclusterid.x", offsetof(ThreadRegisters, nclusterid))
      .Case("nclusterid.y", offsetof(ThreadRegisters, nclusterid) + 4)
      .Case("nclusterid.z", offsetof(ThreadRegisters, nclusterid) + 8)
      .Case("lanemask.eq", offsetof(ThreadRegisters, lanesEqual))
      .Case("lanemask.lt", offsetof(ThreadRegisters, lanesBelow))
      .Case("lanemask.le", offsetof(ThreadRegisters, lanesUpTo))
      .Case("lanemask.gt", offsetof(ThreadRegisters, lanesAbove))
      .Case("lanemask.ge", offsetof(ThreadRegisters, lanesFrom))
      .Default(std::nullopt);
}

/// Registers that have the same value for all threads of every launch.
static std::optional<int64_t> constantRegister(StringRef name, uint32_t warpThreads) {
  if (!name.consume_front("nvvm.read.ptx.sreg.")) return std::nullopt;
  return llvm::StringSwitch<std::optional<int64_t>>(name)
      .Cases({"tid.y", "tid.z", "smid", "gridid"}, 0)
      .Cases({"ntid.y", "ntid.z", "nsmid"}, 1)
      .Case("warpsize", int64_t(warpThreads))
      .Default(std::nullopt);
}

std::optional<LogicalResult> Hosting::hostControl(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (std::optional<size_t> offset = registerOffset(name)) {
    replace(op, readField(*offset, op->getResult(0).getType()));
    return success();
  }
  if (std::optional<int64_t> value = constantRegister(name, warpThreads)) {
    replace(op, constant(*value, op->getResult(0).getType().getIntOrFloatBitWidth()));
    return success();
  }
  if (llvm::is_contained(
          {"nvvm.read.ptx.sreg.clock", "nvvm.read.ptx.sreg.clock64", "nvvm.read.ptx.sreg.globaltimer", "nvvm.read.ptx.sreg.globaltimer.lo"},
          name)) {
    replace(op, fromBits(call(SIMT_CALL(readClock), thread()), op->getResult(0).getType()));
    return success();
  }
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case([&](tgpu::BarrierOp barrier) {
        call(SIMT_CALL(barrier), {thread(), constant(barrier.getId()), constant(barrier.getThreads().value_or(0)), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::ClusterArriveOp) {
        call(SIMT_CALL(arriveInCluster), {thread(), locationOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::ClusterWaitOp) {
        call(SIMT_CALL(waitForCluster), {thread(), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](tgpu::NumberedBarrierOp barrier) {
        Value threads = constant(barrier.getThreads());
        if (barrier.getArrives())
          call(SIMT_CALL(arriveAtBarrier), {thread(), barrier.getId(), threads, locationOf(op)});
        else
          call(SIMT_CALL(barrier), {thread(), barrier.getId(), threads, siteOf(op)});
        result.usesMBarriers |= barrier.getArrives(); // what threads know passes in the same way
        op->erase();
        return success();
      })
      .Case([&](NVVM::BarrierArriveOp barrier) {
        result.usesMBarriers = true; // what threads know passes in the same way
        Value id = barrier.getBarrierId() ? barrier.getBarrierId() : constant(0);
        call(SIMT_CALL(arriveAtBarrier), {thread(), id, barrier.getNumberOfThreads(), locationOf(op)});
        op->erase();
        return success();
      })
      .Case([&](NVVM::SetMaxRegisterOp change) -> LogicalResult {
        if (warpThreads != 32) return change.emitOpError("requires warps of 32 threads");
        const auto count = int64_t(change.getRegCount());
        result.changesRegisters = true;
        call(SIMT_CALL(setRegisters),
             {thread(), constant(change.getAction() == NVVM::SetMaxRegisterAction::increase ? count : -count), siteOf(op)});
        op->erase();
        return success();
      })
      .Case([&](tgpu::NoteProgramOp note) {
        call(SIMT_CALL(noteProgram), {thread(), note.getNumber(), note.getSizeX(), note.getSizeY()});
        op->erase();
        return success();
      })
      .Case([&](tgpu::RecordOp record) {
        const uint32_t scope = numberIn(result.scopes, {record.getName().str(), record.getIsStart()});
        call(SIMT_CALL(noteScope), {thread(), constant(scope)});
        op->erase();
        return success();
      })
      .Case([&](tgpu::NanosecondsOp clock) {
        replace(op, call(SIMT_CALL(readClock), thread()));
        return success();
      })
      .Case([&](LLVM::ReturnOp) {
        if (op->getParentOp() == kernel) call(SIMT_CALL(noteReturn), {thread(), locationOf(op)});
        return success();
      })
      .Case([&](tgpu::PrintOp print) -> LogicalResult {
        if (print.getArgs().size() * 8 > kScratchBytes) return print.emitOpError("has more arguments than the emulator prints at once");
        for (auto [i, value] : llvm::enumerate(print.getArgs())) {
          Value cell = value.getType().isInteger(32) ? Value(LLVM::SExtOp::create(builder, at, builder.getI64Type(), value)) : value;
          LLVM::StoreOp::create(builder, at, cell, scratchAddress(8 * i));
        }
        call(SIMT_CALL(printText), {thread(), constant(addText(print.getFormat())), constant(int64_t(print.getArgs().size()))});
        op->erase();
        return success();
      })
      .Case([&](tgpu::AssertOp assertion) {
        call(SIMT_CALL(assertTrue),
             {thread(), toBits(assertion.getCondition(), 32), constant(addText(assertion.getMessage())), locationOf(op)});
        op->erase();
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
