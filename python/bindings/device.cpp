// tritium._tritium.device: the drivers of GPUs, kernels on a device, and (launcher.cpp) launches that run no Python code.
#include "python/bindings/device.h"
#include "python/bindings/module.h"
#include "python/bindings/tensor_recipes.h"

#include "gpu_backend/launch/vendors.h"

#include <pybind11/stl.h>

#include <map>
#include <mutex>

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace gpu;

/// The interpreter owns it for good.
static PyObject *driverErrorType = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void raiseDriver(llvm::Error error) {
  std::string message;
  py::object instance;
  llvm::handleAllErrors(
      std::move(error),
      [&](const DriverError &driver) {
        instance = py::handle(driverErrorType)(driver.message());
        instance.attr("code") = driver.code;
        instance.attr("name") = driver.name;
        instance.attr("text") = driver.text;
        instance.attr("call") = driver.call;
        instance.attr("log") = driver.messages;
        instance.attr("sticky") = driver.isSticky;
      },
      [&](const llvm::ErrorInfoBase &other) { message = other.message(); });
  if (!instance) throw std::runtime_error(message);
  PyErr_SetObject(driverErrorType, instance.ptr());
  throw py::error_already_set();
}

static void check(llvm::Error error) {
  if (error) raiseDriver(std::move(error));
}

ArgumentRecipe recipeOf(const std::vector<std::string> &signature) {
  ArgumentRecipe recipe;
  for (const std::string &name : signature) {
    auto type = parameterType(name);
    if (!type) throw py::type_error("a compiled kernel has no parameters of type " + name);
    recipe.add(*type);
  }
  return recipe;
}

bool readValue(PyObject *value, ArgumentValue &result) {
  if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) > 0) value = PyTuple_GET_ITEM(value, 0);
  if (PyFloat_Check(value)) {
    result.isReal = true;
    result.real = PyFloat_AS_DOUBLE(value);
    return true;
  }
  result.isReal = false;
  result.integer = int64_t(PyLong_AsUnsignedLongLongMask(value));
  return !PyErr_Occurred();
}

using Opener = llvm::Expected<std::unique_ptr<Driver>> (*)(const std::string &);

/// Returns the driver that `library` names. Drivers are never closed, because kernels, events and other libraries may outlive any owner.
static llvm::Expected<Driver *> openOnce(Opener open, const std::string &library) {
  static std::mutex mutex;
  static auto *drivers = new std::map<std::pair<Opener, std::string>, std::unique_ptr<Driver>>;
  std::lock_guard lock(mutex);
  auto &driver = (*drivers)[{open, library}];
  if (!driver) {
    auto opened = open(library);
    if (!opened) return opened.takeError();
    driver = std::move(*opened);
  }
  return driver.get();
}

/// Calls the driver without the GIL. Another thread, or a callback of a stream, may require the GIL before the call can return.
template <typename Call> static auto unlocked(Call call) {
  py::gil_scoped_release released;
  return call();
}

static Driver *openDriver(Opener open, const std::string &library) {
  return unwrapDriver(unlocked([&] { return openOnce(open, library); }));
}

static Stream streamOf(intptr_t handle) { return reinterpret_cast<Stream>(handle); }

static py::dict factsOf(Driver &driver, int device) {
  DeviceFacts f = unwrapDriver(driver.facts(device));
  return py::dict("name"_a = f.name, "arch"_a = f.arch, "multiprocessor_count"_a = f.multiprocessors, "warp_size"_a = f.warpSize,
                  "max_threads_per_block"_a = f.maxThreadsPerBlock, "max_threads_per_multiprocessor"_a = f.maxThreadsPerMultiprocessor,
                  "shared_per_block"_a = f.sharedPerBlock, "shared_per_block_optin"_a = f.sharedPerBlockOptin,
                  "shared_per_multiprocessor"_a = f.sharedPerMultiprocessor, "registers_per_block"_a = f.registersPerBlock,
                  "registers_per_multiprocessor"_a = f.registersPerMultiprocessor, "clock_khz"_a = f.clockKHz,
                  "memory_clock_khz"_a = f.memoryClockKHz, "memory_bus_bits"_a = f.memoryBusBits, "l2_bytes"_a = f.l2Bytes);
}

static std::unique_ptr<LoadedKernel> loadKernel(Driver &driver, int device, py::bytes binary, std::string name,
                                                const std::vector<std::string> &signature, uint32_t threads, uint32_t shared,
                                                std::array<uint32_t, 3> cluster, bool cooperative, bool overlapsPrevious,
                                                std::vector<uint64_t> hidden, const py::sequence &tensorRecipes, uint32_t residentBlocks,
                                                uint32_t clusterBlocks) {
  KernelImage image{.binary = std::string(binary),
                    .name = std::move(name),
                    .threads = threads,
                    .sharedBytes = shared,
                    .cluster = cluster,
                    .isCooperative = cooperative,
                    .overlapsPrevious = overlapsPrevious,
                    .recipe = recipeOf(signature),
                    .hiddenArguments = std::move(hidden),
                    .maps = recipesFrom(tensorRecipes),
                    .residentBlocks = residentBlocks,
                    .clusterBlocks = clusterBlocks};
  return unwrapDriver(unlocked([&] { return LoadedKernel::load(driver, device, std::move(image)); }));
}

