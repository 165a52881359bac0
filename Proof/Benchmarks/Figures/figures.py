"""Draws the plots of the documentation from results of scripts/bench --json.

Usage: figures.py RESULTS FOLDER. tables.py writes the figures themselves.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

from tables import LIST_SIZES, ROW_CHANGES, Results, named

# Equal figures give equal bytes, so that a file changes only if a figure changes.
plt.rcParams.update({"svg.hashsalt": "UserStore", "svg.fonttype": "path", "font.size": 9})

COLORS = {"UserStore": "#0b6bcb", "C": "#555555", "GRDB": "#d1521d", "OpenCombine": "#2c8a3c", "Notification": "#8a5bc7"}


def color(label):
    return next((value for name, value in COLORS.items() if label.startswith(name)), "#000000")


def panel(axes, title, x, y, lines, *, zero=False, log_y=True):
    """Draws lines of (label, points, style), with points of (x, y)."""
    for label, points, style in lines:
        if points:
            axes.plot(*zip(*points), style, marker="o", markersize=3.5, linewidth=1.4, label=label, color=color(label))
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_xscale("symlog" if zero else "log", **({"linthresh": 1} if zero else {}))
    if log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.legend(fontsize=7.5, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def scaled(points, factor):
    return [(x, y * factor) for x, y in points]


def figure(machine, folder, name, *panels):
    """Draws panels, which are functions that draw into their axes; the machine is that of their cases."""
    picture, axes = plt.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.4), squeeze=False)
    for draw, place in zip(panels, axes[0]):
        draw(place)
    picture.text(0.5, 0.005, named(machine), ha="center", fontsize=5.5, color="#666666")
    picture.tight_layout(rect=(0, 0.02, 1, 1))
    picture.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(picture)


def listeners(results, kind, title):
    case = f"write/normal/listeners-on-{kind}"
    # The stored results are from when the signal was called a touch.
    names = ("C, same plan: log, read, signal", "C, same plan: log, read, touch")
    floors = [results.constant("write/normal/one-row", name) for name in names]
    floor = floors[0] or floors[1]

    def draw(axes):
        ours = scaled(results.series(case, r"UserStore, (\d+)"), 1e-3)
        lines = [
            ("UserStore: log, delivery", ours, "-"),
            ("GRDB ValueObservation, no log", scaled(results.series(case, r"GRDB, (\d+) observations"), 1e-3), "-"),
        ]
        if floor and ours:
            lines.append(("C, the same plan, no listener", [(x, floor * 1e-3) for x in (ours[0][0], ours[-1][0])], "--"))
        panel(axes, title, "listeners bound", "µs per write (one row)", lines, zero=True)

    return draw


def hub(results):
    def draw(axes):
        names = {
            "UserStore Listenable": "UserStore Listenable",
            "UserStore store hub (with its write)": "UserStore hub of a store in memory (with the write)",
            "OpenCombine subject": "OpenCombine PassthroughSubject + sink",
            "NotificationCenter": "NotificationCenter, blocks",
        }
        counts = [int(case.rsplit("/", 1)[1]) for case in results.cases if case.startswith("hub/delivery/")]
        lines = []
        for label, contender in names.items():
            points = [(n, results.constant(f"hub/delivery/{n}", contender)) for n in sorted(counts)]
            lines.append((label, [p for p in points if p[1]], "--" if "store hub" in label else "-"))
        panel(axes, "A call of a listener", "listeners bound", "ns per call", lines)

    return draw


def users(results):
    def draw(axes):
        panel(
            axes, "A write, by number of users", "users", "µs per write (one row, random user)",
            [
                ("UserStore, mean", scaled(results.series("scale/users", r"UserStore, (\d+) users"), 1e-3), "-"),
                ("UserStore, median", scaled(results.series("scale/latency", r"UserStore, (\d+) users"), 1e-3), ":"),
                ("C, the same plan, mean", scaled(results.series("scale/users", r"C, same plan, (\d+) users"), 1e-3), "--"),
            ],
            log_y=False,
        )

    return draw


def log(results):
    def draw(axes):
        panel(
            axes, "A write, by length of the log", "rows in the log", "µs per write (one row)",
            [
                ("UserStore", scaled(results.series("scale/log", r"UserStore, (\d+) rows"), 1e-3), "-"),
                ("C, the same plan", scaled(results.series("scale/log", r"C, same plan, (\d+) rows"), 1e-3), "--"),
            ],
            log_y=False,
        )

    return draw


def writers(results, way):
    def rate(points):
        return [(x, 1e9 / y) for x, y in points]

    def draw(axes):
        case = f"concurrency/{way}"
        panel(
            axes, f"Concurrent {way}, each write synced", f"{way}", "writes per second",
            [
                ("UserStore, with log", rate(results.series(case, rf"UserStore, (\d+) {way}")), "-"),
                ("GRDB, no log", rate(results.series(case, rf"GRDB, (\d+) {way}")), "-"),
            ],
        )

    return draw


def list_lines(results, change, durability):
    """The costs of a write that changes a row of a list, by the list's length."""

    def draw(axes):
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
        panel(axes, title, "rows of the list", "µs per write (one row)", lines)

    return draw


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
