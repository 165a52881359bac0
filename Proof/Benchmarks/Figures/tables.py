"""Writes the figures from results of scripts/bench --json between marks: all of them in the pages of a folder
(Proof/Benchmarks/Results), and a choice in HowFast.md and README.md.

Usage: tables.py RESULTS FOLDER HOWFAST README [--check]. With --check, writes nothing, and fails if a file has other figures.
       tables.py --summary [RESULTS]   prints the ratios that have a goal, or without RESULTS the names of their cases
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

# The pages of the folder, with the cases that each has.
PAGES = {
    "Listeners": ("hub/", "latency/"),
    "Writes": ("write/", "concurrency/", "process/"),
    "Lists": ("lists/",),
    "Stores": ("read/", "log/", "scale/"),
}

# Cases that differ only in a part of their name are the columns of one table, if they have no percentiles.
PARTS = [re.compile(pattern) for pattern in (
    r"(hub/delivery/|lists/first/|lists/huge-set/\d+/)(\d+)()",
    r"(write/|lists/many/)(normal|full)(.*)",
    r"(lists/one-row/\d+/)(\w+)(/.*)",
)]

# What a reader would compare first: the work, its case, our contender, and the others.
MAIN = [
    (f"one row written, {durability.upper()}, logged, and one listener called", f"write/{durability}/one-row",
     "UserStore, logged, one listener",
     ["C, same plan: log, read, signal", "GRDB, no log, one observation of that row", "GRDB, no log, no observation"])
    for durability in ("full", "normal")
] + [
    ("one write of 64 tasks, FULL", "concurrency/tasks", "UserStore, 64 tasks", ["UserStore, 1 tasks", "GRDB, 64 tasks"]),
    ("a listenable calls its one listener", "hub/delivery/1", "UserStore Listenable",
     ["OpenCombine PassthroughSubject + sink", "NotificationCenter, blocks"]),
    ("from the end of a write's closure to a listener in the same process, FULL", "latency/full/same-process",
     "UserStore, inline listener", ["GRDB, ValueObservation on a queue"]),
    ("from the end of a write's closure to a listener in another process, FULL", "latency/full/other-process",
     "UserStore, listener", ["C, same plan: event, log"]),
    ("one row of a list of 1,000 changed, and its listener called with the steps, FULL", "lists/one-row/1000/value/full",
     "UserStore, list and steps", ["UserStore, no list", "GRDB, ValueObservation, until told"]),
    ("a store of 100,000 users opened, one user read, closed", "scale/open", "UserStore", ["C, two connections", "GRDB pool"]),
    ("one user read in its own transaction", "read/by-id", "UserStore",
     ["C, same statement, without a transaction", "GRDB, Codable records of one table"]),
]


def ratios():
    """What has a goal as a ratio of two contenders of a case: the work, the case, the two, and the goal.

    A goal of less than 1 is for a speed: then the second contender is divided by the first.
    """
    for durability, goal in ("full", 1.12), ("normal", 1.2):
        yield (f"one row written and one listener called, {durability.upper()}, beside C, same plan", f"write/{durability}/one-row",
               "UserStore, logged, one listener", "C, same plan: log, read, signal", goal)
    yield ("100 rows in one write, NORMAL, beside C, same plan", "write/normal/100-rows", "UserStore, logged, one listener",
           "C, same plan: log, read, signal", 1.15)
    for rows, goal in zip(LIST_SIZES, (1.5, 1.6)):
        for change, words in ROW_CHANGES.items():
            yield (f"a write by which a row of a list of {rows:,} {words if words.endswith('s') else 'gets ' + words}, NORMAL, beside no list",
                   f"lists/one-row/{rows}/{change}/normal", "UserStore, list and steps", "UserStore, no list", goal)
    for kind, goal in ("one", 1.5), ("none", 1.1):
        yield (f"renaming a user of {kind} of 10,000 lists, NORMAL, beside no list", "lists/many/normal",
               f"UserStore, a user of {kind} of 10000 lists", "UserStore, no list", goal)
    yield ("100 changes in one write with a list of 1,000, NORMAL, beside no list", "lists/huge-set/1000/100", "UserStore, list",
           "UserStore, no list", 1.5)
    yield ("a user of 1,000 found by an indexed attribute, beside C without a transaction", "lists/look-up", "UserStore, 1000 users",
           "C, same statement, without a transaction, 1000 users", 2)
    yield ("one user of the first 1,000 of a list read, beside C without a transaction", "lists/first/1000", "UserStore, users(matching:)",
           "C, same statement, without a transaction", 1.3)
    yield ("the speed of catching up with a feed, beside C", "log/catch-up", "UserStore, feed", "C, one statement", 0.8)
    yield ("the speed of reading the log by pages, beside C", "log/replay", "UserStore, page(after:)", "C, one statement", 0.85)
    yield ("a listenable calls its one listener, beside a signal", "hub/delivery/1", "UserStore Listenable", "UserStore Signal", 1)
    yield ("`usertool rename` as a process, beside the `sqlite3` shell", "process/rename", "usertool rename",
           "sqlite3 UPDATE, the same file with its triggers", 2.5)


def race(results):
    """The ratios that have a goal."""
    out = ["| | goal | measured | |", "| --- | ---: | ---: | --- |"]
    for work, case, ours, other, goal in ratios():
        own, beside = results.line(case, ours), results.line(case, other)
        if not own or not beside:
            continue
        # Of medians: the ratios in the file are relative to the first contender, in the same round.
        ratio = own["median"] / beside["median"] if not 1 in (own["ratio"], beside["ratio"]) else own["ratio"] / beside["ratio"]
        ratio = round(1 / ratio if goal < 1 else ratio, 2)
        sign, is_met = ("≥", ratio >= goal) if goal < 1 else ("≤", ratio <= goal)
        out.append(f"| {work} | {sign} {goal} | {ratio:.2f} | {'' if is_met else 'missed'} |")
    return "\n".join(out) + "\n"


def summary(results):
    """The main figures, each beside others of the same run."""
    out = ["| | UserStore | beside |", "| --- | ---: | --- |"]
    for title, case, ours, others in MAIN:
        own = results.line(case, ours)
        if not own:
            continue
        cells = [(other, results.line(case, other)) for other in others]
        # The ratios of a case are relative to its first contender.
        beside = "; ".join(f"{name} {amount(line)}" + (f" ({line['ratio']:.2f})" if own["ratio"] == 1 else "") for name, line in cells if line)
        out.append(f"| {title} | {amount(own)} | {beside} |")
    return "\n".join(out) + "\n"


def goals(results):
    """The goals for lists that are no ratio of two contenders in one case; empty if the results have no lists."""
    if not any(case.startswith("lists/") for case in results.cases):
        return ""
    out = ["| | goal | measured |", "| --- | ---: | ---: |"]
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


def part(case, lines):
    """The name of the case's table, and the title of its column there, if it is one of several."""
    matches = [match for match in (pattern.fullmatch(case) for pattern in PARTS) if match]
    if not matches or any(line.get("latencies") for line in lines):
        return case, None
    before, word, after = matches[0].groups()
    return f"{before}…{after}", f"{int(word):,}" if word.isdigit() else ROW_CHANGES.get(word, word.upper())


