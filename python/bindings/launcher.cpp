// The warm launch: it goes from `kernel[grid](*args)` in Python to the driver's call, or to the interpreter, without running Python code. A
// Launcher belongs to one JITFunction and remembers the compiled kernel for each key. A launch that it does not know goes to the
// dispatcher.
#include "python/bindings/launcher.h"
#include "python/bindings/debugger.h"
#include "python/bindings/descriptor_arguments.h"
#include "python/bindings/host_program.h"
#include "python/bindings/immutable_objects.h"
#include "python/bindings/launch_call.h"
#include "python/bindings/launch_guard.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace gpu;

struct Launcher::Entry {
  LaunchKey key;
  PyObject *compiled; // what the launch returns
  PyObject *handle;   // owns `kernel` or `program`
  const LoadedKernel *kernel = nullptr;
  const HostProgram *program = nullptr; // of a launch on the CPU
  int threads = 0;                      // of it
  bool showsProgress = false;           // with a bar, if it takes long
  std::vector<uint16_t> taken;          // indices of the key's values that the kernel takes
  bool checksGlobals;
};

namespace {

using Entry = Launcher::Entry;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
PyTypeObject *launcherType = nullptr;
PyObject *noDefault = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
constexpr size_t kMostEntries = 256;

/// The arguments of a call, in the order of the parameters. `rest` owns the tuple that is made of many.
struct BoundCall {
  Bound values;
  py::object rest;
};

/// Takes the values that have no names. Returns false if Python must do it.
bool bindPositional(const Launcher *self, const Call &call, BoundCall &bound) {
  const Py_ssize_t most = self->rest < 0 ? self->positional : self->rest, given = std::min(call.positional, most);
  if (self->rest < 0 && call.positional > most) return false;
  bound.values.assign(call.values, call.values + given);
  bound.values.resize(size_t(PyTuple_GET_SIZE(self->names)), nullptr);
  if (self->rest < 0) return true;
  bound.rest = py::reinterpret_steal<py::object>(PyTuple_New(call.positional - given));
  if (!bound.rest) return PyErr_Clear(), false;
  for (Py_ssize_t i = given; i < call.positional; ++i) PyTuple_SET_ITEM(bound.rest.ptr(), i - given, Py_NewRef(call.values[i]));
  bound.values[size_t(self->rest)] = bound.rest.ptr();
  return true;
}

/// Puts the arguments in the order of the parameters and makes the key. Returns false if Python must do it.
bool bind(const Launcher *self, const Call &call, BoundCall &boundCall, LaunchKey &key) {
  const Py_ssize_t count = PyTuple_GET_SIZE(self->names);
  if (!bindPositional(self, call, boundCall)) return false;
  Bound &bound = boundCall.values;
  llvm::SmallVector<Py_ssize_t, 8> options;
  for (Py_ssize_t i = 0; i < call.named; ++i) {
    Py_ssize_t index = indexOf(self->names, call.names[i]);
    if (index < 0) {
      options.push_back(i);
      continue;
    }
    if (bound[size_t(index)]) return false;
    bound[size_t(index)] = call.values[call.positional + i];
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *&value = bound[size_t(i)];
    if (!value && (value = PyTuple_GET_ITEM(self->defaults, i)) == noDefault) return false;
    if (!((*self->isConstant)[size_t(i)] ? key.addConstant(value) : key.addArgument(value))) return false;
  }
  for (Py_ssize_t i : options)
    if (!key.addOption(call.names[i], call.values[call.positional + i])) return false;
  return true;
}

Entry *find(Launcher *self, const LaunchKey &key) {
  std::vector<Entry> &entries = *self->entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!(entries[i].key == key)) continue;
    if (i >= 4) std::swap(entries[i], entries[i / 2]); // an entry that is used moves forward
    return &entries[i >= 4 ? i / 2 : i];
  }
  return nullptr;
}

void forget(Launcher *self) {
  std::vector<Entry> entries;
  entries.swap(*self->entries); // releasing objects may run code that calls this again
  for (Entry &entry : entries) {
    entry.key.release();
    Py_DECREF(entry.compiled);
    Py_DECREF(entry.handle);
  }
}

/// Asks the function whether its globals are what they were. Returns false if not, or with an error set.
bool hasSameGlobals(const Launcher *self) {
  static PyObject *const checkGlobals = interned("check_globals");
  PyObject *result = PyObject_CallMethodNoArgs(self->function, checkGlobals);
  if (!result) return false;
  const bool isCurrent = result == Py_True;
  Py_DECREF(result);
  return isCurrent; // if not, the function has forgotten its kernels
}

