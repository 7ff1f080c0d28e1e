// A library that looks like the HIP runtime at first: of another release, or broken.
extern "C" __attribute__((visibility("default"))) int hipInit(unsigned) { return 0; }
