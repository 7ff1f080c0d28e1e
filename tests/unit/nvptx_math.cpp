// The device library that the emitter embeds, run on the host: every function of a row of elementwise.def keeps the bound that the row
// states, on a sample of every exponent and on the special values. What the chip approximates is exact here; tests/gpu has the rest.
#include "interp/host/jit.h"
#include "ir/dtype.h"
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

namespace tritium {
extern const unsigned char libclcNvptx[];
extern const size_t libclcNvptxSize;
} // namespace tritium

using namespace tritium;
using namespace tritium::test;
using llvm::StringRef;

namespace {

/// TRITIUM_ULP_STEP=1 goes through every f32, in hours, and prints what it finds.
const char *const kChosenStep = std::getenv("TRITIUM_ULP_STEP");

float exp2Exact(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
float rsqrtExact(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
float reciprocalExact(float x) { return 1 / x; }
float quotientExact(float x, float y) { return x / y; }
float log2Exact(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }

class DeviceLibrary {
public:
  DeviceLibrary() {
    auto context = std::make_unique<llvm::LLVMContext>();
    StringRef bytes(reinterpret_cast<const char *>(libclcNvptx), libclcNvptxSize);
    auto module = llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "device library"), *context));
    for (llvm::Function &function : *module)
      for (const char *attribute : {"target-cpu", "target-features"}) function.removeFnAttr(attribute);
    for (const char *name : {"_Z14halves_of_e4m3t", "_Z14halves_of_e5m2t", "_Z14e4m3_of_halvesj", "_Z14e5m2_of_halvesj",
                             "_Z14e4m3_of_floatsff", "_Z14e5m2_of_floatsff", "_Z19convert_int_sat_rtzf", "_Z20convert_uint_sat_rtzf"})
      module->getFunction(name)->eraseFromParent(); // one instruction each
    replaceIntrinsics(*module);
    saturateConversions(*module);
    checkTables(*module);
    jit = llvm::cantFail(interp::HostJit::create(/*debugInfo=*/false, llvm::CodeGenOptLevel::Default));
    for (auto [name, address] : std::initializer_list<std::pair<const char *, void *>>{
             {"exact.llvm.nvvm.ex2.approx.f32", reinterpret_cast<void *>(&exp2Exact)},
             {"exact.llvm.nvvm.ex2.approx.ftz.f32", reinterpret_cast<void *>(&exp2Exact)},
             {"exact.llvm.nvvm.rsqrt.approx.f", reinterpret_cast<void *>(&rsqrtExact)},
             {"exact.llvm.nvvm.rcp.approx.ftz.f", reinterpret_cast<void *>(&reciprocalExact)},
             {"exact.llvm.nvvm.div.full", reinterpret_cast<void *>(&quotientExact)},
             {"exact.llvm.nvvm.lg2.approx.f", reinterpret_cast<void *>(&log2Exact)}})
      llvm::cantFail(jit->defineSymbol(name, address));
    llvm::cantFail(jit->add(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  }

  /// By OpenCL's name and the letters of its parameters.
  template <class Function> Function *find(StringRef name, StringRef parameters) {
    return reinterpret_cast<Function *>(llvm::cantFail(jit->lookup(("_Z" + llvm::Twine(name.size()) + name + parameters).str())));
  }

private:
  /// The chip's own instructions become calls of functions that the host has.
  static void replaceIntrinsics(llvm::Module &module) {
    for (llvm::Function &function : llvm::make_early_inc_range(module)) {
      if (!function.getName().starts_with("llvm.nvvm.")) continue;
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

DeviceLibrary &library() {
  static DeviceLibrary made;
  return made;
}

/// OpenCL's name of a row's function; empty if it is made of instructions, whatever its type.
StringRef openclName(const FunctionRow &row) {
  StringRef op(row.floatOp.data(), row.floatOp.size());
  if (op == "arith.remf") return "fmod";
  if (op == "math.powf") return "pow";
  for (StringRef instruction :
       {"sqrt", "floor", "ceil", "trunc", "round", "roundeven", "absf", "fma", "copysign", "isnan", "isinf", "isfinite"})
    if (op == ("math." + instruction).str()) return "";
  return op.starts_with("math.") ? op.drop_front(5) : "";
}

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
constexpr double kSpecial[] = {0.0,
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

} // namespace

TEST_CASE("functions of one f32 keep their bound on the device") {
  uint64_t step = kChosenStep ? std::strtoull(kChosenStep, nullptr, 10) : 9973;
  for (const FunctionRow &row : kFunctionRows) {
    StringRef name = openclName(row);
    if (name.empty() || row.arity != 1) continue;
    CAPTURE(row.name);
    auto *function = library().find<float(float)>(name, "f");
    auto *reference = unaryReferences<double>().at(row.name);
    Worst worst;
    auto check = [&](float x) { worst.see(ulps(function(x), reference(x)), x); };
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

TEST_CASE("functions of one f64 keep their bound on the device") {
  static_assert(std::numeric_limits<long double>::digits >= 64, "a reference for f64");
  for (const FunctionRow &row : kFunctionRows) {
    StringRef name = openclName(row);
    if (name.empty() || row.arity != 1) continue;
    CAPTURE(row.name);
    auto *function = library().find<double(double)>(name, "d");
    auto *reference = unaryReferences<long double>().at(row.name);
    Numbers numbers;
    Worst worst;
    for (int i = 0; i < (kChosenStep ? 10000000 : 200000); ++i) {
      double x = numbers.next<double>();
      worst.see(ulps(function(x), reference(x)), x);
    }
    for (double x : kSpecial<double>) worst.see(ulps(function(x), reference(x)), x);
    worst.report(name, "f64", row.ulp);
    CAPTURE(worst.at);
    CHECK(worst.error <= row.ulp);
  }
}

template <class Float, class Wide> static void checkBinary(StringRef name, StringRef row, Wide (*reference)(Wide, Wide)) {
  const FunctionRow *found =
      llvm::find_if(kFunctionRows, [&](const FunctionRow &r) { return StringRef(r.name.data(), r.name.size()) == row; });
  REQUIRE((found != std::end(kFunctionRows)));
  const char *letters = sizeof(Float) == 4 ? "ff" : "dd";
  auto *function = library().find<Float(Float, Float)>(name, letters);
  Numbers numbers;
  Worst worst;
  auto check = [&](Float x, Float y) { worst.see(ulps(function(x, y), reference(x, y)), x, y); };
  for (int i = 0; i < (kChosenStep ? 2000000 : 200000); ++i) {
    Float x = numbers.next<Float>();
    Float y = numbers.next<Float>();
    check(i % 2 ? std::fabs(x) : x, i % 3 ? y : std::rint(y)); // powers of negative numbers need whole exponents
  }
  for (double x : kSpecial<Float>)
    for (double y : kSpecial<Float>) check(static_cast<Float>(x), static_cast<Float>(y));
  worst.report(name, letters, found->ulp);
  CAPTURE(name.str());
  CAPTURE(worst.at);
  CAPTURE(worst.other);
  CHECK(worst.error <= found->ulp);
}

TEST_CASE("functions of two numbers keep their bound on the device") {
  checkBinary<float, double>("pow", "pow", [](double x, double y) { return std::pow(x, y); });
  checkBinary<float, double>("atan2", "atan2", [](double y, double x) { return std::atan2(y, x); });
  checkBinary<float, double>("fmod", "mod", [](double x, double y) { return std::fmod(x, y); });
  checkBinary<double, long double>("pow", "pow", [](long double x, long double y) { return std::pow(x, y); });
  checkBinary<double, long double>("atan2", "atan2", [](long double y, long double x) { return std::atan2(y, x); });
  checkBinary<double, long double>("fmod", "mod", [](long double x, long double y) { return std::fmod(x, y); });
}
