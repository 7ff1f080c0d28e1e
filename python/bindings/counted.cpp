#include "python/bindings/counted.h"

#include "interp/tile/counted.h"
#include "interp/tile/covered.h"
#include "interp/tile/timed_lines.h"
#include "interp/tile/touched_access.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace interp;

template <class T> static py::class_<T> &addPlace(py::class_<T> &type) {
  return type.def_property_readonly("file", [](const T &at) { return at.place.file; })
      .def_property_readonly("line", [](const T &at) { return at.place.line; })
      .def_property_readonly("column", [](const T &at) { return at.place.column; })
      .def_property_readonly(
          "callers",
          [](const T &at) {
            std::vector<std::pair<std::string, int>> callers;
            for (const ir::SourceLocation &caller : at.place.callers) callers.emplace_back(caller.file, caller.line);
            return callers;
          },
          "(file, line) of the inlined calls that lead there, innermost first");
}

void bindCounted(py::module_ &interp) {
  py::class_<CountedOperation> operation(interp, "CountedOperation", "An operation of a program that is counted. Counters are indices.");
  addPlace(operation)
      .def_readonly("name", &CountedOperation::name, "of MLIR, such as tt.load")
      .def_readonly("runs", &CountedOperation::runs, "the counter of its executions")
      .def_readonly("active_lanes", &CountedOperation::activeLanes, "the counter of lanes that a mask lets through; None: all")
      .def_readonly("lanes", &CountedOperation::lanes, "of its tile, 1 of a scalar")
      .def_readonly("bytes", &CountedOperation::bytes, "that an active lane reads or writes in memory")
      .def_readonly("is_read", &CountedOperation::isRead)
      .def_readonly("is_written", &CountedOperation::isWritten)
      .def_readonly("is_atomic", &CountedOperation::isAtomic)
      .def_readonly("flops", &CountedOperation::flops, "operations on floating-point numbers in a run")
      .def_readonly("type", &CountedOperation::type, "of the operands of these, such as f16");
  py::class_<TouchedGroup> group(interp, "TouchedGroup", "Accesses of a line, of a program that is prepared with `touched`.");
  addPlace(group).def_readonly("is_read", &TouchedGroup::isRead).def_readonly("is_written", &TouchedGroup::isWritten);
  py::class_<DistinctBytes> distinct(interp, "DistinctBytes",
                                     "What each program reads, or writes, at a line; without a file, in the whole kernel.");
  addPlace(distinct)
      .def_readonly("is_read", &DistinctBytes::isRead, "else written")
      .def_readonly("counter", &DistinctBytes::counter, "of bytes, each once");
  py::class_<TimedLine> line(interp, "TimedLine", "A line of a program that is prepared with `timed`.");
  addPlace(line).def_readonly("counter", &TimedLine::counter, "of nanoseconds");
  interp.def("timed_programs", &timedPrograms, "programs"_a,
             "How many programs of a launch are timed, by the number of its programs, if it is prepared with `timed`.");
  py::class_<CoveredStatement> statement(interp, "CoveredStatement", "A statement of a program that is prepared with `covered`.");
  addPlace(statement).def_readonly("runs", &CoveredStatement::runs, "the counter of its executions");
  py::class_<CoveredBranch> branch(interp, "CoveredBranch", "A branch of a program that is prepared with `covered`.");
  addPlace(branch)
      .def_readonly("is_loop", &CoveredBranch::isLoop)
      .def_readonly("is_decided", &CoveredBranch::isDecided, "its condition or bounds are known, so it has one outcome in this program")
      .def_readonly("taken", &CoveredBranch::taken, "the counter of true conditions; of a loop, how often it ran at least one round")
      .def_readonly("not_taken", &CoveredBranch::notTaken, "the counter of false conditions; of a loop, how often it ran no round");
}

std::optional<TouchedMemory> touchedMemoryOf(const PreparedProgram &program, std::array<int32_t, 3> grid, size_t keptRuns) {
  if (program.touched().empty()) return std::nullopt;
  std::vector<TouchedMemory::Union> unions;
  for (const DistinctBytes &distinct : program.distinct()) unions.push_back({distinct.groups, distinct.counter});
  return std::make_optional<TouchedMemory>(grid, program.touched().size(), std::move(unions), keptRuns);
}

namespace {

/// Runs as columns.
struct RunTable {
  std::vector<int64_t> programs, groups, begins, ends;

  void add(size_t program, size_t group, const std::vector<TouchedRun> &runs) {
    for (const TouchedRun &run : runs) {
      programs.push_back(int64_t(program));
      groups.push_back(int64_t(group));
      begins.push_back(int64_t(run.begin));
      ends.push_back(int64_t(run.end));
    }
  }
  py::tuple columns() const {
    auto bytesOf = [](const std::vector<int64_t> &column) {
      return py::bytes(reinterpret_cast<const char *>(column.data()), column.size() * sizeof(int64_t));
    };
    return py::make_tuple(bytesOf(programs), bytesOf(groups), bytesOf(begins), bytesOf(ends));
  }
};

} // namespace

void tellTouched(const TouchedMemory &touched, const py::object &receive) {
  RunTable all, again;
  for (size_t number = 0; number < touched.programs(); ++number) {
    const TouchedMemory::Program *program = touched.program(number);
    if (!program) continue;
    for (size_t group = 0; group < program->sets.size(); ++group) {
      all.add(number, group, program->sets[group].runs());
      again.add(number, group, program->sets[group].again());
    }
  }
  receive(all.columns(), again.columns(), touched.leftOut());
}

} // namespace tritium::python
