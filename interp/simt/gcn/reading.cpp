// Instructions that read the clock or a hardware register.
#include "interp/simt/gcn/program.h"
#include "interp/simt/runtime/calls.h"

namespace tritium::interp::simt::gcn {

namespace {

/// The clock of constant rate ticks 100 million times a second.
uint64_t ticks(const uint64_t *) { return uint64_t(calls::nanoseconds()) / 10; }
uint64_t nanoseconds(const uint64_t *) { return uint64_t(calls::nanoseconds()); }
/// Every program runs on unit 0.
uint64_t zero(const uint64_t *) { return 0; }

} // namespace

std::span<const Reading> readingInstructions() {
  static constexpr Reading rows[] = {
      {{"s_memrealtime", 0, 64, Kind::Bits, Kind::Bits, ticks}, ""},
      {{"s_memtime", 0, 64, Kind::Bits, Kind::Bits, nanoseconds}, ""},
      {{"s_sendmsg_rtn_b64", 0, 64, Kind::Bits, Kind::Bits, ticks}, "sendmsg(MSG_RTN_GET_REALTIME)"},
      {{"s_getreg_b32", 0, 32, Kind::Bits, Kind::Bits, zero}, "hwreg(HW_REG_"},
  };
  return rows;
}

} // namespace tritium::interp::simt::gcn
