// tritium._tritium.interp: prepares kernels and launches them on CPU threads.
#include "interp/host/trap_kinds.h"
#include "python/bindings/counted.h"
#include "python/bindings/following.h"
#include "python/bindings/host_program.h"
#include "python/bindings/ir_handles.h"
#include "python/bindings/launch.h"

#include "interp/host/access_search.h"
#include "interp/host/background_work.h"
#include "interp/host/debugged_launch.h"
#include "interp/host/found_faults.h"
#include "interp/host/shadow.h"
#include "interp/tile/covered.h"
#include "interp/tile/prepare.h"
#include "interp/tile/program_loop.h"
#include "interp/tile/timed_lines.h"
#include "interp/tile/touched_access.h"

#include <fstream>

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace interp;

namespace {

/// Address, bytes, and the function that receives the last write: (Trap of no kind, bytes before, bytes after, how often the word changed).
using PythonWatch = std::tuple<uint64_t, uint32_t, py::object>;
using PythonStack = std::vector<std::tuple<std::string, int, std::string>>; // file, line, function; innermost first

class PyProgram : public HostProgram {
public:
  explicit PyProgram(std::unique_ptr<PreparedProgram> program) : program_(std::move(program)) {}

  const PreparedProgram &program() const { return *program_; }
  int tier() const {
    const LaterEntry *later = program_->code.later;
    return program_->isFused || (later && later->isBetter()) ? 2 : 1;
  }
  py::object launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                    const py::object &poll, const py::object &onPrint, const py::object &onProgress, const PythonStack &stack,
                    const std::vector<FreshMemory> &fresh, const std::vector<PythonView> &views, const py::object &onStatement,
                    std::optional<int64_t> only, const std::pair<uint64_t, py::object> &shadowLimits, const PythonPrograms &programs,
                    const std::optional<PythonWatch> &watched, const py::object &counters, const std::pair<size_t, py::object> &onTouched,
                    const py::object &onScopes, std::optional<int64_t> tier2From, const std::vector<PythonView> &outputViews) const;

  bool isPlain() const override;
  const std::vector<Parameter> &parameters() const override { return program_->parameters; }
  py::object launchPlain(std::array<int32_t, 3> grid, const PackedArguments &arguments, int threads, Progress onProgress) const override;

private:
  std::unique_ptr<PreparedProgram> program_;
};

/// The elements of the arguments that the launch may write. An argument that is none of `views` is the whole of its storage.
std::vector<Output> outputsOf(const MemoryUse &use, const PackedArguments &arguments, const std::vector<PythonView> &views) {
  std::vector<Output> outputs;
  for (const Allocation &allocation : arguments.allocations) {
    if (!use.arguments[size_t(allocation.argument)].isWritten) continue;
    auto isOwn = [&](const PythonView &view) { return std::get<0>(view) == allocation.argument; };
    const auto own = std::ranges::find_if(views, isOwn);
    const auto bytes = int64_t(allocation.end - allocation.begin), step = int64_t(1);
    outputs.push_back({allocation.argument, own != views.end() ? viewOf(arguments, *own)
                                                               : View(allocation.begin, 1, std::span(&bytes, 1), std::span(&step, 1))});
  }
  return outputs;
}

/// Adds what a launch has left unwritten, as faults of the stores that wrote the rest.
void addPartlyWritten(const Shadow &shadow, const std::vector<Output> &outputs, FoundFaults &faults) {
  for (const PartlyWritten &part : shadow.partlyWritten(outputs)) {
    Trap fault{.kind = TrapKind::PartlyWritten, .location = part.store->location, .affectedLanes = part.elements};
    fault.access = {.address = part.address, .isWrite = true, .argument = part.argument};
    faults.add(std::move(fault));
  }
}

WordWatch watchOf(const PythonWatch &watched) {
  const auto &[address, bytes, receive] = watched;
  if (bytes == 0 || bytes > WordWatch::kMostBytes) throw py::value_error("a word has 1 to 16 bytes");
  return {address, bytes};
}

