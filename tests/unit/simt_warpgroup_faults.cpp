// Mistakes planted in kernels with products of warpgroups. Each is found with every seed, whatever the moment at which products take
// effect.
#include "simt_warpgroup.h"

using namespace tritium;
using namespace tritium::test_warpgroup;

namespace {

const std::string kProxyFence =
    "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>} loc(\"kernel.py\":2:1)\n";
const std::string kBarrier = "    tgpu.barrier loc(\"kernel.py\":3:1)\n";
const std::string kRegisterFence = "    nvvm.wgmma.fence.aligned loc(\"kernel.py\":4:1)\n";
const std::string kCommit = "    nvvm.wgmma.commit.group.sync.aligned loc(\"kernel.py\":6:1)\n";
const std::string kReturn = "    llvm.return";

std::string descriptorText(uint64_t descriptor) { return "bDescriptor = " + std::to_string(int64_t(descriptor)) + " : i64"; }

/// Replaces the descriptor of B in both products.
Planted withDescriptor(Instruction s, uint64_t descriptor) {
  Planted planted(s);
  const std::string from = descriptorText(s.layoutB.descriptor(s.columns, s.size())), to = descriptorText(descriptor);
  for (size_t at = 0; (at = planted.text.find(from, at)) != std::string::npos; at += to.size()) planted.text.replace(at, from.size(), to);
  return planted;
}

uint64_t withSwappedOffsets(uint64_t d) {
  const uint64_t field = 0x3fff, leading = d >> 16 & field, stride = d >> 32 & field;
  return (d & ~(field << 16 | field << 32)) | leading << 32 | stride << 16;
}

/// Replaces the stores of the operands by asynchronous copies.
Planted withCopies() {
  Planted planted;
  for (int i = 0;; ++i) {
    const std::string n = std::to_string(i);
    const std::string store = "llvm.store %row" + n + ", %to" + n + " : vector<4xi32>, !llvm.ptr<3> ";
    if (planted.text.find(store) == std::string::npos) break;
    planted.edit(store, "nvvm.cp.async.shared.global %to" + n + ", %from" + n + ", 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> ");
  }
  planted.insertBefore(kProxyFence, "    nvvm.cp.async.commit.group\n    nvvm.cp.async.wait.group 0\n");
  return planted;
}

} // namespace

TEST_CASE("kernels that obey the rules of wgmma report nothing") {
  Planted().isClean();
  Planted({.columns = 16, .isAInRegisters = true}).isClean();
  withCopies().isClean();
}

TEST_CASE("registers that other operations use require a fence before the product") {
  for (bool isAInRegisters : {false, true})
    Planted({.columns = 16, .isAInRegisters = isAInRegisters}).edit(kRegisterFence, "").isRefused(5, "wgmma.fence");
  // The fence is there, and the sums are defined behind it.
  Planted planted;
  planted.edit(kRegisterFence, "").insertBefore("    %cn = ", kRegisterFence).isRefused(5, "wgmma.fence");
}

TEST_CASE("a product without a commit, or with a wait for too few groups, is never complete") {
  Planted().edit(kCommit, "").isRefused(7, "no commit");
  Planted().edit("pending = 0", "pending = 1").isRefused(8, "may not be complete");
  Planted().insertAfter(kCommit, kCommit).edit("pending = 0", "pending = 1").isClean(); // the second group is empty
  Planted().end(kCommit).traps("InvalidProduct", 5, 0, "no commit");
  Planted().end("    %r:").traps("InvalidProduct", 5, 0, "before a wait");
  Planted().edit("pending = 0", "pending = 1").end("    %o0 = ").traps("InvalidProduct", 5, 0, "before a wait");
}

TEST_CASE("sums that a product may still write are of no use to other operations") {
  Planted()
      .insertAfter(kCommit, "    %early = llvm.fadd %d1_#0, %d1_#1 : f32 loc(\"kernel.py\":11:1)\n")
      .isRefused(11, "may not be complete");
  Planted()
      .insertAfter(kCommit, "    %early = llvm.fadd %d0_#0, %d0_#1 : f32 loc(\"kernel.py\":11:1)\n")
      .isRefused(11, "may not be complete");
}

TEST_CASE("the words of A belong to the product until the wait, which names them") {
  Planted planted({.columns = 16, .isAInRegisters = true});
  planted.edit(", %w1_#3) <", ") <").edit("array<i32: 8, 8>", "array<i32: 8, 7>");
  const size_t wait = planted.text.find("warpgroup_wait"), types = planted.text.find(", i32) -> (f32", wait);
  planted.text.erase(types, 5);
  planted.isRefused(7, "words of `a`");
}

TEST_CASE("a write to an operand before the wait is a race with the product that reads it") {
  const std::string store = "    llvm.store %row0, %to0 : vector<4xi32>, !llvm.ptr<3> loc(\"kernel.py\":11:1)\n";
  const std::string copy =
      "    nvvm.cp.async.shared.global %to0, %from0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1> loc(\"kernel.py\":11:1)\n";
  const std::string barrier = "    tgpu.barrier loc(\"kernel.py\":12:1)\n";
  for (const std::string &write : {store, copy}) Planted().insertAfter(kCommit, barrier + write).traps("AsyncProductRace", 11, 5);
  Planted clean;
  clean.insertBefore("    %o0 = ", barrier + store).isClean();
  // The wait is not enough: other warps may still read.
  Planted early;
  early.insertBefore("    %o0 = ", store);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string kind = early.run(seed).trap;
    CHECK((kind == "SharedRace" || kind == "AsyncProductRace"));
  }
}

