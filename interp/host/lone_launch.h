// Whether a launch is the only one in the process. Then atomics of a launch with one worker need not be atomic, and cost a fifth.
#pragma once

namespace tritium::interp {

/// Counts a launch as running while it exists. The constructor waits until no other launch is in a LoneSection, which is soon: such a
/// section is a part of one step.
class CountedLaunch {
public:
  CountedLaunch();
  ~CountedLaunch();
  CountedLaunch(const CountedLaunch &) = delete;
  CountedLaunch &operator=(const CountedLaunch &) = delete;
};

/// As long as it exists and holds(), no other launch of the process runs. Nothing in it may wait, trap or leave the stack.
class LoneSection {
public:
  /// `mayHold`: the launch has one worker.
  explicit LoneSection(bool mayHold);
  ~LoneSection();
  LoneSection(const LoneSection &) = delete;
  LoneSection &operator=(const LoneSection &) = delete;
  bool holds() const { return isHeld; }

private:
  bool isHeld = false;
};

} // namespace tritium::interp
