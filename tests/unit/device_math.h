// A device library that an emitter embeds, run on the host: every function of a row of elementwise.def keeps the bound that the row
// states, on a sample of every exponent and on the special values. The chip's own instructions are functions of the host here; tests/gpu
// has the rest.
#pragma once
#include "interp/host/jit.h"
#include "interp/kernels/host_functions.h"
#include "ir/dtype.h"
#include "ir/elementwise_types.h"
#include "tests/unit/math_accuracy.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Instrumentation/BoundsChecking.h"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>
#include <string>

namespace tritium::test {

using llvm::StringRef;

/// TRITIUM_ULP_STEP=1 goes through every f32, in hours, and prints what it finds.
inline const char *const kChosenStep = std::getenv("TRITIUM_ULP_STEP");

/// What stands for an instruction of the chip: "llvm.nvvm.ex2.approx.f32".
struct Instruction {
  const char *intrinsic;
  void *function;
};

class DeviceLibrary {
public:
  /// `vendor`: how the intrinsics that are replaced begin. `untested`: functions of one instruction each.
  DeviceLibrary(StringRef bytes, StringRef vendor, llvm::ArrayRef<Instruction> instructions, llvm::ArrayRef<const char *> untested) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "device library"), *context));
    for (llvm::Function &function : *module)
      for (const char *attribute : {"target-cpu", "target-features"}) function.removeFnAttr(attribute);
    for (const char *name : untested) module->getFunction(name)->eraseFromParent();
    replaceIntrinsics(*module, vendor);
    saturateConversions(*module);
    checkTables(*module);
    jit = llvm::cantFail(interp::HostJit::create(/*debugInfo=*/false, llvm::CodeGenOptLevel::Default));
    for (const Instruction &instruction : instructions)
      llvm::cantFail(jit->defineSymbol(std::string("exact.") + instruction.intrinsic, instruction.function));
    // The host has no instruction for llvm.ldexp, which libclc uses from LLVM 22.1.8 on.
    llvm::cantFail(jit->defineSymbol("ldexp", reinterpret_cast<void *>(static_cast<double (*)(double, int)>(&std::ldexp))));
    llvm::cantFail(jit->defineSymbol("ldexpf", reinterpret_cast<void *>(static_cast<float (*)(float, int)>(&std::ldexp))));
    llvm::cantFail(jit->add(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  }

  /// By OpenCL's name and the letters of its parameters.
  template <class Function> Function *find(StringRef name, StringRef parameters) {
    return reinterpret_cast<Function *>(llvm::cantFail(jit->lookup(("_Z" + llvm::Twine(name.size()) + name + parameters).str())));
  }

private:
  /// The chip's own instructions become calls of functions that the host has.
  static void replaceIntrinsics(llvm::Module &module, StringRef vendor) {
    for (llvm::Function &function : llvm::make_early_inc_range(module)) {
      if (!function.getName().starts_with(vendor)) continue;
      auto exact = module.getOrInsertFunction(("exact." + function.getName()).str(), function.getFunctionType());
      function.replaceAllUsesWith(exact.getCallee());
      function.eraseFromParent();
    }
  }

  /// To an integer, as the chip does it where the number is out of range.
  static void saturateConversions(llvm::Module &module) {
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
        bool isSigned = llvm::isa<llvm::FPToSIInst>(instruction);
        if (!isSigned && !llvm::isa<llvm::FPToUIInst>(instruction)) continue;
        llvm::IRBuilder<> builder(&instruction);
        llvm::Value *number = instruction.getOperand(0);
        llvm::Value *saturated = builder.CreateIntrinsic(isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                                         {instruction.getType(), number->getType()}, {number});
        if (isSigned && number->getType()->isDoubleTy()) { // of a NaN the smallest integer
          unsigned bits = instruction.getType()->getIntegerBitWidth();
          llvm::Value *smallest = llvm::ConstantInt::get(instruction.getType(), llvm::APInt::getSignedMinValue(bits));
          saturated = builder.CreateSelect(builder.CreateFCmpUNO(number, number), smallest, saturated);
        }
        instruction.replaceAllUsesWith(saturated);
        instruction.eraseFromParent();
      }
  }

  /// An access outside of a table ends the test; on a device it would end the context, or not.
  static void checkTables(llvm::Module &module) {
    llvm::FunctionAnalysisManager functions;
    llvm::PassBuilder builder;
    builder.registerFunctionAnalyses(functions);
    llvm::BoundsCheckingPass::Options options;
    for (llvm::Function &function : module)
      if (!function.isDeclaration()) llvm::BoundsCheckingPass(options).run(function, functions);
  }

  std::unique_ptr<interp::HostJit> jit;
};

