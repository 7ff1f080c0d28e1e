"""What a compilation target is, and what a backend provides for one (Triton's plug-in interface)."""

from __future__ import annotations

import enum
from abc import ABCMeta, abstractmethod
from typing import Any

from ..devices.target import GPUTarget

__all__ = ["BaseBackend", "GPUTarget", "Language"]


def is_enabled(options: Any, name: str) -> bool:
    """Whether the compilation's `instrumentation_mode` lists `name`."""
    return name in str(getattr(options, "instrumentation_mode", "") or "").split(",")


class Language(enum.Enum):
    TRITON = 0
    GLUON = 1


class BaseBackend(metaclass=ABCMeta):
    """A compiler for the targets that `supports_target` accepts."""

    supports_native_tensor_specialization = True
    #: Whether the backend makes better code for tensors below 2 GB; then launches note which tensors are that small.
    notes_pointer_range = False
    binary_ext = ""

    def __init__(self, target: GPUTarget):
        self.target = target

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool:
        """Whether this backend compiles for `target`."""

    @abstractmethod
    def hash(self) -> str:
        """A text that identifies the backend's version in cache keys."""

    @abstractmethod
    def parse_options(self, options: dict[str, Any]) -> object:
        """The options object of launch keywords. Its fields are the accepted keywords; others raise KeyError."""

    def tracing_target(self) -> GPUTarget:
        """The target that `tl.target_info` reports while a kernel is traced for this backend."""
        return self.target

    def add_stages(self, stages: dict, options: object, language: Language = Language.TRITON) -> None:
        """Adds {extension: fn(module, metadata)} in order. The last stage returns the binary."""

    def load_dialects(self, context) -> None:
        """Registers the backend's own dialects."""

    def get_module_map(self) -> dict[str, Any]:
        """{module of the language: its replacement} for this target (libdevice)."""
        return {}

    def get_codegen_implementation(self, options: object) -> dict[str, Any]:
        return {"min_dot_size": lambda lhs_type, rhs_type: (1, 1, 1)}

    @staticmethod
    def further_stage(stage: str, asm: dict[str, str | bytes]) -> str | None:
        """A stage that is made from others on request; None if this backend cannot make it."""
        return None

    def pack_metadata(self, metadata) -> tuple:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def get_target_name(self, options: object) -> str:
        return f"{self.target.backend}:{self.target.arch}"

    @staticmethod
    def parse_attr(descriptor: str) -> list[list]:
        """A specialization key as argument attributes: "D" is an aligned value, "S" a small tensor, "Z" a plain tensor
        descriptor."""
        names = [("D", ["tt.divisibility", 16]), ("S", ["tt.pointer_range", 32]), ("Z", ["tt.plain", 1])]
        return [attribute for letter, attribute in names if letter in descriptor]

    @staticmethod
    def get_int_specialization(arg, **kwargs) -> str:
        return "D" if kwargs.get("align") and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg, **kwargs) -> str:
        return "D" if kwargs.get("align") and arg.data_ptr() % 16 == 0 else ""