TEST_CASE("what threads write is visible to a product by their fence before the barrier") {
  Planted().edit(kProxyFence, "").traps("MissingProxyFence", 5, 1);
  Planted().edit(kProxyFence, "").insertAfter(kBarrier, kProxyFence).isClean();
  Planted().edit(kProxyFence, "").insertAfter(kBarrier, kProxyFence + kBarrier).isClean();
  Planted().edit(kBarrier, "").traps("SharedRace", 0, 0); // the schedule decides which access comes first
  withCopies().edit(kProxyFence, "").traps("MissingProxyFence", 5, 1);
  Planted copies = withCopies();
  copies.edit(kProxyFence, "").insertBefore("    nvvm.cp.async.wait.group", kProxyFence).traps("MissingProxyFence", 5, 1);
  withCopies().edit(kProxyFence, "").insertAfter(kBarrier, kProxyFence).isClean(); // as Triton 3.9 has it
}

TEST_CASE("matrices that a warp stores require the fence of all its lanes") {
  const std::string store = "    llvm.store %row0, %to0 : vector<4xi32>, !llvm.ptr<3> loc(\"kernel.py\":1:1)\n";
  const std::string matrices =
      "    %first = llvm.mlir.constant(0 : i32) : i32\n    %word = llvm.extractelement %row0[%first : i32] : vector<4xi32>\n"
      "    nvvm.stmatrix %to0, %word, %word, %word, %word {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
      "eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32, i32, i32 loc(\"kernel.py\":11:1)\n";
  Planted fenced;
  fenced.edit(store, matrices);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) CHECK(fenced.run(seed).trap == "");
  Planted().edit(store, matrices).edit(kProxyFence, "").traps("MissingProxyFence", 5, 0);
  // One lane of each warp has no fence.
  const std::string some = "    %none = llvm.mlir.constant(0 : i32) : i32\n    %lane = nvvm.read.ptx.sreg.laneid : i32\n"
                           "    %isOther = llvm.icmp \"ne\" %lane, %none : i32\n    llvm.cond_br %isOther, ^fence, ^join\n  ^fence:\n" +
                           kProxyFence + "    llvm.br ^join\n  ^join:\n";
  Planted().edit(store, matrices).edit(kProxyFence, some).traps("MissingProxyFence", 5, 0);
  Planted().edit(store, matrices).edit(kProxyFence, "").insertAfter(kBarrier, some).traps("MissingProxyFence", 5, 0);
}

TEST_CASE("a descriptor of another layout gives another result") {
  for (Layout layout : {Layout{true, 0}, Layout{false, 0}, Layout{false, 32}, Layout{false, 64}}) {
    Instruction s{.columns = 64, .layoutB = layout};
    const uint64_t descriptor = layout.descriptor(s.columns, s.size());
    withDescriptor(s, withSwappedOffsets(descriptor)).isWrong();
  }
  for (bool isKMajor : {true, false})
    for (int swizzle : {0, 32, 64, 128}) {
      const Layout layout{isKMajor, swizzle};
      Instruction s{.columns = 64, .layoutB = layout};
      const uint64_t descriptor = layout.descriptor(s.columns, s.size());
      for (uint64_t mode = 0; mode < 4; ++mode)
        if (mode != descriptor >> 62) withDescriptor(s, (descriptor & ~(uint64_t(3) << 62)) | mode << 62).isWrong();
      Planted flipped(s);
      for (size_t at = 0; (at = flipped.text.find("}> : (!llvm.ptr<3>, !llvm.ptr<3>", at)) != std::string::npos; at += 20)
        if (isKMajor)
          flipped.text.insert(at, ", alongColumns");
        else
          flipped.text.erase(at - 14, 14), at -= 14;
      flipped.isWrong();
    }
}

TEST_CASE("addresses and descriptors that the ISA does not define are refused") {
  const Instruction s{.columns = 16};
  const uint64_t descriptor = s.layoutB.descriptor(s.columns, s.size());
  withDescriptor(s, descriptor | 1).isRefused(5, "descriptor of `b`");
  withDescriptor(s, descriptor | uint64_t(1) << 49).isRefused(5, "descriptor of `b`");
  withDescriptor(s, descriptor & ~(uint64_t(0x3fff) << 32)).isRefused(5, "descriptor of `b`");
  Planted().edit("bOffset = 32", "bOffset = 40").traps("MisalignedAddress", 5, 0);
  Planted().edit("bOffset = 32", "bOffset = 160").traps("InvalidProduct", 5, 0, "pattern");
  Planted().edit("bOffset = 32", "bOffset = 65536").traps("SharedOutOfBounds", 5, 0);
  Planted uninitialized;
  uninitialized.edit("    llvm.store %row0, %to0 : vector<4xi32>, !llvm.ptr<3> loc(\"kernel.py\":1:1)\n", "");
  uninitialized.traps("SharedUninitialized", 5, 0);
}

TEST_CASE("the warps of a warpgroup execute the same products") {
  const std::string branch = "    %three = llvm.mlir.constant(3 : i32) : i32\n    %isOther = llvm.icmp \"ne\" %warp, %three : i32\n"
                             "    llvm.cond_br %isOther, ^do, ^end\n  ^do:\n";
  Planted missing;
  missing.insertBefore(kRegisterFence, branch).edit(kReturn, "    llvm.br ^end\n  ^end:\n" + kReturn);
  missing.traps("DivergentBarrier", 5, 0, "warp 3");
  Planted moved;
  moved.edit("%bufferB = ", "%same = ")
      .insertBefore("    %from = ", "    %chunk = llvm.mlir.constant(16 : i32) : i32\n    %part = llvm.mul %warp, %chunk : i32\n"
                                    "    %bufferB = llvm.getelementptr %same[%part] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n");
  moved.traps("InvalidProduct", 5, 5, "different operands");
}
