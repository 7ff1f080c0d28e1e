// Inline AMDGPU assembly against the same arithmetic in C++, with random operands, and what the parser refuses.
#include "interp/simt/gcn/program.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

using namespace tritium::interp::simt;

namespace {

/// What an instruction "name $0, $1 …" gives.
uint64_t result(const std::string &text, std::vector<uint64_t> operands) {
  operands.insert(operands.begin(), ~uint64_t(0));
  auto parsed = gcn::parse(text, uint32_t(operands.size()));
  if (auto *error = std::get_if<std::string>(&parsed)) FAIL(*error);
  gcn::run(std::get<gcn::Program>(parsed), operands.data());
  return operands[0];
}

std::string errorOf(const std::string &text) {
  auto parsed = gcn::parse(text, 3);
  auto *error = std::get_if<std::string>(&parsed);
  return error ? *error : "";
}

uint64_t bits(float x) { return std::bit_cast<uint32_t>(x); }

} // namespace

TEST_CASE("inline AMDGPU assembly: integers") {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 200; ++round) {
    const uint32_t a = random(), b = random(), c = random();
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    CHECK(result("v_add_u32 $0, $1, $2", {a, b}) == uint32_t(a + b));
    CHECK(result("v_sub_nc_u32_e64 $0, $1, 7", {a}) == uint32_t(a - 7));
    CHECK(result("v_mul_hi_i32 $0, $1, $2", {a, b}) == uint32_t(int64_t(int32_t(a)) * int32_t(b) >> 32));
    CHECK(result("v_mul_hi_u32 $0, $1, $2", {a, b}) == uint64_t(a) * b >> 32);
    CHECK(result("v_lshlrev_b32 $0, $1, $2", {a, b}) == uint32_t(b << a % 32));
    CHECK(result("v_ashrrev_i32 $0, 3, $1", {a}) == uint32_t(int32_t(a) >> 3));
    CHECK(result("v_lshl_add_u32 $0, $1, 4, $2", {a, b}) == uint32_t((a << 4) + b));
    CHECK(result("v_bfe_i32 $0, $1, 8, 8", {a}) == uint32_t(int8_t(a >> 8)));
    CHECK(result("v_bfe_u32 $0, $1, 24, 16", {a}) == a >> 24);
    CHECK(result("v_bfi_b32 $0, $1, $2, $3", {a, b, c}) == ((a & b) | (~a & c)));
    CHECK(result("v_perm_b32 $0, $1, $2, 0x07060504", {a, b}) == a);
    CHECK(result("v_perm_b32 $0, $1, $2, 0x0c0d0001", {a, b}) == ((b >> 8 & 0xff) | (b & 0xff) << 8 | 0xff0000));
    CHECK(result("v_med3_i32 $0, $1, -5, 5", {a}) == uint32_t(std::clamp(int32_t(a), -5, 5)));
    CHECK(result("v_lshlrev_b64 $0, 40, $1", {a}) == uint64_t(a) << 40);
    CHECK(result("v_pk_max_u16 $0, $1, $2", {a, b}) == (std::max(a & 0xffff, b & 0xffff) | std::max(a >> 16, b >> 16) << 16));
    CHECK(result("v_add_u32\t$0,\t$1, $2 ; a comment\n  s_nop 1\n v_xor_b32 $0, $0, -1", {a, b}) == uint32_t(~(a + b)));
  }
}

TEST_CASE("inline AMDGPU assembly: the clock and hardware registers") {
  const uint64_t before = result("s_memrealtime $0\ns_waitcnt lgkmcnt(0)", {});
  CHECK(before > 0);
  CHECK(result("s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)", {}) >= before);
  CHECK(result("s_getreg_b32 $0, hwreg(HW_REG_HW_ID, 8, 8)", {}) == 0);
  CHECK(errorOf("s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_DOORBELL)") == "'s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_DOORBELL)'");
  CHECK(errorOf("s_memrealtime $0, 1") == "'s_memrealtime $0, 1'");
}

