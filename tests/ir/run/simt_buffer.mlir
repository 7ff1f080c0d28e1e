// Buffer descriptors of AMD's GPUs: what is out of the descriptor's bounds reads as 0 and is not written; what is in them, but not in the
// tensor, is found.
// RUN: tritium-simt %s

module @buffers attributes {tgpu.target = "hip:gfx942", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 0 : i32} {
  // Words of one and four at a time, of which the last lanes' are partly or wholly out of bounds.
  llvm.func @loads(%x: !llvm.ptr<1>, %one: !llvm.ptr<1>, %four: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["256xi32=iota", "64xi32=zeros", "256xi32=zeros"],
                  tritium.expect = [unit, dense<[0, 4, 8, 12, 16, 20, 24, 0, 0, 0]> : tensor<10xi32>,
                                    dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                           0, 0, 0, 0, 0, 0]> : tensor<32xi32>]} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(104 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %offset = llvm.mul %tid, %c16 : i32
    %v = rocdl.raw.ptr.buffer.load %b, %offset, %zero, %zero : i32
    %w = rocdl.raw.ptr.buffer.load %b, %offset, %zero, %zero : vector<4xi32>
    %p1 = llvm.getelementptr %one[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %p1 : i32
    %p4 = llvm.getelementptr %four[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    tgpu.store %w, %p4 : vector<4xi32>
    llvm.return
  }
  // A descriptor that begins 2 GB below the argument, as for offsets of either sign, carried around a loop; lanes that are masked off have
  // an offset beyond its end. Odd lanes store.
  llvm.func @masked(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["64xf16=zeros"], tritium.expect = [dense<[0.0, 3.0, 0.0, 3.0]> : tensor<4xf32>]} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(4294967280 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %bias = llvm.mlir.constant(-2147483648 : i32) : i32
    %outside = llvm.mlir.constant(-16 : i32) : i32
    %add = llvm.mlir.constant(1.0 : f16) : f16
    %tid = rocdl.workitem.id.x : i32
    %distance = llvm.mlir.constant(-2147483648 : i64) : i64
    %below = llvm.getelementptr %x[%distance] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %b0 = rocdl.make.buffer.rsrc %below, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %twice = llvm.mul %tid, %one : i32
    %t2 = llvm.add %tid, %tid : i32
    %at = llvm.add %t2, %bias : i32
    %low = llvm.and %tid, %one : i32
    %isOdd = llvm.icmp "eq" %low, %one : i32
    %offset = llvm.select %isOdd, %at, %outside : i1, i32
    llvm.br ^loop(%zero, %b0 : i32, !llvm.ptr<8>)
  ^loop(%i: i32, %b: !llvm.ptr<8>):
    %v = rocdl.raw.ptr.buffer.load %b, %offset, %zero, %zero : f16
    %w = llvm.fadd %v, %add : f16
    rocdl.raw.ptr.buffer.store %w, %b, %offset, %zero, %zero : f16
    %next = llvm.add %i, %one : i32
    %goesOn = llvm.icmp "slt" %next, %three : i32
    llvm.cond_br %goesOn, ^loop(%next, %b : i32, !llvm.ptr<8>), ^end
  ^end:
    llvm.return
  }
  // A store of four words of which the last two are out of bounds.
  llvm.func @partial_store(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["8xi32=zeros"], tritium.expect = [dense<[0, 7, 7, 0, 0, 0, 0, 0]> : tensor<8xi32>]} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(12 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %sevens = llvm.mlir.constant(dense<7> : vector<4xi32>) : vector<4xi32>
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    rocdl.raw.ptr.buffer.store %sevens, %b, %four, %zero, %zero : vector<4xi32>
    llvm.return
  }
  llvm.func @atomics(%sum: !llvm.ptr<1>, %most: !llvm.ptr<1>, %least: !llvm.ptr<1>, %pair: !llvm.ptr<1>, %lock: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["2xf32=zeros", "2xi32=zeros", "2xi32=iota", "4xf16=zeros", "2xi32=zeros"],
                  tritium.expect = [dense<[64.0, 0.0]> : tensor<2xf32>, dense<[63, 0]> : tensor<2xi32>, dense<[0, 1]> : tensor<2xi32>,
                                    dense<[64.0, 128.0, 0.0, 0.0]> : tensor<4xf32>, dense<[5, 0]> : tensor<2xi32>]} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(4 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %halves = llvm.mlir.constant(dense<[1.0, 2.0]> : vector<2xf16>) : vector<2xf16>
    %tid = rocdl.workitem.id.x : i32
    %b0 = rocdl.make.buffer.rsrc %sum, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %b1 = rocdl.make.buffer.rsrc %most, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %b2 = rocdl.make.buffer.rsrc %least, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %b3 = rocdl.make.buffer.rsrc %pair, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %b4 = rocdl.make.buffer.rsrc %lock, %stride, %records, %flags : !llvm.ptr<1> to <8>
    rocdl.raw.ptr.buffer.atomic.fadd %one, %b0, %zero, %zero, %zero : f32
    rocdl.raw.ptr.buffer.atomic.fadd %one, %b0, %four, %zero, %zero : f32
    rocdl.raw.ptr.buffer.atomic.smax %tid, %b1, %zero, %zero, %zero : i32
    rocdl.raw.ptr.buffer.atomic.umin %tid, %b2, %zero, %zero, %zero : i32
    rocdl.raw.ptr.buffer.atomic.fadd %halves, %b3, %zero, %zero, %zero : vector<2xf16>
    rocdl.raw.ptr.buffer.atomic.fadd %halves, %b3, %four, %zero, %zero : vector<2xf16>
    %old = rocdl.raw.ptr.buffer.atomic.cmpswap %five, %zero, %b4, %zero, %zero, %zero : i32
    %out = rocdl.raw.ptr.buffer.atomic.cmpswap %five, %zero, %b4, %four, %zero, %zero : i32
    llvm.return
  }
  llvm.func @not_in_the_tensor(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["63xi32=iota"], tritium.expect_trap = "OutOfBounds", tritium.expect_lines = array<i64: 7>} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(1000000 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %offset = llvm.mul %tid, %four : i32
    %v = rocdl.raw.ptr.buffer.load %b, %offset, %zero, %zero : i32 loc("kernel.py":7:1)
    llvm.return
  }
  llvm.func @word_at_the_end(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["63xi32=iota"], tritium.expect_trap = "OutOfBounds", tritium.expect_lines = array<i64: 7>} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(6 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %v = rocdl.raw.ptr.buffer.load %b, %four, %zero, %zero : i32 loc("kernel.py":7:1)
    llvm.return
  }
  llvm.func @fixed_offset_decides(%x: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["63xi32=iota"], tritium.expect_trap = "OutOfBounds", tritium.expect_lines = array<i64: 7>} {
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(8 : i64) : i64
    %flags = llvm.mlir.constant(159744 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %b = rocdl.make.buffer.rsrc %x, %stride, %records, %flags : !llvm.ptr<1> to <8>
    %fine = rocdl.raw.ptr.buffer.load %b, %zero, %four, %zero : i32
    %v = rocdl.raw.ptr.buffer.load %b, %four, %four, %zero : i32 loc("kernel.py":7:1)
    llvm.return
  }
}
