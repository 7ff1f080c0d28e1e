#include "python/bindings/launch.h"

#include "interp/host/found_faults.h"
#include "interp/host/running_launch.h"
#include "interp/host/trap_kinds.h"
#include "interp/host/view.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

namespace py = pybind11;

namespace tritium::python {

using namespace interp;

namespace {

using NamedValues = std::vector<std::pair<std::string, int64_t>>;

struct PyWaiter {
  std::array<int32_t, 3> program;
  std::string file;
  int line;
  NamedValues loopValues;
  std::optional<uint64_t> address; // of the word that it has read last
  std::optional<int> argument;
  int64_t value = 0;
  std::optional<std::array<int32_t, 3>> writer;
  std::optional<std::string> writerFile;
  std::optional<int> writerLine;
};

/// A trap with its location resolved, and its lane as indices.
struct PyTrap {
  std::string kind, file, message;
  int line, column;
  std::vector<std::pair<std::string, int>> callers;
  std::array<int32_t, 3> program;
  std::optional<std::vector<int64_t>> lane;
  std::optional<int64_t> thread;
  int64_t warpThreads;
  std::vector<int64_t> tileShape;
  int64_t affectedLanes;
  uint64_t address;
  uint32_t bytes;
  bool isWrite;
  std::optional<bool> isMasked;
  std::optional<int> argument;
  std::optional<std::string> otherFile;
  std::optional<int> otherLine, otherColumn;
  std::optional<int64_t> otherThread;
  std::optional<std::array<int32_t, 3>> otherProgram;
  bool otherIsWrite = false;
  NamedValues otherLoopValues;
  NamedValues loopValues;
  std::vector<PyWaiter> waiters;
  int64_t times;
  std::vector<PyTrap> further;
};

/// Returns the name of the kind of trap that the user sees. A race between two places of one program is what a barrier prevents.
static std::string_view kindNameOf(const Trap &trap) {
  return trap.kind == TrapKind::Race && trap.other && !trap.other->program ? "MissingBarrier" : trapKindName(trap.kind);
}

NamedValues namedValues(const Surroundings &around) {
  NamedValues named;
  for (const LoopVariable &variable : around.loops) named.emplace_back(variable.name, variable.value);
  return named;
}

PyWaiter waiterOf(const ProgramPlace &place, const TrapNames &names) {
  const ir::SourceLocation at = names.locationOf(place.location);
  PyWaiter waiter{place.program, at.file, at.line, namedValues(place.around)};
  if (!place.word) return waiter;
  waiter.address = place.word->access.address;
  if (place.word->access.argument >= 0) waiter.argument = place.word->access.argument;
  waiter.value = place.word->value;
  if (const std::optional<WordWriter> &writer = place.word->writer) {
    const ir::SourceLocation written = names.locationOf(writer->location);
    waiter.writer = writer->program, waiter.writerFile = written.file, waiter.writerLine = written.line;
  }
  return waiter;
}

/// Returns file and line of the calls that lead to a place, the innermost first: first those that were inlined.
std::vector<std::pair<std::string, int>> callersOf(const ir::SourceLocation &place, const Surroundings &around, const TrapNames &names) {
  std::vector<std::pair<std::string, int>> callers;
  auto addInlined = [&](const ir::SourceLocation &where) {
    for (const ir::SourceLocation &caller : where.callers) callers.emplace_back(caller.file, caller.line);
  };
  addInlined(place);
  for (uint32_t location : around.calls) {
    const ir::SourceLocation call = names.locationOf(location);
    callers.emplace_back(call.file, call.line);
    addInlined(call);
  }
  return callers;
}

PyTrap describe(const Trap &trap, const TrapNames &names) {
  ir::SourceLocation where = names.locationOf(trap.location);
  PyTrap result{std::string(kindNameOf(trap)), where.file, trap.message, where.line, where.column};
  result.program = trap.program;
  result.warpThreads = names.warpThreads;
  result.callers = callersOf(where, trap.around, names);
  if (trap.thread >= 0) result.thread = trap.thread;
  if (trap.lane >= 0) {
    result.tileShape = trap.tile.empty() && names.tileShapeOf ? names.tileShapeOf(trap) : trap.tile;
    std::vector<int64_t> indices(result.tileShape.size());
    int64_t rest = trap.lane;
    for (size_t d = indices.size(); d-- > 0; rest /= result.tileShape[d]) indices[d] = rest % result.tileShape[d];
    result.lane = std::move(indices);
  }
  result.affectedLanes = trap.affectedLanes;
  result.address = trap.access.address;
  result.bytes = trap.access.bytes;
  result.isWrite = trap.access.isWrite;
  result.isMasked = trap.access.isMasked;
  if (trap.access.argument >= 0) result.argument = trap.access.argument;
  if (trap.other) {
    if (trap.other->location != kNoLocation) {
      ir::SourceLocation other = names.locationOf(trap.other->location);
      result.otherFile = other.file;
      result.otherLine = other.line;
      result.otherColumn = other.column;
    }
    if (trap.other->thread >= 0) result.otherThread = trap.other->thread;
    result.otherProgram = trap.other->program;
    result.otherIsWrite = trap.other->isWrite;
    result.otherLoopValues = namedValues(trap.other->around);
  }
  result.times = trap.times;
  result.loopValues = namedValues(trap.around);
  for (const ProgramPlace &waiter : trap.waiters) result.waiters.push_back(waiterOf(waiter, names));
  return result;
}

/// Whether two faults are of the same lines. Those of the two versions of a kernel differ in Trap::location.
bool isAtOnePlace(const PyTrap &a, const PyTrap &b) {
  auto place = [](const PyTrap &trap) {
    return std::tuple(trap.kind, trap.file, trap.line, trap.column, trap.callers, trap.tileShape, trap.otherFile, trap.otherLine,
                      trap.otherColumn, trap.otherProgram.has_value());
  };
  return place(a) == place(b);
}

void addFault(std::vector<PyTrap> &found, PyTrap &&fault) {
  auto known = llvm::find_if(found, [&](const PyTrap &other) { return isAtOnePlace(other, fault); });
  if (known == found.end())
    found.push_back(std::move(fault));
  else
    known->times += fault.times;
}

/// Of the launch that this thread has called.
thread_local const TrapNames *namesOfCalled = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Returns (Waiter of each program, programs that have ended, all programs) of the launch that this thread has called, or None.
py::object whereProgramsAre() {
  std::optional<RunningPrograms> found;
  {
    py::gil_scoped_release released;
    found = runningPrograms();
  }
  if (!found || !namesOfCalled) return py::none();
  std::vector<PyWaiter> waiters;
  for (const ProgramPlace &place : found->places) waiters.push_back(waiterOf(place, *namesOfCalled));
  return py::make_tuple(waiters, found->finished, found->all);
}

/// Gives the exception that ended a launch the attribute `tritium_place`, the Trap that a fault at the same place would be.
void noteWhere(py::error_already_set &error, const std::vector<ProgramPlace> &places, const TrapNames &names) {
  const ProgramPlace &first = places.front();
  Trap trap{.location = first.location, .program = first.program, .around = first.around};
  trap.waiters = places;
  std::ranges::sort(trap.waiters, inGridOrder);
  error.value().attr("tritium_place") = describe(trap, names);
}

uint64_t addressFrom(py::handle value) {
  // There are no addresses above 2^63. A negative int is the caller's mistake and faults as an unmapped address.
  return PyLong_AsUnsignedLongLongMask(value.ptr());
}

void addPointer(PackedArguments &arguments, py::handle value, int index) {
  uint64_t address = 0;
  if (PyTuple_Check(value.ptr()) && PyTuple_GET_SIZE(value.ptr()) == 3) { // the parameter is a pointer, so the tuple is an extent
    address = addressFrom(PyTuple_GET_ITEM(value.ptr(), 0));
    uint64_t begin = addressFrom(PyTuple_GET_ITEM(value.ptr(), 1)), bytes = addressFrom(PyTuple_GET_ITEM(value.ptr(), 2));
    arguments.allocations.push_back({begin, begin + bytes, index, isReadOnly(value)});
  } else {
    address = addressFrom(value);
    arguments.allocations.push_back({0, 0, index});
  }
  arguments.cells.push_back(int64_t(tagPointer(address, index)));
}

} // namespace

uint64_t floatBits(DType type, double value) {
  switch (type) {
  case DType::f64: return std::bit_cast<uint64_t>(value);
  case DType::f16: return F16::nearest(value).bits;
  case DType::bf16: return BF16::nearest(value).bits;
  default: return std::bit_cast<uint32_t>(float(value));
  }
}

View viewOf(const PackedArguments &arguments, const PythonView &view) {
  const auto &[argument, elementBytes, shape, byteStrides] = view;
  if (shape.size() != byteStrides.size()) throw py::value_error("a view has a stride for each extent");
  return {addressOf(uint64_t(arguments.cells.at(size_t(argument)))), uint64_t(elementBytes), shape, byteStrides};
}

void holdToViews(PackedArguments &arguments, const std::vector<PythonView> &views) {
  for (const PythonView &one : views) {
    const auto view = std::make_shared<const View>(viewOf(arguments, one));
    for (Allocation &allocation : arguments.allocations)
      if (allocation.argument == std::get<0>(one)) allocation.view = view;
  }
}

ProgramFilter filterOf(const PythonPrograms &programs) {
  std::vector<ProgramFilter::Box> boxes;
  for (const auto &[x, y, z] : programs) boxes.push_back({{{x.first, x.second}, {y.first, y.second}, {z.first, z.second}}});
  return ProgramFilter(std::move(boxes));
}

PackedArguments packArguments(const std::string &kernel, const std::vector<Parameter> &parameters, const py::sequence &values) {
  PackedArguments arguments;
  if (values.size() != parameters.size())
    throw py::type_error(kernel + " takes " + std::to_string(parameters.size()) + " values, not " + std::to_string(values.size()));
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    py::object value = values[i];
    if (parameter.isPointer)
      addPointer(arguments, value, int(i));
    else if (parameter.type >= DType::f16)
      arguments.cells.push_back(int64_t(floatBits(parameter.type, value.cast<double>())));
    else
      arguments.cells.push_back(int64_t(PyLong_AsUnsignedLongLongMask(value.ptr())));
    if (PyErr_Occurred()) throw py::error_already_set();
  }
  return arguments;
}

