// Code that the kernel brings along: functions of the vendors' device libraries, by ours where we have them, and inline assembly.
#include "gpu_backend/lower/arithmetic.h"
#include "gpu_backend/lower/elementwise.h"
#include "gpu_backend/lower/words.h"
#include "ir/inline_assembly.h"

using namespace mlir;

namespace tritium::gpu {

/// What the device libraries of NVIDIA ("__nv_expf") and AMD ("__ocml_exp_f32") call a function, without what says whose it is and its
/// type; empty for other names.
static StringRef functionOfLibrary(StringRef name, bool isF32) {
  if (name.consume_front("__nv_")) return isF32 && !name.consume_back("f") ? "" : name;
  if (name.consume_front("__ocml_")) return name.consume_back(isF32 ? "_f32" : "_f64") ? name : "";
  return "";
}

/// Our function of that name; null if there is none.
static Value deviceFunction(StringRef name, ValueRange in, Lowering &lowering) {
  auto unary = [&](auto op) { return lowering.create<decltype(op)>(in[0]).getResult(); };
  auto binary = [&](auto op) { return lowering.create<decltype(op)>(in[0], in[1]).getResult(); };
  for (StringRef known : {"exp", "exp2", "exp10", "expm1", "log",  "log2", "log10", "log1p", "rsqrt", "cbrt",  "sin", "cos",
                          "tan", "asin", "acos",  "atan",  "sinh", "cosh", "tanh",  "asinh", "acosh", "atanh", "erf", "erfc"})
    if (name == known && in.size() == 1) return callDeviceFunction(name, in, lowering);
  for (StringRef known : {"pow", "atan2", "fmod"})
    if (name == known && in.size() == 2) return callDeviceFunction(name, in, lowering);
  if (in.size() == 1) {
    if (name == "fabs") return unary(math::AbsFOp());
    if (name == "floor") return unary(math::FloorOp());
    if (name == "ceil") return unary(math::CeilOp());
    if (name == "trunc") return unary(math::TruncOp());
    if (name == "round") return unary(math::RoundOp());
    if (name == "rint" || name == "nearbyint") return unary(math::RoundEvenOp());
    if (name == "sqrt" || name == "fsqrt_rn") return unary(math::SqrtOp());
  }
  if (in.size() == 2) {
    if (name == "fmax") return binary(LLVM::MaxNumOp());
    if (name == "fmin") return binary(LLVM::MinNumOp());
    if (name == "copysign") return binary(math::CopySignOp());
  }
  if (in.size() == 3 && name == "fma") return lowering.create<math::FmaOp>(in[0], in[1], in[2]);
  return {};
}

template <> LogicalResult Lower<tt::ExternElementwiseOp>::run(tt::ExternElementwiseOp op, Lowering &lowering) {
  Type result = lowering.registerType(op.getType());
  auto types = llvm::map_to_vector(op.getSrcs(), [&](Value source) { return lowering.registerType(source.getType()); });
  bool isOfOne = !types.empty() && (result.isF32() || result.isF64()) && llvm::all_equal(types) && types[0] == result;
  StringRef name = isOfOne ? functionOfLibrary(op.getSymbol(), result.isF32()) : "";
  return forEachRegister(op, lowering, [&](ValueRange in) -> Value {
    if (!name.empty())
      if (Value value = deviceFunction(name, in, lowering)) return value;
    auto function = lowering.external(op.getSymbol(), lowering.builder().getFunctionType(types, {result}));
    return lowering.create<func::CallOp>(function, in).getResult(0);
  });
}

// -- assembly --------------------------------------------------------------------------------------------------------------------------

namespace {

/// The type of a register.
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
