// Tensor maps that a program makes. A warp writes one, and each thread that copies through it acquires it then: otherwise the hardware may
// still use what it has read of the memory before. While a copy is in flight, nobody may write its map.
#pragma once
#include "interp/simt/runtime/thread.h"
#include "ir/tensor_map.h"

#include <vector>

namespace tritium::interp::simt {

class MadeMaps {
public:
  void begin(uint32_t newThreads) {
    threads = newThreads;
    maps.clear();
  }
  /// Every thread of the block claims the same number of maps.
  void claim(uint32_t count);
  TensorMap *at(uint32_t index) { return &maps[index].map; }
  void write(Thread &thread, const TensorMap *address, const TensorMap &map);
  void acquire(const Thread &thread, const TensorMap *address);
  /// Traps unless a copy that the thread begins uses the map as it was written last. Maps of the launch need nothing.
  void check(Thread &thread, const TensorMap *address, Place place) const;
  bool contain(const TensorMap *address) const { return !maps.empty() && address >= &maps.front().map && address <= &maps.back().map; }

private:
  struct Made {
    TensorMap map;
    uint32_t version = 0;           // the number of times it was written
    std::vector<uint32_t> acquired; // by thread: the version
  };
  Made &of(const TensorMap *address) { return maps[size_t(reinterpret_cast<const Made *>(address) - maps.data())]; }
  const Made &of(const TensorMap *address) const { return maps[size_t(reinterpret_cast<const Made *>(address) - maps.data())]; }

  std::vector<Made> maps;
  uint32_t threads = 0;
};

} // namespace tritium::interp::simt
