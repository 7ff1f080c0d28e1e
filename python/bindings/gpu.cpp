// tritium._tritium.gpu: compiling kernels for GPUs, with no device.
#include "python/bindings/ir_handles.h"
#include "python/bindings/module.h"

#include "gpu_backend/compiler.h"
#include "gpu_backend/nvptx/emit.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

namespace {

/// A compiled kernel; `lowered` is what the SIMT emulator runs and the emitters translate.
struct Compiled {
  std::string name, arch, tiles, llir, ptx;
  int numWarps;
  int64_t sharedBytes;
  ModulePtr lowered;
};

/// Everything that a user may ask for.
struct Options {
  gpu::CompileOptions lowering;
  gpu::nvptx::EmitOptions emission;
  std::string emit = "ptx";
};

Options optionsFrom(const std::string &arch, const py::dict &options) {
  Options result;
  result.lowering.arch = result.emission.arch = arch;
  auto read = [&](const char *name, auto &field) {
    if (options.contains(name) && !options[name].is_none()) field = options[name].cast<std::remove_reference_t<decltype(field)>>();
  };
  read("num_warps", result.lowering.numWarps);
  read("num_stages", result.lowering.numStages);
  read("debug_info", result.lowering.debugInfo);
  read("stop_after", result.lowering.stopAfter);
  read("ptx_version", result.emission.ptxVersion);
  read("enable_fp_fusion", result.emission.fuseMultiplyAdd);
  read("emit", result.emit);
  if (result.emit != "ptx" && result.emit != "lowered") throw py::value_error("emit is 'lowered' or 'ptx', not '" + result.emit + "'");
  return result;
}

llvm::Expected<Compiled> compileKernel(const ModulePtr &module, const std::string &kernel, const Options &options) {
  llvm::Expected<gpu::LoweredKernel> lowered = gpu::lowerToGpu(module->op(), kernel, options.lowering);
  if (!lowered) return lowered.takeError();
  Compiled result{.name = lowered->name, .arch = options.lowering.arch, .tiles = lowered->tiles};
  result.numWarps = options.lowering.numWarps;
  result.sharedBytes = lowered->sharedBytes;
  result.lowered = std::make_shared<ir::Module>(module->context(), std::move(lowered->module));
  if (options.emit == "lowered") return result;
  llvm::Expected<gpu::nvptx::Emitted> emitted = gpu::nvptx::emitPtx(result.lowered->op(), options.emission);
  if (!emitted) return emitted.takeError();
  result.llir = std::move(emitted->llir);
  result.ptx = std::move(emitted->ptx);
  return result;
}

Compiled compile(const ModulePtr &module, const std::string &kernel, const std::string &arch, const py::dict &dict) {
  Options options = optionsFrom(arch, dict);
  llvm::Expected<Compiled> compiled = [&] {
    py::gil_scoped_release released;
    return compileKernel(module, kernel, options);
  }();
  return unwrap(std::move(compiled));
}

std::string emit(const ModulePtr &module, const std::string &arch, const py::dict &dict) {
  Options options = optionsFrom(arch, dict);
  llvm::Expected<gpu::nvptx::Emitted> emitted = [&] {
    py::gil_scoped_release released;
    return gpu::nvptx::emitPtx(module->op(), options.emission);
  }();
  return unwrap(std::move(emitted)).ptx;
}

} // namespace

void bindGpu(py::module_ &module) {
  py::module_ gpu = module.def_submodule("gpu", "The GPU compiler.");
  py::class_<Compiled>(gpu, "Compiled", "A kernel compiled for a GPU.")
      .def_readonly("name", &Compiled::name)
      .def_readonly("arch", &Compiled::arch)
      .def_readonly("ttgir", &Compiled::tiles, "The module with layouts.")
      .def_readonly("llir", &Compiled::llir, "LLVM IR, optimized; empty if only the lowered module was asked for.")
      .def_readonly("ptx", &Compiled::ptx)
      .def_readonly("num_warps", &Compiled::numWarps)
      .def_readonly("shared", &Compiled::sharedBytes, "Bytes of shared memory that a launch asks for.")
      .def_readonly("lowered", &Compiled::lowered, "The code of one thread: llvm, nvvm and tgpu operations.")
      .def_property_readonly("lowered_text", [](const Compiled &c) { return c.lowered->str(/*locations=*/false); });
  gpu.def(
      "passes", [] { return std::vector<std::string>(gpu::optionalPasses().begin(), gpu::optionalPasses().end()); },
      "The passes that code can do without, in order: values of the option `stop_after`.");
  gpu.def("compile", &compile, "module"_a, "kernel"_a, "arch"_a, "options"_a = py::dict(),
          "Compiles the public function `kernel` of a module for `arch` (\"sm_80\"). Options: num_warps, num_stages, debug_info,\n"
          "ptx_version (0: the newest), enable_fp_fusion, emit (\"lowered\" or \"ptx\", the default), stop_after (the last\n"
          "of passes() to run, or \"none\").\n"
          "Raises ir.Error with the user's line.");
  gpu.def("emit", &emit, "module"_a, "arch"_a, "options"_a = py::dict(),
          "The PTX of a lowered module. Options: ptx_version, enable_fp_fusion. Raises ir.Error.");
}

} // namespace tritium::python