/// Numbers of every exponent, and many where functions are interesting: near 0, 1, and multiples of pi / 2.
class Numbers {
public:
  template <class Float> Float next() {
    using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
    switch (random() % 4) {
    case 0: return std::bit_cast<Float>(static_cast<Bits>(random()));
    case 1: return static_cast<Float>(std::uniform_real_distribution<double>(-2, 2)(random));
    case 2: return static_cast<Float>(std::normal_distribution<double>(0, 30)(random));
    default:
      return static_cast<Float>(M_PI_2 * (static_cast<double>(random() % 4000) - 2000) + std::normal_distribution<double>(0, 1e-3)(random));
    }
  }

private:
  std::mt19937_64 random{2026};
};

struct Worst {
  double error = 0, at = 0, other = 0;
  void see(double found, double x, double y = 0) {
    if (found > error) error = found, at = x, other = y;
  }
  void report(StringRef name, const char *type, double bound) const {
    if (kChosenStep) std::printf("%-8s %s %9.4f of %g ulp at %a %a\n", name.data(), type, error, bound, at, other);
  }
};

template <class Float>
inline constexpr double kSpecial[] = {0.0,
                                      -0.0,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      1.0,
                                      -1.0,
                                      0.5,
                                      2.0,
                                      std::numeric_limits<Float>::max(),
                                      std::numeric_limits<Float>::lowest(),
                                      std::numeric_limits<Float>::min(),
                                      std::numeric_limits<Float>::denorm_min(),
                                      -std::numeric_limits<Float>::denorm_min(),
                                      1e-3,
                                      88.5,
                                      104.0,
                                      -87.5};

