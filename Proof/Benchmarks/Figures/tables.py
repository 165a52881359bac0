"""Writes the tables of the documentation from results of scripts/bench --json, between marks in HowFast.md and README.md.

Usage: tables.py RESULTS HOWFAST README [--check]. With --check, writes nothing, and fails if a file has other figures. The
section on lists is written only if the results have them.
"""

import json
import re
import sys
import textwrap
from pathlib import Path


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


LIST_SIZES = (1_000, 100_000)
ROW_CHANGES = {"value": "another value", "move": "moves", "leave": "leaves", "enter": "enters"}

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


def bullets(sentences):
    wrap = textwrap.TextWrapper(132, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrap.fill(sentence) for sentence in sentences) + "\n"


def writes(results, contender):
    """What a write of one row takes, with and without a sync."""
    return tuple(amount(results.line(f"write/{durability}/one-row", contender)) for durability in ("full", "normal"))


def comparison(results):
    """A write beside GRDB, like for like and at its best, in sentences for the README."""
    (ours, oursNormal), (theirs, theirsNormal) = (
        writes(results, "UserStore, logged, one listener"), writes(results, "GRDB, no log, one observation of that row"))
    (bare, bareNormal), (plain, plainNormal) = (
        writes(results, "UserStore, logged, no listener"), writes(results, "GRDB, no log, no observation"))
    return bullets([
        f"**With one observer**, a write of one row returns after {ours} (FULL) in UserStore, which has called the observer by then, and"
        f" after {theirs} in GRDB, which calls it later; without a sync, after {oursNormal} and {theirsNormal}.",
        f"Without an observer, it returns after {bare} (FULL) and {plain}; without a sync, after {bareNormal} and {plainNormal}: GRDB keeps no"
        " log.",
    ])


def speed(results):
    """The four main figures, in sentences for the README."""

    def figure(case, contender):
        return amount(results.line(case, contender))

    others = "write/normal/listeners-on-other-rows"
    row = "lists/one-row/1000/value/full"
    full, normal = writes(results, "UserStore, logged, one listener")
    return bullets([
        f"A write with one listener takes {full} with a sync (FULL) and {normal} without; with 1,000 on other users,"
        f" {figure(others, 'UserStore, 1000')} without a sync.",
        f"64 tasks that write with FULL share transactions and their sync: {figure('concurrency/tasks', 'UserStore, 64 tasks')} a write.",
        f"A listener in another process is called {figure('latency/full/other-process', 'UserStore, listener')} after the end of a"
        " `write`'s closure, so after its commit, too (FULL, median).",
        f"A change of a row in a list of 1,000 takes {figure(row, 'UserStore, list and steps')}, with steps for the screen (FULL);"
        f" GRDB's observation, {figure(row, 'GRDB, ValueObservation, until told')}.",
    ])


def replaced(text, begin, end, part):
    """Returns the text with another part between two marks."""
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    # A list needs no empty lines around it; a table does.
    gap = "" if part.startswith("- ") else "\n"
    return f"{before}{begin}\n{gap}{part}{gap}{end}{after}" if part else f"{before}{begin}\n{end}{after}"


def main(source, how_fast, front, *options):
    results = Results(source)
    written = "written by scripts/figures -->"
    parts = {
        how_fast: [
            (f"<!-- summary, {written}", "<!-- end of summary -->", summary(results)),
            (f"<!-- lists, {written}", "<!-- end of lists -->", list_section(results)),
            (f"<!-- {written}", "<!-- end -->", table(results)),
        ],
        front: [
            (f"<!-- comparison, {written}", "<!-- end of comparison -->", comparison(results)),
            (f"<!-- figures, {written}", "<!-- end of figures -->", speed(results)),
        ],
    }
    for name, places in parts.items():
        file = Path(name)
        old = new = file.read_text()
        for begin, end, part in places:
            new = replaced(new, begin, end, part)
        if options == ("--check",):
            if new != old:
                sys.exit(f"{file}: error: the figures are not those of {source}; run scripts/figures")
        elif new != old:
            file.write_text(new)


if __name__ == "__main__":
    main(*sys.argv[1:])
