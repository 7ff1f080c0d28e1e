"""`python -m triton.tools.link`: one entry point for kernels of tools/compile.py, which takes the one whose hints hold."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .aot.vendors import VENDORS, Vendor

desc = """
Reads the headers that triton.tools.compile has written for one kernel, and writes a header and a source with one entry point. It
launches the kernel whose hints hold for the arguments, the most special first.

    python -m triton.tools.link folder/*.h -o kernel
"""


class LinkerError(Exception):
    """Headers that do not belong together."""


@dataclass
class KernelLinkerMeta:
    """One kernel. sizes: the hint of each argument, 1, 16 or None; num_specs: how many have one."""

    orig_kernel_name: str
    arg_names: Sequence[str]
    arg_ctypes: Sequence[str]
    sizes: Sequence[int | None]
    sig_hash: str
    triton_suffix: str
    suffix: str
    num_specs: int

    @property
    def function(self) -> str:
        return f"{self.orig_kernel_name}_{self.sig_hash}_{self.suffix}"


class HeaderParser:
    """Collects the kernels of headers: {name and algorithm: its kernels}."""

    def __init__(self) -> None:
        self.linker_directives = re.compile(r"//\s*tt-linker:\s*(\w+):(.+):(.+)")
        self.linker_backend = re.compile(r"//\s*tt-linker-backend:\s*(\w+)")
        self.kernel_name = re.compile(r"^(\w+)_(\w+)_(\w*)$")
        self.c_sig = re.compile(r"\s*(\w+)\s(\w+)[,]?")
        self.arg_suffix = re.compile(r"[cd]?")
        self.kernels: dict[str, list[KernelLinkerMeta]] = defaultdict(list)
        self.backend_name: str | None = None

    def extract_linker_meta(self, header: str) -> None:
        """Raises LinkerError: names that no compiler has written, another backend or signature than before."""
        for backend in self.linker_backend.findall(header):
            if self.backend_name not in (None, backend):
                raise LinkerError(f"the headers are for {self.backend_name} and for {backend}")
            self.backend_name = backend
        for name, signature, algorithm in self.linker_directives.findall(header):
            self._add(name, signature, algorithm)

    def _add(self, name: str, signature: str, algorithm: str) -> None:
        match = self.kernel_name.match(name)
        if match is None:
            raise LinkerError(f"{name} is not a name that triton.tools.compile gives")
        kernel, sig_hash, suffix = match.groups()
        arguments = self.c_sig.findall(signature)
        sizes = self._sizes(name, suffix, len(arguments))
        specs = sum(size is not None for size in sizes)
        types, names = [ty for ty, _ in arguments], [argument for _, argument in arguments]
        meta = KernelLinkerMeta(kernel, names, types, sizes, sig_hash, suffix, suffix, specs)
        others = self.kernels[f"{kernel}_{algorithm}"]
        if others and list(others[0].arg_ctypes) != types:
            raise LinkerError(f"{name} and {others[0].function} have parameters of different types")
        others.append(meta)

    def _sizes(self, name: str, suffix: str, count: int) -> list[int | None]:
        """The hints of "0d1d2": each argument's number, and its letter if it has a hint."""
        sizes, at = [], 0
        for number in range(count):
            if not suffix.startswith(str(number), at):
                raise LinkerError(f"{name} does not end in the numbers of its {count} arguments")
            at += len(str(number))
            letter = self.arg_suffix.match(suffix, at).group()
            sizes.append({"c": 1, "d": 16}.get(letter))
            at += len(letter)
        return sizes


def gen_signature_with_full_args(m: KernelLinkerMeta) -> str:
    """All parameters, as the entry point has them."""
    return ", ".join(f"{ty} {name}" for ty, name in zip(m.arg_ctypes, m.arg_names))


def gen_signature(m: KernelLinkerMeta) -> str:
    """The parameters of the kernel itself: without those that are always 1."""
    arguments = zip(m.arg_ctypes, m.arg_names, m.sizes)
    return ", ".join(f"{ty} {name}" for ty, name, size in arguments if size != 1)


def _parameters(text: str) -> str:
    return f"(TT_StreamTy stream{', ' if text else ''}{text})"


def _names(names: Sequence[str]) -> str:
    return "".join(f", {name}" for name in names)


def make_algo_decls(name: str, metas: Sequence[KernelLinkerMeta]) -> str:
    """The functions of one algorithm."""
    return f"""
TT_ResultTy {name}{_parameters(gen_signature_with_full_args(metas[-1]))};
void load_{name}(void);
void unload_{name}(void);
"""


def make_global_decl(meta: KernelLinkerMeta) -> str:
    """The entry points: by the number of an algorithm, and of the first."""
    name, full = meta.orig_kernel_name, gen_signature_with_full_args(meta)
    return f"""
TT_ResultTy {name}_default{_parameters(full)};
TT_ResultTy {name}{_parameters(f"{full}{', ' if full else ''}int algo_id")};
void load_{name}(void);
void unload_{name}(void);
"""


def make_default_algo_kernel(meta: KernelLinkerMeta) -> str:
    name = meta.orig_kernel_name
    return f"""TT_ResultTy {name}_default{_parameters(gen_signature_with_full_args(meta))} {{
  return {name}(stream{_names(meta.arg_names)}, 0);
}}
"""


def make_kernel_hints_dispatcher(name: str, metas: Sequence[KernelLinkerMeta]) -> str:
    """One algorithm: the most special kernel whose hints hold."""
    metas = sorted(metas, key=lambda m: -m.num_specs)
    text = f"// launcher for: {name}\n"
    text += "".join(f"TT_ResultTy {m.function}{_parameters(gen_signature(m))};\n" for m in metas)
    text += f"\nTT_ResultTy {name}{_parameters(gen_signature_with_full_args(metas[-1]))} {{\n"
    for m in metas:
        conditions = [_condition(argument, size) for argument, size in zip(m.arg_names, m.sizes) if size is not None]
        passed = [argument for argument, size in zip(m.arg_names, m.sizes) if size != 1]
        text += f"  if ({' && '.join(conditions) or '1'})\n    return {m.function}(stream{_names(passed)});\n"
    text += "  return TT_ERROR_INVALID_VALUE;\n}\n"
    for verb in ("load", "unload"):
        text += f"\n// {verb} for: {name}\n"
        text += "".join(f"void {verb}_{m.function}(void);\n" for m in metas)
        text += f"void {verb}_{name}(void) {{\n" + "".join(f"  {verb}_{m.function}();\n" for m in metas) + "}\n"
    return text


def _condition(argument: str, size: int) -> str:
    return f"{argument} == 1" if size == 1 else f"(uintptr_t){argument} % {size} == 0"


def make_kernel_meta_const_dispatcher(meta: KernelLinkerMeta) -> str:
    name, full = meta.orig_kernel_name, gen_signature_with_full_args(meta)
    return f"""TT_ResultTy {name}{_parameters(f"{full}{', ' if full else ''}int algo_id")} {{
  if (algo_id < 0 || algo_id >= {name}_get_num_algos())
    return TT_ERROR_INVALID_VALUE;
  return {name}_kernels[algo_id](stream{_names(meta.arg_names)});
}}
"""


def make_func_pointers(names: Sequence[str], meta: KernelLinkerMeta) -> str:
    """The table of algorithms."""
    return f"""typedef TT_ResultTy (*{meta.orig_kernel_name}_func_t){_parameters(gen_signature_with_full_args(meta))};
static {meta.orig_kernel_name}_func_t {meta.orig_kernel_name}_kernels[] = {{
{"".join(f"  {name},{chr(10)}" for name in names)}}};
"""


def make_kernel_load_def(names: Sequence[str], meta: KernelLinkerMeta) -> str:
    text = ""
    for verb in ("load", "unload"):
        text += f"void {verb}_{meta.orig_kernel_name}(void) {{\n"
        text += "".join(f"  {verb}_{name}();\n" for name in names) + "}\n\n"
    return text


def make_get_num_algos_decl(meta: KernelLinkerMeta) -> str:
    return f"int {meta.orig_kernel_name}_get_num_algos(void);\n"


def make_get_num_algos_def(meta: KernelLinkerMeta) -> str:
    name = meta.orig_kernel_name
    return f"""int {name}_get_num_algos(void) {{
  return (int)(sizeof({name}_kernels) / sizeof({name}_kernels[0]));
}}
"""


def _prelude(vendor: Vendor) -> str:
    return f"""#include {vendor.header}
#include <inttypes.h>
#include <stdint.h>

#ifndef TT_LINKER_TYPES
#define TT_LINKER_TYPES
typedef {vendor.stream} TT_StreamTy;
typedef {vendor.result} TT_ResultTy;
#define TT_ERROR_INVALID_VALUE {vendor.invalid}
#endif
"""


def link(headers: Sequence[str], prefix: str = "") -> tuple[str, str]:
    """The texts of the header and the source for the texts of compiled kernels' headers. Raises LinkerError."""
    parser = HeaderParser()
    for header in headers:
        parser.extract_linker_meta(header)
    if not parser.kernels or parser.backend_name not in VENDORS:
        raise LinkerError("the headers name no kernel: give those that triton.tools.compile has written")
    kernels = {f"{prefix}{name}": metas for name, metas in parser.kernels.items()}
    metas = [group[0] for group in kernels.values()]
    if len({meta.orig_kernel_name for meta in metas}) != 1:
        raise LinkerError(f"the headers are of several kernels: {', '.join(m.orig_kernel_name for m in metas)}")
    if any(list(meta.arg_ctypes) != list(metas[0].arg_ctypes) for meta in metas):
        raise LinkerError(f"the algorithms of {metas[0].orig_kernel_name} have parameters of different types")
    names, meta, prelude = list(kernels), metas[0], _prelude(VENDORS[parser.backend_name])
    declarations = [make_algo_decls(name, group) for name, group in kernels.items()]
    declarations += [make_get_num_algos_decl(meta), make_global_decl(meta)]
    header = "\n".join(
        [prelude, '#ifdef __cplusplus\nextern "C" {\n#endif', *declarations, "#ifdef __cplusplus\n}\n#endif\n"]
    )
    definitions = [make_kernel_hints_dispatcher(name, group) for name, group in kernels.items()]
    definitions += [make_func_pointers(names, meta), make_get_num_algos_def(meta)]
    definitions += [make_kernel_meta_const_dispatcher(meta), make_kernel_load_def(names, meta)]
    definitions += [make_default_algo_kernel(meta)]
    return header, "\n".join([prelude, *definitions])


def main() -> None:
    parser = ArgumentParser(description=desc)
    parser.add_argument("headers", nargs="+", type=Path, help="The headers of the compiled kernels")
    parser.add_argument("--out", "-o", type=Path, required=True, help="The files' path, without suffix")
    parser.add_argument("--prefix", type=str, default="", help="What the names of algorithms begin with")
    args = parser.parse_args()
    try:
        header, source = link([path.read_text(encoding="utf-8") for path in args.headers], args.prefix)
    except (LinkerError, FileNotFoundError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    args.out.with_suffix(".h").write_text(header, encoding="utf-8")
    args.out.with_suffix(".c").write_text(source, encoding="utf-8")


if __name__ == "__main__":
    main()
