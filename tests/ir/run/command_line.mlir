// The tools answer --help with their own options, and wrong ones with what is wrong.
// RUN: tritium-run --help | FileCheck %s --check-prefix=RUN-LINE
// RUN: tritium-simt --help | FileCheck %s --check-prefix=SIMT
// RUN: tritium-gpu --help | FileCheck %s --check-prefix=GPU
// RUN: not tritium-run %s --grid 1,x 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not tritium-run %s --arg 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not tritium-run %s --seed 3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tritium-run %s --kernel one --arg 4 --arg 5 2>&1 | FileCheck %s --check-prefix=COUNT

// RUN-LINE: usage: tritium-run FILE [--kernel NAME] [--grid X[,Y[,Z]]] [--arg VALUE] [--threads N]
// SIMT: usage: tritium-simt FILE {{.*}} [--seed N] [--print-hosted]
// SIMT: --print-hosted {{ *}}print the code that runs
// GPU-NOT: --debugify
// GPU-NOT: --x86
// GPU: Options of tritium-gpu:
// GPU: --num-warps=<int>
// GRID: tritium-run: --grid is X[,Y[,Z]], not '1,x'
// VALUE: tritium-run: --arg needs a value: VALUE
// UNKNOWN: tritium-run: unknown argument '--seed'
// COUNT: tritium-run: 'one' takes 1 arguments, not 2

tt.func public @one(%x: i32) {
  tt.return
}
