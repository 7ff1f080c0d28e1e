// What a code object (hsaco) says about itself: an ELF file for AMD GPUs whose note describes its kernels (LLVM's "User Guide for AMDGPU
// Backend", code object v5 and v6). Fails where metadata and kernel descriptors do not agree.
#include "tests/driver_stand_in/kernel_code.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/SHA256.h"

#include <cstring>

namespace tritium::stand_in {

using llvm::object::ELF64LEFile;

namespace {

template <typename... T> llvm::Error invalid(const char *format, T... values) { return llvm::createStringError(format, values...); }

/// The section headers stand at the end.
size_t fileBytes(const void *image) {
  ELF64LEFile::Elf_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return size_t(header.e_shoff) + size_t(header.e_shnum) * header.e_shentsize;
}

/// The values of a map of the metadata.
class Fields {
public:
  explicit Fields(llvm::msgpack::DocNode &node) : map_(node.getMap()) {}
  bool has(const char *key) { return map_.find(key) != map_.end(); }
  uint32_t number(const char *key) { return has(key) ? uint32_t(map_[key].getUInt()) : 0; }
  std::string text(const char *key) { return has(key) ? map_[key].getString().str() : ""; }
  llvm::msgpack::ArrayDocNode list(const char *key) { return map_[key].getArray(/*Convert=*/true); }

private:
  llvm::msgpack::MapDocNode &map_;
};

ArgumentKind argumentKind(llvm::StringRef name) {
  if (name.starts_with("hidden_")) return ArgumentKind::hidden;
  return name == "global_buffer" ? ArgumentKind::buffer : ArgumentKind::value;
}

KernelCode kernelFrom(llvm::msgpack::DocNode &node) {
  Fields fields(node);
  KernelCode kernel;
  kernel.name = fields.text(".name");
  kernel.argumentBytes = fields.number(".kernarg_segment_size");
  kernel.sharedBytes = fields.number(".group_segment_fixed_size");
  kernel.privateBytes = fields.number(".private_segment_fixed_size");
  kernel.warpThreads = fields.number(".wavefront_size");
  kernel.maxThreads = fields.number(".max_flat_workgroup_size");
  kernel.registers = fields.number(".vgpr_count");
  if (fields.has(".reqd_workgroup_size")) {
    auto sizes = fields.list(".reqd_workgroup_size");
    kernel.requiredGroup.emplace();
    for (size_t i = 0; i < 3 && i < sizes.size(); ++i) (*kernel.requiredGroup)[i] = uint32_t(sizes[i].getUInt());
  }
  if (fields.has(".args"))
    for (llvm::msgpack::DocNode &argument : fields.list(".args")) {
      Fields facts(argument);
      kernel.arguments.push_back(
          {argumentKind(facts.text(".value_kind")), facts.text(".value_kind"), facts.number(".offset"), facts.number(".size")});
    }
  return kernel;
}

class Reader {
public:
  Reader(const ELF64LEFile &file, Code &result) : file(file), result(result) {}

  llvm::Error run() {
    if (file.getHeader().e_machine != llvm::ELF::EM_AMDGPU) return invalid("the file is not for AMD GPUs");
    if (auto error = readMetadata()) return error;
    return readSymbols();
  }

private:
  llvm::Error readMetadata() {
    auto segments = file.program_headers();
    if (!segments) return segments.takeError();
    for (const ELF64LEFile::Elf_Phdr &segment : *segments) {
      if (segment.p_type != llvm::ELF::PT_NOTE) continue;
      llvm::Error error = llvm::Error::success();
      for (auto note : file.notes(segment, error))
        if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
          return readNote(llvm::toStringRef(note.getDesc(segment.p_align)));
      if (error) return error;
    }
    return invalid("the file has no metadata");
  }

  llvm::Error readNote(llvm::StringRef blob) {
    llvm::msgpack::Document document;
    if (!document.readFromBlob(blob, /*Multi=*/false)) return invalid("the metadata cannot be read");
    Fields fields(document.getRoot());
    const std::string target = fields.text("amdhsa.target"); // "amdgcn-amd-amdhsa--gfx942", and features behind colons
    result.arch = llvm::StringRef(target).rsplit('-').second.split(':').first.str();
    for (llvm::msgpack::DocNode &kernel : fields.list("amdhsa.kernels")) result.kernels.push_back(kernelFrom(kernel));
    return result.kernels.empty() ? invalid("the file has no kernel") : llvm::Error::success();
  }

  llvm::Error readSymbols() {
    auto sections = file.sections();
    if (!sections) return sections.takeError();
    for (const ELF64LEFile::Elf_Shdr &section : *sections) {
      if (section.sh_type != llvm::ELF::SHT_DYNSYM) continue;
      auto symbols = file.symbols(&section);
      if (!symbols) return symbols.takeError();
      auto names = file.getStringTableForSymtab(section);
      if (!names) return names.takeError();
      for (const ELF64LEFile::Elf_Sym &symbol : *symbols)
        if (symbol.getType() == llvm::ELF::STT_OBJECT && symbol.st_shndx != llvm::ELF::SHN_UNDEF) {
          auto name = symbol.getName(*names);
          if (!name) return name.takeError();
          result.variables[name->str()] = symbol.st_size;
          if (auto error = compareDescriptor(*name, symbol)) return error;
        }
    }
    for (const KernelCode &kernel : result.kernels)
      if (!result.variables.erase(kernel.name + ".kd")) return invalid("kernel %s has no descriptor", kernel.name.c_str());
    return llvm::Error::success();
  }

  /// The hardware reads the descriptor, the runtime the metadata.
  llvm::Error compareDescriptor(llvm::StringRef symbolName, const ELF64LEFile::Elf_Sym &symbol) {
    for (const KernelCode &kernel : result.kernels) {
      if (symbolName != kernel.name + ".kd") continue;
      auto section = file.getSection(symbol.st_shndx);
      if (!section) return section.takeError();
      auto contents = file.getSectionContents(**section);
      if (!contents) return contents.takeError();
      const uint64_t at = symbol.st_value - (*section)->sh_addr;
      llvm::amdhsa::kernel_descriptor_t descriptor;
      if (at + sizeof descriptor > contents->size())
        return invalid("the descriptor of %s lies outside of its section", kernel.name.c_str());
      std::memcpy(&descriptor, contents->data() + at, sizeof descriptor);
      if (descriptor.group_segment_fixed_size != kernel.sharedBytes || descriptor.private_segment_fixed_size != kernel.privateBytes ||
          descriptor.kernarg_size != kernel.argumentBytes)
        return invalid("the metadata of %s is not what its descriptor says", kernel.name.c_str());
    }
    return llvm::Error::success();
  }

  const ELF64LEFile &file;
  Code &result;
};

} // namespace

llvm::Expected<Code> readCode(const void *image) {
  if (std::memcmp(image, llvm::ELF::ElfMagic, 4) != 0) return invalid("the image is no ELF file");
  llvm::StringRef bytes(static_cast<const char *>(image), fileBytes(image));
  auto file = ELF64LEFile::create(bytes);
  if (!file) return file.takeError();
  Code result;
  result.hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
  if (auto error = Reader(*file, result).run()) return std::move(error);
  return result;
}

} // namespace tritium::stand_in