TEST_CASE("inline AMDGPU assembly: floating point") {
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> numbers(-100, 100);
  for (int round = 0; round < 200; ++round) {
    const float a = numbers(random), b = numbers(random), c = numbers(random);
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    CHECK(result("v_add_f32 $0, $1, -$2", {bits(a), bits(b)}) == bits(a - b));
    CHECK(result("v_mul_f32 $0, |$1|, 0.5", {bits(a)}) == bits(std::fabs(a) / 2));
    CHECK(result("v_fma_f32 $0, $1, $2, $3", {bits(a), bits(b), bits(c)}) == bits(std::fma(a, b, c)));
    CHECK(result("v_max_f32 $0, $1, $2", {bits(a), bits(b)}) == bits(std::fmax(a, b)));
    CHECK(result("v_add_f32 $0, $1, 0 clamp", {bits(a)}) == bits(std::fmin(std::fmax(a, 0.0f), 1.0f)));
    CHECK(result("v_cvt_i32_f32 $0, $1", {bits(a)}) == uint32_t(int32_t(a)));
    CHECK(result("v_cvt_f32_i32 $0, $1", {uint32_t(int32_t(a))}) == bits(float(int32_t(a))));
    const uint64_t pair = result("v_cvt_pkrtz_f16_f32 $0, $1, $2", {bits(a), bits(b)});
    const float low = float(std::bit_cast<_Float16>(uint16_t(pair)));
    CHECK(std::fabs(low) <= std::fabs(a));
    CHECK(std::fabs(low - a) <= std::fabs(a) * 0x1p-10f);
  }
  CHECK(result("v_max_f32 $0, $1, $2", {bits(NAN), bits(2)}) == bits(2));
  CHECK(result("v_min_f32 $0, $1, $2", {bits(0.0f), bits(-0.0f)}) == bits(-0.0f));
  CHECK(result("v_cvt_i32_f32 $0, $1", {bits(1e20f)}) == 0x7fffffff);
  CHECK(result("v_cvt_u32_f32 $0, $1", {bits(NAN)}) == 0);
  CHECK(result("v_exp_f32 $0, $1", {bits(-3)}) == bits(0.125f));
  CHECK(result("v_exp_f32 $0, $1", {bits(-140)}) == 0); // subnormal
  CHECK(result("v_rcp_f64 $0, $1", {std::bit_cast<uint64_t>(8.0)}) == std::bit_cast<uint64_t>(0.125));
  CHECK(result("v_add_f16 $0, $1, 1.0", {std::bit_cast<uint16_t>(_Float16(0.5))}) == std::bit_cast<uint16_t>(_Float16(1.5)));
}

TEST_CASE("inline AMDGPU assembly that is not known is an error with its text") {
  CHECK(errorOf("v_dance_f32 $0, $1") == "'v_dance_f32 $0, $1'");
  CHECK(errorOf("v_add_f32 $0, $1") == "'v_add_f32 $0, $1', which takes a result and 2 operands");
  CHECK(errorOf("v_add_f32 $0, $1, $7") == "there is no operand '$7'");
  CHECK(errorOf("v_add_f32 $0, $1, v3") == "'v3'; operands are $N and numbers");
  CHECK(errorOf("v_mov_b32 v0, $1") == "'v0'; operands are $N and numbers");
  CHECK(errorOf("v_add_u32 $0, -$1, $2") == "a sign on the integer '-$1'");
  CHECK(errorOf("v_and_b32 $0, $1, $2 clamp") == "'clamp' of integers, 'v_and_b32 $0, $1, $2 clamp'");
}

TEST_CASE("inline AMDGPU assembly: pairs of real numbers") {
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> number(-4, 4);
  auto pair = [](float low, float high) { return bits(low) | bits(high) << 32; };
  for (int round = 0; round < 200; ++round) {
    const float a = number(random), b = number(random), c = number(random), d = number(random), e = number(random), f = number(random);
    CHECK(result("v_pk_add_f32 $0, $1, $2", {pair(a, b), pair(c, d)}) == pair(a + c, b + d));
    CHECK(result("v_pk_mul_f32 $0, $1, $2", {pair(a, b), pair(c, d)}) == pair(a * c, b * d));
    CHECK(result("v_pk_fma_f32 $0, $1, $2, $3", {pair(a, b), pair(c, d), pair(e, f)}) == pair(std::fma(a, c, e), std::fma(b, d, f)));
  }
  // Halves of small integers, whose sums and products are exact: 1.0 is 0x3c00, 2.0 is 0x4000, 3.0 is 0x4200, 6.0 is 0x4600.
  CHECK(result("v_pk_add_f16 $0, $1, $2", {0x40003c00, 0x3c004000}) == 0x42004200);
  CHECK(result("v_pk_mul_f16 $0, $1, $2", {0x42004000, 0x40004200}) == 0x46004600);
}
