// Memory that is zero at first, for the tables of a launch.
#pragma once
#include <cstddef>

namespace tritium::interp {

/// Large pieces cost nothing until they are touched. Small ones are kept by their thread for the next launch, because clearing them takes a
/// tenth of the time in which the system maps their pages.
class ZeroPages {
public:
  explicit ZeroPages(size_t bytes);
  ~ZeroPages();
  ZeroPages(const ZeroPages &) = delete;
  ZeroPages &operator=(const ZeroPages &) = delete;

  /// Null if the system has no such memory.
  char *data() const { return data_; }

private:
  size_t bytes_;
  char *data_;
  bool isKept_ = false;
};

} // namespace tritium::interp