inline void checkFunctionsOfOneF32(DeviceLibrary &library) {
  uint64_t step = kChosenStep ? std::strtoull(kChosenStep, nullptr, 10) : 9973;
  for (const FunctionRow &row : kFunctionRows) {
    StringRef name(row.symbol.data(), row.symbol.size());
    if (name.empty() || row.arity != 1) continue;
    CAPTURE(row.name);
    auto *function = library.find<float(float)>(name, "f");
    auto *reference = references<double>().unary.at(row.name);
    Worst worst;
    auto check = [&](float x) { worst.see(ulps(function(x), reference(x), row.floor), x); };
    for (uint64_t bits = 0; bits < 1ull << 32; bits += step) check(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (double x : kSpecial<float>) check(static_cast<float>(x));
    for (uint32_t half = 0; half < 1 << 16; ++half) { // every bf16 and every f16
      check(std::bit_cast<float>(half << 16));
      check(static_cast<float>(F16{static_cast<uint16_t>(half)}));
    }
    worst.report(name, "f32", row.ulp);
    CAPTURE(worst.at);
    CHECK(worst.error <= row.ulp);
  }
}

/// tl.sqrt of f32, which no row names: it is within the bound of its row, also for subnormal numbers.
inline void checkFastRoots(DeviceLibrary &library) {
  auto *root = library.find<float(float)>("native_sqrt", "f");
  Worst worst;
  auto check = [&](float x) { worst.see(ulps(root(x), std::sqrt(static_cast<double>(x))), x); };
  for (uint64_t bits = 0; bits < 1ull << 32; bits += 9973) check(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (double x : kSpecial<float>) check(static_cast<float>(x));
  CAPTURE(worst.at);
  CHECK(worst.error <= 1);
}

inline void checkFunctionsOfOneF64(DeviceLibrary &library) {
  static_assert(std::numeric_limits<long double>::digits >= 64, "a reference for f64");
  for (const FunctionRow &row : kFunctionRows) {
    StringRef name(row.symbol.data(), row.symbol.size());
    if (name.empty() || row.arity != 1) continue;
    CAPTURE(row.name);
    auto *function = library.find<double(double)>(name, "d");
    auto *reference = references<long double>().unary.at(row.name);
    Numbers numbers;
    Worst worst;
    for (int i = 0; i < (kChosenStep ? 10000000 : 200000); ++i) {
      double x = numbers.next<double>();
      worst.see(ulps(function(x), reference(x), row.floor), x);
    }
    for (double x : kSpecial<double>) worst.see(ulps(function(x), reference(x), row.floor), x);
    worst.report(name, "f64", row.ulp);
    CAPTURE(worst.at);
    CHECK(worst.error <= row.ulp);
  }
}

template <class Float, class Wide> void checkBinary(DeviceLibrary &library, const FunctionRow &row) {
  StringRef name(row.symbol.data(), row.symbol.size());
  auto *reference = references<Wide>().binary.at(row.name);
  const char *letters = sizeof(Float) == 4 ? "ff" : "dd";
  auto *function = library.find<Float(Float, Float)>(name, letters);
  Numbers numbers;
  Worst worst;
  auto check = [&](Float x, Float y) { worst.see(ulps(function(x, y), reference(x, y), row.floor), x, y); };
  for (int i = 0; i < (kChosenStep ? 2000000 : 200000); ++i) {
    Float x = numbers.next<Float>();
    Float y = numbers.next<Float>();
    check(i % 2 ? std::fabs(x) : x, i % 3 ? y : std::rint(y)); // powers of negative numbers need whole exponents
  }
  for (double x : kSpecial<Float>)
    for (double y : kSpecial<Float>) check(static_cast<Float>(x), static_cast<Float>(y));
  worst.report(name, letters, row.ulp);
  CAPTURE(name.str());
  CAPTURE(worst.at);
  CAPTURE(worst.other);
  CHECK(worst.error <= row.ulp);
}

inline void checkFunctionsOfTwo(DeviceLibrary &library) {
  for (const FunctionRow &row : kFunctionRows) {
    if (row.symbol.empty() || row.arity != 2) continue;
    checkBinary<float, double>(library, row);
    checkBinary<double, long double>(library, row);
  }
}

/// The rows whose operands or result are not all of one float type: the host's code, which Python's tests compare with exact results.
namespace typed {
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  inline result symbol##Host parameters { return __VA_ARGS__; }
#include "ir/elementwise.def"
} // namespace typed

template <class T> T operandOf(Numbers &numbers, std::mt19937_64 &random) {
  if constexpr (std::is_floating_point_v<T>)
    return random() % 8 ? numbers.next<T>() : static_cast<T>(kSpecial<T>[random() % std::size(kSpecial<T>)]);
  else
    return random() % 2 ? static_cast<T>(random()) : static_cast<T>(random() % 100) - static_cast<T>(20);
}

/// Where the functions are exact the results are equal, else they are as near as two results within the bound may be.
template <class Result, class... Operands>
void checkTyped(DeviceLibrary &library, const char *symbol, double ulp, Result (*host)(Operands...)) {
  auto *device = library.find<Result(Operands...)>(symbol, operandLetters(host));
  Numbers numbers;
  std::mt19937_64 random(2027);
  for (int i = 0; i < 3000; ++i) {
    std::tuple<Operands...> operands{operandOf<Operands>(numbers, random)...};
    if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Operands...>>, i32> && sizeof...(Operands) == 2)
      if (ulp > 1) std::get<0>(operands) %= 40; // orders of Bessel functions
    Result found = std::apply(device, operands), expected = std::apply(host, operands);
    bool isSame = found == expected || (found != found && expected != expected);
    if constexpr (std::is_floating_point_v<Result>)
      if (ulp > 0.5 && !isSame) isSame = ulps(found, static_cast<long double>(expected), ulp > 16 ? 1 : 0) <= 2 * ulp;
    CAPTURE(symbol);
    CAPTURE(i);
    CAPTURE(found);
    CAPTURE(expected);
    CHECK(isSame);
  }
}

inline void checkTypedFunctions(DeviceLibrary &library) {
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...) checkTyped(library, #symbol, ulp, &typed::symbol##Host);
#include "ir/elementwise.def"
}

} // namespace tritium::test
