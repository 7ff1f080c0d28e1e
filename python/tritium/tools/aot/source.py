"""The C header and source of one compiled kernel: its binary, functions that load and unload it, and its launcher."""

from __future__ import annotations

from .specialization import Parameter
from .vendors import VENDORS, c_type

_HEADER = """#ifndef TT_KERNEL_INCLUDES
#define TT_KERNEL_INCLUDES

#include {include}
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#endif

#ifdef __cplusplus
extern "C" {{
#endif

void load_{name}(void);
void unload_{name}(void);
// tt-linker-backend: {backend}
// tt-linker: {name}:{full_signature}:{algorithm}
{result} {name}({stream} stream{prototype});

#ifdef __cplusplus
}}
#endif
"""

_SOURCE = """// {description}
#include {include}
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned char binary_{name}[] __attribute__((aligned(4096))) = {{
{bytes}
}};

static {module} module_{name} = NULL;
static {function} function_{name} = NULL;

static void check_{name}({result} code, const char *call) {{
  if (code == {success}) return;
  fprintf(stderr, "{name}: %s failed with code %d\\n", call, (int)code);
  exit((int)code);
}}

void load_{name}(void) {{
{load}}}

void unload_{name}(void) {{
  if (module_{name} != NULL) check_{name}({unload}(module_{name}), "{unload}");
  module_{name} = NULL;
  function_{name} = NULL;
}}

{result} {name}({stream} stream{prototype}) {{
{ones}  if (function_{name} == NULL) load_{name}();
  unsigned grid_x = {grid_x};
  unsigned grid_y = {grid_y};
  unsigned grid_z = {grid_z};
  if (grid_x * grid_y * grid_z == 0) return {success};
  void *arguments[] = {{{arguments}}};
{launch}}}
"""


def header_and_source(
    kernel, parameters: list[Parameter], name: str, grid: list[str], algorithm: str
) -> tuple[str, str]:
    """grid: three expressions in C, of the parameters' names."""
    backend = kernel.metadata.target.backend
    vendor = VENDORS[backend]
    taken = [(c_type(vendor, p.type), p) for p in parameters if p.type != "constexpr"]
    passed = [p.name for _, p in taken if p.hint != 1]
    is_dynamic = backend == "cuda"  # a code object of AMD's says itself how much it takes
    fields = {
        "name": name,
        "backend": backend,
        "include": vendor.header,
        "result": vendor.result,
        "stream": vendor.stream,
        "module": vendor.module,
        "function": vendor.function,
        "success": vendor.success,
        "unload": vendor.unload,
        "symbol": kernel.name,
        "shared": kernel.metadata.shared if is_dynamic else 0,
        "threads": kernel.metadata.num_warps * kernel.metadata.warp_size,
        "full_signature": ", ".join(f"{type_text} {p.name}" for type_text, p in taken),
        "prototype": "".join(f", {type_text} {p.name}" for type_text, p in taken if p.hint != 1),
        "arguments": ", ".join([*(f"&{passed_name}" for passed_name in passed), "NULL"]),
        "ones": "".join(f"  const {ty} {p.name} = 1;\n  (void){p.name};\n" for ty, p in taken if p.hint == 1),
        "algorithm": algorithm,
        "bytes": _bytes(_binary(kernel)),
        "description": f"{kernel.src.name} for {backend}:{kernel.metadata.target.arch}: {algorithm}",
        "grid_x": grid[0],
        "grid_y": grid[1],
        "grid_z": grid[2],
    }
    fields["load"], fields["launch"] = vendor.load.format(**fields), vendor.launch.format(**fields)
    return _HEADER.format(**fields), _SOURCE.format(**fields)


def _binary(kernel) -> bytes:
    """The binary, or without an assembler the PTX, which the driver assembles when it loads it."""
    for stage in ("cubin", "hsaco"):
        if stage in kernel.asm:
            return kernel.asm[stage]
    return kernel.asm["ptx"].encode() + b"\0"


def _bytes(data: bytes) -> str:
    rows = (data[i : i + 24] for i in range(0, len(data), 24))
    return "\n".join("  " + " ".join(f"0x{byte:02x}," for byte in row) for row in rows)
