"""Draws the plots and writes the tables of the documentation from results of scripts/bench --json.

Usage: figures.py RESULTS DOCC. The plots go to DOCC/Resources, and the tables go between marks in DOCC/HowFast.md. The section on
lists is written only if the results have them.
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
        self.cases = {}
        machine = None
        for line in lines:
            if line["kind"] == "machine":
                machine = line
            elif line["kind"] == "result":
                self.cases.setdefault(line["case"], []).append(line | {"machine": machine})

    def series(self, case, pattern):
        """Pairs of (number in the name, nanoseconds) of a case's contenders whose names match the pattern."""
        points = []
        for line in self.cases.get(case, []):
            match = re.fullmatch(pattern, line["contender"])
            if match:
                points.append((int(match[1]), line["median"]))
        return sorted(points)

    def constant(self, case, contender):
        line = self.line(case, contender)
        return line and line["median"]

    def line(self, case, contender):
        return next((line for line in self.cases.get(case, []) if line["contender"] == contender), None)

    def look_ups(self):
        """Pairs of (number of users, line) of the look-ups by the library."""
        lines = [(re.fullmatch(r"UserStore, (\d+) users", line["contender"]), line) for line in self.cases.get("lists/look-up", [])]
        return [(int(match[1]), line) for match, line in lines if match]

    def machine(self, prefix):
        """The machine of the cases whose names start with this."""
        return next(lines[0]["machine"] for case, lines in self.cases.items() if case.startswith(prefix))


def named(machine):
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


LIST_SIZES = (1_000, 100_000)
ROW_CHANGES = {"value": "another value", "move": "moves", "leave": "leaves", "enter": "enters"}


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


# What a reader would compare first: the work, its case, our contender, and the others.
MAIN = [
    (f"one row written, {durability.upper()}, logged, and told to one listener", f"write/{durability}/one-row",
     "UserStore, logged, one listener",
     ["C, same plan: log, read, signal", "GRDB, no log, one observation of that row", "GRDB, no log, no observation"])
    for durability in ("full", "normal")
] + [
    ("a listenable calls its one listener", "hub/delivery/1", "UserStore Listenable",
     ["OpenCombine PassthroughSubject + sink", "NotificationCenter, blocks"]),
    ("a signal calls its one subscriber", "hub/delivery/1", "UserStore Signal", ["OpenCombine PassthroughSubject + sink"]),
    ("heap of a named listener", "hub/memory", "UserStore Listenable, named",
     ["OpenCombine PassthroughSubject + sink", "NotificationCenter, blocks"]),
    ("10,000 listeners bound and unbound", "hub/churn/bind-unbind", "UserStore Listenable",
     ["OpenCombine PassthroughSubject + sink", "NotificationCenter, blocks"]),
    ("a store of 100,000 users opened, one user read, closed", "scale/open", "UserStore", ["C, two connections", "GRDB pool"]),
    ("one user of a list of 1,000 read", "read/list", "UserStore",
     ["C, same statement, without a transaction", "GRDB, Codable records of one table"]),
    ("from the end of a write's closure to a listener in another process, FULL", "latency/full/other-process",
     "UserStore, listener", ["C, same plan: event, log"]),
    ("one write of 64 threads, FULL", "concurrency/threads", "UserStore, 64 threads", ["UserStore, 1 threads", "GRDB, 64 threads"]),
    ("one write of 64 tasks, FULL", "concurrency/tasks", "UserStore, 64 tasks", ["UserStore, 1 tasks", "GRDB, 64 tasks"]),
]


def summary(results):
    """The main figures, each beside others of the same run."""
    out = ["| | UserStore | beside |", "| --- | ---: | --- |"]
    for title, case, ours, others in MAIN:
        own = results.line(case, ours)
        if not own:
            continue
        cells = [(other, results.line(case, other)) for other in others]
        beside = "; ".join(f"{name} {amount(line)} ({line['ratio'] / own['ratio']:.2f})" for name, line in cells if line)
        out.append(f"| {title} | {amount(own)} | {beside} |")
    return "\n".join(out) + "\n"


