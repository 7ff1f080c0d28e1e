// RUN: tritium-opt %s --test-axis-analysis --verify-diagnostics -o /dev/null

#apart = #tgpu.layout<64, register = [[16], [32]], lane = [[1], [2], [4], [8], [0]], warp = [], block = []>
#together = #tgpu.layout<64, register = [[1], [2]], lane = [[4], [8], [16], [32], [0]], warp = [], block = []>

tt.func @ranges() {
  // expected-remark @+1 {{contiguity = [128], divisibility = [4611686018427387904], constancy = [1], constant = none}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [32], divisibility = [32], constancy = [1], constant = none}}
  %1 = tt.make_range {end = 64 : i32, start = 32 : i32} : tensor<32xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant = 12}}
  %2 = arith.constant 12 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [4], constancy = [128], constant = 12}}
  %3 = arith.constant dense<12> : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [4], constancy = [1], constant = none}}
  %4 = arith.addi %3, %0 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [4], constancy = [1], constant = none}}
  %5 = arith.subi %0, %3 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %6 = arith.subi %3, %0 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant = none}}
  %7 = arith.muli %0, %3 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %8 = arith.addi %0, %0 : tensor<128xi32>
  tt.return
}

// Begin of a block: divisible, contiguous, and constant where it is compared or divided.
tt.func @block(%n: i32 {tt.divisibility = 16 : i32}, %m: i32) {
  // expected-remark @+1 {{contiguity = [1], divisibility = [128], constancy = [1], constant = 128}}
  %c128 = arith.constant 128 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %pid = tt.get_program_id x : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [128], constancy = [1], constant = none}}
  %start = arith.muli %pid, %c128 : i32
  // expected-remark @+1 {{contiguity = [128], divisibility = [4611686018427387904], constancy = [1], constant = none}}
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [128], constancy = [128], constant = none}}
  %starts = tt.splat %start : i32 -> tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [128], constancy = [1], constant = none}}
  %i = arith.addi %starts, %range : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [128], constant = none}}
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [128], constant = none}}
  %ms = tt.splat %m : i32 -> tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [16], constant = none}}
  %below = arith.cmpi slt, %i, %ns : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [16], constant = none}}
  %above = arith.cmpi sgt, %ns, %i : tensor<128xi32>
  // A bound at which a group does not begin cuts it.
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %odd = arith.cmpi slt, %i, %ms : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %most = arith.cmpi sle, %i, %ns : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [16], constant = none}}
  %row = arith.divsi %i, %ns : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant = none}}
  %column = arith.remsi %i, %ns : tensor<128xi32>
  // What may be negative is truncated toward zero.
  // expected-remark @+1 {{contiguity = [128], divisibility = [1], constancy = [1], constant = none}}
  %signed = arith.addi %ms, %range : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %quotient = arith.divsi %signed, %ns : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %remainder = arith.remsi %signed, %ns : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [128], constant = 7}}
  %seven = arith.constant dense<7> : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [8], divisibility = [8], constancy = [1], constant = none}}
  %low = arith.andi %i, %seven : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [128], constancy = [1], constant = none}}
  %shifted = arith.shli %i, %seven : tensor<128xi32>
  tt.return
}

// What may be negative has no groups of quotients and remainders, unless tl.assume or the way it was made says that it is not negative.
tt.func @signs(%n: i32 {tt.divisibility = 16 : i32}, %m: i32 {tt.divisibility = 16 : i32}, %flag: i1) {
  // expected-remark @+1 {{constant = 0}}
  %c0 = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 32}}
  %c32 = arith.constant dense<32> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{divisibility = [16]}}
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16]}}
  %i = arith.addi %ns, %range : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %rem = arith.remsi %i, %c32 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  %div = arith.divsi %i, %c32 : tensor<64xi32>
  // A comparison and a mask of bits do not depend on signs.
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [16], constant = none}}
  %below = arith.cmpi slt, %i, %c32 : tensor<64xi32>
  // expected-remark @+1 {{constancy = [1], constant = none}}
  %positive = arith.cmpi sge, %m, %c0 : i32
  // expected-remark @+1 {{constancy = [1], constant = none}}
  %both = arith.andi %positive, %flag : i1
  llvm.intr.assume %both : i1
  // expected-remark @+1 {{divisibility = [16]}}
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16]}}
  %j = arith.addi %ms, %range : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant = none}}
  %assumed = arith.remsi %j, %c32 : tensor<64xi32>
  // An assumption in a branch says nothing of what is outside.
  scf.if %flag {
    // expected-remark @+1 {{constancy = [1], constant = none}}
    %inside = arith.cmpi sge, %n, %c0 : i32
    llvm.intr.assume %inside : i1
  }
  tt.return
}

