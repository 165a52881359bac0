"""Breaks a copy of the library. Usage: sabotage.py FOLDER, with Sources/UserStore in it.

Each edit finds its line by its text, in any file. A patch would fail as soon as a function moves. If a line does not occur
exactly once, this is an error, because the code was rewritten and the edit must follow. The edits call Sabotage.swift, and
the variable SABOTAGE enables them at run time.
"""

import pathlib
import sys

EDITS = [
    (
        "commit-hook",
        "    let (end, pages) = try session.commit(readingAfter: position)\n",
        "    deliverEarly(session)\n    let (end, pages) = try session.commit(readingAfter: position)\n",
    ),
    (
        "lost-wake-up",
        "      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)\n",
        "      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)\n"
        '      if Sabotage.isOn("lost-wake-up"), !received.isDisjoint(with: [.written, .touched]) { continue }\n',
    ),
    (
        "no-safety-look",
        "  var idleLook: Int { 500_000 }\n",
        '  var idleLook: Int { Sabotage.isOn("no-safety-look") ? 1 << 40 : 500_000 }\n',
    ),
]

library = pathlib.Path(sys.argv[1]) / "Sources/UserStore"
texts = {path: path.read_text() for path in library.rglob("*.swift")}
for word, line, replacement in EDITS:
    found = [path for path, text in texts.items() for _ in range(text.count(line))]
    if len(found) != 1:
        sys.exit(
            f"{__file__}: {word} no longer applies: this line occurs {len(found)} times in Sources/UserStore:\n{line}"
        )
    texts[found[0]] = texts[found[0]].replace(line, replacement)
    found[0].write_text(texts[found[0]])
