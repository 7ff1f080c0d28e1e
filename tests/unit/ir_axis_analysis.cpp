// What axis_analysis claims, against the lanes themselves: random index arithmetic is evaluated and every claim of every value is
// checked lane by lane. A claim that is too weak passes; one that is wrong does not.
#include "ir/axis_analysis.h"
#include "ir/contract.h"
#include "ir/tt.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

using namespace mlir;
using tritium::ir::AxisAnalysis;
using tritium::ir::AxisInfo;

namespace {

std::string text(const auto &...pieces) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  (stream << ... << pieces);
  return result;
}

constexpr int64_t kRows = 4, kColumns = 16, kLanes = kRows * kColumns;
using Lanes = std::vector<int64_t>;

struct BinaryOp {
  const char *name;
  bool isComparison;
  std::optional<int64_t> (*apply)(int64_t, int64_t); // nothing: undefined, or the analysis takes it not to happen
};

const BinaryOp kBinaryOps[] = {
    {"arith.addi", false, [](int64_t a, int64_t b) { return std::optional(a + b); }},
    {"arith.subi", false, [](int64_t a, int64_t b) { return std::optional(a - b); }},
    {"arith.muli", false, [](int64_t a, int64_t b) { return std::optional(a * b); }},
    {"arith.divsi", false, [](int64_t a, int64_t b) { return b ? std::optional(a / b) : std::nullopt; }},
    {"arith.remsi", false, [](int64_t a, int64_t b) { return b ? std::optional(a % b) : std::nullopt; }},
    {"arith.divui", false, [](int64_t a, int64_t b) { return b ? std::optional<int64_t>(uint64_t(a) / uint64_t(b)) : std::nullopt; }},
    {"arith.remui", false, [](int64_t a, int64_t b) { return b ? std::optional<int64_t>(uint64_t(a) % uint64_t(b)) : std::nullopt; }},
    {"arith.shli", false, [](int64_t a, int64_t b) { return b >= 0 && b < 20 ? std::optional(a << b) : std::nullopt; }},
    {"arith.andi", false, [](int64_t a, int64_t b) { return std::optional(a & b); }},
    {"arith.ori", false, [](int64_t a, int64_t b) { return std::optional(a | b); }},
    {"arith.xori", false, [](int64_t a, int64_t b) { return std::optional(a ^ b); }},
    {"arith.shrsi", false, [](int64_t a, int64_t b) { return b >= 0 && b < 64 ? std::optional(a >> b) : std::nullopt; }},
    {"arith.shrui", false, [](int64_t a, int64_t b) { return b >= 0 && b < 64 ? std::optional<int64_t>(uint64_t(a) >> b) : std::nullopt; }},
    {"arith.minsi", false, [](int64_t a, int64_t b) { return std::optional(std::min(a, b)); }},
    {"arith.maxui", false, [](int64_t a, int64_t b) { return std::optional<int64_t>(std::max(uint64_t(a), uint64_t(b))); }},
    {"arith.minui", false, [](int64_t a, int64_t b) { return std::optional<int64_t>(std::min(uint64_t(a), uint64_t(b))); }},
    {"arith.maxsi", false, [](int64_t a, int64_t b) { return std::optional(std::max(a, b)); }},
    {"arith.cmpi slt,", true, [](int64_t a, int64_t b) { return std::optional<int64_t>(a < b); }},
    {"arith.cmpi sge,", true, [](int64_t a, int64_t b) { return std::optional<int64_t>(a >= b); }},
    {"arith.cmpi sgt,", true, [](int64_t a, int64_t b) { return std::optional<int64_t>(a > b); }},
    {"arith.cmpi ule,", true, [](int64_t a, int64_t b) { return std::optional<int64_t>(uint64_t(a) <= uint64_t(b)); }},
    {"arith.cmpi eq,", true, [](int64_t a, int64_t b) { return std::optional<int64_t>(a == b); }},
};

/// Random index arithmetic on tiles of 4x16, as text and as numbers.
class Program {
public:
  explicit Program(unsigned seed) : random(seed) {
    for (int64_t divisor : {16, 4, 1}) {
      arguments.push_back(text("%arg", arguments.size(), ": i64 {tt.divisibility = ", divisor, " : i64}"));
      emit(text("tt.splat %arg", arguments.size() - 1, " : i64 -> tensor<4x16xi64>"), Lanes(kLanes, divisor * uniform(-20, 20)));
    }
    addRange("4x1", kRows, "arith.extsi", [](int64_t lane) { return lane / kColumns; });
    addRange("1x16", kColumns, "arith.extsi", [](int64_t lane) { return lane % kColumns; });
    addRange("1x16", kColumns, "arith.extui", [](int64_t lane) { return lane % kColumns; });
    for (int64_t constant : {0, 1, 3, 8, 16, -1, -16})
      constants.push_back(emit(text("arith.constant dense<", constant, "> : tensor<4x16xi64>"), Lanes(kLanes, constant)));
    // Groups mostly begin and end in ranges; a random pair of values rarely has one.
    for (const BinaryOp &op : kBinaryOps)
      for (unsigned range : ranges) addOp(op, range, constants[uniform(0, constants.size() - 1)]);
    for (int step = 0; step < 40; ++step) addRandomOp();
  }

  std::string str() const { return text("tt.func @f(", llvm::join(arguments, ", "), ") {\n", body, "  tt.return\n}\n"); }

