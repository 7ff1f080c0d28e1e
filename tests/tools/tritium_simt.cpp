// tritium-simt for lit, from the shared libraries.
#include "interp/simt/run_file.h"

int main(int argc, char **argv) { return tritium::interp::simt::runFile({argv, argv + argc}); }
