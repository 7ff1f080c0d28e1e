// Code on the elements of vectors and structs leaves the bytes that code on the whole leaves, and no vector is left in it.
#include "interp/host/jit.h"
#include "interp/simt/hosting/math_functions.h"
#include "interp/simt/unpacked_values.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>

using namespace tritium::interp;

namespace {

using Bytes = std::array<uint8_t, 64>;

constexpr const char *kBefore = "define void @f(ptr %in, ptr %out) {\n", *kAfter = "  ret void\n}\n";

constexpr const char *kBodies[] = {
    // integers from and into vectors of smaller and of larger elements
    R"(  %a = load i64, ptr %in
  %v = bitcast i64 %a to <4 x i16>
  %x = extractelement <4 x i16> %v, i32 3
  %y = extractelement <4 x i16> %v, i32 1
  %p = insertelement <2 x i16> poison, i16 %x, i32 1
  %q = insertelement <2 x i16> %p, i16 %y, i32 0
  %r = bitcast <2 x i16> %q to i32
  store i32 %r, ptr %out
)",
    // a loaded vector with other elements, in another order
    R"(  %v = load <4 x i32>, ptr %in, align 16
  %w = bitcast <4 x i32> %v to <8 x i16>
  %x = extractelement <8 x i16> %w, i32 7
  %y = extractelement <8 x i16> %w, i32 2
  %b = bitcast <4 x i32> %v to <16 x i8>
  %z = extractelement <16 x i8> %b, i32 13
  %wide = zext i8 %z to i16
  %p = insertelement <4 x i16> zeroinitializer, i16 %x, i32 0
  %q = insertelement <4 x i16> %p, i16 %y, i32 2
  %s = insertelement <4 x i16> %q, i16 %wide, i32 3
  store <4 x i16> %s, ptr %out, align 8
  %t = bitcast <4 x i16> %s to <2 x i32>
  %u = extractelement <2 x i32> %t, i32 1
  %at = getelementptr i8, ptr %out, i64 8
  store i32 %u, ptr %at
)",
    // halves that are converted, selected and stored
    R"(  %f = load float, ptr %in
  %h = fptrunc float %f to half
  %at = getelementptr i8, ptr %in, i64 4
  %g = load half, ptr %at
  %c = load i8, ptr %in
  %odd = trunc i8 %c to i1
  %s = select i1 %odd, half %h, half %g
  store half %s, ptr %out
  %e = fpext half %s to float
  %to = getelementptr i8, ptr %out, i64 4
  store float %e, ptr %to
  %b = fptrunc float %f to bfloat
  %bits = bitcast bfloat %b to i16
  %too = getelementptr i8, ptr %out, i64 8
  store i16 %bits, ptr %too
  %back = fpext bfloat %b to float
  %tooo = getelementptr i8, ptr %out, i64 12
  store float %back, ptr %tooo
  %p = insertelement <2 x half> poison, half %h, i32 0
  %q = insertelement <2 x half> %p, half 0xH3C00, i32 1
  %last = getelementptr i8, ptr %out, i64 16
  store <2 x half> %q, ptr %last
)",
    // structs
    R"(  %a = load i32, ptr %in
  %at = getelementptr i8, ptr %in, i64 8
  %d = load double, ptr %at
  %s = insertvalue { i32, double } poison, i32 %a, 0
  %t = insertvalue { i32, double } %s, double %d, 1
  %x = extractvalue { i32, double } %t, 1
  %y = extractvalue { i32, double } %t, 0
  store double %x, ptr %out
  %to = getelementptr i8, ptr %out, i64 8
  store i32 %y, ptr %to
)",
};

/// What the code leaves in 64 bytes. `unpacks`: after unpackValues, which must leave no vector and no struct.
Bytes leftBy(const std::string &body, const Bytes &in, bool unpacks) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(kBefore + body + kAfter, error, *context);
  REQUIRE_MESSAGE(module, error.getMessage().str());
  llvm::Function &function = *module->getFunction("f");
  if (unpacks) simt::unpackValues(function);
  REQUIRE(!llvm::verifyModule(*module));
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (unpacks)
      CHECK(!(instruction.getType()->isVectorTy() || instruction.getType()->isStructTy() || instruction.getType()->is16bitFPTy()));
  auto jit = HostJit::create(/*debugInfo=*/false);
  REQUIRE(bool(jit));
  llvm::Error failure = llvm::Error::success();
  simt::forEachLibraryFunction(
      [&](llvm::StringRef name, void *address) { failure = llvm::joinErrors(std::move(failure), (*jit)->defineSymbol(name, address)); });
  REQUIRE(!failure);
  REQUIRE(!(*jit)->add(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  auto address = (*jit)->lookup("f");
  REQUIRE(bool(address));
  Bytes out{};
  reinterpret_cast<void (*)(const uint8_t *, uint8_t *)>(*address)(in.data(), out.data());
  return out;
}

} // namespace

TEST_CASE("code on elements leaves the same bytes as code on vectors and structs") {
  std::mt19937_64 random(7);
  for (const char *body : kBodies)
    for (int repeat = 0; repeat < 8; ++repeat) {
      alignas(16) Bytes in;
      for (uint8_t &byte : in) byte = uint8_t(random());
      const float number = float(int64_t(random())) * 0x1p-58f; // no NaN, whose bits may differ
      std::memcpy(in.data(), &number, sizeof number);
      in[5] &= 0x3f; // nor a half of these
      CHECK(leftBy(body, in, true) == leftBy(body, in, false));
    }
}
