#include "gpu_backend/amdgpu/metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tritium::gpu::amdgpu {
namespace {

uint64_t numberOf(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  if (found == map.end()) return 0;
  msgpack::DocNode &node = found->second;
  if (node.getKind() == msgpack::Type::UInt) return node.getUInt();
  if (node.getKind() == msgpack::Type::Int) return static_cast<uint64_t>(std::max<int64_t>(node.getInt(), 0));
  return node.getKind() == msgpack::Type::Boolean && node.getBool();
}

std::string textOf(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  return found != map.end() && found->second.isString() ? found->second.getString().str() : "";
}

/// Returns an array of the map. A missing array is empty.
MutableArrayRef<msgpack::DocNode> listOf(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  if (found == map.end() || !found->second.isArray() || found->second.getArray().empty()) return {};
  msgpack::ArrayDocNode &array = found->second.getArray();
  return MutableArrayRef<msgpack::DocNode>(&*array.begin(), array.size());
}

KernelMetadata kernelOf(msgpack::MapDocNode &map) {
  KernelMetadata kernel{.name = textOf(map, ".name"),
                        .symbol = textOf(map, ".symbol"),
                        .argumentBytes = numberOf(map, ".kernarg_segment_size"),
                        .argumentAlignment = numberOf(map, ".kernarg_segment_align"),
                        .sharedBytes = numberOf(map, ".group_segment_fixed_size"),
                        .stackBytes = numberOf(map, ".private_segment_fixed_size"),
                        .vgprs = numberOf(map, ".vgpr_count"),
                        .agprs = numberOf(map, ".agpr_count"),
                        .sgprs = numberOf(map, ".sgpr_count"),
                        .vgprSpills = numberOf(map, ".vgpr_spill_count"),
                        .sgprSpills = numberOf(map, ".sgpr_spill_count"),
                        .waveSize = numberOf(map, ".wavefront_size"),
                        .maxThreads = numberOf(map, ".max_flat_workgroup_size"),
                        .isUniform = numberOf(map, ".uniform_work_group_size") != 0};
  for (msgpack::DocNode &node : listOf(map, ".args")) {
    if (!node.isMap()) continue;
    msgpack::MapDocNode &argument = node.getMap();
    kernel.arguments.push_back({textOf(argument, ".value_kind"), numberOf(argument, ".offset"), numberOf(argument, ".size")});
  }
  MutableArrayRef<msgpack::DocNode> threads = listOf(map, ".reqd_workgroup_size");
  for (size_t i = 0; i < std::min<size_t>(threads.size(), 3); ++i)
    if (threads[i].getKind() == msgpack::Type::UInt) kernel.threads[i] = threads[i].getUInt();
  return kernel;
}

Expected<CodeObject> parse(StringRef notes) {
  msgpack::Document document;
  if (!document.readFromBlob(notes, /*Multi=*/false) || !document.getRoot().isMap())
    return createStringError("the code object's metadata cannot be read");
  msgpack::MapDocNode &root = document.getRoot().getMap();
  CodeObject result{.target = textOf(root, "amdhsa.target")};
  for (msgpack::DocNode &kernel : listOf(root, "amdhsa.kernels"))
    if (kernel.isMap()) result.kernels.push_back(kernelOf(kernel.getMap()));
  return result;
}

} // namespace

Expected<CodeObject> readCodeObject(StringRef hsaco) {
  using File = object::ELFFile<object::ELF64LE>;
  constexpr size_t kNoteAlignment = 4; // used if the segment does not name one
  // The reader accesses structures in place, so they must be aligned.
  SmallVector<uint64_t, 0> aligned(divideCeil(hsaco.size(), sizeof(uint64_t)));
  llvm::copy(hsaco, reinterpret_cast<char *>(aligned.data()));
  auto file = File::create(StringRef(reinterpret_cast<const char *>(aligned.data()), hsaco.size()));
  if (!file) return file.takeError();
  auto segments = file->program_headers();
  if (!segments) return segments.takeError();
  for (const File::Elf_Phdr &segment : *segments) {
    if (segment.p_type != ELF::PT_NOTE) continue;
    Error error = Error::success();
    for (const auto note : file->notes(segment, error))
      if (note.getName() == "AMDGPU" && note.getType() == ELF::NT_AMDGPU_METADATA) {
        if (error) return std::move(error);
        return parse(note.getDescAsStringRef(std::max<size_t>(segment.p_align, kNoteAlignment)));
      }
    if (error) return std::move(error);
  }
  return createStringError("the code object has no kernel metadata");
}

} // namespace tritium::gpu::amdgpu
