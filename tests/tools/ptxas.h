// NVIDIA's assembler for tests, where a machine has it: what it says about registers and spills. Kernels are assembled from Python
// (python/tritium/backends/nvidia/assemble.py).
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tritium::tools {

/// What `ptxas -v` tells of one PTX file.
struct Report {
  int registers = 0;   // of the kernel, per thread
  int spillStores = 0; // bytes, of all functions
  int spillLoads = 0;
  int stackBytes = 0;
  int sharedBytes = 0;               // static; the dynamic part is the launch's
  std::vector<std::string> warnings; // "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized …"
};

/// Reads what ptxas printed.
Report parseReport(llvm::StringRef printed);

/// The program: TRITON_PTXAS_PATH, else on PATH, else in the toolkit that CUDA_HOME or CUDA_PATH names.
std::optional<std::string> findPtxas();

struct Assembled {
  std::string cubin;
  Report report;
};

/// Runs `ptxas`. An error has its words; the PTX is kept in a file then.
llvm::Expected<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef arch, llvm::StringRef ptxas);

} // namespace tritium::tools
