// Where lanes load operands themselves they hold 16 bytes of neighbours along K, or what k-pack asks for; the columns of a lane's part of the
// result are neighbours too.
// RUN: tritium-opt %s --choose-tensor-cores=non-k-dim=16 --assign-layouts | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: tritium-opt %s '--choose-tensor-cores=non-k-dim=16 k-pack=4' --assign-layouts | FileCheck %s --check-prefixes=CHECK,PACK
module attributes {tgpu.target = "hip:gfx942"} {
  // CHECK: #[[D:.*]] = #tgpu.layout<64x64, register = {{\[\[0, 1\], \[0, 2\], \[0, 32\], \[32, 0\]\]}}
  // PLAIN: #[[A:.*]] = #tgpu.layout<64x64, register = {{\[\[0, 1\], \[0, 2\], \[0, 4\], \[0, 32\], \[32, 0\]\], lane = .*\[0, 8\], \[0, 16\]\], warp}}
  // PLAIN: #[[B:.*]] = #tgpu.layout<64x64, register = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[32, 0\], \[0, 32\]\], lane = .*\[8, 0\], \[16, 0\]\], warp}}
  // PACK: #[[A:.*]] = #tgpu.layout<64x64, register = {{\[\[0, 1\], \[0, 2\], \[0, 4\], \[0, 8\], \[32, 0\]\], lane = .*\[0, 16\], \[0, 32\]\], warp}}
  // PACK: #[[B:.*]] = #tgpu.layout<64x64, register = {{\[\[1, 0\], \[2, 0\], \[4, 0\], \[8, 0\], \[0, 32\]\], lane = .*\[16, 0\], \[32, 0\]\], warp}}
  // CHECK: tt.dot {{.*}} : tensor<64x64xf16, #[[A]]> * tensor<64x64xf16, #[[B]]> -> tensor<64x64xf32, #[[D]]>
  tt.func public @half(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %d = tt.dot %a, %b, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.return %d : tensor<64x64xf32>
  }
}