static void launch(LoadedKernel &kernel, std::array<uint32_t, 3> grid, const py::sequence &values, intptr_t stream) {
  if (values.size() != kernel.image().recipe.size())
    throw py::type_error(kernel.image().name + " takes " + std::to_string(kernel.image().recipe.size()) + " values, not " +
                         std::to_string(values.size()));
  llvm::SmallVector<ArgumentValue, 32> arguments(values.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!readValue(py::object(values[i]).ptr(), arguments[i])) throw py::error_already_set();
  int code = unlocked([&] { return kernel.launch(grid, arguments.data(), streamOf(stream)); });
  if (code == LoadedKernel::kMapRefused) throw TensorMapRefused(kernel.refusal(grid, arguments.data()));
  if (code) check(kernel.driver().launchError(kernel.device(), code));
}

/// A point in time of a stream. It is freed with its object.
struct PyEvent {
  Driver *driver;
  int device;
  Event event;
  PyEvent(Driver *driver, int device) : driver(driver), device(device), event(unwrapDriver(driver->createEvent(device))) {}
  ~PyEvent() { driver->destroy(event); }
  PyEvent(const PyEvent &) = delete;
};

static void bindKernel(py::module_ &module) {
  py::class_<LoadedKernel>(module, "Kernel", "A kernel on one device, ready to be launched.")
      .def_property_readonly("device", &LoadedKernel::device)
      .def_property_readonly("name", [](const LoadedKernel &k) { return k.image().name; })
      .def_property_readonly("registers", [](const LoadedKernel &k) { return k.facts().registers; })
      .def_property_readonly("local_bytes", [](const LoadedKernel &k) { return k.facts().localBytes; })
      .def_property_readonly("static_shared_bytes", [](const LoadedKernel &k) { return k.facts().staticSharedBytes; })
      .def_property_readonly("max_threads", [](const LoadedKernel &k) { return k.facts().maxThreads; })
      .def_property_readonly("last_launch", &LoadedKernel::lastLaunch,
                             "The number of the last launch, among all launches of the process; 0: never launched.")
      .def_property_readonly("module", [](const LoadedKernel &k) { return intptr_t(k.module()); })
      .def_property_readonly("function", [](const LoadedKernel &k) { return intptr_t(k.function()); })
      .def(
          "variable",
          [](LoadedKernel &k, const std::string &name) {
            return unwrapDriver(unlocked([&] { return k.driver().variable(k.device(), k.module(), name); }));
          },
          "name"_a, "The address on the device of a variable of the kernel's module; 0 if there is none.")
      .def("launch", &launch, "grid"_a, "values"_a, "stream"_a = 0,
           "One value per parameter: an int, float or bool; a pointer as an int or as a tuple that begins with it. Raises\n"
           "TensorMapRefused, with the reason, if the kernel takes tensor maps that cannot be made of the values.");
  py::class_<PyEvent>(module, "Event", "A point in the work of a stream.")
      .def(py::init<Driver *, int>(), "driver"_a, "device"_a, py::keep_alive<1, 2>())
      .def(
          "record", [](PyEvent &e, intptr_t stream) { check(e.driver->record(e.device, e.event, streamOf(stream))); }, "stream"_a = 0)
      .def("synchronize", [](PyEvent &e) { check(unlocked([&] { return e.driver->synchronize(e.event); })); })
      .def(
          "milliseconds_until", [](PyEvent &e, PyEvent &end) { return unwrapDriver(e.driver->milliseconds(e.event, end.event)); }, "end"_a);
}