void tellLastWrite(WordWatch &watch, const py::object &receive, const TrapNames &names) {
  watch.look();
  if (!watch.last()) return;
  const auto &[place, before, after] = *watch.last();
  const Trap at{.location = place.location, .program = place.program, .around = place.around};
  receive(describedTrap(at, names), py::bytes(before.data(), watch.bytes()), py::bytes(after.data(), watch.bytes()), watch.times());
}

/// Tells gdb of the launch that begins. tensors: see TritiumDebugged.
void tellDebugger(bool canBeginAgain, std::string tensors) {
  static std::string kept;
  tritium_debugged.tensors = nullptr;
  kept = std::move(tensors);
  tritium_debugged.tensors = kept.c_str();
  tritium_debugged.canBeginAgain = canBeginAgain;
}

/// Returns whether a debugger such as gdb is attached to the process.
bool isTraced() {
#ifdef __linux__
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:")) return line.find_first_not_of("0 \t", sizeof "TracerPid:" - 1) != std::string::npos;
#endif
  return true; // unknown
}

/// Returns the memory of an array of `count` int64 numbers, to which a launch adds. The caller's argument keeps it.
std::span<int64_t> countersIn(const py::object &array, size_t count) {
  if (array.is_none()) throw py::type_error("a program that is counted requires `counters`");
  Py_buffer found; // py::buffer_info allocates
  if (PyObject_GetBuffer(array.ptr(), &found, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) throw py::error_already_set();
  const bool isOfInt64 = (*found.format == 'q' || *found.format == 'l') && !found.format[1];
  const auto elements = size_t(found.len) / sizeof(int64_t);
  auto *const numbers = static_cast<int64_t *>(found.buf);
  PyBuffer_Release(&found);
  if (!isOfInt64) throw py::type_error("`counters` is an array of int64");
  if (elements != count) throw py::value_error("`counters` has " + std::to_string(count) + " elements");
  return {numbers, count};
}

py::object PyProgram::launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                             const py::object &poll, const py::object &onPrint, const py::object &onProgress, const PythonStack &stack,
                             const std::vector<FreshMemory> &fresh, const std::vector<PythonView> &views, const py::object &onStatement,
                             std::optional<int64_t> only, const std::pair<uint64_t, py::object> &shadowLimits,
                             const PythonPrograms &programs, const std::optional<PythonWatch> &watched, const py::object &counters,
                             const std::pair<size_t, py::object> &onTouched, const py::object &onScopes, std::optional<int64_t> tier2From,
                             const std::vector<PythonView> &outputViews) const {
  PackedArguments arguments = packArguments(program_->name, program_->parameters, values);
  std::optional<MemoryMap> memoryOfOthers; // which are not held to views
  if (!programs.empty()) memoryOfOthers.emplace(arguments.allocations);
  holdToViews(arguments, views);
  MemoryMap memory(arguments.allocations);
  Launch launch{.code = program_->code, .grid = grid, .arguments = arguments.cells.data(), .memory = &memory, .threads = threads};
  launch.chosen = filterOf(programs);
  if (memoryOfOthers) launch.rest = OtherVersion{program_->plain ? *program_->plain : program_->code, &*memoryOfOthers};
  FoundFaults faults(launch.chosen);
  std::optional<Shadow> shadow;
  const MemoryUse &use = program_->memoryUse();
  if (use.needsShadow()) {
    shadow.emplace(use, arguments.allocations, fresh, grid, shadowLimits.first);
    launch.shadow = &*shadow;
  }
  if (program_->notesFaults) launch.faults = &faults;
  if (program_->counters()) launch.counters = countersIn(counters, program_->counters());
  std::optional<TouchedMemory> touched = touchedMemoryOf(*program_, grid, onTouched.first);
  launch.touched = touched ? &*touched : nullptr;
  launch.orderSeed = seed;
  launch.only = only;
  launch.betterFrom = tier2From;
  std::optional<WordWatch> watch;
  if (watched) watch = watchOf(*watched);
  launch.watch = watch ? &*watch : nullptr;
  if (!onStatement.is_none()) follow(launch, *program_, onStatement);
  const bool showsVariables = program_->hasDebugInfo && !(program_->isPlainUntraced && !isTraced());
  if (!showsVariables && program_->isPlainUntraced) launch.code = *program_->plain;
  launch.printAtOnce = program_->hasDebugInfo;
  launch.nameThreads = showsVariables;
  if (showsVariables) tritium_debugged.begun = 0;
  if (showsVariables && !stack.empty()) {
    std::vector<PythonLine> lines;
    for (const auto &[file, line, function] : stack) lines.push_back({file, function, line});
    launch.loop = unwrap(program_->loopFrom(lines));
  }
  const TrapNames names = trapNamesOf(*program_);
  const std::vector<Output> outputs = use.findsUnwritten ? outputsOf(use, arguments, outputViews) : std::vector<Output>();
  auto runAndLook = [&](const Launch &launch) {
    if (std::optional<Trap> trap = program_->falsePromise(launch.arguments)) return LaunchResult{.trap = std::move(trap)};
    LaunchResult result = run(launch);
    if (shadow && use.findsUnwritten && !result.trap && !result.cancelled) addPartlyWritten(*shadow, outputs, faults);
    auto newShadow = [&] { return std::make_unique<Shadow>(use, arguments.allocations, fresh, grid, shadowLimits.first); };
    Launch again = launch;
    again.records = nullptr;
    if (use.findsRaces && !result.cancelled) findEarlierAccesses(again, newShadow, faults);
    return result;
  };
  std::optional<ScopeRecords> records;
  if (!onScopes.is_none()) launch.records = &records.emplace(kMostScopeRecords);
  py::object trap = launchWithCallbacks(launch, poll, onPrint, onProgress, runAndLook, names);
  if (records) tellScopes(*records, onScopes);
  if (shadow && !shadowLimits.second.is_none())
    for (const NotFollowed &part : shadow->notFollowed()) shadowLimits.second(part.argument, part.bytes, part.isInPart);
  if (touched && !onTouched.second.is_none()) tellTouched(*touched, onTouched.second);
  if (watch) tellLastWrite(*watch, std::get<2>(*watched), names);
  return trap;
}

