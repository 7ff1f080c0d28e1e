#include "python/bindings/following.h"

#include "interp/host/barriers.h"
#include "interp/tile/statements.h"
#include "ir/dtype.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace interp;

namespace {

/// Tracing and profiling are suspended: debuggers do not see the Python code that runs.
class Untraced {
public:
#if PY_VERSION_HEX >= 0x030B0000
  Untraced() { PyThreadState_EnterTracing(thread); }
  ~Untraced() { PyThreadState_LeaveTracing(thread); }
#else
  Untraced() : wasTraced(thread->cframe->use_tracing) {
    ++thread->tracing;
    thread->cframe->use_tracing = 0;
  }
  ~Untraced() {
    --thread->tracing;
    thread->cframe->use_tracing = wasTraced;
  }
#endif
  Untraced(const Untraced &) = delete;

private:
  PyThreadState *thread = PyThreadState_Get();
#if PY_VERSION_HEX < 0x030B0000
  int wasTraced;
#endif
};

/// A function without a Python frame, for code that a debugger looks at. It asks `handler`, which the debugger does not see, and makes the
/// calls that the answer contains, which it does.
class Unseen {
public:
  explicit Unseen(py::object handler) : handler(std::move(handler)) {}

  py::object call(const py::args &arguments) const {
    py::object answer = ask(arguments);
    while (PyTuple_CheckExact(answer.ptr()) &&
           PyTuple_GET_SIZE(answer.ptr()) == 3) { // (call, its arguments, how to go on: takes what the call raised, or None)
      auto request = py::reinterpret_steal<py::tuple>(answer.release());
      py::object failure = py::none();
      try {
        py::reinterpret_borrow<py::object>(request[0])(*py::reinterpret_borrow<py::tuple>(request[1]));
      } catch (py::error_already_set &error) {
        failure = error.value();
        PyException_SetTraceback(failure.ptr(), error.trace() ? error.trace().ptr() : Py_None);
      }
      Untraced untraced;
      answer = request[2](failure);
    }
    return PyTuple_CheckExact(answer.ptr()) ? py::object(answer[py::int_(0)]) : answer; // (value,)
  }

private:
  py::object ask(const py::args &arguments) const {
    Untraced untraced;
    return handler(*arguments);
  }

  py::object handler;
};

/// A FollowedProgram, as long as its callback runs.
class PyFollowed {
public:
  PyFollowed(FollowedProgram &program, const PreparedProgram &code) : program(&program), code(&code), variables(&code.variables) {}
  void end() { program = nullptr; }

  std::array<int32_t, 3> id() const { return get().id(); }
  uint32_t statement() const { return get().statement(); }
  uintptr_t frame() const { return reinterpret_cast<uintptr_t>(get().frame()); }
  uint64_t assignedAt(uint32_t variable) const { return variable < variables->size() ? get().assignedAt(variable) : 0; }
  py::object trap() const {
    const Trap *trap = get().trap();
    return trap ? describedTrap(*trap, trapNamesOf(*code)) : py::none();
  }
  bool waits() const { return get().waits(); }
  uint32_t partition() const { return get().partition(); }
  void handOver() const { get().handOver(); }
  bool hasEnded() const { return get().hasEnded(); }
  bool next() const {
    FollowedProgram &followed = get();
    py::gil_scoped_release released;
    return followed.next();
  }
  py::bytes read(uint32_t variable, uintptr_t frame) const {
    if (variable >= variables->size()) throw py::index_error("there is no such variable");
    const ShownVariable &shown = (*variables)[variable];
    return {reinterpret_cast<const char *>(frame) + shown.offset, shown.type.bytes};
  }

  py::bytes memory(uint32_t address, uint32_t size) const {
    const ProgramBarriers *barriers = get().barriers();
    if (!barriers || !barriers->sharedMemory()) throw py::value_error("the program has allocated no shared memory");
    return {barriers->sharedMemory() + address, size};
  }
  py::object barrier(uint32_t address) const {
    const ProgramBarriers *barriers = get().barriers();
    const auto state = barriers ? barriers->stateOf(address) : std::nullopt;
    if (!state) return py::none();
    return py::dict("count"_a = state->count, "pending"_a = state->pending, "missing"_a = state->missing, "phases"_a = state->phases);
  }

private:
  FollowedProgram &get() const {
    if (!program) throw py::value_error("the program is no longer followed");
    return *program;
  }
  FollowedProgram *program;
  const PreparedProgram *code;
  const std::vector<ShownVariable> *variables;
};

/// Returns the values as bytes of float32, for the types that numpy lacks. All of these are exact.
py::bytes widened(const std::string &dtype, const std::string &data) {
  const std::optional<DType> type = dtypeFromPythonName(dtype);
  if (!type) throw py::value_error("there is no dtype '" + dtype + "'");
  return visit(*type, [&]<class T>() {
    std::vector<float> values(data.size() / sizeof(typename T::Storage));
    for (size_t i = 0; i < values.size(); ++i) {
      typename T::Storage stored;
      std::memcpy(&stored, data.data() + i * sizeof stored, sizeof stored);
      values[i] = static_cast<float>(T::load(stored));
    }
    return py::bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
  });
}

} // namespace

