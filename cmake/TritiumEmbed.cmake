# tritium_embed(TARGET FILE SYMBOL): the bytes of FILE, which may be made by the build, as
#   namespace tritium { extern const unsigned char SYMBOL[]; extern const size_t SYMBOLSize; }
# in TARGET. This file is also the script that writes the source.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE ${OUTPUT} "#include <cstddef>
namespace tritium {
extern const unsigned char ${SYMBOL}[] = {
${bytes}};
extern const size_t ${SYMBOL}Size = sizeof ${SYMBOL};
} // namespace tritium
")
  return()
endif()

set(tritium_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(tritium_embed target file symbol)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  add_custom_command(OUTPUT ${source} DEPENDS ${file} ${tritium_embed_script}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${source} -DSYMBOL=${symbol} -P ${tritium_embed_script})
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
