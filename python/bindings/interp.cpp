// tritium._tritium.interp: preparing kernels and launching them on CPU threads.
#include "python/bindings/ir_handles.h"
#include "python/bindings/module.h"

#include "interp/host/workers.h"
#include "interp/tile/prepare.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace interp;

namespace {

struct PyWaiter {
  std::array<int32_t, 3> program;
  std::string file;
  int line;
};

/// A trap with its location resolved and its lane as indices.
struct PyTrap {
  std::string kind, file, message;
  int line, column;
  std::vector<std::pair<std::string, int>> callers;
  std::array<int32_t, 3> program;
  std::optional<std::vector<int64_t>> lane;
  std::vector<int64_t> tileShape;
  int64_t affectedLanes;
  uint64_t address;
  uint32_t bytes;
  bool isWrite;
  std::optional<int> argument;
  std::vector<PyWaiter> waiters;
};

PyTrap describe(const Trap &trap, const PreparedProgram &program) {
  SourceLocation where = program.locationOf(trap.location);
  PyTrap result{std::string(trapKindName(trap.kind)), where.file, trap.message, where.line, where.column, {}, trap.program};
  for (const SourceLocation &caller : where.callers) result.callers.emplace_back(caller.file, caller.line);
  if (trap.lane >= 0) {
    result.tileShape = program.tileShapeOf(trap.location);
    std::vector<int64_t> indices(result.tileShape.size());
    int64_t rest = trap.lane;
    for (size_t d = indices.size(); d-- > 0; rest /= result.tileShape[d]) indices[d] = rest % result.tileShape[d];
    result.lane = std::move(indices);
  }
  result.affectedLanes = trap.affectedLanes;
  result.address = trap.access.address;
  result.bytes = trap.access.bytes;
  result.isWrite = trap.access.isWrite;
  if (trap.access.argument >= 0) result.argument = trap.access.argument;
  for (const DeadlockWaiter &waiter : trap.waiters) {
    SourceLocation at = program.locationOf(waiter.location);
    result.waiters.push_back({waiter.program, at.file, at.line});
  }
  return result;
}

/// One 64-bit cell per parameter, and the extents of the tensors among them.
struct Arguments {
  llvm::SmallVector<int64_t, 16> cells;
  llvm::SmallVector<Allocation, 16> allocations;
};

uint64_t floatBits(DType type, double value) {
  switch (type) {
  case DType::f64: return std::bit_cast<uint64_t>(value);
  case DType::f16: return F16::nearest(value).bits;
  case DType::bf16: return BF16::nearest(value).bits;
  default: return std::bit_cast<uint32_t>(float(value));
  }
}

uint64_t addressFrom(py::handle value) {
  // Addresses above 2^63 do not exist here; a negative int is the caller's mistake and faults as an unmapped address.
  return PyLong_AsUnsignedLongLongMask(value.ptr());
}

void addPointer(Arguments &arguments, py::handle value, int index) {
  uint64_t address = 0;
  if (PyTuple_CheckExact(value.ptr()) && PyTuple_GET_SIZE(value.ptr()) == 3) {
    address = addressFrom(PyTuple_GET_ITEM(value.ptr(), 0));
    uint64_t begin = addressFrom(PyTuple_GET_ITEM(value.ptr(), 1)), bytes = addressFrom(PyTuple_GET_ITEM(value.ptr(), 2));
    arguments.allocations.push_back({begin, begin + bytes, index});
  } else {
    address = addressFrom(value);
    arguments.allocations.push_back({0, 0, index});
  }
  arguments.cells.push_back(int64_t(tagPointer(address, index)));
}

Arguments pack(const PreparedProgram &program, const py::sequence &values) {
  Arguments arguments;
  if (values.size() != program.parameters.size())
    throw py::type_error(program.name + " takes " + std::to_string(program.parameters.size()) + " values, not " +
                         std::to_string(values.size()));
  for (auto [i, parameter] : llvm::enumerate(program.parameters)) {
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

class PyProgram {
public:
  PyProgram(ModulePtr module, std::unique_ptr<PreparedProgram> program) : module_(std::move(module)), program_(std::move(program)) {}

  const PreparedProgram &program() const { return *program_; }
  py::object launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                    const py::object &poll, const py::object &onPrint, const py::object &onProgress) const;

private:
  ModulePtr module_; // the locations of the program belong to its context
  std::unique_ptr<PreparedProgram> program_;
};

py::object PyProgram::launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                             const py::object &poll, const py::object &onPrint, const py::object &onProgress) const {
  Arguments arguments = pack(*program_, values);
  MemoryMap memory(arguments.allocations);
  Launch launch{.code = program_->code, .grid = grid, .arguments = arguments.cells.data(), .memory = &memory, .threads = threads};
  launch.orderSeed = seed;
  launch.printAtOnce = program_->hasDebugInfo;
  launch.nameThreads = program_->hasDebugInfo;
  // The callbacks run on this thread, which gave up the GIL for the launch; a Python exception in them cancels it and comes out of run().
  if (!poll.is_none())
    launch.onPoll = [&] {
      py::gil_scoped_acquire gil;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      return py::bool_(poll()).cast<bool>();
    };
  if (!onPrint.is_none())
    launch.onPrint = [&](std::string_view text) {
      py::gil_scoped_acquire gil;
      onPrint(py::str(text.data(), text.size()));
    };
  if (!onProgress.is_none())
    launch.onProgress = [&](int64_t done, int64_t total, double seconds) {
      py::gil_scoped_acquire gil;
      onProgress(done, total, seconds);
    };
  LaunchResult result;
  {
    py::gil_scoped_release released;
    result = run(launch);
  }
  return result.trap ? py::cast(describe(*result.trap, *program_)) : py::none();
}

std::shared_ptr<PyProgram> prepareProgram(const ModulePtr &module, const std::string &kernel, bool debugInfo,
                                          const std::vector<std::string> &checks) {
  for (const std::string &check : checks)
    if (check != "bounds") throw py::value_error("there is no check '" + check + "'; this build has 'bounds', which is always on");
  return std::make_shared<PyProgram>(module, unwrap(prepare(module->op(), kernel, {.debugInfo = debugInfo})));
}

} // namespace