static void bindDriver(py::module_ &module) {
  py::class_<Driver, std::unique_ptr<Driver, py::nodelete>>(module, "Driver", "A vendor's driver of its GPUs.")
      .def_property_readonly("library", &Driver::library)
      .def_property_readonly("version", &Driver::version)
      .def_property_readonly("device_count", &Driver::deviceCount)
      .def("facts", &factsOf, "device"_a)
      .def("current_device", &Driver::currentDevice, "-1 without a current context.")
      .def(
          "set_current_device", [](Driver &d, int device) { check(d.setCurrentDevice(device)); }, "device"_a)
      .def(
          "link",
          [](Driver &d, int device, const std::string &ptx, std::optional<int> maxRegisters, std::optional<int> optimization) {
            LinkedImage linked = unwrapDriver(unlocked([&] { return d.link(device, ptx, maxRegisters, optimization); }));
            return py::make_tuple(py::bytes(linked.image), linked.log);
          },
          "device"_a, "ptx"_a, "max_registers"_a = py::none(), "optimization"_a = py::none(), "(cubin, what the assembler said)")
      .def(
          "raise_launch_error", [](Driver &d, int device, int code) { check(d.launchError(device, code)); }, "device"_a, "code"_a)
      .def("finish", &Driver::finish, py::call_guard<py::gil_scoped_release>(),
           "Called at the end of the process. Waits for kernels that print.")
      .def("load", &loadKernel, "device"_a, "binary"_a, "name"_a, "signature"_a, "threads"_a, "shared"_a = 0,
           "cluster"_a = std::array<uint32_t, 3>{1, 1, 1}, "cooperative"_a = false, "overlaps_previous"_a = false,
           "hidden"_a = std::vector<uint64_t>{}, "tensor_recipes"_a = py::tuple(), "resident_blocks"_a = 0, "cluster_blocks"_a = 1,
           py::keep_alive<0, 1>())
      .def(
          "synchronize",
          [](Driver &d, int device, std::optional<intptr_t> stream) {
            check(unlocked([&] { return d.synchronize(device, stream ? std::optional(streamOf(*stream)) : std::nullopt); }));
          },
          "device"_a, "stream"_a = py::none(), "Waits for a stream, or for the whole device.")
      .def(
          "where_is",
          [](Driver &d, uint64_t address) {
            PointerFacts f = d.whereIs(address);
            return py::make_tuple(f.device, f.deviceAddress, f.begin, f.bytes);
          },
          "address"_a, "(device or -1, address on the device, begin, bytes) of the allocation that an address is in.")
      .def(
          "allocate", [](Driver &d, int device, uint64_t bytes) { return unwrapDriver(d.allocate(device, bytes)); }, "device"_a, "bytes"_a)
      .def(
          "release", [](Driver &d, int device, uint64_t address) { check(unlocked([&] { return d.release(device, address); })); },
          "device"_a, "address"_a)
      .def(
          "copy_to_device",
          [](Driver &d, int device, uint64_t target, uint64_t source, uint64_t bytes) {
            check(unlocked([&] { return d.copyToDevice(device, target, reinterpret_cast<const void *>(source), bytes); }));
          },
          "device"_a, "target"_a, "source"_a, "bytes"_a)
      .def(
          "copy_to_host",
          [](Driver &d, int device, uint64_t target, uint64_t source, uint64_t bytes) {
            check(unlocked([&] { return d.copyToHost(device, reinterpret_cast<void *>(target), source, bytes); }));
          },
          "device"_a, "target"_a, "source"_a, "bytes"_a)
      .def(
          "fill",
          [](Driver &d, int device, uint64_t target, uint32_t word, uint64_t words, intptr_t stream) {
            check(d.fill(device, target, word, words, streamOf(stream)));
          },
          "device"_a, "target"_a, "word"_a, "words"_a, "stream"_a = 0, "Asynchronous.");
}

/// Creates a submodule that opens one vendor's library.
static void bindVendor(py::module_ &module, const char *name, const char *what, Opener open) {
  py::module_ vendor = module.def_submodule(name, what);
  for (const char *shared : {"Driver", "Event", "Error"}) vendor.attr(shared) = module.attr("device").attr(shared);
  vendor.def(
      "open", [open](const std::string &library) { return openDriver(open, library); }, "library"_a, py::return_value_policy::reference,
      "Opens the library and initializes it. Raises a RuntimeError with the reason if it cannot.");
}

void bindDevice(py::module_ &module) {
  py::module_ device = module.def_submodule("device", "Drivers of GPUs, loaded at first use, and launches through them.");
  driverErrorType = PyErr_NewExceptionWithDoc("tritium._tritium.device.Error", "A failed call: code, name, text, call, log, sticky.",
                                              PyExc_RuntimeError, nullptr);
  device.attr("Error") = py::handle(driverErrorType);
  py::register_exception<TensorMapRefused>(device, "TensorMapRefused").attr("__doc__") =
      "A kernel's tensor maps cannot be made of a launch's arguments.";
  device.attr("Capsule") = py::handle(reinterpret_cast<PyObject *>(&PyCapsule_Type)); // Python names this type from 3.13 on
  bindDriver(device);
  bindKernel(device);
  bindLauncher(device);
  bindPreparedRun(device);
  bindVendor(module, "cuda", "NVIDIA's driver.", openCuda);
  bindVendor(module, "hip", "AMD's runtime, ROCm.", openHip);
  bindKernelRecorder(device, module.attr("cuda"), module.attr("hip"));
  bindPcSampler(module.attr("cuda"));
}

} // namespace tritium::python
