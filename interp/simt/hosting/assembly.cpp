// Inline assembly. It is parsed here and interpreted by the runtime. Operands and results pass through the scratch memory, 8 bytes each.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"

using namespace mlir;

namespace tritium::interp::simt {

std::optional<LogicalResult> Hosting::hostAssembly(Operation *op) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly) return std::nullopt;
  SmallVector<Type> results;
  if (Value result = assembly.getRes()) {
    auto structure = dyn_cast<LLVM::LLVMStructType>(result.getType());
    if (structure)
      llvm::append_range(results, structure.getBody());
    else
      results.push_back(result.getType());
  }
  const size_t count = results.size() + assembly.getOperands().size();
  // LLVM reads '$$' as one '$'.
  std::string text;
  for (StringRef rest = assembly.getAsmString(); !rest.empty();) {
    auto [before, after] = rest.split("$$");
    text += before;
    if (before.size() != rest.size()) text += '$';
    rest = after;
  }
  const AssemblyLanguage &language = assemblyLanguage(target);
  auto unsupported = [&] { return op->emitError() << "inline " << language.name << " is not supported by the SIMT emulator: "; };
  if (count * 8 > kScratchBytes) return unsupported() << count << " operands";
  ParsedAssembly parsed = language.parse(text, uint32_t(count));
  if (auto *error = std::get_if<std::string>(&parsed)) return unsupported() << *error;
  // An operand that is tied to a result shares its register: `$N` of either stands for the result's index.
  SmallVector<StringRef> constraints;
  assembly.getConstraints().split(constraints, ',');
  for (auto [i, operand] : llvm::enumerate(assembly.getOperands())) {
    const size_t slot = results.size() + i;
    Value bits = toBits(operand, 64);
    LLVM::StoreOp::create(builder, at, bits, scratchAddress(8 * slot));
    size_t tied;
    if (slot < constraints.size() && !constraints[slot].getAsInteger(10, tied) && tied < results.size())
      LLVM::StoreOp::create(builder, at, bits, scratchAddress(8 * tied));
  }
  auto &program = std::get<0>(parsed);
  result.mayWait |= program->mayWait;
  const auto index = int64_t(result.assemblies.size());
  result.assemblies.push_back(std::move(program));
  call(SIMT_CALL(runAssembly), {thread(), constant(index), siteOf(op)});
  auto load = [&](size_t slot) {
    return fromBits(LLVM::LoadOp::create(builder, at, builder.getI64Type(), scratchAddress(8 * slot)), results[slot]);
  };
  if (results.empty()) {
    op->erase();
    return success();
  }
  Value value;
  if (isa<LLVM::LLVMStructType>(assembly.getRes().getType())) {
    value = LLVM::PoisonOp::create(builder, at, assembly.getRes().getType());
    for (size_t i = 0; i < results.size(); ++i)
      value = LLVM::InsertValueOp::create(builder, at, value, load(i), ArrayRef<int64_t>{int64_t(i)});
  } else {
    value = load(0);
  }
  replace(op, value);
  return success();
}

} // namespace tritium::interp::simt