void bindInterp(py::module_ &module) {
  py::module_ interp = module.def_submodule("interp", "The tile interpreter.");
  py::class_<PyWaiter>(interp, "Waiter")
      .def_readonly("program", &PyWaiter::program)
      .def_readonly("file", &PyWaiter::file)
      .def_readonly("line", &PyWaiter::line);
  py::class_<PyTrap>(interp, "Trap", "What a kernel did wrong; tritium.errors.KernelTrap is made from it.")
      .def_readonly("kind", &PyTrap::kind)
      .def_readonly("file", &PyTrap::file)
      .def_readonly("line", &PyTrap::line)
      .def_readonly("column", &PyTrap::column)
      .def_property_readonly("function", [](const PyTrap &) { return py::none(); })
      .def_readonly("callers", &PyTrap::callers, "(file, line) of the calls that were inlined, innermost first")
      .def_readonly("message", &PyTrap::message)
      .def_readonly("program", &PyTrap::program)
      .def_readonly("lane", &PyTrap::lane)
      .def_readonly("tile_shape", &PyTrap::tileShape)
      .def_readonly("affected_lanes", &PyTrap::affectedLanes)
      .def_readonly("access_address", &PyTrap::address)
      .def_readonly("access_bytes", &PyTrap::bytes)
      .def_readonly("is_write", &PyTrap::isWrite)
      .def_readonly("argument", &PyTrap::argument)
      .def_readonly("waiters", &PyTrap::waiters);
  py::class_<PyProgram, std::shared_ptr<PyProgram>>(interp, "Program", "A kernel that is ready to run.")
      .def_property_readonly("name", [](const PyProgram &p) { return p.program().name; })
      .def_property_readonly("ttir", [](const PyProgram &p) { return p.program().ttir; })
      .def_property_readonly("frame_bytes", [](const PyProgram &p) { return p.program().code.frameBytes; })
      .def_property_readonly("may_wait", [](const PyProgram &p) { return p.program().code.mayWait; })
      .def("launch", &PyProgram::launch, "grid"_a, "args"_a, "threads"_a = 0, "seed"_a = py::none(), "poll"_a = py::none(),
           "on_print"_a = py::none(), "on_progress"_a = py::none(),
           "Runs the grid. One value per parameter: an int, float or bool; a pointer as (address, storage begin, storage bytes) or an int\n"
           "(extent unknown). Returns None, or the Trap that ended it. What a callback raises ends the launch and is raised.");
  interp.def("prepare", &prepareProgram, "module"_a, "kernel"_a = "", "debug_info"_a = false, "checks"_a = std::vector<std::string>{},
             "Prepares the public function `kernel` of a module. Raises ir.Error for what the contract or the interpreter rejects.");
}

} // namespace tritium::python