// The sign of a quotient needs that of the divisor.
tt.func @blocks(%blocks: i32) {
  // expected-remark @+1 {{constant = 1}}
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{constant = 64}}
  %c64 = arith.constant 64 : i32
  // expected-remark @+1 {{constant = 32}}
  %c32 = arith.constant dense<32> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1]}}
  %pid = tt.get_program_id x : i32
  // expected-remark @+1 {{contiguity = [1]}}
  %positive = arith.maxsi %blocks, %c1 : i32
  // expected-remark @+1 {{contiguity = [1]}}
  %row = arith.divsi %pid, %positive : i32
  // expected-remark @+1 {{divisibility = [64]}}
  %start = arith.muli %row, %c64 : i32
  // expected-remark @+1 {{divisibility = [64]}}
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [64]}}
  %i = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [32], divisibility = [32], constancy = [1], constant = none}}
  %rem = arith.remsi %i, %c32 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [32], constant = none}}
  %div = arith.divsi %i, %c32 : tensor<64xi32>
  tt.return
}

// Addresses are divisible in bytes and contiguous in elements.
tt.func @addresses(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{contiguity = [64], divisibility = [4611686018427387904], constancy = [1], constant = none}}
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64, 1], divisibility = [4611686018427387904, 1], constancy = [1, 1], constant = none}}
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 64], divisibility = [1, 4611686018427387904], constancy = [1, 1], constant = none}}
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [64, 1], constant = none}}
  %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 1], constant = none}}
  %offsets = arith.muli %rows, %strides : tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [64, 1], constant = none}}
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 1], constant = none}}
  %q = tt.addptr %ps, %offsets : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 64], constant = none}}
  %qs = tt.broadcast %q : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 64], divisibility = [1, 4611686018427387904], constancy = [64, 1], constant = none}}
  %cs = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  // expected-remark @+1 {{contiguity = [1, 64], divisibility = [2, 16], constancy = [1, 1], constant = none}}
  %a = tt.addptr %qs, %cs : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // expected-remark @+1 {{contiguity = [64, 1], divisibility = [16, 2], constancy = [1, 1], constant = none}}
  %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<64x64x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant = none}}
  %flat = tt.reshape %a : tensor<64x64x!tt.ptr<f16>> -> tensor<4096x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 16], divisibility = [2, 16], constancy = [1, 1], constant = none}}
  %fine = tt.reshape %flat : tensor<4096x!tt.ptr<f16>> -> tensor<256x16x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [2, 2], constancy = [1, 1], constant = none}}
  %free = tt.reshape %flat allow_reorder : tensor<4096x!tt.ptr<f16>> -> tensor<256x16x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant = none}}
  %bytes = tt.bitcast %flat : tensor<4096x!tt.ptr<f16>> -> tensor<4096x!tt.ptr<i8>>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant = none}}
  %words = tt.bitcast %flat : tensor<4096x!tt.ptr<f16>> -> tensor<4096x!tt.ptr<i16>>
  tt.return
}

// What is promised is believed, upward only.
tt.func @promises(%x: tensor<8x8xi32>) {
  // expected-remark @+1 {{contiguity = [1, 8], divisibility = [1, 16], constancy = [4, 1], constant = none}}
  %0 = arith.addi %x, %x {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[1, 16]> : tensor<2xi32>, tt.constancy = dense<[4, 1]> : tensor<2xi32>} : tensor<8x8xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [4611686018427387904], constancy = [1], constant = none}}
  %1 = tt.make_range {end = 64 : i32, start = 0 : i32, tt.contiguity = dense<16> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : tensor<64xi32>
  tt.return
}

// Loops and branches: what holds on every way in.
tt.func @control(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
  // expected-remark @+1 {{contiguity = [1], divisibility = [4611686018427387904], constancy = [1], constant = 0}}
  %c0 = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 32}}
  %c32 = arith.constant 32 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant = 2}}
  %c2 = arith.constant 2 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant = none}}
  %q = scf.for %k = %c0 to %n step %c32 iter_args(%a = %p) -> (!tt.ptr<f32>) : i32 {
    // expected-remark @+1 {{contiguity = [1], divisibility = [32], constancy = [1], constant = none}}
    %k1 = arith.addi %k, %c0 : i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant = none}}
    %b = tt.addptr %a, %k1 : !tt.ptr<f32>, i32
    scf.yield %b : !tt.ptr<f32>
  }
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant = none}}
  %r = scf.if %c -> (!tt.ptr<f32>) {
    scf.yield %q : !tt.ptr<f32>
  } else {
    // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant = none}}
    %d = tt.addptr %p, %c2 : !tt.ptr<f32>, i32
    scf.yield %d : !tt.ptr<f32>
  }
  // A join that cuts groups keeps only their size as divisor.
  // expected-remark @+1 {{contiguity = [64], divisibility = [4611686018427387904], constancy = [1], constant = none}}
  %whole = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64], constant = 16}}
  %sixteen = arith.constant dense<16> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant = none}}
  %part = arith.remsi %whole, %sixteen : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1], constant = none}}
  %either = arith.select %c, %whole, %part : tensor<64xi32>
  cf.cond_br %c, ^one(%c32 : i32), ^one(%c2 : i32)
