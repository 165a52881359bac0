"""Breaks a copy of the library. Usage: sabotage.py FOLDER, with Sources/UserStore in it.

Each edit finds its line by what it says, in whichever file it stands: a patch would fail as soon as a function moves.
A line that is not there exactly once ends this with an error: what is to be broken was written anew, and so must the edit.
What the edits call stands in Sabotage.swift; SABOTAGE, with the words of it, switches them on at run time.
"""

import pathlib
import sys

EDITS = [
    (
        "commit-hook",
        "  private func commit(_ session: any Session, through end: Cursor?) throws(StoreError) {\n",
        "  private func commit(_ session: any Session, through end: Cursor?) throws(StoreError) {\n    deliverEarly(session)\n",
    ),
    (
        "lost-wake-up",
        "      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)\n",
        "      let received = events.wait(microseconds: reportsWrites ? schedule.wait : 0)\n"
        '      if Sabotage.isOn("lost-wake-up"), !received.isDisjoint(with: [.written, .touched]) { continue }\n',
    ),
    (
        "no-safety-look",
        "  static let idle = 500_000\n",
        '  static let idle = Sabotage.isOn("no-safety-look") ? 1 << 40 : 500_000\n',
    ),
]

library = pathlib.Path(sys.argv[1]) / "Sources/UserStore"
texts = {path: path.read_text() for path in library.rglob("*.swift")}
for word, line, replacement in EDITS:
    found = [path for path, text in texts.items() for _ in range(text.count(line))]
    if len(found) != 1:
        sys.exit(
            f"{__file__}: {word} no longer applies: this line stands {len(found)} times in Sources/UserStore:\n{line}"
        )
    texts[found[0]] = texts[found[0]].replace(line, replacement)
    found[0].write_text(texts[found[0]])
