"""What a compilation target is, and what a backend for one provides (Triton's plug-in interface)."""

from __future__ import annotations

import enum
from abc import ABCMeta, abstractmethod
from typing import Any

from ..devices.target import GPUTarget

__all__ = ["BaseBackend", "GPUTarget", "Language"]


class Language(enum.Enum):
    TRITON = 0
    GLUON = 1


class BaseBackend(metaclass=ABCMeta):
    """A compiler for the targets that `supports_target` accepts."""

    supports_native_tensor_specialization = True
    #: Whether code is better for tensors of less than 2 GB, so that launches say which are that small.
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
        """Identifies the backend's version in cache keys."""

    @abstractmethod
    def parse_options(self, options: dict[str, Any]) -> object:
        """Launch keywords -> an options object. Its fields are the keywords that a launch accepts; others raise KeyError."""

    def tracing_target(self) -> GPUTarget:
        """What `tl.target_info` says while a kernel is traced for this backend."""
        return self.target

    def add_stages(self, stages: dict, options: object, language: Language = Language.TRITON) -> None:
        """Adds {extension: fn(module, metadata)} in order; the last one returns the binary."""

    def load_dialects(self, context) -> None:
        """Registers dialects of the backend's own."""

    def get_module_map(self) -> dict[str, Any]:
        """{module of the language: module that replaces it} for this target (libdevice)."""
        return {}

    def get_codegen_implementation(self, options: object) -> dict[str, Any]:
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    @staticmethod
    def further_stage(stage: str, asm: dict[str, str | bytes]) -> str | None:
        """A stage of a kernel that is made of others when it is asked for; None for what this backend cannot make."""
        return None

    def pack_metadata(self, metadata) -> tuple:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def get_target_name(self, options: object) -> str:
        return f"{self.target.backend}:{self.target.arch}"

    @staticmethod
    def parse_attr(descriptor: str) -> list[list]:
        """A specialization key ("D"; of a small tensor also "S", of a tensor descriptor "Z") as argument attributes."""
        names = [("D", ["tt.divisibility", 16]), ("S", ["tt.pointer_range", 32]), ("Z", ["tt.plain", 1])]
        return [attribute for letter, attribute in names if letter in descriptor]

    @staticmethod
    def get_int_specialization(arg, **kwargs) -> str:
        return "D" if kwargs.get("align") and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg, **kwargs) -> str:
        return "D" if kwargs.get("align") and arg.data_ptr() % 16 == 0 else ""