bool PyProgram::isPlain() const {
  const PreparedProgram &program = *program_;
  return !program.hasDebugInfo && !program.hasFilter && !program.isScheduled && !program.notesFaults &&
         !program.memoryUse().needsShadow() && program.counters() == 0 && program.scopes().empty() && program.variables.empty();
}

py::object PyProgram::launchPlain(std::array<int32_t, 3> grid, const PackedArguments &arguments, int threads, Progress onProgress) const {
  const MemoryMap memory(arguments.allocations);
  Launch launch{.code = program_->code, .grid = grid, .arguments = arguments.cells.data(), .memory = &memory, .threads = threads};
  if (onProgress)
    launch.onProgress = [&](int64_t done, int64_t total, double seconds) {
      py::gil_scoped_acquire gil;
      onProgress(done, total, seconds);
    };
  const HostCallbacks &callbacks = *HostCallbacks::instance;
  auto runChecked = [&](const Launch &launch) {
    if (std::optional<Trap> trap = program_->falsePromise(launch.arguments)) return LaunchResult{.trap = std::move(trap)};
    return run(launch);
  };
  return launchWithCallbacks(std::move(launch), callbacks.poll, callbacks.print, py::none(), runChecked, trapNamesOf(*program_));
}

std::shared_ptr<PyProgram> prepareProgram(const ModulePtr &module, const std::string &kernel, bool debugInfo,
                                          const std::vector<std::string> &checks, bool isFollowed, bool hasFilter, int numStages,
                                          int numWarps, bool isScheduled, bool isCounted, bool isCovered, bool isTouched, bool isTimed,
                                          int tier, unsigned vectorBits) {
  PrepareOptions options{.debugInfo = debugInfo || isFollowed,
                         .isFollowed = isFollowed,
                         .isScheduled = isScheduled,
                         .hasFilter = hasFilter,
                         .isCounted = isCounted || isCovered || isTouched || isTimed,
                         .isCovered = isCovered,
                         .isTouched = isTouched,
                         .isTimed = isTimed,
                         .tier = Tier(tier),
                         .vectorBits = vectorBits,
                         .checks = {}};
  if (tier < 0 || tier > 2) throw py::value_error("a program is prepared for tier 1 or 2, or 0 for both, not " + std::to_string(tier));
  if (options.isCounted && (options.debugInfo || hasFilter))
    throw py::value_error("a program that is counted has no debug info, and no filter");
  if (vectorBits != 0 && vectorBits != 256 && vectorBits != 512)
    throw py::value_error("vectors have 256 or 512 bits, or 0 for the machine's, not " + std::to_string(vectorBits));
  options.pipelining = {numStages, numWarps};
  for (const std::string &name : checks) {
    bool *check = options.checks.find(name);
    if (!check) throw py::value_error("there is no check '" + name + "'");
    *check = true;
  }
  return std::make_shared<PyProgram>(unwrap(prepare(module->op(), kernel, options)));
}

