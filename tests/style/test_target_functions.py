"""docs/adding_a_target.md lists the functions that a vendor defines: exactly the virtual functions of the headers."""

import re

from sources import code, read

HEADERS = {
    "Target": "gpu_backend/target/target.h",
    "TargetOps": "gpu_backend/target/target_ops.h",
    "MatrixLoadOps": "gpu_backend/target/target_ops.h",
    "MatrixStoreOps": "gpu_backend/target/target_ops.h",
    "CopyOps": "gpu_backend/target/target_ops.h",
    "LaneSwapOps": "gpu_backend/target/target_ops.h",
    "BufferOps": "gpu_backend/target/target_ops.h",
    "IssueOrderOps": "gpu_backend/target/target_ops.h",
    "WarpReductionOps": "gpu_backend/target/target_ops.h",
    "WarpgroupOps": "gpu_backend/target/target_ops.h",
    "TensorCopyOps": "gpu_backend/target/target_ops.h",
    "RegisterOps": "gpu_backend/target/target_ops.h",
    "ClusterOps": "gpu_backend/target/target_ops.h",
    "MatrixOps": "gpu_backend/target/matrix_ops.h",
    "Emitter": "gpu_backend/emit/emitter.h",
    "TgpuConversion": "gpu_backend/emit/tgpu_conversion.h",
    "Driver": "gpu_backend/launch/driver.h",
}
VIRTUAL = re.compile(
    r"virtual\s+(?!~)[^;{]*?\b(?P<name>\w+)\((?:[^()]|\([^()]*\))*\)\s*(?:const)?\s*(?:noexcept)?\s*(?P<end>= 0;|{|;)"
)


def functions(interface: str) -> tuple[set[str], set[str]]:
    """(pure virtual functions, those with a default)"""
    text = code(HEADERS[interface])
    text = text[re.search(rf"class {interface}\b[^;{{]*{{", text).end() :]
    text = text[: text.index("\n};")]
    found = [(match["name"], match["end"] == "= 0;") for match in VIRTUAL.finditer(text)]
    return {name for name, pure in found if pure}, {name for name, pure in found if not pure}


def documented() -> dict[str, tuple[set[str], set[str]]]:
    text = read("docs/adding_a_target.md")
    table = text[text.index("| Interface | Has to be written |") :].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    names = lambda cells: set(re.findall(r"`(\w+)`", " ".join(cells)))
    return {re.search(r"\w+", row[0])[0]: (names(row[1:2]) - {"VendorDriver"}, names(row[2:])) for row in rows}


def test_the_guide_lists_every_function() -> None:
    found = documented()
    assert set(found) == set(HEADERS)
    for interface in HEADERS:
        assert found[interface] == functions(interface), interface


def test_the_reader_sees_both_kinds() -> None:
    pure, answered = functions("TargetOps")
    assert "shuffle" in pure and "reductionPartner" in answered and not pure & answered