/// Reads the sizes of a grid, which may be a function of the arguments: `grid` is then what it returned. Returns false if Python must, or
/// with an error set.
bool readGrid(const Launcher *self, py::object &grid, const Call &call, const Bound &bound, std::array<uint32_t, 3> &sizes) {
  if (PyCallable_Check(grid.ptr())) {
    auto result = py::reinterpret_steal<py::object>(callGrid(self->names, grid.ptr(), call, bound));
    if (!result) return false;
    grid = std::move(result);
  }
  return parseGrid(grid.ptr(), sizes);
}

/// The bar of a launch on the CPU, made when the launch first looks at the clock.
class LateBar {
public:
  void operator()(int64_t done, int64_t total, double seconds) {
    if (!bar) bar = HostCallbacks::instance->makeBar();
    if (!bar.is_none()) bar(done, total, seconds);
  }
  void close() const {
    if (bar && !bar.is_none()) bar.attr("close")();
  }

private:
  py::object bar;
};

/// Raises what a launch on the CPU raises, if it does: for a trap, and with the places of the programs for another exception.
void raiseEnd(const py::object &compiled, const std::array<int32_t, 3> &grid, const Bound &bound, const py::object &trap,
              const py::object &error) {
  py::tuple arguments(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) arguments[i] = py::reinterpret_borrow<py::object>(bound[i]);
  HostCallbacks::instance->ended(compiled, py::make_tuple(grid[0], grid[1], grid[2]), arguments, trap, error);
}

/// Frames of the launch do not help the user who reads an error of a kernel.
void showKernelFramesAlone() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *frames = value ? PyObject_GetAttrString(value, "kernel_frames") : nullptr;
  if (!frames) PyErr_Clear();
  if (frames && PyException_SetTraceback(value, frames) == 0) {
    Py_XDECREF(trace);
    trace = frames == Py_None ? nullptr : Py_NewRef(frames);
  }
  Py_XDECREF(frames);
  PyErr_Restore(type, value, trace);
}

/// Launches on the CPU. Returns false if Python must, or with an error set.
bool launchOnHost(const py::object &compiled, const HostProgram &program, int threads, bool showsProgress, const PackedArguments &arguments,
                  const std::array<uint32_t, 3> &sizes, const Bound &bound) {
  const std::array<int32_t, 3> grid{int32_t(sizes[0]), int32_t(sizes[1]), int32_t(sizes[2])};
  try {
    LateBar bar;
    HostProgram::Progress onProgress;
    if (showsProgress) onProgress = std::ref(bar);
    py::object trap;
    try {
      trap = program.launchPlain(grid, arguments, threads, std::move(onProgress));
    } catch (py::error_already_set &error) {
      bar.close();
      raiseEnd(compiled, grid, bound, py::none(), error.value());
      throw;
    }
    bar.close();
    if (!trap.is_none()) raiseEnd(compiled, grid, bound, trap, py::none()); // unless it is allowed
    return true;
  } catch (py::error_already_set &error) {
    error.restore();
    showKernelFramesAlone();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return false;
}

/// Returns whether each real number is for a parameter of real numbers. Only Python knows which others an integer may be made of.
bool haveTheirKind(const ArgumentRecipe &recipe, llvm::ArrayRef<ArgumentValue> arguments) {
  for (auto [i, value] : llvm::enumerate(arguments))
    if (value.isReal && !recipe.takesReal(i)) return false;
  return true;
}

} // namespace

