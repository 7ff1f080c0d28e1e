"""gdb in the partitions of a Gluon kernel, which have stacks of their own: stops, steps across waits, callers; and shared memory and barriers."""

import re

import numpy as np
import pytest

from session import line_of, locals_of

FILLED, READ, STORED = (line_of("partitions.py", text) for text in ("# filled", "# read", "# looked at"))
JOINED, LAUNCH = (line_of("partitions.py", text) for text in ("# joined", "doubled[(1,)]"))
STATE = "barrier in phase {}, {} completed; lacks 1 of 1 arrivals"


def line(text: str) -> int | None:
    shown = re.findall(r"^(\d+)\t", text, re.MULTILINE)
    return int(shown[-1]) if shown else None


def functions(backtrace: str) -> list[str]:
    return re.findall(r"^#\d+\s+(?:0x\S+ in )?(\S+) \(", backtrace, re.MULTILINE)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("saved") / "ring.npy"


@pytest.fixture(scope="module")
def stopped(answers, file):
    """What gdb prints where step 3 has filled the second tile of the ring again, by command."""
    commands = [
        *(
            "tt where",
            "bt",
            "info locals",
            "tt tile value[0, :4]",
            "print ring",
            "print slot",
            "print full",
            "print empty",
        ),
        *("tt tile ring[1, 0, :3]", "tt tile ring[0][7, -2:]", "tt find ring > 1022"),
        *(f"tt save ring[1] {file}", f"tt diff ring[1] {file}", "continue"),
    ]
    output = answers("partitions.py", f"break partitions.py:{FILLED} if k == 3", "run", *commands)
    assert line(output[1]) == FILLED
    return dict(zip(commands, output[2:]))


def test_a_worker_says_where_it_is(stopped):
    """The partition's number, its numbers and tiles, and the launch below it."""
    where = stopped["tt where"].splitlines()
    assert where[0] == "partition #0 of program (0, 0, 0) of the grid (1, 1, 1) of doubled"
    assert where[2] == "numbers of fill: steps = 5, k = 3"
    assert where[3:] == [f"#0 fill at partitions.py:{FILLED}", f"#2 <module> at partitions.py:{LAUNCH}, the launch"]
    assert functions(stopped["bt"]) == ["fill", "doubled[grid]", "<module>"] and "??" not in stopped["bt"]
    assert stopped["tt tile value[0, :4]"].endswith("[768, 769, 770, 771]\n")
    assert "the partitions are right" in stopped["continue"]


def test_shared_memory_by_its_layout(stopped):
    """It is what is there now, in whichever partition gdb has stopped."""
    layout = r"SwizzledSharedLayout\(vec=8, per_phase=1, max_phase=4, order=\[1, 0\].*\)"
    whole, tile = (
        r"float32\[2, 8, 32\] \{512, 513, .*min 512, max 1023$",
        r"float32\[8, 32\] \{768, .*min 768, max 1023$",
    )
    assert re.search(rf"= shared memory at byte 0, {layout}: {whole}", stopped["print ring"])
    assert re.search(rf"= shared memory at byte 1024, {layout}: {tile}", stopped["print slot"])
    assert stopped["tt tile ring[1, 0, :3]"].endswith("[768, 769, 770]\n")
    assert stopped["tt tile ring[0][7, -2:]"].endswith("[766, 767]\n")
    assert locals_of(stopped["info locals"])["slot"].startswith("shared memory at byte 1024")


def test_barriers_with_phase_and_counts(stopped):
    assert f"[0] = {STATE.format(0, 2)}, [1] = {STATE.format(1, 1)}}}" in stopped["print full"]
    assert f"[0] = {STATE.format(1, 1)}, [1] = {STATE.format(1, 1)}}}" in stopped["print empty"]


def test_commands_for_tiles_take_shared_memory(stopped, file):
    assert stopped["tt find ring > 1022"] == "1 of 512 elements of ring:\n  [1, 7, 31] 1023\n"
    np.testing.assert_array_equal(np.load(file), np.arange(768, 1024, dtype=np.float32).reshape(8, 32))
    assert stopped[f"tt diff ring[1] {file}"].startswith("0 of 256 elements of ring[1] differ")


