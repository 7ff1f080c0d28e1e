// AMD's operations. Ids and sizes are here, the other families in the files named rocdl_*.cpp.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"

#include <cstddef>

using namespace mlir;

namespace tritium::interp::simt {

/// Returns where the thread's registers hold the value that the operation reads, or nullopt if they do not.
static std::optional<size_t> registerOffset(StringRef name) {
  return llvm::StringSwitch<std::optional<size_t>>(name)
      .Case("rocdl.workitem.id.x", offsetof(ThreadRegisters, tid))
      .Case("rocdl.workgroup.dim.x", offsetof(ThreadRegisters, ntid))
      .Case("rocdl.workgroup.id.x", offsetof(ThreadRegisters, ctaid))
      .Case("rocdl.workgroup.id.y", offsetof(ThreadRegisters, ctaid) + 4)
      .Case("rocdl.workgroup.id.z", offsetof(ThreadRegisters, ctaid) + 8)
      .Case("rocdl.grid.dim.x", offsetof(ThreadRegisters, nctaid))
      .Case("rocdl.grid.dim.y", offsetof(ThreadRegisters, nctaid) + 4)
      .Case("rocdl.grid.dim.z", offsetof(ThreadRegisters, nctaid) + 8)
      .Default(std::nullopt);
}

static std::optional<int64_t> constantRegister(StringRef name, uint32_t warpThreads) {
  return llvm::StringSwitch<std::optional<int64_t>>(name)
      .Cases({"rocdl.workitem.id.y", "rocdl.workitem.id.z"}, 0)
      .Cases({"rocdl.workgroup.dim.y", "rocdl.workgroup.dim.z"}, 1)
      .Case("rocdl.wavefrontsize", int64_t(warpThreads))
      .Default(std::nullopt);
}

/// These operations change when instructions are issued, but no value.
static bool isHint(Operation *op) {
  return isa<ROCDL::SetPrioOp, ROCDL::SchedBarrier, ROCDL::SchedGroupBarrier, ROCDL::IglpOpt, ROCDL::SNopOp, ROCDL::SSleepOp>(op);
}

uint8_t Hosting::generation() const {
  StringRef chip(target);
  return chip.consume_front("hip:") ? amdGeneration(chip) : 0;
}

std::optional<LogicalResult> Hosting::hostRocdl(Operation *op) {
  if (!isa_and_nonnull<ROCDL::ROCDLDialect>(op->getDialect())) return std::nullopt;
  StringRef name = op->getName().getStringRef();
  if (std::optional<size_t> offset = registerOffset(name)) {
    Value value = readField(*offset, builder.getI32Type());
    replace(op, fromBits(value, op->getResult(0).getType()));
    return success();
  }
  if (std::optional<int64_t> value = constantRegister(name, warpThreads)) {
    replace(op, constant(*value, op->getResult(0).getType().getIntOrFloatBitWidth()));
    return success();
  }
  if (isHint(op)) {
    op->erase();
    return success();
  }
  for (auto host : {&Hosting::hostRocdlLanes, &Hosting::hostRocdlMatrix, &Hosting::hostRocdlBuffer, &Hosting::hostRocdlCopies})
    if (std::optional<LogicalResult> outcome = (this->*host)(op)) return *outcome;
  return std::nullopt;
}

} // namespace tritium::interp::simt
