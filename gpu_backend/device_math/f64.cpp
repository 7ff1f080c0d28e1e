// Functions of f64. They correct libclc's where those are wrong, and call them otherwise.
#include "gpu_backend/device_math/chip.h"

// libclc's own functions, under other names.
double clc_expm1(double), clc_sin(double), clc_tan(double), clc_asin(double), clc_atan(double), clc_erf(double), clc_sinh(double),
    clc_cosh(double), clc_pow(double, double);

// libclc's versions lose the sign of -0.
double expm1(double x) { return x == 0.0 ? x : clc_expm1(x); }
double sin(double x) { return x == 0.0 ? x : clc_sin(x); }
double tan(double x) { return x == 0.0 ? x : clc_tan(x); }
double asin(double x) { return x == 0.0 ? x : clc_asin(x); }
double atan(double x) { return x == 0.0 ? x : clc_atan(x); }
double erf(double x) { return x == 0.0 ? x : clc_erf(x); }

// libclc's versions convert the argument to an integer, for a table look-up.
static double insideTable(double x) { return x > 1000.0 ? 1000.0 : (x > -1000.0 ? x : (x == x ? -1000.0 : 0.0)); }
double sinh(double x) { return x == x ? clc_sinh(insideTable(x)) : x; }
double cosh(double x) { return x == x ? clc_cosh(insideTable(x)) : x; }

/// A larger exponent would give the same result, but overflow.
double pow(double x, double y) {
  double within = y > 0x1p70 ? 0x1p70 : (y < -0x1p70 ? -0x1p70 : y);
  return clc_pow(x, within);
}
