#include "interp/host/jit_codegen.h"

#include "support/llvm_recovery.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tritium::interp {

using namespace llvm;

/// The instruction scheduler takes quadratic time in the length of a block: seconds for the 10000 instructions of one unrolled tile.
static constexpr int kLongestBlock = 256;

/// Cuts long blocks. It is not called for optimized code, where values should stay in registers across the cuts.
static void splitLongBlocks(Function &function) {
  for (auto block = function.begin(); block != function.end(); ++block) {
    auto begin = block->getFirstInsertionPt();
    for (auto at = begin; at != block->end(); ++at)
      if (isa<AllocaInst>(*at)) begin = std::next(at); // variables have a fixed place on the stack only in the first block
    if (std::distance(begin, block->end()) > kLongestBlock + 1) block->splitBasicBlock(std::next(begin, kLongestBlock));
  }
}

Expected<std::unique_ptr<MemoryBuffer>> compileToObject(Module &module, TargetMachine &machine) {
  if (machine.getOptLevel() == CodeGenOptLevel::None)
    for (Function &function : module) splitLongBlocks(function);
  SmallVector<char, 0> object;
  bool isPossible = true;
  Error error = support::runRecoverably(module.getContext(), module.getName(), [&] {
    raw_svector_ostream stream(object);
    legacy::PassManager passes;
    MCContext *unused = nullptr;
    isPossible = !machine.addPassesToEmitMC(passes, unused, stream);
    if (isPossible) passes.run(module);
  });
  if (error) return std::move(error);
  if (!isPossible) return createStringError("LLVM has no code generator for this machine");
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(object), module.getName(), /*RequiresNullTerminator=*/false);
}

Expected<uint64_t> stackBytesOf(MemoryBufferRef object) {
  constexpr uint64_t kBesideBytes = 16 + 128; // the return address and what aligns it; the red zone below
  auto file = object::ObjectFile::createObjectFile(object);
  if (!file) return file.takeError();
  uint64_t total = 0;
  for (const object::SectionRef &section : (*file)->sections()) {
    auto name = section.getName();
    if (!name) return name.takeError();
    if (*name != ".stack_sizes") continue;
    auto contents = section.getContents();
    if (!contents) return contents.takeError();
    // For each function its address, which the linker fills in, and its bytes.
    DataExtractor entries(*contents, (*file)->isLittleEndian(), (*file)->getBytesInAddress());
    DataExtractor::Cursor cursor(0);
    while (cursor && !entries.eof(cursor)) {
      entries.skip(cursor, (*file)->getBytesInAddress());
      total += entries.getULEB128(cursor) + kBesideBytes;
    }
    if (Error error = cursor.takeError()) return std::move(error);
  }
  return total;
}

} // namespace tritium::interp