def tables(results, prefixes):
    """The tables of the cases with these prefixes."""
    groups = {}
    for case, lines in results.cases.items():
        if case.startswith(prefixes):
            name, column = part(case, lines)
            groups.setdefault(name, []).append((column, lines))
    out = []
    machine = None
    for name, cases in groups.items():
        first = cases[0][1]
        if first[0]["machine"] != machine:
            machine = first[0]["machine"]
            out += [f"Measured on: {named(machine)}; {machine['settings']}.", ""]
        out += [f"**{name}**: {operation(cases)}", ""]
        out += several(cases) if cases[0][0] else single(first)
        out.append("")
    return "\n".join(out).rstrip("\n") + "\n" if out else ""


def operation(cases):
    """What the cases measure, with an ellipsis for the words in which they differ."""
    texts = [lines[0]["operation"].split(" ") for _, lines in cases]
    if len(texts) == 1:
        return " ".join(texts[0])
    count = min(len(text) for text in texts)
    before = next((i for i in range(count) if len({text[i] for text in texts}) > 1), count)
    after = next((i for i in range(count - before) if len({text[-1 - i] for text in texts}) > 1), count - before)
    return " ".join(texts[0][:before] + ["…"] + texts[0][len(texts[0]) - after:])


def single(lines):
    """The table of one case, with ratios relative to its first contender."""
    spread = any(line.get("latencies") for line in lines)
    out = ["| | median | ratio |" + (" p50 | p99 | max |" if spread else "")]
    out.append("| --- | ---: | ---: |" + (" ---: | ---: | ---: |" if spread else ""))
    for line in lines:
        row = f"| {line['contender']} | {amount(line)} | {line['ratio']:.2f} |"
        if spread:
            latencies = line.get("latencies") or {}
            cells = [amount({"median": latencies[key], "unit": "nanoseconds"}) if key in latencies else "" for key in ("p50", "p99", "max")]
            row += " " + " | ".join(cells) + " |"
        out.append(row)
    return out