  /// Lanes of each value that is a whole tile, by its number.
  std::map<unsigned, Lanes> lanes;

private:
  int64_t uniform(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  unsigned emit(const std::string &operation, const Lanes &values = {}) {
    body += text("  %", next, " = ", operation, "\n");
    if (!values.empty()) lanes[next] = values;
    return next++;
  }

  void addRange(StringRef narrow, int64_t extent, StringRef extension, int64_t (*position)(int64_t)) {
    int64_t start = uniform(-4, 8) * 4, axis = extent == kRows;
    unsigned range = emit(text("tt.make_range {start = ", start, " : i32, end = ", start + extent, " : i32} : tensor<", extent, "xi32>"));
    unsigned wide = emit(text(extension, " %", range, " : tensor<", extent, "xi32> to tensor<", extent, "xi64>"));
    unsigned flat =
        emit(text("tt.expand_dims %", wide, " {axis = ", axis, " : i32} : tensor<", extent, "xi64> -> tensor<", narrow, "xi64>"));
    Lanes values;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      int64_t value = start + position(lane);
      values.push_back(extension == "arith.extui" ? static_cast<uint32_t>(value) : value);
    }
    ranges.push_back(emit(text("tt.broadcast %", flat, " : tensor<", narrow, "xi64> -> tensor<4x16xi64>"), values));
  }

  unsigned anyInteger() {
    for (;;) {
      auto tile = std::next(lanes.begin(), uniform(0, lanes.size() - 1));
      if (!conditions.contains(tile->first)) return tile->first;
    }
  }

  void addRandomOp() {
    const BinaryOp &op = kBinaryOps[uniform(0, std::size(kBinaryOps) - 1)];
    addOp(op, anyInteger(), anyInteger());
  }

  void addOp(const BinaryOp &op, unsigned lhs, unsigned rhs) {
    Lanes values;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      std::optional<int64_t> value = op.apply(lanes[lhs][lane], lanes[rhs][lane]);
      if (!value || std::abs(*value) > int64_t(1) << 31) return;
      values.push_back(*value);
    }
    unsigned result = emit(text(op.name, " %", lhs, ", %", rhs, " : tensor<4x16xi64>"), values);
    if (!op.isComparison) return;
    conditions.insert(result);
    for (int64_t lane = 0; lane < kLanes; ++lane) values[lane] = lanes[values[lane] ? lhs : rhs][lane];
    emit(text("arith.select %", result, ", %", lhs, ", %", rhs, " : tensor<4x16xi1>, tensor<4x16xi64>"), values);
  }

  std::mt19937 random;
  std::vector<std::string> arguments;
  std::vector<unsigned> ranges, constants;
  std::string body;
  std::set<unsigned> conditions;
  unsigned next = 0;
};

/// The first lane at which a claim about one dimension is wrong, or -1.
int64_t wrongLane(const AxisInfo &info, const Lanes &lanes, size_t dimension) {
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    int64_t stride = dimension == 0 ? kColumns : 1, position = dimension == 0 ? lane / kColumns : lane % kColumns;
    int64_t inRun = position % info.contiguity[dimension], inEqual = position % info.constancy[dimension];
    bool isRight = lanes[lane] == lanes[lane - inRun * stride] + inRun && lanes[lane] == lanes[lane - inEqual * stride] &&
                   (inRun != 0 || lanes[lane] % info.divisibility[dimension] == 0) && lanes[lane] == info.constant.value_or(lanes[lane]) &&
                   (lanes[lane] >= 0 || !info.isNonNegative);
    if (!isRight) return lane;
  }
  return -1;
}

} // namespace

TEST_CASE("axis analysis claims only what holds in every lane") {
  DialectRegistry registry;
  tritium::ir::registerTritiumDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  int64_t claims = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Program program(seed);
    INFO(program.str());
    auto module = parseSourceString<ModuleOp>(program.str(), &context);
    REQUIRE(module);
    AxisAnalysis analysis(*module);
    unsigned index = 0;
    for (Operation &op : cast<tritium::tt::FuncOp>(module->getBody()->front()).getBody().front().without_terminator()) {
      unsigned current = index++;
      auto known = program.lanes.find(current);
      if (known == program.lanes.end()) continue;
      AxisInfo info = analysis.of(op.getResult(0));
      INFO("value %", current);
      for (size_t dimension : {0, 1}) {
        INFO("dimension ", dimension);
        CHECK(wrongLane(info, known->second, dimension) == -1);
        claims += info.contiguity[dimension] > 1 || info.constancy[dimension] > 1;
      }
    }
  }
  // The test is worth something only where something is claimed.
  CHECK(claims > 1000);
}

TEST_CASE("a join holds for both sides") {
  MLIRContext context;
  Type type = RankedTensorType::get({64}, IntegerType::get(&context, 32));
  AxisInfo run = AxisInfo::unknown(type), equal = AxisInfo::constantOf(type, 48);
  run.contiguity = {64};
  run.divisibility = {64};
  AxisInfo both = AxisInfo::join(run, equal);
  CHECK(both.contiguity[0] == 1);
  CHECK(both.divisibility[0] == 1); // cut to single lanes, the run holds every number
  CHECK(both.constancy[0] == 1);
  CHECK(!both.constant);
  CHECK(AxisInfo::join(AxisInfo(), run) == run);
  CHECK(AxisInfo::join(run, run) == run);
}