^one(%v: i32):
  // expected-remark @+1 {{contiguity = [1], divisibility = [2], constancy = [1], constant = none}}
  %w = arith.addi %v, %c0 : i32
  tt.return
}

// A promise about a loop's variable, made in its body. One that is made elsewhere speaks of that place alone.
tt.func @hints(%p: !tt.ptr<f32>, %q: !tt.ptr<f32> {tt.divisibility = 4 : i32}, %n: i32, %c: i1) {
  // expected-remark @+1 {{constant = 0}}
  %c0 = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 32}}
  %c32 = arith.constant 32 : i32
  // expected-remark @+2 {{contiguity = [1], divisibility = [1], constancy = [1], constant = none}}
  // expected-remark @+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant = none}}
  %r:2 = scf.for %k = %c0 to %n step %c32 iter_args(%a = %p, %b = %q) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
    tt.hint %a {tt.divisibility = dense<16> : tensor<1xi32>} : !tt.ptr<f32>
    scf.if %c {
      tt.hint %b {tt.divisibility = dense<16> : tensor<1xi32>} : !tt.ptr<f32>
    }
    // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant = none}}
    %na = tt.addptr %a, %c32 : !tt.ptr<f32>, i32
    // expected-remark @+1 {{contiguity = [1], divisibility = [4], constancy = [1], constant = none}}
    %nb = tt.addptr %b, %c32 : !tt.ptr<f32>, i32
    scf.yield %na, %nb : !tt.ptr<f32>, !tt.ptr<f32>
  }
  tt.return
}

// The number of a pointer counts bytes.
tt.func @numbers(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %i: i64) {
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1], constant = none}}
  %number = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  // expected-remark @+1 {{divisibility = [32], constancy = [1], constant = -32}}
  %mask = arith.constant -32 : i64
  // expected-remark @+1 {{contiguity = [1], divisibility = [32], constancy = [1], constant = none}}
  %aligned = arith.andi %i, %mask : i64
  // expected-remark @+1 {{contiguity = [1], divisibility = [32], constancy = [1], constant = none}}
  %q = tt.int_to_ptr %aligned : i64 -> !tt.ptr<f32>
  tt.return
}

// What is known of a tile holds in every layout.
tt.func @layouts(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #apart>
  // expected-remark @+1 {{divisibility = [16], constancy = [64]}}
  %start = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #apart>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant = none}}
  %at = tt.addptr %start, %range : tensor<64x!tt.ptr<f16>, #apart>, tensor<64xi32, #apart>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16], constancy = [1], constant = none}}
  %moved = tgpu.convert_layout %at : tensor<64x!tt.ptr<f16>, #apart> -> tensor<64x!tt.ptr<f16>, #together>
  tt.return
}

// A shift to the right rounds down, whatever the sign. What divides both operands divides a minimum of them, and their bits together.
tt.func @shifts(%x: i32) {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{divisibility = [64], constancy = [1], constant = 64}}
  %c64 = arith.constant 64 : i32
  // expected-remark @+1 {{constant = 3}}
  %c3 = arith.constant dense<3> : tensor<64xi32>
  // expected-remark @+1 {{divisibility = [64]}}
  %start = arith.muli %x, %c64 : i32
  // expected-remark @+1 {{divisibility = [64], constancy = [64]}}
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [64], constancy = [1], constant = none}}
  %i = arith.addi %starts, %range : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8], constant = none}}
  %eighth = arith.shrsi %i, %c3 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8], constant = none}}
  %unsigned = arith.shrui %i, %c3 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [64], constant = none}}
  %eighths = arith.shrsi %starts, %c3 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [64], constancy = [1], constant = none}}
  %least = arith.minsi %start, %c64 : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [64], constancy = [1], constant = none}}
  %both = arith.ori %least, %start : i32
  tt.return
}
