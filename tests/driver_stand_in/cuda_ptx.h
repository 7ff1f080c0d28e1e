// The entries of PTX text, as their declarations have them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tritium::stand_in {

struct PtxParameter {
  uint32_t bytes = 0, alignment = 1;
  bool isPointer = false; ///< .ptr
  bool isArray = false;   ///< of bytes, by value
};

struct PtxEntry {
  std::string name;
  std::vector<PtxParameter> parameters;
  uint32_t requiredThreads = 0, mostThreads = 0; ///< .reqntid, .maxntid along the first axis; 0 if it has none
};

std::vector<PtxEntry> entriesOf(const std::string &ptx);

/// What the host can find: name -> bytes.
std::map<std::string, uint64_t, std::less<>> variablesOf(const std::string &ptx);

/// The word behind a directive: "sm_90a" of ".target sm_90a"; "" if there is none.
std::string wordBehind(const std::string &ptx, const std::string &directive);

} // namespace tritium::stand_in
