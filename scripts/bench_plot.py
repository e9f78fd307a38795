#!/usr/bin/env python3
"""Draws what `bench.py rows` measured as an SVG on stdout.

usage: bench_plot.py CSV

A row of panels for each arch: what an event adds by case, by the number of maps, and
by the number of listening events.
"""

import math
import sys

import bench
from counts import BadOutput

BARS = [
    "file-8",
    "file-40",
    "file-200",
    "ext4-40",
    "fresh",
    "evicted",
    "anon",
    "mprotect",
    "brk",
    "other-task",
]
COLOURS = dict(zip(bench.EVENTS, ["#e8a33d", "#b3541e", "#7fb3d5", "#1f5f8b"], strict=True))
WIDTHS, HEIGHT, GAP, LEFT, TOP = (620, 250, 250), 230, 70, 70, 60


def text(x, y, what, anchor="middle", size=11, extra=""):
    at = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}'
    return f"<text {at}>{what}</text>"


def line(x1, y1, x2, y2, colour="#bbb"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def ticks(top):
    """Round numbers from 0 to top."""
    step = 10 ** math.floor(math.log10(top))
    while top / step < 4:
        step /= 2
    return [i * step for i in range(int(top / step) + 1)]


def frame(x, y, width, title, top, scale):
    out = [text(x, y - 10, title, "start", 13, ' font-weight="bold"')]
    for tick in ticks(top):
        at = y + HEIGHT - scale(tick)
        out += [line(x, at, x + width, at, "#eee"), text(x - 6, at + 4, f"{tick:g}", "end")]
    out += [line(x, y + HEIGHT, x + width, y + HEIGHT, "#000"), line(x, y, x, y + HEIGHT, "#000")]
    return out


def bars(figures, x, y, width):
    found = {(c, e): figures.get(c, e) for c in BARS for e in bench.EVENTS}
    shown = {key: value for key, value in found.items() if value is not None}
    if not shown:
        raise BadOutput("nothing to draw")
    top = max(shown.values()) * 1.05
    scale = lambda v: max(v, 0) / top * HEIGHT  # noqa: E731
    out = frame(x, y, width, "instructions that one event adds", top, scale)
    group = width / len(BARS)
    bar = group / (len(bench.EVENTS) + 1)
    for i, case in enumerate(BARS):
        out.append(text(x + (i + 0.5) * group, y + HEIGHT + 16, case, size=10))
        for j, event in enumerate(bench.EVENTS):
            if (case, event) in shown:
                high = scale(shown[case, event])
                left = x + i * group + (j + 0.5) * bar
                out.append(
                    f'<rect x="{left:.1f}" y="{y + HEIGHT - high:.1f}" width="{bar:.1f}" '
                    f'height="{high:.1f}" fill="{COLOURS[event]}"/>'
                )
    return out


def growth(figures, x, y, width, prefix, title, per_event):
    """A line for each event, over a logarithmic axis of the case's number."""
    cases = [(c, int(c.rpartition("-")[2])) for c in figures.cases(prefix)]
    share = lambda n: n if per_event else 1  # noqa: E731
    lines = {
        e: [(n, v / share(n)) for c, n in cases if (v := figures.get(c, e)) is not None]
        for e in bench.EVENTS
    }
    points = [v for points in lines.values() for _, v in points]
    if not points:
        raise BadOutput(f"nothing to draw of {prefix}")
    top = max(points) * 1.05
    scale = lambda v: max(v, 0) / top * HEIGHT  # noqa: E731
    most = max(n for _, n in cases)
    least = min(n for _, n in cases)
    place = lambda n: x + math.log(n / least) / math.log(most / least) * width  # noqa: E731
    out = frame(x, y, width, title, top, scale)
    out += [text(place(n), y + HEIGHT + 16, f"{n:,}", size=10) for _, n in cases]
    for event, values in lines.items():
        path = " ".join(f"{place(n):.1f},{y + HEIGHT - scale(v):.1f}" for n, v in values)
        out.append(
            f'<polyline points="{path}" fill="none" stroke="{COLOURS[event]}" stroke-width="2"/>'
        )
    return out


def draw(rows):
    arches = bench.in_order(rows, "arch")
    width = LEFT + sum(WIDTHS) + 3 * GAP
    height = TOP + len(arches) * (HEIGHT + GAP + 30)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>'
    ]
    for i, event in enumerate(bench.EVENTS):
        out.append(
            f'<rect x="{LEFT + i * 150}" y="10" width="12" height="12" fill="{COLOURS[event]}"/>'
        )
        out.append(text(LEFT + i * 150 + 18, 20, event, "start"))
    for i, arch in enumerate(arches):
        figures = bench.Figures(rows, arch, "clock")
        y = TOP + 20 + i * (HEIGHT + GAP + 30)
        x = LEFT
        out.append(text(10, y - 10, arch, "start", 13, ' font-weight="bold"'))
        out += bars(figures, x, y, WIDTHS[0])
        x += WIDTHS[0] + GAP
        out += growth(figures, x, y, WIDTHS[1], "maps", "by maps of the process", False)
        x += WIDTHS[1] + GAP
        out += growth(figures, x, y, WIDTHS[2], "events", "for each of n listeners", True)
    return "\n".join([*out, "</svg>"])


def main(argv):
    if len(argv) != 1:
        print("error: usage: bench_plot.py CSV", file=sys.stderr)
        return 2
    try:
        print(draw(bench.read_csv(argv[0])))
    except (BadOutput, OSError, ValueError) as e:
        print(f"error: cannot draw: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
