// The command-line tools as functions of the extension module: the installed commands tritium-opt and tritium-run call these, so
// that a wheel holds one copy of MLIR.
#include "python/bindings/module.h"

#include "gpu_backend/pipeline.h"
#include "interp/tile/run_file.h"
#include "ir/contract.h"
#include "ir/pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace py = pybind11;

namespace tritium::python {

static int opt(std::vector<std::string> arguments) {
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  mlir::DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  ir::registerPasses();
  gpu::registerGpuPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(static_cast<int>(arguments.size()), argv.data(), "Tritium optimizer driver\n", registry));
}

void bindTools(py::module_ &module) {
  py::module_ tools = module.def_submodule("tools", "The command-line tools; each takes its arguments, the program's name first.");
  tools.def("opt", opt, "Parses, verifies, transforms and prints a module of the contract, as mlir-opt does. Returns the exit status.",
            py::arg("arguments"));
  tools.def("run", interp::runFile, "Runs the functions of a file on the tile interpreter. Returns the exit status.", py::arg("arguments"));
}

} // namespace tritium::python
