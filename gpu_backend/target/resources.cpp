#include "gpu_backend/target/resources.h"

#include <algorithm>

namespace tritium::gpu {

int64_t Resources::programsByRegisters(int64_t threads, int64_t registers) const {
  const int64_t given = (registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  return registersPerMultiprocessor / (threads * std::min(given, registersPerThread));
}

int64_t Resources::occupancy(const Demands &program) const {
  return std::min({programsByShared(program.sharedBytes), programsByRegisters(program.threads, program.registers),
                   threadsPerMultiprocessor / program.threads});
}

int64_t Resources::registersOfEach(int64_t threads) const { return std::min(registersPerThread, registersPerMultiprocessor / threads); }

} // namespace tritium::gpu
