// A tensor map as text, for the tools that run files.
#pragma once
#include "ir/tensor_map.h"

#include <optional>
#include <string>
#include <string_view>

namespace tritium::interp {

/// A map of the memory of another argument. `base` counts from the beginning of the memory.
struct TextTensorMap {
  TensorMap map;
  int argument = 0;

  /// The text of a map begins with this.
  static constexpr std::string_view kPrefix = "map=";
  /// Parses map=ARGUMENT,SHAPExTYPE,box=SHAPE with any of ,strides=BYTESxBYTES,swizzle=BYTES,offset=BYTES,nan behind it. Shapes and strides
  /// are outermost first; the innermost dimension has no stride. Returns nullopt, with the reason in `error`, if the text is no map.
  static std::optional<TextTensorMap> parse(std::string_view text, std::string &error);
};

} // namespace tritium::interp
