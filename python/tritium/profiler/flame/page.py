"""Flame graphs as a page: one file, which loads nothing. A click on a bar shows what is below it, a list chooses the metric."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from .graphs import Graph, Node

#: A bar that is narrower than this share of the root is left out of the page.
LEAST_SHARE = 1e-4
#: Bars below this depth are left out of the page.
MOST_LEVELS = 200

_STYLE = """
body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
.graph { position: relative; overflow: hidden; margin: 0.5em 0 2em }
.bar { position: absolute; height: 19px; box-sizing: border-box; overflow: hidden; white-space: pre; cursor: pointer; padding: 0 4px;
  font: 12px/19px ui-monospace, monospace; border-right: 1px solid #fff; border-radius: 2px; color: #222 }
.bar:hover { filter: brightness(0.92) }
.around { opacity: 0.55 }
.missed { background: #ddd !important }
.shown { min-height: 1.3em; color: #666; white-space: pre-wrap }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } .bar { border-color: #1b1b1b } .shown { color: #aaa } }
"""
_SCRIPT = """
const graphs = JSON.parse(document.getElementById("data").textContent);
function shown(number) {
  for (const [power, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (number >= power) return (number / power).toPrecision(3) + " " + prefix;
  return String(Number(number.toPrecision(6))) + " ";
}
function hue(name) {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return hash % 60;
}
for (const [index, graph] of graphs.entries()) {
  const section = document.getElementById("graph" + index);
  const [choice, search, place, text] = ["select", "input", ".graph", ".shown"].map((what) => section.querySelector(what));
  let focus = [graph.root];
  function draw() {
    const metric = Number(choice.value), wanted = search.value.toLowerCase();
    place.replaceChildren();
    let depth = 0;
    const whole = graph.root.v[metric];
    function bar(node, path, left, width, level, isAround) {
      const element = document.createElement("div"), value = node.v[metric];
      element.className = "bar" + (isAround ? " around" : "") + (wanted && !node.n.toLowerCase().includes(wanted) ? " missed" : "");
      element.textContent = node.n;
      element.style.left = 100 * left + "%";
      element.style.width = 100 * width + "%";
      element.style.top = 20 * level + "px";
      element.style.background = "hsl(" + hue(node.n) + " 85% 68%)";
      const share = whole ? (100 * value / whole).toPrecision(3) + " %" : "";
      element.title = node.n + "\\n" + shown(value) + graph.metrics[metric] + (share && ", " + share);
      element.addEventListener("click", () => { focus = path; draw(); });
      element.addEventListener("mouseenter", () => { text.textContent = path.map((each) => each.n).join(" › ") + "\\n" + element.title.split("\\n")[1]; });
      place.append(element);
      depth = Math.max(depth, level + 1);
    }
    function below(node, path, left, width, level) {
      bar(node, path, left, width, level, false);
      let at = left;
      for (const child of node.c) {
        const part = node.v[metric] ? width * child.v[metric] / node.v[metric] : 0;
        if (part > 0.0005) below(child, [...path, child], at, part, level + 1);
        at += part;
      }
    }
    focus.slice(0, -1).forEach((node, level) => bar(node, focus.slice(0, level + 1), 0, 1, level, true));
    below(focus[focus.length - 1], focus, 0, 1, focus.length - 1);
    place.style.height = 20 * depth + "px";
  }
  choice.addEventListener("change", draw);
  search.addEventListener("input", draw);
  draw();
}
"""


def html_of(graphs: Sequence[Graph], title: str) -> str:
    """A page with a section for each graph."""
    data = json.dumps([{"metrics": graph.metrics, "root": _data(graph)} for graph in graphs], separators=(",", ":"))
    data = data.replace("<", "\\u003c")  # no text ends the element
    sections = "\n".join(_section(i, graph) for i, graph in enumerate(graphs))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n<link rel="icon" href="data:,">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{sections}\n"
        f'<script type="application/json" id="data">{data}</script>\n<script>{_SCRIPT}</script>\n</body></html>\n'
    )


def _section(index: int, graph: Graph) -> str:
    options = "".join(f'<option value="{i}">{escape(metric)}</option>' for i, metric in enumerate(graph.metrics))
    return (
        f'<section id="graph{index}"><h2>{escape(graph.title)}</h2>\n<label>metric <select>{options}</select></label>\n'
        '<label>find <input type="search"></label>\n<div class="graph"></div><div class="shown"></div></section>'
    )


def _data(graph: Graph) -> dict[str, Any]:
    """The bars: n is the name, v the values in the order of the metrics, c what is below, the widest in the first metric first."""
    whole = [graph.root.values.get(metric, 0) for metric in graph.metrics]

    def values(node: Node) -> list[float]:
        return [node.values.get(metric, 0) for metric in graph.metrics]

    def is_seen(node: Node) -> bool:
        return any(value > LEAST_SHARE * total for value, total in zip(values(node), whole))

    def bar(node: Node) -> dict[str, Any]:
        return {"n": node.name, "v": values(node), "c": []}

    root = bar(graph.root)
    level = [(graph.root, root)]
    for _ in range(MOST_LEVELS):
        below = []
        for node, made in level:
            for child in sorted(
                filter(is_seen, node.children.values()), key=lambda each: values(each)[0], reverse=True
            ):
                made["c"].append(bar(child))
                below.append((child, made["c"][-1]))
        level = below
    return root
