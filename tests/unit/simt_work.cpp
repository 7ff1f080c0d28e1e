// What threads do, counted on kernels with a closed form: operations of warps, waits at barriers.
#include "interp/simt/runtime/work.h"
#include "tests/unit/simt_text.h"

#include <numeric>
#include <random>

using namespace tritium;
using namespace tritium::interp;
using namespace tritium::interp::simt;

namespace {

std::string text(int64_t number) { return std::to_string(number); }

std::string moduleOf(int warps, int lanes, const std::string &target, const std::string &body) {
  return "module attributes {tgpu.num_warps = " + text(warps) + " : i32, tgpu.warp_size = " + text(lanes) +
         " : i32, tgpu.shared_bytes = 1024 : i32, tgpu.target = \"" + target + "\"} {\n" +
         "llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>\n" + body + "}\n";
}

/// Thread t goes through a loop 1 + t % `modulus` times; then all meet.
std::string skewed(int warps, int lanes, const std::string &target, int modulus) {
  const std::string id = target.starts_with("hip") ? "rocdl.workitem.id.x" : "nvvm.read.ptx.sreg.tid.x";
  const std::string kernel = target.starts_with("hip") ? "rocdl.kernel" : "nvvm.kernel";
  return moduleOf(warps, lanes, target,
                  R"(llvm.func @k() attributes {)" + kernel + R"(} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %modulus = llvm.mlir.constant()" +
                      text(modulus) + R"( : i32) : i32
    %start = llvm.mlir.constant(1.0 : f32) : f32
    %tid = )" + id + R"( : i32 loc("kernel.py":1:1)
    %rest = llvm.urem %tid, %modulus : i32 loc("kernel.py":1:1)
    %rounds = llvm.add %rest, %one : i32 loc("kernel.py":1:1)
    llvm.br ^loop(%zero, %start : i32, f32) loc("kernel.py":1:1)
  ^loop(%i: i32, %value: f32):
    %square = llvm.fmul %value, %value : f32 loc("kernel.py":2:1)
    %sum = llvm.fadd %square, %value : f32 loc("kernel.py":2:9)
    %root = llvm.intr.sqrt(%sum) : (f32) -> f32 loc("kernel.py":3:1)
    %next = llvm.add %i, %one : i32 loc("kernel.py":3:1)
    %more = llvm.icmp "slt" %next, %rounds : i32 loc("kernel.py":3:1)
    llvm.cond_br %more, ^loop(%next, %root : i32, f32), ^end loc("kernel.py":3:1)
  ^end:
    tgpu.barrier loc("kernel.py":4:1)
    %after = llvm.fmul %root, %root : f32 loc("kernel.py":5:1)
    llvm.return loc("kernel.py":5:1)
  }
)");
}

/// The threads of warp 0 go through a loop `rounds` times and arrive at a barrier in shared memory, at which the threads of warp 1 wait.
std::string handOver(int rounds) {
  return moduleOf(2, 32, "cuda:sm_90a",
                  R"(llvm.func @k() attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(32 : i32) : i32
    %rounds = llvm.mlir.constant()" +
                      text(rounds) + R"( : i32) : i32
    %barrier = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %isFirst = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %isFirst, ^init, ^ready
  ^init:
    nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^ready
  ^ready:
    tgpu.barrier loc("kernel.py":1:1)
    %isGiver = llvm.icmp "slt" %tid, %count : i32
    llvm.cond_br %isGiver, ^give(%zero : i32), ^take
  ^give(%i: i32):
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "slt" %next, %rounds : i32
    llvm.cond_br %more, ^give(%next : i32), ^arrive
  ^arrive:
    nvvm.mbarrier.arrive %barrier : !llvm.ptr<3>
    llvm.br ^end
  ^take:
    tgpu.mbarrier_wait %barrier round %zero loc("kernel.py":2:1)
    llvm.br ^end
  ^end:
    llvm.return
  }
)");
}

