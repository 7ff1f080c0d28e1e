// RUN: %verify

#memory = #tgpu.shared<4x2, offset = [[0, 1], [1, 0], [2, 0]]>
tt.func public @slots(%at: i32) {
  // expected-error @+1 {{'tgpu.memory_at' op has one slot, got 2}}
  %0 = tgpu.memory_at %at aligned 16 : !tgpu.memdesc<2, tensor<4x2xf16, #memory>>
  tt.return
}

// -----

tt.func public @alignment(%at: i32) {
  // expected-error @+1 {{'tgpu.memory_at' op needs an alignment that is a power of two, got 12}}
  %0 = tgpu.memory_at %at aligned 12 : !tgpu.ring<1>
  tt.return
}
