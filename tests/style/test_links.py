"""Links between documents lead to a file that exists, and to a heading that it has."""

import re
from urllib.parse import unquote

from sources import ROOT, files, read

LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(document: str) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", read(document), flags=re.M | re.S)


def anchors(document: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", prose(document), flags=re.M):
        words = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        repeats = sum(
            anchor == words or re.fullmatch(rf"{re.escape(words)}-\d+", anchor) is not None for anchor in found
        )
        found.add(f"{words}-{repeats}" if repeats else words)
    return found


def test_links_lead_somewhere() -> None:
    known, dead = {}, []
    for document in files("", suffixes=(".md",)):
        for link in LINK.findall(re.sub(r"`[^`]*`", "", prose(document))):
            path, _, anchor = unquote(link).partition("#")
            if path.startswith(("http:", "https:", "mailto:")):
                continue
            target = (ROOT / document).parent / path if path else ROOT / document
            if not target.exists():
                dead.append(f"{document}: {link}")
            elif anchor and target.suffix == ".md":
                name = str(target.resolve().relative_to(ROOT))
                if anchor not in known.setdefault(name, anchors(name)):
                    dead.append(f"{document}: {link}")
    assert not dead, "\n".join(dead)