def list_section(results):
    """The section on lists; empty if the results have none."""
    if not any(case.startswith("lists/") for case in results.cases):
        return ""

    def cell(case, contender):
        line = results.line(case, contender)
        return f"{line['ratio']:.2f} ({amount(line)})" if line else ""

    machine = results.machine("lists/")
    out = ["### Lists", "", f"Measured on: {named(machine)}.", "", "![Cost of a write against the number of rows of a list that follows it.](lists)", ""]
    out += [
        "A write of one row, compared with the same write without a list; in parentheses, the time of a write. The list's",
        "listener takes the steps from the version before. “Until told” is the time until GRDB's observation of the same",
        "rows has delivered them, which its writer does not wait for. The goal is at most 1.1 for 1,000 rows, and 1.2 for",
        "100,000.", "",
        "| the row | " + " | ".join(ROW_CHANGES.values()) + " |", "| --- |" + " ---: |" * len(ROW_CHANGES),
    ]
    for rows in LIST_SIZES:
        for durability in ("full", "normal"):
            for contender in ("UserStore, list and steps", "GRDB, ValueObservation, until told"):
                cells = [cell(f"lists/one-row/{rows}/{change}/{durability}", contender) for change in ROW_CHANGES]
                out.append(f"| {rows:,} rows, {durability.upper()}: {contender} | " + " | ".join(cells) + " |")
    out += ["", "| | goal | measured |", "| --- | ---: | ---: |"]
    for kind in ("one", "none"):
        for durability in ("full", "normal"):
            measured = cell(f"lists/many/{durability}", f"UserStore, a user of {kind} of 10000 lists")
            out.append(f"| renaming a user of {kind} of 10,000 lists, {durability.upper()}, beside no list | ≤ 1.1 | {measured} |")
    for rows in LIST_SIZES:
        for call in ("list", "users(matching:)"):
            line = results.line(f"lists/first/{rows}", f"UserStore, {call}")
            measured = f"{1 / line['ratio']:.2f}" if line else ""
            out.append(f"| the speed of reading the first {rows:,} rows with `{call}`, beside C | ≥ 0.5 | {measured} |")
    for number, line in results.look_ups()[1:]:
        out.append(f"| a look-up by an indexed attribute among {number:,} users, beside 1,000 | ≤ 1.3 | {line['ratio']:.2f} |")
    for line in results.cases.get("lists/memory", []):
        out.append(f"| heap of a list of 100,000 rows, {line['contender'].removeprefix('UserStore, ')} shown | < 20 MB | {line['median'] / 1e6:.1f} MB |")
    return "\n".join(out) + "\n"


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
    out = []
    machine = None
    for case, lines in results.cases.items():
        if lines[0]["machine"] != machine:
            machine = lines[0]["machine"]
            out += [f"Measured on: {named(machine)}; {machine['settings']}.", ""]
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


def replace(article, begin, end, text):
    """Replaces what is between two marks."""
    before, rest = article.read_text().split(begin, 1)
    after = rest.split(end, 1)[1]
    article.write_text(f"{before}{begin}\n\n{text}\n{end}{after}" if text else f"{before}{begin}\n{end}{after}")


def main(source, docc):
    results = Results(source)
    folder = Path(docc) / "Resources"
    folder.mkdir(exist_ok=True)
    hubs, writes = results.machine("hub/"), results.machine("write/")
    figure(writes, folder, "listeners", listeners(results, "other-rows", "Listeners on other rows"),
           listeners(results, "that-row", "Listeners on that row"))
    figure(hubs, folder, "calls", hub(results))
    figure(writes, folder, "size", users(results), log(results))
    figure(writes, folder, "writers", writers(results, "tasks"), writers(results, "threads"))
    section = list_section(results)
    if section:
        figure(results.machine("lists/"), folder, "lists", list_lines(results, "value", "full"), list_lines(results, "enter", "full"),
               list_lines(results, "enter", "normal"))
    article = Path(docc) / "HowFast.md"
    replace(article, "<!-- summary, written by scripts/figures -->", "<!-- end of summary -->", summary(results))
    replace(article, "<!-- lists, written by scripts/figures -->", "<!-- end of lists -->", section)
    replace(article, "<!-- written by scripts/figures -->", "<!-- end -->", table(results))


main(*sys.argv[1:])
