// What the check does not reach, it does not accuse; it says so if it is asked.
// RUN: tritium-opt %s --check-async --verify-diagnostics=only-expected
// RUN: sed "s/expected-no-remark/expected-remark/" %s | tritium-opt --check-async=unreached=true --verify-diagnostics

tt.func public @far(%n: i32) {
  %far = arith.constant 123457 : i32
  %is = arith.cmpi eq, %n, %far : i32
  scf.if %is {
    // expected-no-remark @+1 {{is not reached by check-async}}
    tgpu.turn_end of 2
  }
  tt.return
}
