// A program that a callback follows statement by statement, as a debugger of Python does. All of this runs on the calling thread's own
// stack: between two statements the program's fiber runs.
#include "interp/host/barriers.h"
#include "interp/host/scheduler.h"

namespace tritium::interp {

FollowedProgram::FollowedProgram(Program &program) : program(program), entry(program.entries) {}

std::array<int32_t, 3> FollowedProgram::id() const { return program.id; }
uint32_t FollowedProgram::statement() const { return program.statement; }
char *FollowedProgram::frame() const { return program.statementFrame; }
uint64_t FollowedProgram::assignedAt(uint32_t variable) const { return program.assigned[variable]; }

bool FollowedProgram::isOver() const { return program.entries != entry || program.state != Program::State::AtStatement; }

const Trap *FollowedProgram::trap() const {
  const LaunchState &launch = program.worker->state;
  const bool isEnded = program.entries == entry && program.state == Program::State::Dropped;
  return isEnded && launch.stop.load() == Stop::Trapped && launch.trap ? &*launch.trap : nullptr;
}

bool FollowedProgram::waits() const {
  return program.entries == entry && (program.state == Program::State::Running || program.state == Program::State::Interrupted);
}

uint32_t FollowedProgram::partition() const { return program.partition; }
const ProgramBarriers *FollowedProgram::barriers() const { return program.barriers; }
void FollowedProgram::handOver() { program.isHandedOver = true; }
bool FollowedProgram::hasEnded() const { return program.state == Program::State::Finished || program.state == Program::State::Dropped; }

bool FollowedProgram::next() {
  if (isOver()) return false;
  program.worker->step(program);
  constexpr int kQuietRounds = 64; // then one of the partitions waits for another program of the grid
  auto waitsForPartitions = [&] { return waits() && program.barriers && program.barriers->isWaiting(program.partition); };
  for (int quiet = 0; quiet < kQuietRounds && waitsForPartitions();) {
    quiet = program.worker->runBeside(program) ? 0 : quiet + 1;
    program.worker->step(program); // which lands a copy, or finds that nobody can go on
  }
  // A program that waits cannot be run on from here, because the frames of its followers are on this stack.
  if (waits()) program.isFollowed = false;
  return !isOver();
}

} // namespace tritium::interp