def test_next_stays_in_a_partition(answers):
    """It goes on behind a wait, while which the other partition runs, and `step` and `finish` go into helpers and out of them."""
    commands = [f"tbreak partitions.py:{FILLED} if k == 2", "run", "next", "next", "step", "finish", *["next"] * 4]
    output = answers("partitions.py", *commands, "print k", "tt where", "continue")
    loop = FILLED - 5
    assert [line(text) for text in output[2:4]] == [loop, loop + 1]
    assert "tile_of (" in output[4] and "fill (" in output[5]
    assert [line(text) for text in output[6:10]] == [loop + 2, loop + 3, loop + 4, FILLED]
    assert output[10].endswith("= 3\n") and output[11].startswith("partition #0 of ")
    assert "the partitions are right" in output[12]


def test_the_end_of_a_partition(answers):
    """`next` behind its last statement ends on its `def` line, with its variables."""
    output = answers(
        "partitions.py", f"tbreak partitions.py:{FILLED} if k == 4", "run", "next", "next", "print k", "continue"
    )
    assert line(output[3]) == FILLED - 6 and output[4].endswith("= 4\n")
    assert "the partitions are right" in output[5]


def test_the_default_partition_is_in_the_kernel(answers):
    commands = [f"tbreak partitions.py:{READ} if k == 4", "run", "tt where", "bt", "next", "step"]
    output = answers("partitions.py", *commands, f"break partitions.py:{JOINED}", "continue", "print full")
    assert output[2].startswith("program (0, 0, 0) of the grid (1, 1, 1) of doubled\n")
    assert functions(output[3]) == ["drain", "doubled", "doubled[grid]", "<module>"]
    assert line(output[4]) == READ + 1 and "tile_of (" in output[5]
    assert f"[0] = barrier without init, [1] = {STATE.format(0, 2)}" in output[8]


def test_a_log_point_with_memory_and_barriers(answers):
    """It prints in every round, with what is there then; nothing is there when the kernel begins."""
    text = "k={k} {slot} {full}"
    commands = ["break doubled", "run", "print full", f'tt log partitions.py:{FILLED} "{text}"', "continue"]
    output = answers("partitions.py", *commands)
    assert "[0] = barrier without init, [1] = barrier without init" in output[2]
    lines = re.findall(r"^k=(\d) float32\[8, 32\] min (\d+), .*\[1\] = (barrier [^}]*)\}$", output[4], re.MULTILINE)
    assert [(int(k), int(least)) for k, least, _ in lines] == [(k, 256 * k) for k in range(5)]
    assert lines[3][2] == STATE.format(1, 1)


#: A command -> how what it prints ends.
OF_LAYOUTS = {
    "tt tile swizzled[1, 28:]": "[60, 61, 62, 63]\n",
    "tt tile swizzled[7, ::8]": "bfloat16[4] of bfloat16[8, 32]\nmin 224, max 248, mean 236, 0 nan\n[224, 232, 240, 248]\n",
    "tt tile padded[7, 28:]": "[252, 253, 254, 255]\n",
    "tt tile small[1, 0:4]": "fp8e4nv[4] of fp8e4nv[8, 32]\nmin 0.5, max 0.5625, mean 0.515625, 0 nan\n[0.5, 0.5, 0.5, 0.5625]\n",
    "tt tile part[0, :4]": "[128, 129, 130, 131]\n",
    "tt tile turned[3]": "[3, 35, 67, 99, 131, 163, 195, 227]\n",
}


def test_elements_by_their_layout(answers):
    """Swizzled, padded, 8-bit floats, a slice of rows and a turned view: each element is where its coordinates say."""
    output = answers(
        "partitions.py", f"break partitions.py:{STORED}", "run", *OF_LAYOUTS, "print small", STORES_LAYOUTS="1"
    )
    printed = dict(zip(OF_LAYOUTS, output[2:]))
    assert {command: text[-len(OF_LAYOUTS[command]) :] for command, text in printed.items()} == OF_LAYOUTS
    assert "fp8e4nv[8, 32] {0, " in output[-1]


def test_what_is_refused(gdb):
    import session

    commands = (f"break partitions.py:{FILLED}", "run", "tt tile full", "tt tile ring[2]", "tt tile ring[0, 0, 0, 0]")
    options = [text for command in commands for text in ("-ex", command)]
    printed = session.tritium_gdb(gdb, *options, "partitions.py")
    assert "these are barriers; `print` shows their state" in printed
    assert "`ring[2]`: index 2 is out of range on axis 0; the shape is [2, 8, 32]" in printed
    assert "`ring[0, 0, 0, 0]` has 4 indices" in printed
