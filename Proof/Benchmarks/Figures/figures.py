"""Draws the plots of the documentation from results of scripts/bench --json.

Usage: figures.py RESULTS FOLDER. tables.py writes the figures themselves. A line of a plot is one path, so that a change of the
figures is a short difference.
"""

import math
import sys
import textwrap
from html import escape
from pathlib import Path

from tables import LIST_SIZES, ROW_CHANGES, Results, named

COLORS = {"UserStore": "#0b6bcb", "C": "#555555", "GRDB": "#d1521d", "OpenCombine": "#2c8a3c", "Notification": "#8a5bc7"}
DASHES = {"-": "", "--": ' stroke-dasharray="6 3"', ":": ' stroke-dasharray="1.5 3"'}

# The room of a panel, and the part of it in which its lines are, in pixels.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 440, 62, 428, 34, 254
LEGEND, ROW = 302, 17


def color(label):
    return next((value for name, value in COLORS.items() if label.startswith(name)), "#000000")


class Logarithmic:
    """Decades; with zero, half a decade before 1 for 0."""

    def __init__(self, values, zero=False):
        self.low = -0.5 if zero else math.log10(min(values))
        self.high = math.log10(max(values))
        margin = (self.high - self.low) * 0.05
        self.low -= margin
        self.high += margin
        steps = (1,) if self.high - self.low > 2 else (1, 2, 5)
        ticks = [step * 10**power for power in range(math.floor(self.low), math.ceil(self.high) + 1) for step in steps]
        self.ticks = [0] * zero + [tick for tick in ticks if self.low <= math.log10(tick) <= self.high and not (zero and tick < 1)]

    def __call__(self, value):
        return ((math.log10(value) if value else -0.5) - self.low) / (self.high - self.low)


class FromZero:
    """Equal steps from 0."""

    def __init__(self, values):
        self.high = max(values) * 1.05
        step = 10 ** math.floor(math.log10(self.high))
        step = next(step / part for part in (1, 2, 5, 10) if self.high / (step / part) >= 4)
        self.ticks = [step * number for number in range(int(self.high / step) + 1)]

    def __call__(self, value):
        return value / self.high


def text(x, y, words, anchor="middle", **attributes):
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def panel(title, x, y, lines, *, zero=False, log_y=True):
    """The elements of a panel with lines of (label, points, style), with points of (x, y)."""
    lines = [line for line in lines if line[1]]
    points = [point for _, points, _ in lines for point in points]
    across = Logarithmic([value for value, _ in points if value], zero)
    up = (Logarithmic if log_y else FromZero)([value for _, value in points])
    column = lambda value: f"{LEFT + across(value) * (RIGHT - LEFT):.1f}"
    row = lambda value: f"{BOTTOM - up(value) * (BOTTOM - TOP):.1f}"
    grid = "".join(f"M{column(tick)} {TOP}V{BOTTOM}" for tick in across.ticks) + "".join(f"M{LEFT} {row(tick)}H{RIGHT}" for tick in up.ticks)
    yield text((LEFT + RIGHT) / 2, 20, title, font_size=13)
    yield f'<path d="{grid}" stroke="#ddd"/>'
    yield f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" stroke="#222"/>'
    yield from (text(float(column(tick)), BOTTOM + 15, f"{tick:,g}" if tick < 1e6 else f"{tick:,}") for tick in across.ticks)
    yield from (text(LEFT - 6, float(row(tick)) + 4, f"{tick:,g}" if tick < 1e6 else f"{tick:,}", "end") for tick in up.ticks)
    yield text((LEFT + RIGHT) / 2, BOTTOM + 33, x)
    yield text(0, 0, y, transform=f"translate(13 {(TOP + BOTTOM) / 2:g}) rotate(-90)")
    for number, (label, points, style) in enumerate(lines):
        places = [f"{column(x)} {row(y)}" for x, y in points]
        height = LEGEND + number * ROW
        dots = "".join(f"M{place}h0" for place in places + [f"{LEFT + 14} {height}"])
        stroke = f'stroke="{color(label)}"'
        yield f'<path d="M{"L".join(places)}M{LEFT} {height}h28" {stroke} stroke-width="1.6"{DASHES[style]}/>'
        yield f'<path d="{dots}" {stroke} stroke-width="5" stroke-linecap="round"/>'
        yield text(LEFT + 36, height + 4, label, "start")