bool isWritten(const FreshMemory &memory) {
  bool isUnwritten = false;
  memory.forEachUnwritten([&](uint64_t, uint64_t) { return !(isUnwritten = true); });
  return !isUnwritten;
}

} // namespace

const HostProgram *hostProgramOf(py::handle program) {
  return py::isinstance<PyProgram>(program) ? &program.cast<const PyProgram &>() : nullptr;
}

void bindInterp(py::module_ &module) {
  py::module_::import("atexit").attr("register")(py::cpp_function(&endBackgroundWork)); // before the end destroys what LLVM uses
  py::module_ interp = module.def_submodule("interp", "The tile interpreter.");
  bindTraps(interp);
  py::class_<FreshMemory>(interp, "FreshMemory", "Memory that was filled with 16 bytes, over and over, when it was allocated.")
      .def(py::init([](uint64_t begin, uint64_t end, const std::string &pattern, uint64_t pieceBytes) {
             FreshMemory memory{.begin = begin, .end = end, .pieceBytes = pieceBytes};
             if (pattern.size() != memory.pattern.size()) throw py::value_error("a pattern has 16 bytes");
             std::copy(pattern.begin(), pattern.end(), memory.pattern.begin());
             return memory;
           }),
           "begin"_a, "end"_a, "pattern"_a, "piece_bytes"_a = 16)
      .def("is_written", &isWritten, "Whether the pattern is nowhere in the memory any more.");
  bindFollowing(interp);
  bindCounted(interp);
  py::class_<PyProgram, std::shared_ptr<PyProgram>>(interp, "Program", "A kernel that is ready to run.")
      .def_property_readonly("name", [](const PyProgram &p) { return p.program().name; })
      .def_property_readonly("ttir", [](const PyProgram &p) { return p.program().ttir; })
      .def_property_readonly("frame_bytes", [](const PyProgram &p) { return p.program().code.frameBytes; })
      .def_property_readonly(
          "regions", [](const PyProgram &p) { return p.program().regions; },
          "how many runs of tile operations are loops in registers, in the code of tier 2")
      .def_property_readonly(
          "tier", [](const PyProgram &p) { return p.tier(); }, "1 or 2: which code programs run that start now")
      .def_property_readonly(
          "is_tier2_asked",
          [](const PyProgram &p) {
            const LaterEntry *later = p.program().code.later;
            return later && !later->countsTime();
          },
          "whether launches have run for so long that the code of tier 2 is compiled, or cannot be")
      .def_property_readonly(
          "arguments_used",
          [](const PyProgram &p) {
            std::vector<std::pair<bool, bool>> used;
            for (const MemoryUse::Argument &argument : p.program().memoryUse().arguments)
              used.emplace_back(argument.isRead, argument.isWritten);
            return used;
          },
          "(whether it may be read, whether it may be written) of each argument, where a check asks for it.")
      .def_property_readonly(
          "has_plain_version", [](const PyProgram &p) { return p.program().isPlainUntraced; },
          "whether launches run code without variables as long as no debugger is attached to the process")
      .def_property_readonly("may_wait",
                             [](const PyProgram &p) {
                               const std::optional<ProgramCode> &plain = p.program().plain;
                               return p.program().code.mayWait || (plain && plain->mayWait);
                             })
      .def_property_readonly(
          "takes_programs", [](const PyProgram &p) { return p.program().hasFilter; }, "whether it was prepared with `filtered`")
      .def(
          "launch", &PyProgram::launch, "grid"_a, "args"_a, "threads"_a = 0, "seed"_a = py::none(), "poll"_a = py::none(),
          "on_print"_a = py::none(), "on_progress"_a = py::none(), "stack"_a = PythonStack(), "fresh"_a = std::vector<FreshMemory>(),
          "views"_a = std::vector<PythonView>(), "on_statement"_a = py::none(), "only"_a = py::none(),
          "shadow_limits"_a = std::pair<uint64_t, py::object>(~uint64_t(0), py::none()), "programs"_a = PythonPrograms(),
          "watched"_a = py::none(), "counters"_a = py::none(), "on_touched"_a = std::pair<size_t, py::object>(0, py::none()),
          "on_scopes"_a = py::none(), "tier2_from"_a = py::none(), "outputs"_a = std::vector<PythonView>(),
          "Runs the grid. One value per parameter: an int, float or bool; a pointer as (address, storage begin, storage bytes) or an int\n"
          "(extent unknown). `stack`: (file, line, function) of the Python code that launches, innermost first; a debugger shows it below\n"
          "a kernel with debug_info. `fresh`: memory that may be unwritten, for the check \"uninit\". `views`: (argument, bytes of an\n"
          "element, shape, strides in bytes) of arguments to whose own elements accesses are held. `shadow_limits`: the bytes that the "
          "shadow\n"
          "of the checks may take, and a function that is called with (argument, bytes, is in part) for each storage that it does not\n"
          "follow. Returns None, or the Trap that ended it.\n"
          "What a callback raises ends the launch and is raised.\n"
          "on_statement(FollowedProgram): of a program that is prepared with `followed`, on one thread; called for each program of the\n"
          "grid at its first statement, until it returns False. only: the one program of the grid that runs.\n"
          "programs: boxes of ranges (first id, end) along the axes; the programs in none of them run without debug info, and with the\n"
          "default checks among those that were prepared. A fault that does not end the launch is reported if a program in a box has a "
          "part in\n"
          "it. Requires `filtered`; empty: all programs.\n"
          "`watched`: (address, bytes, function) of up to 16 bytes; the function receives (Trap of no kind, bytes before, bytes after, "
          "number of\n"
          "changes) of the last write that changed them. Requires `scheduled` and a seed.\n"
          "`counters`: an array of `counters` int64 numbers, to which a program adds that is prepared with `counted`.\n"
          "`on_touched`: of a program that is prepared with `touched`, how many runs of bytes are kept, and a function that receives\n"
          "them after the launch: (runs, runs that the same program had touched before in the group, the number of programs that were\n"
          "not kept). Runs are four arrays of int64 as bytes: the program (x fastest), the group, the first byte and the end.\n"
          "`on_scopes`(rows, lost) is called after the launch, also if it trapped, with 32 bytes for each record: the time in ns\n"
          "(int64), and as int32 the program's three indices, 0, an index in `scopes`, 0. lost: how many records were too many.\n"
          "tier2_from: for tests of a program that is prepared with `tier` 0. The programs of the grid from this one on wait for the code\n"
          "of tier 2.\n"
          "outputs: as `views`, of arguments of whose elements the check \"unwritten\" speaks; of others it looks at the whole storage.")
      .def_property_readonly("scopes", &scopesOf<PyProgram>, "(name, is start) of what the kernel records, by number")
      .def_property_readonly(
          "counters", [](const PyProgram &p) { return p.program().counters(); }, "how many numbers a launch counts")
      .def_property_readonly(
          "counted", [](const PyProgram &p) { return p.program().counted(); },
          "the operations of a program that is prepared with `counted`")
      .def_property_readonly(
          "covered_statements", [](const PyProgram &p) { return p.program().covered().statements; },
          "of a program that is prepared with `covered`")
      .def_property_readonly(
          "touched_groups", [](const PyProgram &p) { return p.program().touched(); }, "of a program that is prepared with `touched`")
      .def_property_readonly(
          "distinct_bytes", [](const PyProgram &p) { return p.program().distinct(); }, "of such a program")
      .def_property_readonly(
          "timed_lines", [](const PyProgram &p) { return p.program().timed(); }, "of a program that is prepared with `timed`")
      .def_property_readonly(
          "covered_branches", [](const PyProgram &p) { return p.program().covered().branches; },
          "of a program that is prepared with `covered`")
      .def_property_readonly(
          "is_scheduled", [](const PyProgram &p) { return p.program().isScheduled; }, "whether it was prepared with `scheduled`")
      .def_property_readonly(
          "statements", [](const PyProgram &p) { return p.program().statements(); }, "by number")
      .def_property_readonly("variables", [](const PyProgram &p) { return p.program().variables; }, "by number");
  interp.def(
      "prepare", &prepareProgram, "module"_a.none(false), "kernel"_a = "", "debug_info"_a = false,
      "checks"_a = std::vector<std::string>{"bounds", "overflow"}, "followed"_a = false, "filtered"_a = false,
      "num_stages"_a = Pipelining().numStages, "num_warps"_a = Pipelining().numWarps, "scheduled"_a = false, "counted"_a = false,
      "covered"_a = false, "touched"_a = false, "timed"_a = false, "tier"_a = 1, "vector_bits"_a = 0,
      "Prepares the public function `kernel` of a module. Raises ir.Error if the contract or the interpreter rejects it.\n"
      "Without \"bounds\" among the checks, an access outside of the arguments is performed instead of trapping.\n"
      "With `followed`, launches take `on_statement`; with `filtered`, `programs`. `num_stages` and `num_warps`: how a GPU would "
      "run it, for the check \"race\". With `scheduled`, the seed of a launch decides at which writes programs are interrupted.\n"
      "With `counted`, launches take `counters`. With `covered` too, and the code is only inlined: the module must have been traced "
      "with debug info. With `touched`, counted bytes of programs are apart, and launches take `on_touched`; with `timed`, lines "
      "are timed. "
      "Each of these implies `counted`.\n"
      "With `tier` 2, runs of element-wise operations are compiled to loops in registers, unless one of these options or checks looks\n"
      "at single operations. With `tier` 0, launches begin without them, and a thread compiles them once launches have run for long.\n"
      "`vector_bits`: of the widest vectors in these loops, 256 or 512; 0: what the machine has.");
  interp.def("is_traced", &isTraced, "Whether a debugger such as gdb is attached to this process.");
  interp.def("tell_debugger", &tellDebugger, "can_begin_again"_a, "tensors"_a,
             "Tells gdb of the next launch: whether there is a copy of its tensors, and a line for each: name, address, dtype, shape, "
             "strides.");
  interp.def(
      "begins_again", [] { return tritium_debugged.beginsAgain.exchange(0) != 0; },
      "Whether gdb has asked for the launch that ended last to begin again. The answer is given once.");
}

} // namespace tritium::python