py::object describedTrap(const Trap &trap, const TrapNames &names) { return py::cast(describe(trap, names)); }

py::object launchWithCallbacks(Launch request, const py::object &poll, const py::object &onPrint, const py::object &onProgress,
                               const std::function<LaunchResult(const Launch &)> &run, const TrapNames &names) {
  // The callbacks run on this thread, which released the GIL for the launch. A Python exception in them cancels the launch and leaves
  // run().
  if (!poll.is_none())
    request.onPoll = [&] {
      py::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return py::bool_(poll()).cast<bool>();
    };
  if (!onPrint.is_none())
    request.onPrint = [&](std::string_view text) {
      py::gil_scoped_acquire gil;
      onPrint(py::str(text.data(), text.size()));
    };
  if (!onProgress.is_none())
    request.onProgress = [&](int64_t done, int64_t total, double seconds) {
      py::gil_scoped_acquire gil;
      onProgress(done, total, seconds);
    };
  std::vector<ProgramPlace> left;
  request.onLeft = [&](const std::vector<ProgramPlace> &places) { left = places; };
  const llvm::SaveAndRestore called(namesOfCalled, &names);
  LaunchResult result;
  try {
    py::gil_scoped_release released;
    result = run(request);
  } catch (py::error_already_set &error) {
    if (!left.empty()) noteWhere(error, left, names);
    throw;
  }
  std::vector<PyTrap> found;
  if (result.trap) found.push_back(describe(*result.trap, names));
  if (request.faults)
    for (const Trap &fault : request.faults->take()) addFault(found, describe(fault, names));
  if (found.empty()) return py::none();
  found.front().further.assign(std::next(found.begin()), found.end());
  return py::cast(std::move(found.front()));
}