def several(cases):
    """The table of cases with the same contenders: the medians, with the ratios in parentheses."""
    out = ["| | " + " | ".join(column for column, _ in cases) + " |", "| --- |" + " ---: |" * len(cases)]
    contenders = dict.fromkeys(line["contender"] for _, lines in cases for line in lines)
    for contender in contenders:
        found = [next((line for line in lines if line["contender"] == contender), None) for _, lines in cases]
        cells = [f"{amount(line)} ({line['ratio']:.2f})" if line else "" for line in found]
        out.append(f"| {contender} | " + " | ".join(cells) + " |")
    return out


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


def growth(results):
    """How the costs grow, in sentences."""

    def figure(case, contender):
        return amount(results.line(case, contender))

    others, same = (f"write/normal/listeners-on-{kind}" for kind in ("other-rows", "that-row"))
    row, hundred = (f"lists/one-row/{rows}/value/full" for rows in LIST_SIZES)
    return bullets([
        f"**Listeners** of other users hardly cost anything: a write takes {figure(others, 'UserStore, 0')} without any, and"
        f" {figure(others, 'UserStore, 100000')} with 100,000. Those of the same user are all called: {figure(same, 'UserStore, 1000')} with"
        " 1,000. Without a sync.",
        f"**Users**: renaming a random one takes {figure('scale/users', 'UserStore, 1000 users')} among 1,000, and"
        f" {figure('scale/users', 'UserStore, 10000000 users')} among 10 million, without a sync.",
        f"**The log**: a write takes {figure('scale/log', 'UserStore, 1000 rows')} with 1,000 rows in it, and"
        f" {figure('scale/log', 'UserStore, 1000000 rows')} with a million, without a sync. Each change of one row"
        f" adds {figure('scale/size', 'UserStore, log')} to the file.",
        f"**Lists**: a change of a row takes {figure(row, 'UserStore, list and steps')} with a list of 1,000 that has it, and"
        f" {figure(row, 'UserStore, no list')} without; {figure(hundred, 'UserStore, list and steps')} and"
        f" {figure(hundred, 'UserStore, no list')} with a list of 100,000 (FULL).",
        f"**Many lists**: a rename takes {figure('lists/many/full', 'UserStore, a user of one of 10000 lists')} beside 10,000 lists,"
        f" one of which has the user, and {figure('lists/many/full', 'UserStore, no list')} without (FULL).",
    ])


def replaced(text, begin, end, part):
    """Returns the text with another part between two marks."""
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    # A list needs no empty lines around it; a table does.
    gap = "" if part.startswith("- ") else "\n"
    return f"{before}{begin}\n{gap}{part}{gap}{end}{after}" if part else f"{before}{begin}\n{end}{after}"


def main(source, folder, how_fast, front, *options):
    results = Results(source)
    every = [prefix for prefixes in PAGES.values() for prefix in prefixes]
    without = [case for case in results.cases if not case.startswith(tuple(every))]
    if without:
        sys.exit(f"{source}: error: no page of tables.py has {without[0]}; add its prefix to PAGES")
    written = "written by scripts/figures -->"
    parts = {
        f"{folder}/{page}.md": [(f"<!-- tables, {written}", "<!-- end of tables -->", tables(results, prefixes))]
        for page, prefixes in PAGES.items()
    }
    parts[f"{folder}/Lists.md"].append((f"<!-- goals, {written}", "<!-- end of goals -->", goals(results)))
    parts[how_fast] = [
        (f"<!-- summary, {written}", "<!-- end of summary -->", summary(results)),
        (f"<!-- growth, {written}", "<!-- end of growth -->", growth(results)),
        (f"<!-- ratios, {written}", "<!-- end of ratios -->", race(results)),
    ]
    parts[front] = [
        (f"<!-- comparison, {written}", "<!-- end of comparison -->", comparison(results)),
        (f"<!-- figures, {written}", "<!-- end of figures -->", speed(results)),
    ]
    for name, places in parts.items():
        file = Path(name)
        old = new = file.read_text()
        for begin, end, text in places:
            new = replaced(new, begin, end, text)
        if options == ("--check",):
            if new != old:
                sys.exit(f"{file}: error: the figures are not those of {source}; run scripts/figures")
        elif new != old:
            file.write_text(new)


if __name__ == "__main__":
    if sys.argv[1] != "--summary":
        main(*sys.argv[1:])
    elif len(sys.argv) > 2:
        print(race(Results(sys.argv[2])), end="")
    else:
        print(*dict.fromkeys(case for _, case, *_ in ratios()))
