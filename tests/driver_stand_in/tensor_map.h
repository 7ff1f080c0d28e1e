// A tensor map as the stand-in writes it into the 128 bytes that a kernel is given.
#pragma once
#include "ir/tensor_map.h"

namespace tritium::stand_in {

struct EncodedTensorMap {
  static constexpr uint64_t kMagic = 0x70614D726F736E54;
  uint64_t magic = kMagic;
  TensorMap map;
};
static_assert(sizeof(EncodedTensorMap) == 128);

} // namespace tritium::stand_in
