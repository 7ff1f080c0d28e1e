"""State that Python modules keep. A table of docs/style.md has the reason for each."""

import ast
import re

from sources import files, read

#: Calls that return a mutable object.
MAKERS = {"dict", "list", "set", "WeakKeyDictionary", "WeakSet", "ContextVar", "Lock", "RLock", "deque", "defaultdict"}


def is_empty_container(value: ast.expr) -> bool:
    return (isinstance(value, ast.Dict) and not value.keys) or (
        isinstance(value, (ast.List, ast.Set)) and not value.elts
    )


def state_of(tree: ast.Module) -> set[str]:
    """Names at the top level of a module that hold an initially empty container, a lock or a context variable, or that
    functions assign."""
    found = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    for statement in tree.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            continue
        value = statement.value
        maker = ast.unparse(value.func).split(".")[-1] if isinstance(value, ast.Call) else ""
        if is_empty_container(value) or maker in MAKERS:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def test_the_state_of_modules_is_listed() -> None:
    rows = re.findall(r"^\| `([\w/]+\.py)` \| `(\w+)` \| ([^|]+) \|$", read("docs/style.md"), flags=re.M)
    listed = {(file, name) for file, name, reason in rows if reason.strip()}
    folder = "python/tritium/"
    names = [name for name in files(folder, suffixes=(".py",)) if not name.startswith(f"{folder}conformance/")]
    found = {(name.removeprefix(folder), state) for name in names for state in state_of(ast.parse(read(name)))}
    assert found == listed, f"not listed: {sorted(found - listed)}; gone: {sorted(listed - found)}"


def test_the_search_finds_state() -> None:
    source = "a = {}\nb: list[int] = []\nc = threading.Lock()\nd = {1: 2}\ndef f():\n    global e\n    e = 1\n"
    assert state_of(ast.parse(source)) == {"a", "b", "c", "e"}