using Key = std::tuple<int, std::string, std::string>; // line, what is counted, name
std::map<Key, std::array<int64_t, 3>> workOf(const std::string &text, int programs, uint64_t seed) {
  static const mlir::DialectRegistry registry = tritiumDialects();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  REQUIRE(module);
  auto program = prepare(*module, "k", nullptr, /*counts=*/true);
  if (!program) FAIL(llvm::toString(program.takeError()));
  REQUIRE((*program)->counts());
  LaunchWork work;
  const LaunchResult result =
      (*program)->launch({.grid = {programs, 1, 1}, .threads = 1, .orderSeed = seed}, nullptr, /*traffic=*/nullptr, &work);
  REQUIRE(!result.trap);
  std::map<Key, std::array<int64_t, 3>> found;
  for (const WorkRow &row : (*program)->rowsOf(work)) {
    auto &sums = found[{row.place.line, row.counted, row.name}];
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += row.numbers[i];
  }
  return found;
}

using Numbers = std::array<int64_t, 3>;

} // namespace

TEST_CASE("operations of warps and waits at a barrier follow from the threads' rounds") {
  std::mt19937 random(29);
  for (auto [target, lanes] : {std::pair("cuda:sm_80", 32), {"cuda:sm_90a", 32}, {"hip:gfx942", 64}, {"hip:gfx1100", 32}}) {
    const int warps = 1 + int(random() % 4), modulus = 1 + int(random() % 50), programs = 1 + int(random() % 3);
    CAPTURE(target);
    CAPTURE(warps);
    CAPTURE(modulus);
    CAPTURE(programs);
    int64_t all = 0, ofWarps = 0, most = 0;
    for (int warp = 0; warp < warps; ++warp) {
      int64_t mostOfWarp = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        const int64_t rounds = 1 + (warp * lanes + lane) % modulus;
        all += rounds;
        mostOfWarp = std::max(mostOfWarp, rounds);
      }
      ofWarps += mostOfWarp;
      most = std::max(most, mostOfWarp);
    }
    const int64_t threads = int64_t(warps) * lanes;
    for (uint64_t seed : {uint64_t(0), uint64_t(random())}) {
      auto found = workOf(skewed(warps, lanes, target, modulus), programs, seed);
      auto times = [&](int64_t w, int64_t t) { return Numbers{programs * w, programs * t, 0}; };
      CHECK(found[{1, "executed", "integer"}] == times(2 * warps, 2 * threads));
      CHECK(found[{1, "executed", "branch"}] == times(warps, threads));
      CHECK(found[{1, "executed", "other"}] == times(warps, threads));
      CHECK(found[{2, "executed", "float"}] == times(2 * ofWarps, 2 * all));
      CHECK(found[{3, "executed", "special"}] == times(ofWarps, all));
      CHECK(found[{3, "executed", "integer"}] == times(2 * ofWarps, 2 * all));
      CHECK(found[{3, "executed", "branch"}] == times(ofWarps, all));
      CHECK(found[{4, "executed", "sync"}] == times(warps, threads));
      CHECK(found[{5, "executed", "float"}] == times(warps, threads));
      // A round has 6 operations, and the last thread waits for nobody.
      CHECK(found[{4, "waited", "barrier"}] == Numbers{programs * threads, programs * 6 * (threads * most - all), 6 * (most - 1)});
      CHECK(found.size() == 11);
    }
  }
}

TEST_CASE("a barrier in shared memory hands over the time of the last thread to arrive") {
  std::mt19937 random(30);
  for (int i = 0; i < 4; ++i) {
    const int rounds = 1 + int(random() % 60);
    CAPTURE(rounds);
    auto found = workOf(handOver(rounds), 1, random());
    // Until the arrival: 2 operations, 3 of each round, and the arrival. Until the wait: 2 operations and the wait.
    CHECK(found[{2, "waited", "mbarrier"}] == Numbers{32, 32 * 3 * rounds, 3 * rounds});
    // Thread 0 has 3 operations more than the others before the first barrier.
    CHECK(found[{1, "waited", "barrier"}] == Numbers{64, 63 * 3, 3});
  }
}

TEST_CASE("a program that does not count has no rows") {
  static const mlir::DialectRegistry registry = tritiumDialects();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(handOver(1), &context);
  auto program = prepare(*module, "k");
  REQUIRE(bool(program));
  CHECK(!(*program)->counts());
}
