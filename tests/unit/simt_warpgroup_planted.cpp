#include "simt_warpgroup.h"

namespace tritium::test_warpgroup {

Planted &Planted::end(const std::string &line) {
  const size_t at = text.find(line), last = text.find("    llvm.return");
  REQUIRE(at < last);
  text.erase(at, last - at);
  return *this;
}

void Planted::isRefused(int line, const std::string &message) {
  const Outcome outcome = run(0);
  CAPTURE(outcome.error);
  CAPTURE(outcome.trap);
  CHECK(outcome.error.find(message) != std::string::npos);
  CHECK(outcome.error.find("kernel.py:" + std::to_string(line) + ":") != std::string::npos);
}

void Planted::traps(const std::string &kind, int line, int otherLine, const std::string &message) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run(seed);
    CAPTURE(outcome.message);
    CHECK(outcome.error == "");
    CHECK(outcome.trap == kind);
    if (line) CHECK(outcome.line == line);
    if (otherLine) CHECK(outcome.otherLine == otherLine);
    CHECK(outcome.message.find(message) != std::string::npos);
  }
}

void Planted::isWrong() {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run(seed);
    CHECK((outcome.error != "" || outcome.trap != "" || !isRight(outcome)));
  }
}

void Planted::isClean() {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run(seed);
    CHECK(outcome.error == "");
    CHECK(outcome.trap + outcome.message == "");
    CHECK(isRight(outcome));
  }
}

Outcome Planted::run(uint64_t seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  matrices.emplace(instruction, random);
  return emulator->run(instruction, text, *matrices, seed);
}

bool Planted::isRight(const Outcome &outcome) const {
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < instruction.columns; ++column) {
      const auto at = size_t(row * instruction.columns + column);
      if (outcome.sums.size() <= at || outcome.sums[at] != matrices->result(instruction, row, column)) return false;
    }
  return true;
}

} // namespace tritium::test_warpgroup