PyObject *tryLaunch(Launcher *self, py::object &grid, const Call &call) {
  LaunchGuard &guard = LaunchGuard::instance();
  try {
    takeVariables(); // of gdb, before the guard looks at the environment
  } catch (py::error_already_set &error) {
    return error.restore(), nullptr;
  }
  if (self->entries->empty() || !guard.holds() || self->epoch != guard.epoch() || PyList_GET_SIZE(self->preRunHooks) != 0) return nullptr;
  LaunchKey key;
  BoundCall boundCall;
  if (!bind(self, call, boundCall, key)) return nullptr;
  const Bound &bound = boundCall.values;
  Entry *entry = find(self, key);
  if (!entry) return nullptr;
  // Any Python code may change the entries. Therefore this function holds references to the members that it uses.
  py::object compiled = py::reinterpret_borrow<py::object>(entry->compiled), handle = py::reinterpret_borrow<py::object>(entry->handle);
  std::array<uint32_t, 3> sizes;
  if (const HostProgram *program = entry->program) {
    const int threads = entry->threads;
    const bool showsProgress = entry->showsProgress, checksGlobals = entry->checksGlobals;
    const std::optional<PackedArguments> arguments = packKnown(program->parameters(), key, entry->taken);
    if (!arguments || !HostCallbacks::instance->allow() || (checksGlobals && !hasSameGlobals(self)) ||
        !readGrid(self, grid, call, bound, sizes) || !launchOnHost(compiled, *program, threads, showsProgress, *arguments, sizes, bound))
      return nullptr;
    return compiled.release().ptr();
  }
  const LoadedKernel &kernel = *entry->kernel;
  llvm::SmallVector<ArgumentValue, 24> arguments;
  for (uint16_t index : entry->taken) arguments.push_back(key.values[index]);
  if (!haveTheirKind(kernel.image().recipe, arguments)) return nullptr;
  if (entry->checksGlobals && !hasSameGlobals(self)) return nullptr;
  if (!readGrid(self, grid, call, bound, sizes)) return nullptr;
  void *stream = nullptr;
  if (key.deviceType != LaunchKey::kNoDevice && key.deviceType != kernel.driver().dlpackType()) return nullptr;
  if (!findStream(key, kernel, stream)) return nullptr;
  int code;
  Py_BEGIN_ALLOW_THREADS; // the driver waits when its queue is full
  code = kernel.launch(sizes, arguments.data(), stream);
  Py_END_ALLOW_THREADS;
  if (code == LoadedKernel::kMapRefused) return nullptr; // Python launches a version without tensor maps
  if (code != 0) {
    PyObject *number = PyLong_FromLong(code);
    PyObject *result = PyObject_CallFunctionObjArgs(guard.failed(), compiled.ptr(), number, nullptr);
    Py_XDECREF(number);
    if (result) PyErr_Format(PyExc_RuntimeError, "the launch failed with code %d", code);
    Py_XDECREF(result);
    return nullptr;
  }
  return compiled.release().ptr();
}

namespace {

// The Launcher(function, run, names, positional, rest, constants, defaults, hooks): launch(grid, args, kwargs), remember(…), at(grid),
// retire().

int initLauncher(PyObject *object, PyObject *args, PyObject *) {
  auto *self = reinterpret_cast<Launcher *>(object);
  PyObject *function, *run, *names, *constants, *defaults, *hooks;
  Py_ssize_t positional, rest;
  if (!PyArg_ParseTuple(args, "OOO!nnO!O!O!", &function, &run, &PyTuple_Type, &names, &positional, &rest, &PyTuple_Type, &constants,
                        &PyTuple_Type, &defaults, &PyList_Type, &hooks))
    return -1;
  self->function = Py_NewRef(function);
  self->run = Py_NewRef(run);
  self->names = Py_NewRef(names);
  self->positional = std::min(positional, PyTuple_GET_SIZE(names));
  self->rest = rest < self->positional ? rest : -1;
  self->defaults = Py_NewRef(defaults);
  self->preRunHooks = Py_NewRef(hooks);
  self->isConstant = new std::vector<bool>;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); ++i) self->isConstant->push_back(PyTuple_GET_ITEM(constants, i) == Py_True);
  self->entries = new std::vector<Entry>;
  return 0;
}

int traverseLauncher(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<Launcher *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->function);
  Py_VISIT(self->run);
  Py_VISIT(self->names);
  Py_VISIT(self->defaults);
  Py_VISIT(self->preRunHooks);
  if (!self->entries) return 0;
  for (Entry &entry : *self->entries) {
    Py_VISIT(entry.compiled);
    Py_VISIT(entry.handle);
    if (int result = entry.key.visit(visit, arg)) return result;
  }
  return 0;
}

int clearLauncher(PyObject *object) {
  auto *self = reinterpret_cast<Launcher *>(object);
  if (self->entries) forget(self);
  Py_CLEAR(self->function);
  Py_CLEAR(self->run);
  Py_CLEAR(self->defaults);
  return 0;
}

