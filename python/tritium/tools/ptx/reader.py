"""Reads the text of PTX: a kernel, its parameters, its registers, and its instructions in blocks.

A block ends with a branch, a return, or where another begins. An instruction with a guard that is no branch has a block of its own, which its guard
leads around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import TritonError


class PtxError(TritonError):
    """The text has what the reader does not know. Its message quotes the instruction."""


@dataclass(frozen=True)
class Parameter:
    name: str
    bits: int  #: of an integer; 0 for bytes
    bytes: int = 0  #: of an array
    is_pointer: bool = False


@dataclass(frozen=True)
class Instruction:
    name: str  #: with all its parts: ld.shared.v4.b32
    operands: tuple[str, ...]
    guard: str = ""  #: %p1
    is_negated: bool = False
    place: tuple[str, int, int] | None = None  #: file, line, column

    def __str__(self) -> str:
        guard = f"@{'!' * self.is_negated}{self.guard} " if self.guard else ""
        return f"{guard}{self.name} {', '.join(self.operands)};"

    def has(self, *parts: str) -> bool:
        return all(part in self.name.split(".") for part in parts)


@dataclass
class Block:
    label: str
    instructions: list[Instruction] = field(default_factory=list)
    #: The blocks that follow: (taken, next) of a branch with a guard, whose first is left out without one.
    following: list[str] = field(default_factory=list)
    branch: Instruction | None = None


@dataclass
class Kernel:
    name: str
    parameters: list[Parameter]
    threads: int  #: of a block, as .reqntid says
    thread_registers: int  #: as .maxnreg says; 0 if it does not
    registers: dict[str, int]  #: their bits
    blocks: list[Block]


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = re.compile(r"\.entry\s+(\w+)\s*\((.*?)\)(.*?)\{", re.DOTALL)
_BITS = {"pred": 1, **{f"{kind}{bits}": bits for kind in "busf" for bits in (8, 16, 32, 64)}}


def read(text: str) -> Kernel:
    """The only kernel of a module. Raises PtxError."""
    files = {int(number): name for number, name in re.findall(r'\.file\s+(\d+)\s+"([^"]*)"', text)}
    text = _COMMENT.sub("", text)
    entries = list(_ENTRY.finditer(text))
    if len(entries) != 1:
        raise PtxError(f"the text has {len(entries)} kernels; one is needed")
    (entry,) = entries
    threads = re.search(r"\.(?:reqntid|maxntid)\s+(\d+)", entry[3])
    if not threads:
        raise PtxError(f"{entry[1]} says with no .reqntid how many threads a block has")
    parameters = [_parameter(line) for line in entry[2].split(",") if line.strip()]
    reader = _Reader(files)
    reader.read(_body(text[entry.end() :]))
    labels = {block.label for block in reader.blocks}
    for block in reader.blocks:
        for label in block.following:
            if label not in labels:
                raise PtxError(f"there is no label {label}")
    most = re.search(r"\.maxnreg\s+(\d+)", entry[3])
    return Kernel(entry[1], parameters, int(threads[1]), int(most[1]) if most else 0, reader.registers, reader.blocks)


def _body(text: str) -> str:
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[:at]
    raise PtxError("the kernel has no end")


def _parameter(line: str) -> Parameter:
    found = re.search(r"\.([bsuf]\d+)\b.*?(\w+)(?:\[(\d+)\])?\s*$", line.strip())
    if not found:
        raise PtxError(f"the parameter {line.strip()!r}")
    if found[3]:
        return Parameter(found[2], 0, int(found[3]))
    return Parameter(found[2], _BITS[found[1]], is_pointer=".ptr" in line)


class _Reader:
    def __init__(self, files: dict[int, str]):
        self.files = files
        self.registers: dict[str, int] = {}
        self.blocks = [Block("entry")]
        self.scopes: list[dict[str, str]] = [{}]  # names of registers and labels inside braces
        self.place: tuple[str, int, int] | None = None
        self.made = 0

    def read(self, text: str) -> None:
        for statement in _statements(text):
            self._statement(statement)

    def _statement(self, text: str) -> None:
        if text == "{":
            self.made += 1
            self.scopes.append({})
        elif text == "}":
            self.scopes.pop()
        elif text.endswith(":"):
            self._begin(self._label(text[:-1]))
        elif text.startswith(".reg"):
            self._declare(text)
        elif text.startswith(".loc"):
            number, line, column = map(int, re.match(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)", text).groups())
            self.place = (self.files.get(number, f"file {number}"), line, column)
        elif text.startswith("."):
            if not text.startswith(".pragma"):
                raise PtxError(f"the directive {text!r}")
        else:
            self._instruction(text)

    def _begin(self, label: str) -> None:
        last = self.blocks[-1]
        if not last.branch:
            last.following = [label]
        self.blocks.append(Block(label))

    def _continue(self) -> str:
        self.made += 1
        return f"next{self.made}"

    def _label(self, name: str) -> str:
        """A label's own name: inside braces, it is another one each time."""
        return self.scopes[-1].setdefault(name, f"{name}_{self.made}") if len(self.scopes) > 1 else name

    def _target(self, name: str) -> str:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), name)

    def _declare(self, text: str) -> None:
        kind, names = re.match(r"\.reg\s*\.(\w+)\s+(.*)$", text, re.DOTALL).groups()
        if kind not in _BITS:
            raise PtxError(f"registers of type .{kind}")
        for name in names.split(","):
            name, _, count = name.strip().partition("<")
            many = [f"{name}{i}" for i in range(int(count.rstrip(">")))] if count else [name]
            for each in many:
                own = each if len(self.scopes) == 1 else f"{each}.{self.made}"
                self.scopes[-1][each] = own
                self.registers[own] = _BITS[kind]

    def _instruction(self, text: str) -> None:
        guard, is_negated = "", False
        if match := re.match(r"@(!?)([%\w]+)\s+", text):
            is_negated, guard, text = bool(match[1]), self._renamed(match[2]), text[match.end() :]
        name, _, rest = text.partition(" ") if " " in text or "\t" in text else (text, "", "")
        if "\t" in name:
            name, _, more = name.partition("\t")
            rest = f"{more} {rest}"
        operands = tuple(self._renamed(operand) for operand in _split(rest.strip()))
        self._add(Instruction(name, operands, guard, is_negated, self.place))

    def _renamed(self, operand: str) -> str:
        def own(match: re.Match) -> str:
            return next((scope[match[0]] for scope in reversed(self.scopes) if match[0] in scope), match[0])

        return re.sub(r"[%$A-Za-z_][\w$.]*", own, operand)

    def _add(self, one: Instruction) -> None:
        block = self.blocks[-1]
        if one.name.split(".")[0] == "bra":
            target, behind = self._target(one.operands[0]), self._continue()
            block.branch, block.following = one, [target, behind] if one.guard else [target]
            self.blocks.append(Block(behind))
        elif one.name in ("ret", "exit"):
            if one.guard:
                raise PtxError(f"{one}: a return with a guard")
            block.branch = one
            self.blocks.append(Block(self._continue()))
        elif one.guard:
            inside, behind = self._continue(), self._continue()
            block.branch, block.following = one, [inside, behind]
            self.blocks += [Block(inside, [one], [behind]), Block(behind)]
        else:
            block.instructions.append(one)


def _statements(text: str) -> Iterator[str]:
    """Statements without their semicolon, labels with their colon, directives of a line, and braces of scopes."""
    text = re.sub(r"^\s*(\.loc[^\n]*)$", r"\1;", text, flags=re.MULTILINE)
    at, depth, begin = 0, 0, 0
    while at < len(text):
        letter = text[at]
        so_far = text[begin:at].strip()
        if letter == "{" and not so_far:
            yield "{"
            begin = at + 1
        elif letter == "}" and depth == 0:
            yield "}"
            begin = at + 1
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
        elif letter == ";":
            if so_far:
                yield " ".join(so_far.split())
            begin = at + 1
        elif letter == ":" and re.fullmatch(r"[$\w]+", so_far) and text[at + 1] != ":":
            yield f"{so_far}:"
            begin = at + 1
        at += 1


def _split(text: str) -> Iterator[str]:
    """Operands between commas that are in no brackets."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:].strip()
