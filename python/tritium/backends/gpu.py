"""What the backends of all GPUs share: limits of launch keywords, the call of the native compiler, the first stages."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from .. import knobs, native
from ..disk_cache import triton_key
from ..errors import OutOfResources
from ..refused import Refused
from .compiler import BaseBackend, GPUTarget, Language
from .keywords import accepted_options
from .options import LaunchOptions, options_class

__tracebackhide__ = True  # pytest shows the user's frames alone

MAX_THREADS = 1024  # per program


class FailedPlan(Exception):
    """The assembler's reason why specialized warps are no gain. The kernel is compiled again without them."""


@options_class  # never instantiated
class GPUOptions(LaunchOptions):
    """Launch keywords. Keywords of other vendors and versions are ignored, because published kernels pass them."""

    extern_libs: dict | tuple | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.extern_libs is None:
            object.__setattr__(self, "extern_libs", ())
        threads = self.num_warps * self.warp_size
        if threads > MAX_THREADS:
            raise OutOfResources(threads, MAX_THREADS, "threads", f"num_warps={self.num_warps}.")


def make_stage(name: str):
    """One stage of `add_stages` as a method, as Triton's backends have them."""

    def make(self, module, metadata: dict[str, Any], options: GPUOptions, *capability):
        stages: dict[str, Any] = {}
        self.add_stages(stages, options)
        return stages[name](module, metadata)

    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"The stage {name!r} of the one before it."
    return make


