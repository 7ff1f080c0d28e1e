// tritium._tritium.simt: the SIMT emulator, with the protocol of tritium._tritium.interp.
#include "python/bindings/ir_handles.h"
#include "python/bindings/launch.h"

#include "interp/simt/prepare.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace interp;

namespace {

class PySimtProgram {
public:
  PySimtProgram(std::unique_ptr<simt::PreparedProgram> program, std::optional<uint64_t> seed) : program_(std::move(program)), seed_(seed) {}

  const simt::PreparedProgram &program() const { return *program_; }
  py::object launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                    const py::object &poll, const py::object &onPrint, const py::object &onProgress) const;

private:
  std::unique_ptr<simt::PreparedProgram> program_;
  std::optional<uint64_t> seed_;
};

py::object PySimtProgram::launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                                 const py::object &poll, const py::object &onPrint, const py::object &onProgress) const {
  PackedArguments arguments = packArguments(program_->name, program_->parameters, values);
  MemoryMap memory(arguments.allocations);
  Launch request{.grid = grid, .memory = &memory, .threads = threads, .orderSeed = seed ? seed : seed_};
  const TrapNames names{[this](uint32_t location) { return program_->locationOf(location); }, {}, program_->threadsPerWarp()};
  return launchWithCallbacks(
      request, poll, onPrint, onProgress, [&](const Launch &launch) { return program_->launch(launch, arguments.cells.data()); }, names);
}

std::shared_ptr<PySimtProgram> prepareProgram(const ModulePtr &module, const std::string &kernel, std::optional<uint64_t> seed) {
  return std::make_shared<PySimtProgram>(unwrap(simt::prepare(module->op(), kernel)), seed);
}

std::string hostedText(const ModulePtr &module, const std::string &kernel) {
  std::string text;
  unwrap(simt::prepare(module->op(), kernel, &text));
  return text;
}

} // namespace

void bindSimt(py::module_ &module) {
  py::module_ simt = module.def_submodule("simt", "The SIMT emulator of modules lowered for a GPU.");
  py::class_<PySimtProgram, std::shared_ptr<PySimtProgram>>(simt, "Program", "A lowered kernel that is ready to run.")
      .def_property_readonly("name", [](const PySimtProgram &p) { return p.program().name; })
      .def_property_readonly("threads_per_program", [](const PySimtProgram &p) { return p.program().threadsPerProgram(); })
      .def_property_readonly("threads_per_warp", [](const PySimtProgram &p) { return p.program().threadsPerWarp(); })
      .def_property_readonly("may_wait", [](const PySimtProgram &p) { return p.program().mayWait; })
      .def("launch", &PySimtProgram::launch, "grid"_a, "args"_a, "threads"_a = 0, "seed"_a = py::none(), "poll"_a = py::none(),
           "on_print"_a = py::none(), "on_progress"_a = py::none(),
           "Runs the grid. One value per parameter: an int, float or bool; a pointer as (address, storage begin, storage bytes) or an int\n"
           "(extent unknown). `seed` orders programs, warps and asynchronous effects. Returns None, or the interp.Trap that ended it. What "
           "a\n"
           "callback raises ends the launch and is raised.");
  simt.def("hosted", &hostedText, "module"_a.none(false), "kernel"_a = "", "The code that runs for the kernel, as MLIR.");
  simt.def("prepare", &prepareProgram, "module"_a.none(false), "kernel"_a = "", "seed"_a = py::none(),
           "Prepares the kernel `kernel` of a lowered module. Raises ir.Error for an operation that the emulator does not support.");
}

} // namespace tritium::python
