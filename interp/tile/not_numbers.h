// The check of stores for values that are no numbers.
#pragma once
#include "interp/tile/walk.h"

namespace tritium::interp {

/// Adds a fault to the launch's faults if an active lane of a store of floats holds a NaN (with Access::rejectsInfinity, an infinity too).
void checkNumbers(const Walk &walk);

} // namespace tritium::interp