def figure(machine, folder, name, *panels):
    """Writes a picture of panels, which are lists of elements; the machine is that of their cases."""
    legends = max(sum('stroke-width="5"' in element for element in panel) for panel in panels)
    width = WIDTH * len(panels)
    notes = textwrap.wrap(named(machine), width // 5)
    height = LEGEND + legends * ROW + 4 + 10 * len(notes)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" fill="none"'
        ' font-family="Helvetica, Arial, sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, elements in enumerate(panels):
        out += [f'<g transform="translate({number * WIDTH})">', *elements, "</g>"]
    out += [text(width / 2, height - 4 - 10 * number, note, font_size=8) for number, note in enumerate(reversed(notes))]
    out += ["</svg>", ""]
    # Text is black; lines are not filled.
    (folder / f"{name}.svg").write_text("\n".join(out).replace("<text ", '<text fill="#222" '))


def scaled(points, factor):
    return [(x, y * factor) for x, y in points]


def listeners(results, kind, title):
    case = f"write/normal/listeners-on-{kind}"
    # The stored results are from when the signal was called a touch.
    names = ("C, same plan: log, read, signal", "C, same plan: log, read, touch")
    floors = [results.constant("write/normal/one-row", name) for name in names]
    floor = floors[0] or floors[1]
    ours = scaled(results.series(case, r"UserStore, (\d+)"), 1e-3)
    lines = [
        ("UserStore: log, delivery", ours, "-"),
        ("GRDB ValueObservation, no log", scaled(results.series(case, r"GRDB, (\d+) observations"), 1e-3), "-"),
    ]
    if floor and ours:
        lines.append(("C, the same plan, no listener", [(x, floor * 1e-3) for x in (ours[0][0], ours[-1][0])], "--"))
    return list(panel(title, "listeners bound", "µs per write (one row)", lines, zero=True))


def hub(results):
    names = {
        "UserStore Listenable": "UserStore Listenable",
        "UserStore store hub (with its write)": "UserStore hub of a store in memory (with the write)",
        "OpenCombine subject": "OpenCombine PassthroughSubject + sink",
        "NotificationCenter": "NotificationCenter, blocks",
    }
    counts = sorted(int(case.rsplit("/", 1)[1]) for case in results.cases if case.startswith("hub/delivery/"))
    lines = []
    for label, contender in names.items():
        points = [(count, results.constant(f"hub/delivery/{count}", contender)) for count in counts]
        lines.append((label, [point for point in points if point[1]], "--" if "store hub" in label else "-"))
    return list(panel("A call of a listener", "listeners bound", "ns per call", lines))


def users(results):
    mean, median, plan = (
        scaled(results.series(f"scale/{case}", pattern + r", (\d+) users"), 1e-3)
        for case, pattern in (("users", "UserStore"), ("latency", "UserStore"), ("users", "C, same plan")))
    lines = [("UserStore, mean", mean, "-"), ("UserStore, median", median, ":"), ("C, the same plan, mean", plan, "--")]
    return list(panel("A write, by number of users", "users", "µs per write (one row, random user)", lines, log_y=False))


def log(results):
    ours, plan = (scaled(results.series("scale/log", pattern + r", (\d+) rows"), 1e-3) for pattern in ("UserStore", "C, same plan"))
    lines = [("UserStore", ours, "-"), ("C, the same plan", plan, "--")]
    return list(panel("A write, by length of the log", "rows in the log", "µs per write (one row)", lines, log_y=False))


def writers(results, way):
    def rate(pattern):
        return [(x, 1e9 / y) for x, y in results.series(f"concurrency/{way}", rf"{pattern}, (\d+) {way}")]

    lines = [("UserStore, with log", rate("UserStore"), "-"), ("GRDB, no log", rate("GRDB"), "-")]
    return list(panel(f"Concurrent {way}, each write synced", way, "writes per second", lines))


def list_lines(results, change, durability):
    """The costs of a write that changes a row of a list, by the list's length."""
    contenders = {
        "UserStore, list and steps": ("UserStore, list and steps", "-"),
        "UserStore, no list": ("UserStore, no list", "--"),
        "GRDB ValueObservation, until told": ("GRDB, ValueObservation, until told", "-"),
        "GRDB, no observation, no log": ("GRDB, no log, no observation", "--"),
        "C, runs the statement again": ("C, no log, runs the statement again", "-"),
    }
    lines = []
    for label, (contender, style) in contenders.items():
        points = [(n, results.constant(f"lists/one-row/{n}/{change}/{durability}", contender)) for n in LIST_SIZES]
        lines.append((label, [(n, value * 1e-3) for n, value in points if value], style))
    title = f"A row {'has another value' if change == 'value' else ROW_CHANGES[change]}, {durability.upper()}"
    return list(panel(title, "rows of the list", "µs per write (one row)", lines))


def main(source, folder):
    results = Results(source)
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    hubs, writes = results.machine("hub/"), results.machine("write/")
    figure(writes, folder, "listeners", listeners(results, "other-rows", "Listeners on other rows"),
           listeners(results, "that-row", "Listeners on that row"))
    figure(hubs, folder, "calls", hub(results))
    figure(writes, folder, "size", users(results), log(results))
    figure(writes, folder, "writers", writers(results, "tasks"), writers(results, "threads"))
    if any(case.startswith("lists/") for case in results.cases):
        figure(results.machine("lists/"), folder, "lists", list_lines(results, "value", "full"), list_lines(results, "enter", "full"),
               list_lines(results, "enter", "normal"))


main(*sys.argv[1:])