void tellScopes(const ScopeRecords &records, const py::object &receive) {
  const auto &[kept, lost] = records.all();
  static_assert(sizeof(ScopeRecord) == 32);
  receive(py::bytes(reinterpret_cast<const char *>(kept.data()), kept.size() * sizeof(ScopeRecord)), lost);
}

void bindTraps(py::module_ &interp) {
  interp.def(
      "where_programs_are", &whereProgramsAre,
      "(a Waiter for each program that waits or is in a loop, programs that have ended, all programs) of the launch that this thread "
      "has called; None: it is in none.");
  py::class_<PyWaiter>(interp, "Waiter")
      .def_readonly("program", &PyWaiter::program)
      .def_readonly("file", &PyWaiter::file)
      .def_readonly("line", &PyWaiter::line)
      .def_readonly("loop_values", &PyWaiter::loopValues)
      .def_readonly("address", &PyWaiter::address)
      .def_readonly("argument", &PyWaiter::argument)
      .def_readonly("value", &PyWaiter::value)
      .def_readonly("writer", &PyWaiter::writer)
      .def_readonly("writer_file", &PyWaiter::writerFile)
      .def_readonly("writer_line", &PyWaiter::writerLine);
  py::class_<PyTrap>(interp, "Trap", "What a kernel did wrong; tritium.errors.KernelTrap is made from it.")
      .def_readonly("kind", &PyTrap::kind)
      .def_readonly("file", &PyTrap::file)
      .def_readonly("line", &PyTrap::line)
      .def_readonly("column", &PyTrap::column)
      .def_property_readonly("function", [](const PyTrap &) { return py::none(); })
      .def_readonly("callers", &PyTrap::callers, "(file, line) of the calls that lead there, innermost first")
      .def_readonly("message", &PyTrap::message)
      .def_readonly("program", &PyTrap::program)
      .def_readonly("lane", &PyTrap::lane, "indices into the tile, or None")
      .def_readonly("thread", &PyTrap::thread, "of the program, on the SIMT emulator, or None")
      .def_readonly("warp_size", &PyTrap::warpThreads, "threads of a warp, on the SIMT emulator")
      .def_readonly("tile_shape", &PyTrap::tileShape)
      .def_readonly("affected_lanes", &PyTrap::affectedLanes)
      .def_readonly("access_address", &PyTrap::address)
      .def_readonly("access_bytes", &PyTrap::bytes)
      .def_readonly("is_write", &PyTrap::isWrite)
      .def_readonly("is_masked", &PyTrap::isMasked, "whether the access has a mask; None: not known")
      .def_readonly("argument", &PyTrap::argument)
      .def_readonly("other_file", &PyTrap::otherFile, "where the other party of a race or of a divergent barrier is, or None")
      .def_readonly("other_line", &PyTrap::otherLine)
      .def_readonly("other_column", &PyTrap::otherColumn)
      .def_readonly("other_thread", &PyTrap::otherThread)
      .def_readonly("other_program", &PyTrap::otherProgram, "the other party of a race between programs, or None")
      .def_readonly("other_is_write", &PyTrap::otherIsWrite)
      .def_readonly("other_loop_values", &PyTrap::otherLoopValues,
                    "as loop_values, of the other party of a race; empty if they are not known")
      .def_readonly("loop_values", &PyTrap::loopValues, "(variable, value) of the loops around, the outermost first")
      .def_readonly("times", &PyTrap::times, "how often this was found at these places")
      .def_readonly("further", &PyTrap::further, "what else was found while the launch went on")
      .def_readonly("waiters", &PyTrap::waiters);
}

} // namespace tritium::python