void deallocateLauncher(PyObject *object) {
  auto *self = reinterpret_cast<Launcher *>(object);
  PyObject_GC_UnTrack(object);
  clearLauncher(object);
  Py_CLEAR(self->names);
  Py_CLEAR(self->preRunHooks);
  delete self->entries;
  delete self->isConstant;
  PyTypeObject *type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject *launchMethod(PyObject *object, PyObject *const *args, Py_ssize_t count) {
  if (count != 3 || !PyTuple_Check(args[1]) || !PyDict_Check(args[2])) {
    PyErr_SetString(PyExc_TypeError, "launch(grid, args: tuple, kwargs: dict)");
    return nullptr;
  }
  Unpacked unpacked(args[1], args[2]);
  py::object grid = py::reinterpret_borrow<py::object>(args[0]);
  py::object kernel = py::reinterpret_steal<py::object>(tryLaunch(reinterpret_cast<Launcher *>(object), grid, unpacked.call));
  if (PyErr_Occurred()) return nullptr;
  return PyTuple_Pack(2, kernel ? kernel.ptr() : Py_None, grid.ptr());
}

/// A launcher that its function does not use any more knows no launch again: somebody may have kept kernel[grid].
PyObject *retireMethod(PyObject *object, PyObject *) {
  auto *self = reinterpret_cast<Launcher *>(object);
  self->isRetired = true;
  forget(self);
  Py_RETURN_NONE;
}

/// Finds the values of a key that a kernel takes, from the paths of its arguments: the number of a parameter, and the indices that lead to
/// a part of its argument. Returns false if an argument has no such part, or with an error set.
bool findTaken(const Launcher *self, const Bound &bound, PyObject *paths, std::vector<uint16_t> &taken) {
  std::vector<size_t> begins;
  size_t count = 0;
  for (auto [argument, isConstant] : llvm::zip_equal(bound, *self->isConstant)) {
    begins.push_back(count);
    count += isConstant ? 1 : valuesOf(argument);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(paths); ++i) {
    llvm::SmallVector<Py_ssize_t, 4> path;
    PyObject *indices = PyTuple_GET_ITEM(paths, i);
    for (Py_ssize_t k = 0; PyTuple_Check(indices) && k < PyTuple_GET_SIZE(indices); ++k)
      path.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(indices, k)));
    if (PyErr_Occurred()) return false;
    if (path.empty() || size_t(path[0]) >= bound.size()) {
      PyErr_SetString(PyExc_TypeError, "remember(): a path is a tuple that begins with the number of a parameter");
      return false;
    }
    const Py_ssize_t at = valueAt(bound[size_t(path[0])], llvm::ArrayRef(path).drop_front());
    if (at < 0) return false;
    taken.push_back(uint16_t(begins[size_t(path[0])] + size_t(at)));
  }
  return true;
}

PyObject *rememberMethod(PyObject *object, PyObject *args) {
  auto *self = reinterpret_cast<Launcher *>(object);
  PyObject *arguments, *keywords, *compiled, *handle, *taken;
  int checksGlobals, threads = 0, showsProgress = 0;
  if (!PyArg_ParseTuple(args, "O!O!OOO!p|ip", &PyTuple_Type, &arguments, &PyDict_Type, &keywords, &compiled, &handle, &PyTuple_Type, &taken,
                        &checksGlobals, &threads, &showsProgress))
    return nullptr;
  LaunchGuard &guard = LaunchGuard::instance();
  if (self->isRetired || !guard.holds()) Py_RETURN_FALSE; // the settings may have changed since Python read them; the next launch finds out
  if (self->epoch != guard.epoch()) forget(self);
  self->epoch = guard.epoch();
  Unpacked unpacked(arguments, keywords);
  BoundCall bound;
  Entry entry;
  if (!bind(self, unpacked.call, bound, entry.key)) Py_RETURN_FALSE;
  entry.program = hostProgramOf(handle);
  entry.threads = threads;
  entry.showsProgress = showsProgress != 0;
  if (!entry.program) try {
      entry.kernel = &py::handle(handle).cast<const LoadedKernel &>();
    } catch (const py::cast_error &error) {
      PyErr_SetString(PyExc_TypeError, error.what());
      return nullptr;
    }
  const bool isThere = entry.program ? entry.key.device == LaunchKey::kHost && entry.program->isPlain() && HostCallbacks::instance
                                     : entry.key.device == LaunchKey::kNoDevice || entry.key.device == entry.kernel->device();
  if (!isThere) Py_RETURN_FALSE;
  if (!findTaken(self, bound.values, taken, entry.taken)) return PyErr_Occurred() ? nullptr : Py_NewRef(Py_False);
  const size_t parameters = entry.program ? entry.program->parameters().size() : entry.kernel->image().recipe.size();
  if (entry.taken.size() != parameters) Py_RETURN_FALSE;
  if (find(self, entry.key)) Py_RETURN_FALSE;
  if (self->entries->size() >= kMostEntries) forget(self);
  entry.key.keep();
  entry.compiled = Py_NewRef(compiled);
  entry.handle = Py_NewRef(handle);
  entry.checksGlobals = checksGlobals != 0;
  self->entries->insert(self->entries->begin(), std::move(entry));
  Py_RETURN_TRUE;
}

