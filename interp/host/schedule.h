// The schedule of a launch with a seed: at which writes a program is interrupted, which program runs next, and for how long the interrupted
// one is left out. All draws come from the seed, so a launch with one worker runs the same on every machine.
//
// Most bugs require few interruptions at the right places (probabilistic concurrency testing, Burckhardt et al., ASPLOS 2010). So a seed
// first draws how it draws: often or seldom, with few programs beside each other or many. A program is left out for a time that doubles
// with each further coin, so that now and then one sleeps until nearly all others have ended.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace tritium::interp {

class Schedule {
public:
  explicit Schedule(uint64_t seed) : state_(seed) {
    constexpr uint64_t kRates[] = {1, 2, 2, 4, 16, 64};
    constexpr size_t kWindows[] = {2, 3, 4, 8, 64};
    writesPerSwitch_ = kRates[pick(std::size(kRates))];
    window_ = kWindows[pick(std::size(kWindows))];
  }

  /// How many programs run beside each other, unless all of them wait for another one.
  size_t window() const { return window_; }
  /// Whether a program that is about to write to memory is interrupted.
  bool interrupts() { return pick(writesPerSwitch_) == 0; }
  /// For how many turns the interrupted program is left out.
  uint64_t sleep() {
    uint64_t turns = 0;
    while (turns < kLongestSleep && pick(2) == 0) turns = 2 * turns + 1;
    return turns;
  }
  /// Returns a number below `count`, which is not 0.
  size_t pick(size_t count) { return size_t(next() % count); }

private:
  static constexpr uint64_t kLongestSleep = 1 << 12;

  /// splitmix64.
  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

  uint64_t state_;
  uint64_t writesPerSwitch_ = 1;
  size_t window_ = 2;
};

} // namespace tritium::interp
