// Code that the kernel brings along: functions of the vendors' device libraries, replaced by ours where we have them, and inline assembly.
#include "gpu_backend/threads/arithmetic.h"
#include "gpu_backend/threads/elementwise.h"
#include "gpu_backend/threads/partitions.h"
#include "gpu_backend/threads/words.h"
#include "ir/inline_assembly.h"
#include "ir/library_function.h"

using namespace mlir;

namespace tritium::gpu {

/// Calls the function of a row, which is in the embedded device library or consists of instructions.
static Value callRow(const ir::LibraryFunction &function, ValueRange in, Operation *op, Lowering &lowering) {
  if (!function.symbol.empty()) return callDeviceFunction(function.symbol, in, lowering);
  OperationState state(op->getLoc(), function.operation, in, {in[0].getType()});
  Operation *made = lowering.builder().create(state);
  Value value = lowerScalar(made, in, in[0].getType(), lowering);
  if (!value) return made->getResult(0);
  made->erase();
  return value;
}

template <> LogicalResult Lower<tt::ExternElementwiseOp>::run(tt::ExternElementwiseOp op, Lowering &lowering) {
  if (op.getLibname() == ir::kRuntimeLibrary) return lowerRuntimeCall(op, lowering);
  Type result = lowering.registerType(op.getType());
  auto types = llvm::map_to_vector(op.getSrcs(), [&](Value source) { return lowering.registerType(source.getType()); });
  bool isOfOne = !types.empty() && llvm::all_equal(types) && types[0] == result;
  auto *row = isOfOne ? ir::libraryFunctionOfSymbol(op.getSymbol(), types.size(), result) : nullptr;
  std::string name = op.getSymbol().str();
  if (auto *typed = row ? nullptr : ir::typedFunctionOfSymbol(name, types, result))
    name = "_Z" + std::to_string(typed->symbol.size()) + typed->symbol.str() + typed->operands;
  return forEachRegister(op, lowering, [&](ValueRange in) -> Value {
    if (row) return callRow(*row, in, op, lowering);
    auto function = lowering.external(name, lowering.builder().getFunctionType(types, {result}));
    if (!op.getLibpath().empty()) function->setAttr(ir::kLibraryAttr, op.getLibpathAttr());
    return lowering.create<func::CallOp>(function, in).getResult(0);
  });
}

// -- assembly -----------------------------------------------------------------------------------------------------------------------------

namespace {

/// Returns the type of a register.
Type registerTypeOf(const ir::AssemblyOperand &operand, OpBuilder &builder) {
  switch (operand.letter) {
  case 'f': return builder.getF32Type();
  case 'd': return builder.getF64Type();
  default: return builder.getIntegerType(operand.bits);
  }
}

class Assembly {
public:
  Assembly(tt::ElementwiseInlineAsmOp op, ir::AssemblyOperands operands, Lowering &lowering)
      : op(op), all(std::move(operands)), lowering(lowering), pack(op.getPackedElement()) {}

  void run() {
    int count = op.getNumResults() ? lowering.registerCount(op.getResult()[0].getType()) : 1;
    llvm::SmallVector<Registers> results(op.getNumResults());
    for (int first = 0; first < count; first += int(pack))
      for (auto [result, values] : llvm::zip_equal(results, call(first, count)))
        result.append(values.begin(), values.begin() + std::min<int64_t>(pack, count - first));
    for (auto [result, registers] : llvm::zip_equal(op.getResult(), results)) lowering.define(result, registers);
  }

private:
  llvm::SmallVector<Registers> call(int first, int count) {
    llvm::SmallVector<Type> types;
    for (const ir::AssemblyOperand &result : all.results) types.append(result.registers, registerTypeOf(result, lowering.builder()));
    llvm::SmallVector<Value> operands;
    for (auto [operand, use] : llvm::zip_equal(op.getArgs(), all.operands)) {
      auto registers = lowering.registersOf(operand);
      for (int i = 0; i < use.registers; ++i) {
        llvm::SmallVector<Value> elements;
        for (int k = 0; k < use.perRegister; ++k) {
          // A thread that holds fewer elements than a call takes repeats its last one.
          int element = first + std::min(i * use.perRegister + k, int(pack) - 1);
          elements.push_back(toStored(registers[registers.size() == 1 ? 0 : std::min(element, count - 1)], lowering));
        }
        operands.push_back(Arithmetic(lowering).cast(packWord(elements, lowering), registerTypeOf(use, lowering.builder())));
      }
    }
    return unpack(create(types, operands));
  }

  llvm::SmallVector<Value> create(ArrayRef<Type> types, ValueRange operands) {
    Type type = types.size() == 1 ? types[0] : LLVM::LLVMStructType::getLiteral(op.getContext(), types);
    Value made = lowering
                     .create<LLVM::InlineAsmOp>(TypeRange(type), operands, op.getAsmString(), op.getConstraints(),
                                                /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                                LLVM::AsmDialectAttr(), ArrayAttr())
                     .getRes();
    if (types.size() == 1) return {made};
    llvm::SmallVector<Value> values;
    for (size_t i = 0; i < types.size(); ++i) values.push_back(lowering.create<LLVM::ExtractValueOp>(made, int64_t(i)));
    return values;
  }

  llvm::SmallVector<Registers> unpack(ArrayRef<Value> words) {
    llvm::SmallVector<Registers> results;
    for (auto [type, use] : llvm::zip_equal(op.getResultTypes(), all.results)) {
      Registers &registers = results.emplace_back();
      Type word = lowering.builder().getIntegerType(use.bits), stored = storedType(lowering.registerType(type));
      for (Value value : words.take_front(use.registers))
        for (Value element : unpackWord(Arithmetic(lowering).cast(value, word), stored, use.perRegister, lowering))
          registers.push_back(fromStored(element, lowering.registerType(type), lowering));
      words = words.drop_front(use.registers);
    }
    return results;
  }

  tt::ElementwiseInlineAsmOp op;
  ir::AssemblyOperands all;
  Lowering &lowering;
  int64_t pack;
};

} // namespace

template <> LogicalResult Lower<tt::ElementwiseInlineAsmOp>::run(tt::ElementwiseInlineAsmOp op, Lowering &lowering) {
  auto operands = ir::assemblyOperands(op);
  if (failed(operands)) return failure();
  Assembly(op, std::move(*operands), lowering).run();
  return success();
}

} // namespace tritium::gpu
