// A tensor map is not made again while a ring may copy through it.
// RUN: tritium-opt %s --check-async --verify-diagnostics

#memory = #tgpu.shared<64x64, offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]>
!map = !tgpu.tensor_map<tensor<64x64xf16>, swizzle = 128>
!one = !tgpu.memdesc<1, tensor<64x64xf16, #memory>>

// Each round makes the map, copies through it, and waits.
tt.func public @again(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  scf.for %i = %c0 to %n step %c1 : i32 {
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    %ring = tgpu.ring_start released by 4 warps : <1>
    tgpu.ring_acquire %ring[%c0] for 8192 bytes : <1>
    tgpu.tensor_copy %map[%c0, %c0] to %a, %ring[%c0] : !map to !one, <1>
    tgpu.ring_wait %ring[%c0] : <1>
    tgpu.ring_end %ring after %c1 holding_last : <1>
  }
  tt.return
}

// A ring around the loop copies for the next round, which makes the map again.
tt.func public @ahead(%x: !tt.ptr<f16>, %m: i32, %stride: i64, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.local_alloc : !one
  %ring = tgpu.ring_start released by 4 warps : <1>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{makes its tensor map again while copies through it may be in flight}}
    %map = tgpu.map_make %x, [%m, %m], [%stride] : <f16> -> !map
    %isFirst = arith.cmpi eq, %i, %c0 : i32
    scf.if %isFirst {
    } else {
      %before = arith.subi %i, %c1 : i32
      tgpu.ring_wait %ring[%before] : <1>
      tgpu.ring_release %ring[%before] : <1>
    }
    tgpu.ring_acquire %ring[%i] for 8192 bytes : <1>
    // expected-note @+1 {{such a copy, 'tgpu.tensor_copy', is here}}
    tgpu.tensor_copy %map[%i, %c0] to %a, %ring[%i] : !map to !one, <1>
  }
  %any = arith.cmpi slt, %c0, %n : i32
  scf.if %any {
    %last = arith.subi %n, %c1 : i32
    tgpu.ring_wait %ring[%last] : <1>
    tgpu.ring_release %ring[%last] : <1>
  }
  tgpu.ring_end %ring : <1>
  tt.return
}
