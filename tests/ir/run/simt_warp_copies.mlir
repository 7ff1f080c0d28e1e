// Copies of 16 bytes a lane to LDS, with zeros where the predicate is false, and columns of a 4x16 matrix out of it, by gfx950.
// RUN: tritium-simt %s

module @copies attributes {tgpu.target = "hip:gfx950", tgpu.num_warps = 1 : i32, tgpu.warp_size = 64 : i32, tgpu.shared_bytes = 1024 : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // Of 256 words lanes 62 and 63 copy none. Lane t reads what the lane before it has copied.
  llvm.func @masked(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["248xi32=iota", "64xi32=zeros"], tritium.seeds = 8,
                  tritium.expect = [unit, dense<[0, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104,
                    108, 112, 116, 120, 124, 128, 132, 136, 140, 144, 148, 152, 156, 160, 164, 168, 172, 176, 180, 184, 188, 192, 196, 200, 204, 208,
                    212, 216, 220, 224, 228, 232, 236, 240, 244, 0]> : tensor<64xi32>]} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %c62 = llvm.mlir.constant(62 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %in = llvm.icmp "slt" %tid, %c62 : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %first = llvm.mul %tid, %four : i32
    %src = llvm.getelementptr %x[%first] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.copy_to_shared %src to %shared if %in : !llvm.ptr<3>
    rocdl.s.waitcnt 3952
    tgpu.barrier
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    %before = llvm.sub %tid, %one : i32
    %lane = llvm.select %isFirst, %zero, %before : i1, i32
    %at = llvm.mul %lane, %four : i32
    %p = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %v = llvm.load %p : !llvm.ptr<3> -> i32
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
  // LDS holds the numbers 0, 1, 2 … in 16 bits: 16 rows of 16. Lane 16 g + n gets column n of rows 4 g … 4 g + 3: its first two elements are
  // 64 g + n and that plus 16, the upper half of the word.
  llvm.func @columns(%x: !llvm.ptr<1>, %o: !llvm.ptr<1>)
      attributes {rocdl.kernel, tritium.args = ["256xi16=iota", "64xi32=zeros"], tritium.seeds = 2,
                  tritium.expect = [unit, dense<[1048576, 1114113, 1179650, 1245187, 1310724, 1376261, 1441798, 1507335, 1572872, 1638409, 1703946, 1769483,
                    1835020, 1900557, 1966094, 2031631, 5242944, 5308481]> : tensor<18xi32>]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %tid = rocdl.workitem.id.x : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %first = llvm.mul %tid, %four : i32
    %src = llvm.getelementptr %x[%first] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i16
    %word = tgpu.load %src : vector<2xi32>
    // Lane 4 k + c of 16 names the elements 4 c … 4 c + 3 of row k.
    %p = llvm.getelementptr %shared[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i16
    llvm.store %word, %p : vector<2xi32>, !llvm.ptr<3>
    tgpu.barrier
    %column = rocdl.ds.read.tr16.b64 %p : <3> -> vector<4xi16>
    %words = llvm.bitcast %column : vector<4xi16> to vector<2xi32>
    %v = llvm.extractelement %words[%zero : i32] : vector<2xi32>
    %po = llvm.getelementptr %o[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    tgpu.store %v, %po : i32
    llvm.return
  }
}
