"""Draws the plots and writes the table of the documentation from results of scripts/bench --json.

Usage: figures.py RESULTS DOCC. The plots go to DOCC/Resources, and the table goes between two marks in DOCC/HowFast.md.
"""

import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

# Equal figures give equal bytes, so that a file changes only if a figure changes.
plt.rcParams.update({"svg.hashsalt": "UserStore", "svg.fonttype": "path", "font.size": 9})

COLORS = {"UserStore": "#0b6bcb", "C": "#555555", "GRDB": "#d1521d", "OpenCombine": "#2c8a3c", "Notification": "#8a5bc7"}


class Results:
    def __init__(self, path):
        lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
        self.machine = next(line for line in lines if line["kind"] == "machine")
        self.cases = {}
        for line in lines:
            if line["kind"] == "result":
                self.cases.setdefault(line["case"], []).append(line)

    def series(self, case, pattern):
        """Pairs of (number in the name, nanoseconds) of a case's contenders whose names match the pattern."""
        points = []
        for line in self.cases.get(case, []):
            match = re.fullmatch(pattern, line["contender"])
            if match:
                points.append((int(match[1]), line["median"]))
        return sorted(points)

    def constant(self, case, contender):
        return next((line["median"] for line in self.cases.get(case, []) if line["contender"] == contender), None)

    def named(self):
        machine = self.machine
        return (
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}, "
            f"SQLite {machine['sqlite']}, {machine['swift'].split(' (')[0]}, {machine['peers']}, {machine['date'][:10]}"
        )


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


def figure(results, folder, name, *panels):
    """Draws panels, which are functions that draw into their axes."""
    picture, axes = plt.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.4), squeeze=False)
    for draw, place in zip(panels, axes[0]):
        draw(place)
    picture.text(0.5, 0.005, results.named(), ha="center", fontsize=5.5, color="#666666")
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


def amount(line):
    value, unit = line["median"], line["unit"]
    if unit == "bytes":
        return f"{value:,.0f} B"
    for limit, divisor, word in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / divisor:.3g} {word}" if value / divisor < 1000 else f"{value / divisor:,.0f} {word}"
    return f"{value / 1e9:.3g} s"


def table(results):
    """A table for each case, with ratios relative to its first contender."""
    out = [f"Measured on: {results.named()}; {results.machine['settings']}.", ""]
    for case, lines in results.cases.items():
        out += [f"**{case}**: {lines[0]['operation']}", ""]
        spread = any(line.get("latencies") for line in lines)
        out += ["| | median | ratio |" + (" p50 | p99 | max |" if spread else "")]
        out += ["| --- | ---: | ---: |" + (" ---: | ---: | ---: |" if spread else "")]
        for line in lines:
            row = f"| {line['contender']} | {amount(line)} | {line['ratio']:.2f} |"
            if spread:
                latencies = line.get("latencies") or {}
                cells = [amount({"median": latencies[key], "unit": "nanoseconds"}) if key in latencies else "" for key in ("p50", "p99", "max")]
                row += " " + " | ".join(cells) + " |"
            out.append(row)
        out.append("")
    return "\n".join(out)


def replace_table(article, text):
    begin, end = "<!-- written by scripts/figures -->", "<!-- end -->"
    before, rest = article.read_text().split(begin, 1)
    after = rest.split(end, 1)[1]
    article.write_text(f"{before}{begin}\n\n{text}\n{end}{after}")


def main(source, docc):
    results = Results(source)
    folder = Path(docc) / "Resources"
    folder.mkdir(exist_ok=True)
    figure(results, folder, "listeners", listeners(results, "other-rows", "Listeners on other rows"),
           listeners(results, "that-row", "Listeners on that row"))
    figure(results, folder, "calls", hub(results))
    figure(results, folder, "size", users(results), log(results))
    figure(results, folder, "writers", writers(results, "tasks"), writers(results, "threads"))
    replace_table(Path(docc) / "HowFast.md", table(results))


main(*sys.argv[1:])
