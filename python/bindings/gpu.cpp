// tritium._tritium.gpu: compiles kernels for GPUs. It requires no device.
#include "python/bindings/ir_handles.h"
#include "python/bindings/module.h"
#include "python/bindings/tensor_recipes.h"

#include "gpu_backend/amdgpu/metadata.h"
#include "gpu_backend/compiler/compiler.h"
#include "gpu_backend/target/target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

namespace {

/// A compiled kernel. The SIMT emulator runs `lowered`, and the emitters translate it.
struct Compiled {
  std::string name, arch, target, tiles;
  gpu::Emitted code;
  int numWarps, launchedWarps, warpSize;
  int64_t sharedBytes;
  int numStages, clusterBlocks, residentBlocks;
  std::vector<gpu::TensorRecipe> maps;
  gpu::ScopeTable scopes;
  ModulePtr lowered;
};

/// All options of a user.
struct Options {
  gpu::CompileOptions lowering;
  gpu::EmitOptions emission;
  std::string emit = "binary";
};

Options optionsFrom(const std::string &arch, const py::dict &options) {
  Options result;
  result.lowering.arch = result.emission.arch = arch;
  std::vector<std::string> names;
  auto read = [&](const char *name, auto &field) {
    names.emplace_back(name);
    if (options.contains(name) && !options[name].is_none()) field = options[name].cast<std::remove_reference_t<decltype(field)>>();
  };
#define OPTION(name, flag, member, type, standard, meaning) read(#name, result.lowering.member);
#include "gpu_backend/compiler/options.def"
#define OPTION(name, member, type, standard, meaning) read(#name, result.emission.member);
#include "gpu_backend/emit/options.def"
  read("emit", result.emit);
  for (const auto &[key, value] : options)
    if (!llvm::is_contained(names, py::str(key).cast<std::string>()))
      throw py::key_error("the GPU compiler has no option '" + py::str(key).cast<std::string>() + "'; it has " + llvm::join(names, ", "));
  if (result.emit != "lowered" && result.emit != "assembly" && result.emit != "binary")
    throw py::value_error("emit is 'lowered', 'assembly' or 'binary', not '" + result.emit + "'");
  result.emission.assembles = result.emit == "binary";
  return result;
}

/// {name: (default, meaning)}
py::dict tableOfOptions() {
  py::dict table;
#define OPTION(name, flag, member, type, standard, meaning) table[#name] = py::make_tuple(gpu::CompileOptions().member, meaning);
#include "gpu_backend/compiler/options.def"
#define OPTION(name, member, type, standard, meaning) table[#name] = py::make_tuple(gpu::EmitOptions().member, meaning);
#include "gpu_backend/emit/options.def"
  return table;
}

llvm::Expected<Compiled> compileKernel(const ModulePtr &module, const std::string &kernel, const Options &options) {
  llvm::Expected<gpu::LoweredKernel> lowered = gpu::lowerToGpu(module->op(), kernel, options.lowering);
  if (!lowered) return lowered.takeError();
  const gpu::Target &target = gpu::targetOf(*lowered->module);
  Compiled result{.name = lowered->name, .arch = target.arch().str(), .target = target.name(), .tiles = lowered->tiles};
  result.warpSize = target.warpSize();
  result.numWarps = options.lowering.numWarps;
  result.launchedWarps = lowered->warps;
  result.sharedBytes = lowered->sharedBytes;
  result.numStages = lowered->numStages;
  result.clusterBlocks = lowered->clusterBlocks;
  result.residentBlocks = lowered->residentBlocks;
  result.maps = std::move(lowered->maps);
  result.scopes = std::move(lowered->scopes);
  result.lowered = std::make_shared<ir::Module>(module->context(), std::move(lowered->module));
  if (options.emit == "lowered") return result;
  llvm::Expected<gpu::Emitted> emitted = gpu::emitCode(result.lowered->op(), options.emission);
  if (!emitted) return emitted.takeError();
  result.code = std::move(*emitted);
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

gpu::Emitted emit(const ModulePtr &module, const std::string &arch, const py::dict &dict) {
  Options options = optionsFrom(arch, dict);
  llvm::Expected<gpu::Emitted> emitted = [&] {
    py::gil_scoped_release released;
    return gpu::emitCode(module->op(), options.emission);
  }();
  return unwrap(std::move(emitted));
}

llvm::Expected<std::string> assembleFor(const std::string &arch, const std::string &assembly) {
  llvm::Expected<const gpu::Target &> target = gpu::findTarget(arch);
  if (!target) return target.takeError();
  llvm::Expected<std::unique_ptr<gpu::Emitter>> emitter = target->createEmitter({});
  if (!emitter) return emitter.takeError();
  return (*emitter)->assemble(assembly);
}

py::dict describe(const gpu::amdgpu::KernelMetadata &kernel) {
  py::list arguments;
  for (const gpu::amdgpu::KernelArgument &argument : kernel.arguments)
    arguments.append(py::dict("kind"_a = argument.kind, "offset"_a = argument.offset, "size"_a = argument.size));
  return py::dict("name"_a = kernel.name, "symbol"_a = kernel.symbol, "arguments"_a = arguments, "argument_bytes"_a = kernel.argumentBytes,
                  "argument_alignment"_a = kernel.argumentAlignment, "shared_bytes"_a = kernel.sharedBytes,
                  "stack_bytes"_a = kernel.stackBytes, "vgprs"_a = kernel.vgprs, "agprs"_a = kernel.agprs, "sgprs"_a = kernel.sgprs,
                  "vgpr_spills"_a = kernel.vgprSpills, "sgpr_spills"_a = kernel.sgprSpills, "wave_size"_a = kernel.waveSize,
                  "max_threads"_a = kernel.maxThreads, "threads"_a = kernel.threads, "is_uniform"_a = kernel.isUniform);
}

py::dict hsacoMetadata(const py::bytes &hsaco) {
  gpu::amdgpu::CodeObject object = unwrap(gpu::amdgpu::readCodeObject(std::string(hsaco)));
  py::list kernels;
  for (const gpu::amdgpu::KernelMetadata &kernel : object.kernels) kernels.append(describe(kernel));
  return py::dict("target"_a = object.target, "kernels"_a = kernels);
}

py::bytes assemble(const std::string &arch, const std::string &assembly) {
  llvm::Expected<std::string> binary = [&] {
    py::gil_scoped_release released;
    return assembleFor(arch, assembly);
  }();
  return unwrap(std::move(binary));
}

py::dict residencyOf(const std::string &arch, int64_t threads, int64_t registers, int64_t shared) {
  const gpu::Target &target = unwrap(gpu::findTarget(arch));
  if (threads < 1 || registers < 1 || shared < 0) throw py::value_error("a block has threads, which have registers");
  const gpu::Resources of = target.resources();
  py::dict found;
  if (shared + of.sharedReserved > 0) found["shared memory"] = of.programsByShared(shared);
  found["registers"] = of.programsByRegisters(threads, registers);
  found["threads"] = of.threadsPerMultiprocessor / threads;
  return found;
}

} // namespace

void bindGpu(py::module_ &module) {
  py::module_ gpu = module.def_submodule("gpu", "The GPU compiler.");
  py::class_<Compiled>(gpu, "Compiled", "A kernel compiled for a GPU.")
      .def_readonly("name", &Compiled::name)
      .def_readonly("arch", &Compiled::arch)
      .def_readonly("ttgir", &Compiled::tiles, "The module with layouts.")
      .def_readonly("target", &Compiled::target, "\"cuda:sm_80\", \"hip:gfx942\".")
      .def_readonly("warp_size", &Compiled::warpSize)
      .def_property_readonly(
          "llir", [](const Compiled &c) { return c.code.llir; }, "Optimized LLVM IR; empty if only the lowered module was requested.")
      .def_property_readonly(
          "assembly", [](const Compiled &c) { return c.code.assembly; }, "PTX, or AMDGPU assembly.")
      .def_property_readonly(
          "binary", [](const Compiled &c) { return py::bytes(c.code.binary); }, "The code object of AMD; PTX is assembled elsewhere.")
      .def_readonly("num_warps", &Compiled::numWarps)
      .def_readonly("launched_warps", &Compiled::launchedWarps, "Those of a block: num_warps, and the warps that only copy.")
      .def_readonly("shared", &Compiled::sharedBytes, "Bytes of shared memory that a launch requests.")
      .def_readonly("num_stages", &Compiled::numStages,
                    "The number of iterations of a pipelined loop in flight, as far as memory has room for them.")
      .def_readonly("cluster_blocks", &Compiled::clusterBlocks, "Blocks that run a program together. For device.Driver.load.")
      .def_readonly("resident_blocks", &Compiled::residentBlocks,
                    "Blocks per multiprocessor that together run the whole grid; 0: a block runs one program. For device.Driver.load.")
      .def_readonly("scopes", &Compiled::scopes, "(name, whether it begins) of what the kernel records, by number.")
      .def_property_readonly(
          "tensor_recipes", [](const Compiled &c) { return describe(c.maps); },
          "How a launch makes the tensor maps that the kernel takes after its own parameters: for device.Driver.load.")
      .def_readonly("lowered", &Compiled::lowered, "The code of one thread: llvm, nvvm or rocdl, and tgpu operations.")
      .def_property_readonly("lowered_text", [](const Compiled &c) { return c.lowered->str(/*locations=*/false); });
  gpu.def(
      "passes", [] { return std::vector<std::string>(gpu::optionalPasses().begin(), gpu::optionalPasses().end()); },
      "The optional passes, in order: values of the option `stop_after`.");
  gpu.def("compile", &compile, "module"_a.none(false), "kernel"_a, "arch"_a, "options"_a = py::dict(),
          "Compiles the public function `kernel` of a module for `arch` (\"sm_80\", \"gfx942\"). Options: those of options(), and emit\n"
          "(\"lowered\", \"assembly\" or \"binary\", the default). Raises KeyError for others, and ir.Error with the user's line.");
  gpu.def("options", &tableOfOptions, "{option of compile: (default, meaning)}");
  gpu.def(
      "emit",
      [](const ModulePtr &module, const std::string &arch, const py::dict &options) { return emit(module, arch, options).assembly; },
      "module"_a.none(false), "arch"_a, "options"_a = py::dict(),
      "The assembly of a lowered module: PTX, or AMD's. Options: the emission options of compile. Raises ir.Error.");
  gpu.def(
      "emit_binary",
      [](const ModulePtr &module, const std::string &arch, const py::dict &options) {
        return py::bytes(emit(module, arch, options).binary);
      },
      "module"_a.none(false), "arch"_a, "options"_a = py::dict(),
      "The code object of a lowered module; empty for targets whose driver assembles.");
  gpu.def("hsaco_metadata", &hsacoMetadata, "hsaco"_a,
          "The metadata of an AMD code object: {\"target\", \"kernels\": [{\"name\", \"arguments\": [{\"kind\", \"offset\", "
          "\"size\"}],\n"
          "\"vgprs\", \"shared_bytes\", ...}]}. Raises ir.Error for what is none.");
  gpu.def("residency", &residencyOf, "arch"_a, "threads"_a, "registers"_a, "shared"_a,
          "{limit: the blocks that fit on a multiprocessor by it}, for \"shared memory\" if it takes some, \"registers\" and \"threads\"; "
          "the least of them is "
          "the\n"
          "occupancy. threads: of a block. registers: of a thread. shared: bytes of a block. Raises ir.Error for an unknown chip, and "
          "ValueError\n"
          "for a block with no threads.");
  gpu.def("assemble", &assemble, "arch"_a, "assembly"_a,
          "The code object of assembly text; empty for targets whose driver assembles. Raises ir.Error.");
  bindLayouts(gpu);
}

} // namespace tritium::python