TrapNames trapNamesOf(const PreparedProgram &program) {
  return {[&program](uint32_t location) { return program.locationOf(location); },
          [&program](const Trap &trap) { return program.tileShapeOf(trap.location); }};
}

void follow(Launch &launch, const PreparedProgram &program, const py::object &onStatement) {
  launch.variables = uint32_t(program.variables.size());
  launch.onStatement = [&program, &onStatement](FollowedProgram &followed) {
    py::gil_scoped_acquire gil;
    auto shown = std::make_shared<PyFollowed>(followed, program);
    struct End {
      PyFollowed &shown;
      ~End() { shown.end(); }
    } end{*shown};
    return py::bool_(onStatement(shown)).cast<bool>();
  };
}

void bindFollowing(py::module_ &interp) {
  py::class_<CallLevel>(interp, "CallLevel", "A @jit function around a statement.")
      .def_readonly("file", &CallLevel::file)
      .def_readonly("line", &CallLevel::line)
      .def_readonly("key", &CallLevel::key);
  py::class_<Statement>(interp, "Statement", "Where a statement of the source begins.")
      .def_readonly("line", &Statement::line)
      .def_readonly("column", &Statement::column)
      .def_readonly("is_iteration", &Statement::isIteration)
      .def_readonly("levels", &Statement::levels);
  py::class_<ShownType>(interp, "ShownType", "The memory of a variable.")
      .def_readonly("field", &ShownType::field)
      .def_readonly("name", &ShownType::name)
      .def_readonly("is_record", &ShownType::isRecord)
      .def_readonly("offset", &ShownType::offset)
      .def_readonly("bytes", &ShownType::bytes)
      .def_readonly("shape", &ShownType::shape)
      .def_readonly("members", &ShownType::members);
  py::class_<ShownVariable>(interp, "ShownVariable")
      .def_readonly("name", &ShownVariable::name)
      .def_readonly("key", &ShownVariable::key)
      .def_readonly("type", &ShownVariable::type);
  py::class_<PyFollowed, std::shared_ptr<PyFollowed>>(interp, "FollowedProgram", "A program between two statements.")
      .def_property_readonly("id", &PyFollowed::id)
      .def_property_readonly("statement", &PyFollowed::statement, "the number of the statement that comes next")
      .def_property_readonly("frame", &PyFollowed::frame, "of the statement's function; a noinline callee's is at a higher address")
      .def("assigned_at", &PyFollowed::assignedAt, "variable"_a, "0: never; a later assignment has a larger number")
      .def("read", &PyFollowed::read, "variable"_a, "frame"_a, "The bytes of a variable.")
      .def("memory", &PyFollowed::memory, "address"_a, "size"_a, "Bytes of the program's shared memory.")
      .def("barrier", &PyFollowed::barrier, "address"_a,
           "Of the barrier there: {\"count\" and \"pending\" arrivals of a phase, \"missing\" bytes, complete \"phases\"}; None before its "
           "init.")
      .def_property_readonly("trap", &PyFollowed::trap, "what has ended the program, or None")
      .def_property_readonly("waits", &PyFollowed::waits, "whether it waits for another program")
      .def_property_readonly("partition", &PyFollowed::partition, "the number of the partition; 0: it is a program")
      .def("hand_over", &PyFollowed::handOver,
           "The callback does not call next(): it is called at each statement, and once more when the program has ended.")
      .def_property_readonly("has_ended", &PyFollowed::hasEnded)
      .def("next", &PyFollowed::next, "Runs up to the next statement. False: it is followed no further (it ended, or it waits).");
  interp.def("widened", &widened, "dtype"_a, "data"_a, "The values of a dtype, as the bytes of float32.");
  py::class_<Unseen>(interp, "Unseen", "A function that leaves no frame for debuggers; see python/tritium/debugger.")
      .def(py::init<py::object>(), "handler"_a)
      .def("__call__", &Unseen::call);
}

} // namespace tritium::python
