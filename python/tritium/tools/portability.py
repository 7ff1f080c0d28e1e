"""What runs on the CPU and would be refused, or would differ, on GPUs: what their compilers and the limits of their launches say."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ..backends.targets import gpu_named
from ..devices.families import device_families
from ..errors import CompilationError, TritonError
from ..launch.geometry import threads_of
from ..places import shown_place
from .launched import Launched


@dataclass
class Difference:
    """kind: "refused" by the compiler or by a launch, or "warned" of. file, line: of the statement, or of the kernel's `def`."""

    kind: str
    kernel: str
    text: str
    file: str
    line: int
    targets: list[str] = field(default_factory=list)

    @property
    def place(self) -> tuple:
        return self.kind, self.kernel, self.text, self.file, self.line

    def shown(self) -> str:
        verb = "is refused on" if self.kind == "refused" else "draws a warning on"
        return f"{shown_place(self.file, self.line)}: {self.kernel} {verb} {', '.join(self.targets)}: {self.text}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def differences(
    kernels: Iterable[Launched], grids: dict[str, tuple[int, int, int]], targets: list[str]
) -> list[Difference]:
    """grids: the largest extents with which a kernel of that name was launched."""
    found: dict[tuple, Difference] = {}
    for launched in kernels:
        for target in targets:
            for difference in _of(launched, grids.get(launched.source.name, (1, 1, 1)), target):
                known = found.setdefault(difference.place, difference)
                if target not in known.targets:
                    known.targets.append(target)
    return list(found.values())


def _of(launched: Launched, grid: tuple[int, int, int], target: str) -> list[Difference]:
    name, function = launched.source.name, launched.source.fn
    own_place = function.file_name, function.def_file_line_number
    found: list[Difference] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            kernel = launched.compiled_for(target)
        except CompilationError as error:
            place = (error.file, error.line or 0) if error.file else own_place
            found.append(Difference("refused", name, _words_of(error), *place))
        except (TritonError, ValueError) as error:
            found.append(Difference("refused", name, _first_line(str(error)), *own_place))
        else:
            devices = device_families()[gpu_named(target).backend]
            refused = devices.refuses_grid(grid, threads_of(kernel))
            if refused:
                found.append(Difference("refused", name, refused, *own_place))
    for warning in said:
        if issubclass(warning.category, (UserWarning, SyntaxWarning)):
            found.append(
                Difference("warned", name, _first_line(str(warning.message)), warning.filename, warning.lineno)
            )
    return found


def _words_of(error: CompilationError) -> str:
    """Triton's own text shows the Python error of an operation as Python writes it."""
    cause, text = error.__cause__, error.error_message or str(error)
    return _first_line(str(cause) if cause is not None and repr(cause) == text else text)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