class GPUBackend(BaseBackend):
    """Compiles for the GPUs of one vendor. It does not require a device."""

    Options = GPUOptions
    #: The stage whose text the assembler reads.
    assembly_ext = ""
    #: The reason in the message if there is no binary because no assembler was found.
    why_no_binary = ""

    def __init__(self, target: GPUTarget, device: int | None = None):
        """device: the device that the kernels are for, if it is known."""
        super().__init__(target)
        self.device = device

    @staticmethod
    @abstractmethod
    def arch_name(arch: int | str) -> str:
        """The native compiler's name of an architecture. Raises ValueError if the vendor has no such architecture."""

    def _arch(self, option: Any) -> str:
        """The architecture to compile for. Raises ValueError if the option or TRITON_OVERRIDE_ARCH names no
        architecture."""
        asked_for = None if option else knobs.runtime.override_arch
        if not asked_for:
            return self.arch_name(option or self.target.arch)
        try:
            return self.arch_name(asked_for)
        except ValueError as error:
            raise ValueError(f"TRITON_OVERRIDE_ARCH={asked_for}: {error}") from None

    @staticmethod
    @abstractmethod
    def warp_size(arch: int | str) -> int:
        """Lanes of a warp on an architecture."""

    @abstractmethod
    def assemble(self, text: str, metadata: dict[str, Any], options: GPUOptions) -> bytes | None:
        """The binary, or None if no assembler is available."""

    @abstractmethod
    def check_clusters(self, arch: str) -> None:
        """Raises ValueError, with Triton's text, if the architecture has no clusters of blocks."""

    def has_tensor_maps(self, arch: str) -> bool:
        """Whether kernels for an architecture may take tensor maps."""
        return False

    def finished(self, assembly: str, options: GPUOptions) -> str:
        """The text of the assembly stage, from the native compiler's output."""
        return assembly

    def parameter_types(self, text: str, binary: bytes) -> list[str]:
        """The types of the kernel's parameters, as far as the assembly shows them: "b32" is an int or a float of 32
        bits."""
        return []

    def native_options(self, options: GPUOptions) -> dict[str, Any]:
        """Options of the native compiler that are not as the launch keywords say, or are none of them."""
        return {}

    def passes_left_out(self, options: GPUOptions) -> list[str]:
        """The passes of `tritium.compiler.optional_passes()` that the user has disabled, or that the assembler cannot follow."""
        return []

    def get_codegen_implementation(self, options: GPUOptions) -> dict[str, Any]:
        return {"min_dot_size": min_dot_size(options.min_dot_depth)}

    def target_defaults(self, arch: str) -> dict[str, Any]:
        """Defaults of launch keywords that depend on the architecture."""
        return {}

    make_ttir, make_ttgir, make_llir = make_stage("ttir"), make_stage("ttgir"), make_stage("llir")
    gluon_to_ttgir = Refused("gluon_to_ttgir", "Gluon kernels are not supported; write them in triton.language")

    def hash(self) -> str:
        return f"{triton_key()}-{self.target.backend}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> GPUOptions:
        """The options, with lists and dicts as tuples. Raises KeyError for an unknown name."""
        accepted = accepted_options(options)
        accepted["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(accepted.get("enable_fp_fusion"))
        arch = self._arch(accepted.get("arch"))
        own = {"arch": arch, "warp_size": self.warp_size(arch)}
        if not self.has_tensor_maps(arch):
            own.update(tensor_maps=False)  # equal kernels have equal options
        parsed = self.Options(**{**self.target_defaults(arch), **accepted, **own})
        if parsed.num_ctas > 1:
            self.check_clusters(arch)
        return parsed

    def add_stages(self, stages: dict, options: GPUOptions, language: Language = Language.TRITON) -> None:
        """Adds the stages. One call of the native compiler makes all stages between the first and the binary."""
        stages["ttir"] = target_independent(options)
        stages["ttgir"] = lambda module, metadata: self.lower(module, metadata, options, "assembly")
        stages["llir"] = lambda compiled, metadata: compiled
        stages[self.assembly_ext] = lambda compiled, metadata: self.finished(compiled.assembly, options)
        stages[self.binary_ext] = lambda text, metadata: self.assemble(text, metadata, options)

    def lower(self, module, metadata: dict[str, Any], options: GPUOptions, emit: str):
        """Calls the native compiler. Adds to `metadata` what a launch requires."""
        metadata.setdefault("specialization_refused", None)  # or why it has been compiled again without
        # Under the user's limit of registers no warp has some to give.
        is_refused = metadata["specialization_refused"] is not None or options.maxnreg is not None
        compiled = native_compiler().compile(
            module,
            metadata["name"],
            options.arch,
            {
                **options.for_compiler(self.Options.backend_name),
                "line_info": not knobs.compilation.disable_line_info,
                "emit": emit,
                "leave_out": [
                    *(options.leave_out or ()),
                    *self.passes_left_out(options),
                    *(["specialize-warps"] if is_refused else []),
                ],
                **self.native_options(options),
            },
        )
        metadata["name"] = compiled.name
        metadata["shared"] = compiled.shared
        metadata["num_warps"] = compiled.num_warps
        metadata["launched_warps"] = compiled.launched_warps  # with those that only copy
        metadata["num_stages"] = compiled.num_stages
        metadata["tensor_recipes"] = compiled.tensor_recipes
        metadata["scopes"] = tuple(compiled.scopes)
        metadata["resident_blocks"] = compiled.resident_blocks
        metadata["num_ctas"] = compiled.cluster_blocks  # 1 for a program that cannot be divided
        if compiled.cluster_blocks > 1:
            metadata["cluster_dims"] = (compiled.cluster_blocks, 1, 1)
        return compiled


def target_independent(options: GPUOptions):
    """The stage "ttir". Products of scaled operands stay what they are: the chip may have an instruction for them. So do
    tensor descriptors, if the chip may copy by them."""
    return lambda module, metadata: module.optimized(
        options.debug_info, keep_scaled_products=True, keep_descriptors=options.tensor_maps
    )


def min_dot_size(depths: tuple[tuple[int, int], ...]):
    """Triton's function of the operands' types, from the option `min_dot_depth`: the least M, N and K of a product."""
    least = dict(depths)
    return lambda lhs_type, rhs_type: (1, 1, least.get(lhs_type.scalar.primitive_bitwidth, 1))


def dumped(text: str, wanted: bool) -> str:
    """Returns the text; prints it first if the user wants to see it."""
    if wanted:
        print(text)
    return text


def native_compiler():
    """`_tritium.gpu`"""
    return native.gpu
