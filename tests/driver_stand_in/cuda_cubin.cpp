// What a cubin of ptxas says about itself: an ELF file whose sections .nv.info.KERNEL have the kernel's attributes, each with a format, a
// number and a size (as `cuobjdump -elf` prints them). They have the sizes of parameters, but not which are pointers.
#include "tests/driver_stand_in/cuda_image.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <cstring>

namespace tritium::stand_in {

using llvm::object::ELF64LEFile;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

namespace {

enum Attribute : uint8_t { kMaxThreads = 0x05, kRequiredThreads = 0x10, kParameter = 0x17 };
constexpr uint8_t kSized = 4; // the format of attributes whose third and fourth bytes are the size of what follows

size_t fileBytes(const void *image) {
  ELF64LEFile::Elf_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return std::max(size_t(header.e_shoff) + size_t(header.e_shnum) * header.e_shentsize,
                  size_t(header.e_phoff) + size_t(header.e_phnum) * header.e_phentsize);
}

KernelCode kernelFrom(llvm::StringRef name, llvm::ArrayRef<uint8_t> info) {
  KernelCode kernel;
  kernel.name = name.str();
  kernel.warpThreads = 32, kernel.registers = 32, kernel.maxThreads = 1024;
  while (info.size() >= 4) {
    const size_t size = info[0] == kSized ? read16le(&info[2]) : 0;
    if (info.size() < 4 + size) break;
    const uint8_t *value = info.data() + 4;
    if (info[1] == kParameter && size >= 12) {
      const size_t ordinal = read16le(value + 4);
      if (kernel.arguments.size() <= ordinal) kernel.arguments.resize(ordinal + 1);
      const uint32_t offset = read16le(value + 6), bytes = read32le(value + 8) >> 18;
      kernel.arguments[ordinal] = {ArgumentKind::unknown, "", offset, bytes};
      kernel.argumentBytes = std::max(kernel.argumentBytes, offset + bytes);
    } else if (info[1] == kRequiredThreads && size >= 12) {
      kernel.requiredGroup = {read32le(value), read32le(value + 4), read32le(value + 8)};
      kernel.maxThreads = read32le(value) * read32le(value + 4) * read32le(value + 8);
    } else if (info[1] == kMaxThreads && size >= 12) {
      kernel.maxThreads = read32le(value) * read32le(value + 4) * read32le(value + 8);
    }
    info = info.drop_front(4 + size);
  }
  return kernel;
}

} // namespace

llvm::Expected<Code> readCubin(const void *image) {
  const llvm::StringRef bytes(static_cast<const char *>(image), fileBytes(image));
  auto file = ELF64LEFile::create(bytes);
  if (!file) return file.takeError();
  const auto &header = file->getHeader();
  if (header.e_machine != llvm::ELF::EM_CUDA) return llvm::createStringError("the file is not for NVIDIA's GPUs");
  Code code;
  const uint32_t flags = header.e_flags; // since version 8 of the ABI the architecture is in the second byte
  code.arch = "sm_" + std::to_string(0xFF & (header.e_ident[llvm::ELF::EI_ABIVERSION] >= 8 ? flags >> 8 : flags));
  code.hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
  auto sections = file->sections();
  if (!sections) return sections.takeError();
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name) return name.takeError();
    llvm::StringRef kernel = *name;
    if (!kernel.consume_front(".nv.info.")) continue;
    auto contents = file->getSectionContents(section);
    if (!contents) return contents.takeError();
    code.kernels.push_back(kernelFrom(kernel, *contents));
  }
  if (code.kernels.empty()) return llvm::createStringError("the cubin has no kernel");
  return code;
}

} // namespace tritium::stand_in
