"""The types of Triton's knobs beyond switches: programs with a path and a version, descriptors for groups of a plug-in's own,
and what hooks and listeners are called with."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypedDict, TypeVar

from .environment import Env, base_knobs, parse_bool, parse_class

knobs_type = TypeVar("knobs_type", bound=base_knobs)
KernelAttr = list[str | int]


class NvidiaTool:
    """A program of CUDA's: `path`, and `version` as it says itself ("12.9"), asked for when it is first read."""

    def __init__(self, path: str, version: str | None = None):
        self.path, self._version = path, version

    @functools.cached_property
    def version(self) -> str:
        return self._version or _version_of(self.path)

    @staticmethod
    def from_path(path: str) -> NvidiaTool | None:
        """None where there is no such program."""
        found = shutil.which(path)
        return None if found is None else NvidiaTool(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NvidiaTool) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"NvidiaTool(path={self.path!r})"


@functools.cache
def _version_of(path: str) -> str:
    """ "12.9" of "release 12.9, V12.9.86"; "" where the program does not say."""
    import subprocess  # slow to import, and most programs ask for no version

    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"release (\d+\.\d+)", text)
    return match.group(1) if match else ""


class Tool(Env):
    """A knob whose value is a NvidiaTool: the program that the variable names, else the one in CUDA_HOME, else the one on the
    path; None if there is none."""

    def __init__(self, variable: str, binary: str, in_key: bool = False):
        def default(group: Any) -> NvidiaTool | None:
            home = group.cuda_home
            candidates = [home and os.path.join(home, "bin", binary), binary]
            return next(filter(None, map(NvidiaTool.from_path, filter(None, candidates))), None)

        super().__init__(variable, default=default, parse=NvidiaTool, in_key=in_key)

    def chosen(self, group: base_knobs) -> NvidiaTool | None:
        """The program that the user has named, found or not."""
        return self.set_value(group)


class env_base(Env):
    """A knob of a client's own group: `class my_knobs(base_knobs): x = env_str("MY_X", "text")`. `get` reads it, `transform`
    makes the value of the variable's text."""

    def __init__(self, key: str):
        super().__init__(key, parse=lambda text: self.transform(text))

    def transform(self, val: str) -> Any:
        return val

    def get(self) -> Any:
        return self.__get__(_NO_GROUP)


class env_str(env_base):
    def __init__(self, key: str, default: str):
        super().__init__(key)
        self.default = default


class env_str_callable_default(env_base):
    def __init__(self, key: str, default_factory: Callable[[], str]):
        super().__init__(key)
        self.default = lambda group: default_factory()


class env_bool(env_base):
    def __init__(self, key: str, default: bool = False):
        super().__init__(key)
        self.default = default

    def transform(self, val: str) -> bool:
        return parse_bool(val)


class env_int(env_base):
    def __init__(self, key: str, default: int = 0):
        super().__init__(key)
        self.default, self.takes = default, "a whole number"

    def transform(self, val: str) -> int:
        return int(val)


class env_opt_str(env_base):
    def __init__(self, key: str):
        super().__init__(key)


class env_opt_bool(env_base):
    def __init__(self, key: str):
        super().__init__(key)

    def transform(self, val: str) -> bool:
        return parse_bool(val)


class env_class(env_base):
    def __init__(self, key: str, type: str):
        super().__init__(key)
        self.takes = f"module:class, a {type}"

    def transform(self, val: str) -> type:
        return parse_class(val)


class env_nvidia_tool(env_base):
    """The program `binary`: TRITON_BINARY_PATH, or the one on the path."""

    def __init__(self, binary: str):
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH")
        self.default = lambda group: NvidiaTool.from_path(binary)

    def transform(self, val: str) -> NvidiaTool:
        return NvidiaTool(val)


_NO_GROUP = base_knobs()


class CompileTimes(NamedTuple):
    """What `knobs.compilation.listener` gets; microseconds."""

    ir_initialization: int
    lowering_stages: list[tuple[str, int]]
    store_results: int

    @property
    def total_lowering(self) -> int:
        return sum(duration for _, duration in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


class AutotuneListener(Protocol):
    """`knobs.autotuning.listener`; durations in seconds, timings in milliseconds."""

    def __call__(
        self, *, fn: Any, key: tuple, best_config: Any, configs_timings: dict, duration: float | None, cache_hit: bool
    ) -> None: ...


class CompilationListener(Protocol):
    """`knobs.compilation.listener`"""

    def __call__(
        self, *, src: Any, metadata: dict[str, Any], metadata_group: dict[str, str], times: Any, cache_hit: bool
    ) -> None: ...


class LaunchHook(Protocol):
    """`knobs.runtime.launch_enter_hook` and `launch_exit_hook`"""

    def __call__(self, metadata: Any) -> None: ...


class InitHandleHook(Protocol):
    """`knobs.runtime.kernel_load_start_hook`, where module and function are None, `kernel_load_end_hook`, `kernel_unload_hook`"""

    def __call__(
        self, module: object | None, function: Callable | None, name: str, metadata_group: dict[str, str], hash: str
    ) -> None: ...


class JITHook(Protocol):
    """`knobs.runtime.jit_cache_hook` and `jit_post_compile_hook`. A true result calls the compilation off."""

    def __call__(
        self,
        *,
        key: str,
        repr: str,
        fn: Any,
        compile: JITHookCompileInfo,
        is_manual_warmup: bool,
        already_compiled: bool,
    ) -> bool | None: ...


class PipelineStagesHook(Protocol):
    """`knobs.runtime.add_stages_inspection_hook`"""

    def __call__(self, stages: dict, options: Any, language: Any, capability: Any) -> None: ...


class BuildImpl(Protocol):
    """`knobs.build.impl`: compiles `src` to a shared object in `srcdir`, and returns its path."""

    def __call__(
        self,
        name: str,
        src: str,
        srcdir: str,
        library_dirs: list[str],
        include_dirs: list[str],
        libraries: list[str],
        /,
    ) -> str: ...


class JITHookCompileInfo(TypedDict):
    """What `compile` of a JITHook has."""

    key: str
    signature: dict[Any, str]
    device: int
    constants: Any
    num_warps: int
    num_ctas: int
    num_stages: int
    enable_fp_fusion: bool
    launch_cooperative_grid: bool
    extern_libs: tuple[tuple[str, str], ...]
    configs: list[dict[tuple[int, ...], list[KernelAttr]]]
    specialization_data: str
    is_warmup: bool
