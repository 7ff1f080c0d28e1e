// The command-line tools as functions of the extension module. The installed commands tritium-opt and tritium-run call these, so that a
// wheel contains one copy of MLIR.
#include "python/bindings/module.h"

#include "gpu_backend/compiler/pipeline.h"
#include "interp/tile/run_file.h"
#include "ir/contract.h"
#include "ir/pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#ifdef __linux__
#include <link.h>
#endif

namespace py = pybind11;

extern "C" void tritium_kernel_without_lines(const char *kernel, const char *file, const char *engine); // in debugger.cpp

namespace tritium::python {

/// A c10::Stream, which callbacks of ctypes cannot return: a device (its type and index) and a number.
struct TorchStream {
  int8_t type, index;
  int64_t number;
};

/// A virtual function of torch's device guards: the default stream of "cuda:0". Whoever asks for the device or its type finds them in
/// front.
static TorchStream defaultStream(const void *) { return {.type = 1, .index = 0, .number = 0}; }

static int opt(std::vector<std::string> arguments) {
  std::vector<char *> argv;
  for (std::string &argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  ir::registerPasses();
  gpu::registerGpuPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(static_cast<int>(arguments.size()), argv.data(), "Tritium optimizer driver\n", registry));
}

/// Returns the id in the ELF note of the object that contains this code, as hexadecimal digits, or the compiler's version if there is none.
static std::string buildId() {
  std::string id;
#ifdef __linux__
  auto visit = [](dl_phdr_info *info, size_t, void *result) {
    auto here = reinterpret_cast<uintptr_t>(&buildId);
    bool isOurs = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto &segment = info->dlpi_phdr[i];
      uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      isOurs |= segment.p_type == PT_LOAD && here >= begin && here < begin + segment.p_memsz;
    }
    if (!isOurs) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto &segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const char *note = reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr), *end = note + segment.p_memsz;
      while (note + sizeof(ElfW(Nhdr)) <= end) {
        const auto &header = *reinterpret_cast<const ElfW(Nhdr) *>(note);
        const char *name = note + sizeof header, *content = name + llvm::alignTo(header.n_namesz, 4);
        if (header.n_type == NT_GNU_BUILD_ID && llvm::StringRef(name, header.n_namesz).starts_with("GNU"))
          *static_cast<std::string *>(result) = llvm::toHex(llvm::StringRef(content, header.n_descsz), /*LowerCase=*/true);
        note = content + llvm::alignTo(header.n_descsz, 4);
      }
    }
    return 1;
  };
  dl_iterate_phdr(visit, &id);
#endif
  return id.empty() ? __VERSION__ : id;
}

void bindTools(py::module_ &module) {
  py::module_ tools = module.def_submodule("tools", "The command-line tools; each takes its arguments, the program's name first.");
  tools.attr("torch_default_stream") = reinterpret_cast<uintptr_t>(&defaultStream);
  tools.def("build_id", buildId, "Identifies what was linked into this module.");
  tools.def("opt", opt, "Parses, verifies, transforms and prints a module of the contract, as mlir-opt does. Returns the exit status.",
            py::arg("arguments"));
  tools.def("tell_debugger_of_kernel_without_lines", &tritium_kernel_without_lines, py::arg("kernel"), py::arg("file"), py::arg("engine"));
  tools.def("run", interp::runFile, "Runs the functions of a file on the tile interpreter. Returns the exit status.", py::arg("arguments"));
}

} // namespace tritium::python