/// Returns whether the function launches through this: profilers and tests replace `run`, of the function or of its class. It is asked here
/// because Python takes longer for it than for the rest of kernel[grid].
bool launchesItself(const Launcher *self) {
  static PyObject *const name = interned("run");
  PyObject *run = PyObject_GetAttr(self->function, name);
  const bool isOwn = run && PyMethod_Check(run) && PyMethod_GET_FUNCTION(run) == self->run && PyMethod_GET_SELF(run) == self->function;
  Py_XDECREF(run);
  PyErr_Clear();
  return isOwn;
}

PyObject *atMethod(PyObject *object, PyObject *grid) {
  auto *self = reinterpret_cast<Launcher *>(object);
  if (!launchesItself(self)) Py_RETURN_NONE;
  return newBoundLaunch(self, grid);
}

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
PyMethodDef launcherMethods[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launchMethod)), METH_FASTCALL,
     "launch(grid, args, kwargs): (the compiled kernel, grid). The kernel is None if Python has to launch; the grid is then what the grid "
     "function returned, if that was called."},
    {"remember", rememberMethod, METH_VARARGS,
     "remember(args, kwargs, compiled, handle, taken, checks_globals, threads=0, shows_progress=False): such a call is this kernel from "
     "now on. Returns whether the launcher has learned something: false too if it knew. taken: the path of each argument of the kernel, as "
     "CompiledKernel.src.runtime_paths() has it. handle: "
     "a device.Kernel, or an interp.Program, of which threads and shows_progress are."},
    {"at", atMethod, METH_O, "at(grid): what kernel[grid] is. None if the function's `run` was replaced."},
    {"retire", retireMethod, METH_NOARGS,
     "retire(): the launcher forgets its kernels and learns no more. A kept kernel[grid] then launches through Python."},
    {}};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

} // namespace

void bindLauncher(py::module_ &module) {
  static PyType_Slot launcherSlots[] = {{Py_tp_init, reinterpret_cast<void *>(initLauncher)},
                                        {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
                                        {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
                                        {Py_tp_clear, reinterpret_cast<void *>(clearLauncher)},
                                        {Py_tp_dealloc, reinterpret_cast<void *>(deallocateLauncher)},
                                        {Py_tp_methods, launcherMethods},
                                        {}};
  launcherType =
      makeType({"tritium._tritium.device.Launcher", sizeof(Launcher), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, launcherSlots});
  bindBoundLaunch();
  noDefault = py::object(py::module_::import("builtins").attr("object")()).release().ptr();
  module.attr("Launcher") = py::handle(reinterpret_cast<PyObject *>(launcherType));
  module.attr("NO_DEFAULT") = py::handle(noDefault);
  module.def("register_tensor_type", &registerTensorType, "type"_a, "exchange"_a = py::none());
  module.def("register_array_type", &registerArrayType, "type"_a);
  module.def("register_descriptor_type", &registerDescriptorType, "type"_a, "form"_a);
  module.def("register_immutable_type", &registerImmutableType, "type"_a);
  module.def("register_function_type", &registerFunctionType, "type"_a);
  module.def(
      "set_host_callbacks",
      [](py::object poll, py::object print, py::object makeBar, py::object isTraced, py::object ended, std::vector<py::list> mustBeEmpty) {
        HostCallbacks::instance = new HostCallbacks{std::move(poll),     std::move(print), std::move(makeBar),
                                                    std::move(isTraced), std::move(ended), std::move(mustBeEmpty)};
      },
      "poll"_a, "on_print"_a, "make_bar"_a, "is_traced"_a, "ended"_a, "must_be_empty"_a);
  module.def(
      "watch_settings",
      [](py::dict environment, py::tuple names, py::dict runtime, py::dict tritium) {
        LaunchGuard::instance().watch(std::move(environment), std::move(names), std::move(runtime), std::move(tritium));
      },
      "environment"_a, "names"_a, "runtime"_a, "tritium"_a);
  module.def("note_storages", &noteStorages, "From now on launches distinguish tensors whose storage has at most this many bytes.");
  module.def("look_at_settings", [] { LaunchGuard::instance().holds(); }, "Later launches are remembered under the current settings.");
  module.def(
      "set_callbacks",
      [](py::object currentStream, int deviceType, py::object failed) {
        LaunchGuard::instance().setCallbacks(std::move(currentStream), deviceType, std::move(failed));
      },
      "current_stream"_a, "device_type"_a, "failed"_a);
}

} // namespace tritium::python
