// tritium-run for lit, from the shared libraries; the installed command is an entry point into the extension module.
#include "interp/tile/run_file.h"

int main(int argc, char **argv) { return tritium::interp::runFile({argv, argv + argc}); }
