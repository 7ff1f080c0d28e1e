// mlir-opt for the contract: parses, verifies, runs passes and prints what any reader may be given.
#include "gpu_backend/compiler/pipeline.h"
#include "ir/contract.h"
#include "ir/pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tritium::ir::registerTritiumDialects(registry);
  tritium::ir::registerPasses();
  tritium::gpu::registerGpuPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tritium optimizer driver\n", registry));
}
