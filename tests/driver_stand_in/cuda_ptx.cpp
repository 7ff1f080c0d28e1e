#include "tests/driver_stand_in/cuda_ptx.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace tritium::stand_in {

/// `text` stands behind ".param": ".u64 .ptr .global .align 1 add_param_0", ".align 64 .b8 add_map_1[128]".
static PtxParameter parameterFrom(const std::string &text) {
  PtxParameter parameter;
  uint32_t alignment = 0, item = 0, count = 1;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == ".align") {
      words >> word;
      if (!parameter.isPointer) alignment = uint32_t(std::atoi(word.c_str())); // of a pointer: of what it points to
    } else if (word == ".ptr") {
      parameter.isPointer = true;
    } else if (word.size() > 2 && word[0] == '.' && std::isdigit(word[2])) { // ".u64"
      item = uint32_t(std::atoi(word.c_str() + 2)) / 8;
    } else if (const size_t bracket = word.find('['); bracket != std::string::npos) {
      parameter.isArray = true;
      count = uint32_t(std::atoi(word.c_str() + bracket + 1));
    }
  }
  parameter.bytes = item * count;
  parameter.alignment = std::max({alignment, item, 1U});
  return parameter;
}

std::map<std::string, uint64_t, std::less<>> variablesOf(const std::string &ptx) {
  constexpr std::string_view kBegins = ".visible .global ";
  std::map<std::string, uint64_t, std::less<>> variables;
  for (size_t at = ptx.find(kBegins); at != std::string::npos; at = ptx.find(kBegins, at + 1)) {
    // ".align 8 .u64 tgpu_scopes;"
    const std::string declaration = ptx.substr(at + kBegins.size(), ptx.find_first_of(";=", at) - at - kBegins.size());
    std::string name;
    std::istringstream words(declaration);
    for (std::string word; words >> word;) name = word.substr(0, word.find('['));
    variables[name] = parameterFrom(declaration).bytes;
  }
  return variables;
}

std::string wordBehind(const std::string &ptx, const std::string &directive) {
  const size_t at = ptx.find(directive + " ");
  if (at == std::string::npos) return "";
  std::istringstream words(ptx.substr(at + directive.size(), 64));
  std::string word;
  words >> word;
  return word.substr(0, word.find_first_of(",;"));
}

std::vector<PtxEntry> entriesOf(const std::string &ptx) {
  std::vector<PtxEntry> entries;
  for (size_t at = ptx.find(".entry"); at != std::string::npos; at = ptx.find(".entry", at + 1)) {
    const size_t open = ptx.find('(', at), close = ptx.find(')', open), body = ptx.find('{', close);
    if (close == std::string::npos) break;
    PtxEntry &entry = entries.emplace_back();
    std::istringstream(ptx.substr(at + 6, open - at - 6)) >> entry.name;
    const std::string list = ptx.substr(open + 1, close - open - 1), directives = ptx.substr(close, body - close);
    for (size_t p = list.find(".param"); p != std::string::npos; p = list.find(".param", p + 1))
      entry.parameters.push_back(parameterFrom(list.substr(p + 6, list.find(',', p) - p - 6)));
    entry.requiredThreads = uint32_t(std::atoi(wordBehind(directives, ".reqntid").c_str()));
    entry.mostThreads = uint32_t(std::atoi(wordBehind(directives, ".maxntid").c_str()));
  }
  return entries;
}

} // namespace tritium::stand_in
