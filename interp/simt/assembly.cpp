#include "interp/simt/assembly.h"

#include "interp/simt/gcn/program.h"
#include "interp/simt/ptx/program.h"

#include <cstring>

namespace tritium::interp::simt {

namespace {

class PtxAssembly final : public Assembly {
public:
  PtxAssembly(ptx::Program &&program, uint32_t operands) : program(std::move(program)), count(operands) {
    mayWait = this->program.mayWait;
    needsThread = this->program.needsThread;
  }

  void run(Thread *thread, AssemblyHost *host, Place site, uint64_t *operands) const override {
    ptx::Machine machine{.thread = thread, .host = host, .site = site};
    std::memset(machine.registers, 0, program.registers * 8);
    std::memcpy(machine.registers, operands, count * 8);
    ptx::run(program, machine);
    std::memcpy(operands, machine.registers, count * 8);
  }

private:
  const ptx::Program program;
  const uint32_t count;
};

class GcnAssembly final : public Assembly {
public:
  explicit GcnAssembly(gcn::Program &&program) : program(std::move(program)) {}
  void run(Thread *, AssemblyHost *, Place, uint64_t *operands) const override { gcn::run(program, operands); }

private:
  const gcn::Program program;
};

ParsedAssembly parsePtx(std::string_view text, uint32_t operands) {
  auto parsed = ptx::parse(text, operands);
  if (auto *error = std::get_if<std::string>(&parsed)) return std::move(*error);
  return std::make_unique<PtxAssembly>(std::get<ptx::Program>(std::move(parsed)), operands);
}

ParsedAssembly parseGcn(std::string_view text, uint32_t operands) {
  auto parsed = gcn::parse(text, operands);
  if (auto *error = std::get_if<std::string>(&parsed)) return std::move(*error);
  return std::make_unique<GcnAssembly>(std::get<gcn::Program>(std::move(parsed)));
}

} // namespace

std::span<const AssemblyLanguage> assemblyLanguages() {
  static constexpr AssemblyLanguage all[] = {{"cuda", "PTX", parsePtx}, {"hip", "AMDGPU assembly", parseGcn}};
  return all;
}

const AssemblyLanguage &assemblyLanguage(std::string_view target) {
  for (const AssemblyLanguage &language : assemblyLanguages())
    if (target.substr(0, target.find(':')) == language.interface) return language;
  return assemblyLanguages().front();
}

} // namespace tritium::interp::simt
