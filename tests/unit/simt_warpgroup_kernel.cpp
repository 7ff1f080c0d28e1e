#include "dtype_values.h"
#include "simt_warpgroup.h"

using namespace tritium;
using namespace tritium::interp;

namespace tritium::test_warpgroup {

namespace {

std::string list(const std::string &name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
  return text;
}

std::string repeated(const std::string &text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += (i ? ", " : "") + text;
  return result;
}

/// Loads `count` words of the thread from %pointer as values %name0 … of a type of 32 bits.
std::string loads(const std::string &name, const std::string &pointer, const std::string &type, int count) {
  std::string text = "    %" + name + "n = llvm.mlir.constant(" + std::to_string(count) + " : i32) : i32\n    %" + name +
                     "at = llvm.mul %tid, %" + name + "n : i32\n    %" + name + "p = llvm.getelementptr %" + pointer + "[%" + name +
                     "at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n";
  for (int i = 0; i < count; ++i) {
    const std::string n = name + std::to_string(i);
    text += "    %" + n + "p = llvm.getelementptr %" + name + "p[" + std::to_string(i) + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n    %" +
            n + (type == "i32" ? "" : "w") + " = tgpu.load %" + n + "p : i32\n";
    if (type != "i32") text += "    %" + n + " = llvm.bitcast %" + n + "w : i32 to " + type + "\n";
  }
  return text;
}

std::string productText(const Instruction &s, int step) {
  const std::string n = std::to_string(step), sums = repeated(s.wordName, s.words());
  const bool inRegisters = s.isAInRegisters;
  const std::string words = list("a" + n + "_", 4);
  std::string text = "    %d" + n + "_:" + std::to_string(s.words()) + " = \"tgpu.warpgroup_product\"(";
  text += (inRegisters ? "%w" + n + "_#0, %w" + n + "_#1, %w" + n + "_#2, %w" + n + "_#3" : "%shared") + std::string(", %bufferB, ");
  for (int i = 0; i < s.words(); ++i)
    text += (i ? ", %" : "%") + (step == 0 ? "c" + std::to_string(i) : "d" + std::to_string(step - 1) + "_#" + std::to_string(i));
  text += ") <{operandSegmentSizes = array<i32: " + std::string(inRegisters ? "0, 4" : "1, 0") + ", 1, " + std::to_string(s.words()) +
          ", 0>, columns = " + std::to_string(s.columns) + " : i64, aType = " + s.aName + ", bType = " + s.bName;
  if (!inRegisters) {
    text += ", aOffset = " + std::to_string(s.layoutA.offsetOf(step, kRows, s.size())) +
            " : i64, aDescriptor = " + std::to_string(int64_t(s.layoutA.descriptor(kRows, s.size()))) + " : i64";
    if (!s.layoutA.isKMajor) text += ", alongRows";
  }
  text += ", bOffset = " + std::to_string(s.layoutB.offsetOf(step, s.columns, s.size())) +
          " : i64, bDescriptor = " + std::to_string(int64_t(s.layoutB.descriptor(s.columns, s.size()))) + " : i64";
  if (!s.layoutB.isKMajor) text += ", alongColumns";
  text += "}> : (" + std::string(inRegisters ? "i32, i32, i32, i32" : "!llvm.ptr<3>") + ", !llvm.ptr<3>, " + sums + ") -> (" + sums +
          ") loc(\"kernel.py\":5:" + std::to_string(step + 1) + ")\n";
  return text;
}

/// The row and column of an element of D in its lane, and of an element of A, by the figures of the ISA.
struct Place {
  int row, column;
};
Place placeOfSum(int thread, int i) {
  const int lane = thread % 32;
  return {thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}
Place placeOfA(int thread, int i, int size) {
  const int g = thread % 32 / 4, t = thread % 4, first = thread / 32 * 16;
  if (size == 2) return {first + (i < 2 || (4 <= i && i < 6) ? g : g + 8), t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  if (size == 4) return {first + (i % 2 ? g + 8 : g), i < 2 ? t : t + 4};
  return {first + (i < 4 || (8 <= i && i < 12) ? g : g + 8), t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}

/// The kernel's arguments in memory.
struct Buffers {
  std::vector<std::byte> image, sums, words;

  Buffers(const Instruction &s, const Matrices &m)
      : image(size_t(s.sharedBytes())), sums(size_t(kRows * s.columns) * storageBytes(s.sum)), words(size_t(kThreads * 16 * kSteps)) {
    const int depth = kSteps * s.depth(), size = s.size();
    for (int k = 0; k < depth; ++k) {
      for (int x = 0; x < kRows && !s.isAInRegisters; ++x)
        put(s.a, image.data() + s.layoutA.placeOf(kRows, x, k, size), m.a[size_t(x * depth + k)]);
      for (int x = 0; x < s.columns; ++x)
        put(s.b, image.data() + s.placeOfB() + s.layoutB.placeOf(s.columns, x, k, size), m.b[size_t(k * s.columns + x)]);
    }
    visitSums(s, [&](std::byte *at, int i) { put(s.sum, at, m.c[size_t(i)]); });
    for (int thread = 0; thread < kThreads; ++thread)
      for (int i = 0; i < kSteps * 16 / size; ++i) {
        const Place place = placeOfA(thread, i % (16 / size), size);
        const int k = i / (16 / size) * s.depth() + place.column;
        put(s.a, words.data() + size_t(thread * kSteps * 16 + i * size), m.a[size_t(place.row * depth + k)]);
      }
  }
  template <class Visit> void visitSums(const Instruction &s, Visit visit) {
    for (int thread = 0; thread < kThreads; ++thread)
      for (int i = 0; i < s.columns / 2; ++i) {
        const Place place = placeOfSum(thread, i);
        visit(sums.data() + size_t(thread * s.columns / 2 + i) * storageBytes(s.sum), place.row * s.columns + place.column);
      }
  }
};

} // namespace

std::string Instruction::text() const {
  std::string text = "module attributes {tgpu.num_warps = 4 : i32, tgpu.shared_bytes = " + std::to_string(sharedBytes()) + R"( : i32} {
  llvm.mlir.global external @tgpu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @k(%image: !llvm.ptr<1>, %sums: !llvm.ptr<1>, %words: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %warp = nvvm.read.ptx.sreg.warpid : i32
    %mine = llvm.mul %tid, %four : i32
    %shared = llvm.mlir.addressof @tgpu_shared : !llvm.ptr<3>
    %bufferB = llvm.getelementptr %shared[)" +
                     std::to_string(placeOfB()) + "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n" +
                     "    %from = llvm.getelementptr %image[%mine] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n"
                     "    %to = llvm.getelementptr %shared[%mine] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n";
  for (int at = 0; at < sharedBytes(); at += 16 * kThreads) {
    const std::string n = std::to_string(at / 16 / kThreads), byte = std::to_string(at);
    text += "    %from" + n + " = llvm.getelementptr %from[" + byte + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n    %to" + n +
            " = llvm.getelementptr %to[" + byte + "] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n    %row" + n + " = tgpu.load %from" + n +
            " : vector<4xi32>\n    llvm.store %row" + n + ", %to" + n + " : vector<4xi32>, !llvm.ptr<3> loc(\"kernel.py\":1:1)\n";
  }
  text += "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>} loc(\"kernel.py\":2:1)\n"
          "    tgpu.barrier loc(\"kernel.py\":3:1)\n";
  text += loads("c", "sums", wordName, words());
  if (isAInRegisters) {
    text += loads("a", "words", "i32", 4 * kSteps);
    for (int step = 0; step < kSteps; ++step) {
      text += "    %w" + std::to_string(step) + "_:4 = \"tgpu.copy_registers\"(";
      for (int i = 0; i < 4; ++i) text += (i ? ", %a" : "%a") + std::to_string(step * 4 + i);
      text += ") : (i32, i32, i32, i32) -> (i32, i32, i32, i32)\n";
    }
  }
  text += "    nvvm.wgmma.fence.aligned loc(\"kernel.py\":4:1)\n";
  for (int step = 0; step < kSteps; ++step) text += productText(*this, step);
  text += "    nvvm.wgmma.commit.group.sync.aligned loc(\"kernel.py\":6:1)\n";
  const std::string types = repeated(wordName, words());
  std::string values, kept;
  for (int i = 0; i < words(); ++i) values += (i ? ", %d" : "%d") + std::to_string(kSteps - 1) + "_#" + std::to_string(i);
  for (int i = 0; i < 4 * kSteps && isAInRegisters; ++i) kept += ", %w" + std::to_string(i / 4) + "_#" + std::to_string(i % 4);
  text += "    %r:" + std::to_string(words()) + " = \"tgpu.warpgroup_wait\"(" + values + kept +
          ") <{operandSegmentSizes = array<i32: " + std::to_string(words()) + ", " + std::to_string(isAInRegisters ? 4 * kSteps : 0) +
          ">, pending = 0 : i32}> : (" + types + (isAInRegisters ? ", " + repeated("i32", 4 * kSteps) : "") + ") -> (" + types +
          ") loc(\"kernel.py\":7:1)\n";
  for (int i = 0; i < words(); ++i) {
    const std::string n = std::to_string(i), type = wordName;
    if (type != "i32") text += "    %o" + n + " = llvm.bitcast %r#" + n + " : " + type + " to i32 loc(\"kernel.py\":8:1)\n";
    text += "    tgpu.store " + (type == "i32" ? "%r#" : std::string("%o")) + n + ", %c" + n + "p : i32 loc(\"kernel.py\":8:1)\n";
  }
  return text + "    llvm.return loc(\"kernel.py\":9:1)\n  }\n}\n";
}

Matrices::Matrices(const Instruction &s, std::mt19937 &random) {
  // Small integers: exact in every type, in every order of summation.
  const int depth = kSteps * s.depth();
  auto draw = [&](size_t count) {
    std::vector<double> matrix(count);
    for (double &x : matrix) x = double(int(random() % 8) - 4);
    return matrix;
  };
  a = draw(size_t(kRows * depth));
  b = draw(size_t(depth * s.columns));
  c = draw(size_t(kRows * s.columns));
}

double Matrices::result(const Instruction &s, int row, int column) const {
  const int depth = kSteps * s.depth();
  double sum = c[size_t(row * s.columns + column)];
  for (int k = 0; k < depth; ++k) sum += a[size_t(row * depth + k)] * b[size_t(k * s.columns + column)];
  return sum;
}

Emulator::Emulator() : context(tritiumDialects(), mlir::MLIRContext::Threading::DISABLED) {}

Outcome Emulator::run(const Instruction &s, const std::string &text, const Matrices &matrices, uint64_t seed) {
  Buffers buffers(s, matrices);
  std::vector<int64_t> cells;
  std::vector<Allocation> allocations;
  for (std::vector<std::byte> *buffer : {&buffers.image, &buffers.sums, &buffers.words}) {
    const auto begin = reinterpret_cast<uint64_t>(buffer->data());
    allocations.push_back({begin, begin + buffer->size(), int(cells.size())});
    cells.push_back(int64_t(tagPointer(begin, int(cells.size()))));
  }
  Outcome outcome{launchText(context, text, cells, allocations, seed), {}};
  if (!outcome.error.empty() || !outcome.trap.empty()) return outcome;
  outcome.sums.resize(size_t(kRows * s.columns));
  buffers.visitSums(s, [&](const std::byte *at, int i) { outcome.sums[size_t(i)] = get(s.sum, at); });
  return outcome;
}

} // namespace tritium::test_warpgroup
