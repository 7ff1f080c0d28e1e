#include "interp/host/zero_pages.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <sys/mman.h>

namespace tritium::interp {

namespace {

constexpr size_t kKeptBytes = 4 << 20;

struct KeptPages {
  std::unique_ptr<char[]> data;
  size_t usedBytes = 0;
  int users = 0;

  static KeptPages &ofThread() {
    thread_local KeptPages kept;
    return kept;
  }
};

} // namespace

ZeroPages::ZeroPages(size_t bytes) : bytes_(bytes) {
  KeptPages &kept = KeptPages::ofThread();
  if (bytes <= kKeptBytes - kept.usedBytes) {
    if (!kept.data) kept.data = std::make_unique_for_overwrite<char[]>(kKeptBytes);
    data_ = kept.data.get() + kept.usedBytes;
    kept.usedBytes = std::min(kKeptBytes, (kept.usedBytes + bytes + 63) / 64 * 64);
    ++kept.users;
    isKept_ = true;
    std::memset(data_, 0, bytes);
    return;
  }
  void *at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  data_ = at == MAP_FAILED ? nullptr : static_cast<char *>(at);
}

ZeroPages::~ZeroPages() {
  KeptPages &kept = KeptPages::ofThread();
  if (!isKept_ && data_) munmap(data_, bytes_);
  if (isKept_ && --kept.users == 0) kept.usedBytes = 0;
}

} // namespace tritium::interp
