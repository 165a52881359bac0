#!/usr/bin/env python3
"""Compares replicas with their server. It reads the files with sqlite3 and uses nothing of the library.

    Proof/Replicas/judge.py SERVER.db REPLICA.db…        compares once, as far as the server's log goes back
    Proof/Replicas/judge.py --controls SERVER.db REPLICA.db…
                                                         the same, and then falsifies copies of the files, which it must report

A program keeps a `History` of a server and a `Replica` for each file, and calls `observe()` again and again while others write. The
history keeps what is compacted, purged or lost in a restore, if it was called before.

Judged:
  * the users of a replica are those of the server at the replica's cursor, in kind and value, or those of the subset; users that were
    purged since may differ until their removal is reached;
  * every set in the replica's log leads to the state of the server at the cursor in its note; it is one set of the server, with its
    origin and its events; sets come in order, none twice, and none that changes something is missing. Only a copy leaves sets
    out, and only if the server's log no longer had the place from which the replica would have gone on;
  * a replica ends within the rows of a foreign program only where that program had committed;
  * the log of each file goes on without gaps, never changes, and leads to the records of the file;
  * nothing is left of the values of a user whose purge was reached; `PRAGMA integrity_check` finds nothing.
"""

import bisect
import collections
import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile

END, ADDED, UPDATED, REMOVED, PURGED, EVENT, PULLED = 0, 1, 2, 3, 5, 6, 8

Row = collections.namedtuple("Row", "seq op user attribute old new nonce")
# Rows `first` through `last` of a log. An origin of False: of a foreign program, whose rows have no end.
Unit = collections.namedtuple("Unit", "first last origin")


def decoded(text):
    """Text that need not be UTF-8."""
    return text.decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def reading(path):
    """A read transaction that leaves the file as it is."""
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, timeout=60)))
        database.text_factory = decoded
        try:
            database.execute("BEGIN")
            database.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # A program was killed while it created the file; only a writer can mend it.
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="judge-"))
            for ending in ["", "-wal", "-journal"]:
                if os.path.exists(path + ending): shutil.copyfile(path + ending, folder + "/copy" + ending)
            database = stack.enter_context(contextlib.closing(sqlite3.connect(folder + "/copy", isolation_level=None)))
            database.text_factory = decoded
            database.execute("BEGIN")
        yield database


def typed(value):
    """A value with its kind: 1 and 1.0 differ."""
    return value if value is None else (type(value).__name__, value)


def records(database):
    """The users of a file: by id, their attributes, `hair_color` only if it is set."""
    found = {}
    for id, name, color in database.execute("SELECT id, name, hair_color FROM users"):
        found[id] = {"name": typed(name)} | ({} if color is None else {"hair_color": typed(color)})
    for id, name, value in database.execute("SELECT user_id, name, value FROM attributes"):
        found[id][name] = typed(value)
    return found


def parse(cursor):
    """Epoch, revision and nonce of a cursor."""
    version, *fields = cursor.split("-")
    if version != "v1": raise ValueError(cursor)
    return tuple(number - (1 << 64) if number >> 63 else number for number in (int(field, 16) for field in fields))


def advance(state, row, ids=None):
    """Applies a row of a log; says what contradicts the state. A row that a purge has emptied contradicts nothing."""
    id, attribute = row.user, row.attribute
    if row.op not in (ADDED, UPDATED, REMOVED) or ids is not None and id not in ids: return None
    user, old, new = state.get(id), typed(row.old), typed(row.new)
    is_blank = old is None and new is None
    if row.op == ADDED and attribute == "name":
        state[id] = {"name": new}
        return "adds a user who is there" if user is not None else None
    if row.op == REMOVED:
        # The attributes follow the name.
        if attribute != "name": return None
        state.pop(id, None)
        if user is None: return "removes a user who is not there"
        return None if is_blank or user["name"] == old or user["name"] is None else f"removes {old}, not {user['name']}"
    if user is None: return "changes a user who is not there"
    before = user.get(attribute)
    # Of a purged user, the name may be missing.
    if new is not None or attribute == "name": user[attribute] = new
    else: user.pop(attribute, None)
    if is_blank or before == old or user.get("name") is None: return None
    return f"changes {attribute} from {old}, not from {before}"


def retreat(state, rows):
    """Takes rows back, the newest first."""
    for row in reversed(rows):
        id, attribute, old = row.user, row.attribute, typed(row.old)
        if row.op == ADDED and attribute == "name": state.pop(id, None)
        elif row.op == ADDED: state.get(id, {}).pop(attribute, None)
        elif row.op in (UPDATED, REMOVED):
            # The name is the first row of a removal, so that it comes last here.
            user = state.setdefault(id, {})
            if old is None and attribute != "name": user.pop(attribute, None)
            else: user[attribute] = old


class Timeline:
    """A log whose rows follow each other: `first_state` is that before its first row."""

    def __init__(self, epoch, horizon, horizon_nonce, rows, state):
        self.epoch, self.start, self.start_nonce, self.rows = epoch, horizon, horizon_nonce, rows
        self.first_state = {id: dict(user) for id, user in state.items()}
        retreat(self.first_state, rows)
        self.units, self.unit_ends, self.open = [], [], horizon + 1
        self.unite(rows)

    @property
    def last(self): return self.start + len(self.rows)

    def row(self, seq): return self.rows[seq - self.start - 1]

    def between(self, after, through): return self.rows[after - self.start:through - self.start]

    def has(self, revision, nonce):
        if not self.start <= revision <= self.last: return False
        return nonce == (self.start_nonce if revision == self.start else self.row(revision).nonce)

    def append(self, rows):
        self.rows += rows
        self.unite(rows)

    def unite(self, rows):
        """Finds the sets: those that have an end, and the rows of foreign programs before and after them."""
        for row in rows:
            if row.op != END: continue
            first = max(row.old, self.open)
            if first > self.open: self.add(Unit(self.open, first - 1, False))
            self.add(Unit(first, row.seq, row.attribute))
            self.open = row.seq + 1

    def add(self, unit):
        self.units.append(unit)
        self.unit_ends.append(unit.last)

    def unit(self, seq):
        """The set of a row; the newest foreign rows have no end yet."""
        index = bisect.bisect_left(self.unit_ends, seq)
        return self.units[index] if index < len(self.units) else Unit(self.open, self.last, False)


def read_log(database, after):
    found = database.execute("SELECT seq, op, user, attribute, old, new, nonce FROM changes WHERE seq > ? ORDER BY seq", (after,))
    return [Row(*row) for row in found]


class Log:
    """The log of a file, followed from one observation to the next."""

    def __init__(self, path):
        self.path, self.timelines, self.state = path, [], {}
        self.horizons = {}

    def read(self, database):
        """Reads what is new in the transaction; yields what is wrong."""
        epoch, horizon, nonce = database.execute("SELECT epoch, horizon, horizon_nonce FROM meta").fetchone()
        self.horizons[epoch] = max(horizon, self.horizons.get(epoch, 0))
        now = records(database)
        line = self.timelines[-1] if self.timelines else None
        if line and line.epoch == epoch and (goes_on := self.goes_on(line, database, horizon)) is not False:
            new = read_log(database, line.last)
            for index, row in enumerate(new):
                if row.seq != line.last + 1 + index:
                    yield f"the log has no row {line.last + 1 + index}"
                    return
                if problem := advance(self.state, row): yield f"row {row.seq} of the log {problem}: {row}"
            line.append(new)
            yield from different(self.state, now, "the log leads to", "the records have")
            self.fresh = new
        else:
            rows = [row for row in read_log(database, 0) if row.seq > horizon]
            if [row.seq for row in rows] != list(range(horizon + 1, horizon + 1 + len(rows))): yield "the log has a gap"
            self.timelines.append(Timeline(epoch, horizon, nonce, rows, now))
            if horizon == 0 and self.timelines[-1].first_state: yield "there are users from before the first row of the log"
            self.fresh = rows
        self.state = now

    @staticmethod
    def goes_on(line, database, horizon):
        """Whether the file has the newest row that is known, or has compacted it when nothing was lost."""
        if horizon > line.last: return False
        if line.last == horizon: return line.has(*database.execute("SELECT horizon, horizon_nonce FROM meta").fetchone())
        found = database.execute("SELECT nonce FROM changes WHERE seq = ?", (line.last,)).fetchone()
        return found is not None and line.has(line.last, found[0])

    def with_place(self, epoch, revision, nonce):
        """The logs that have a place, the newest first."""
        return [line for line in reversed(self.timelines) if line.epoch == epoch and line.has(revision, nonce)]

    def find(self, *place):
        found, revision = self.with_place(*place), place[1]
        # Of a place that a later log has forgotten, an earlier one knows the set.
        return next((line for line in found if revision > line.start), found[0] if found else None)

    def still_has(self, epoch, revision, nonce):
        """Whether the newest log goes on from a place, and always has: it was not compacted there, and nothing after it was lost."""
        *earlier, line = self.timelines
        if line.epoch != epoch or not line.has(revision, nonce) or revision < self.horizons[epoch]: return False
        # A set that is hidden or changes nothing leaves no note, but the replica may have been at its end.
        return all(not lost.has(revision, nonce) or line.has(lost.last, lost.rows[-1].nonce if lost.rows else nonce) for lost in earlier)


def different(one, other, is_one, is_other, ids=None, without=()):
    """Says how two states differ."""
    if one == other: return
    shown = 0
    for id in sorted(one.keys() | other.keys()):
        if id in without or ids is not None and id not in ids or one.get(id) == other.get(id): continue
        shown += 1
        if shown <= 3: yield f"user {id}: {is_one} {shorten(one.get(id))}, {is_other} {shorten(other.get(id))}"
    if shown > 3: yield f"… and {shown - 3} more users differ"


def shorten(thing):
    text = str(thing)
    return text if len(text) < 300 else text[:300] + "…"


class History(Log):
    """The server's log and states."""

    def __init__(self, path):
        super().__init__(path)
        # Per user, until which row a replica may show it differently: its removal before a purge.
        self.purged = collections.defaultdict(list)
        # The rows with which foreign programs committed, as (row, nonce), if `knows_commits`.
        self.commits, self.knows_commits = set(), False

    def observe(self):
        with reading(self.path) as database:
            problems = list(self.read(database))
            has_list = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'userstore_purged'").fetchone()
            self.listed = [user for user, in database.execute("SELECT user FROM userstore_purged")] if has_list else []
        self.take_purges(self.timelines[-1], self.fresh)
        return [f"{os.path.basename(self.path)}: {problem}" for problem in problems]

    def take_purges(self, line, rows):
        for row in rows:
            if row.op != PURGED: continue
            removal = next((r.seq for r in reversed(line.between(line.start, row.seq))
                            if r.op == REMOVED and r.user == row.user and r.attribute == "name"), row.seq)
            self.purged[row.user].append((line, removal, row.seq))

    def excused(self, line, revision):
        """The users who may differ at a place: they are purged, and their removal is after it."""
        return {user for user, purges in self.purged.items()
                if any(purged_in.epoch == line.epoch and revision < removal for purged_in, removal, _ in purges)}

    def left_purged(self):
        """The users whose purge is the last that the server knows of them."""
        line = self.timelines[-1]
        last = {row.user: row.op for row in line.rows if row.op == PURGED or row.op == ADDED and row.attribute == "name"}
        return [user for user in self.listed if user not in self.state and last.get(user, PURGED) == PURGED]


class Walker:
    """The server's users, or some of them, at a place that moves."""

    def __init__(self, ids):
        self.ids, self.line, self.revision, self.state = ids, None, None, None

    def move(self, line, revision):
        if line is not self.line or revision < self.revision:
            self.line, self.revision = line, line.start
            self.state = {id: dict(user) for id, user in line.first_state.items() if self.ids is None or id in self.ids}
        for row in line.between(self.revision, revision): advance(self.state, row, self.ids)
        self.revision = revision
        return self.state


class Replica(Log):
    """One replica, compared with the history."""

    def __init__(self, history, path, ids=None):
        super().__init__(path)
        self.history, self.ids = history, ids and frozenset(ids)
        self.visible, self.logged = Walker(self.ids), Walker(self.ids)
        # The state after the sets of the replica's own log, and the place of the last one.
        self.replayed, self.place, self.set = {}, None, []
        self.cursor, self.counts = None, collections.Counter()
        # Ends within foreign rows, judged when their commits are known.
        self.cuts = []

    def observe(self):
        """Reads both files; returns what is wrong."""
        if not os.path.exists(self.path): return []
        with reading(self.path) as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'userstore_replica'").fetchone(): return []
            cursor, writing = database.execute("SELECT cursor, writing FROM userstore_replica").fetchone()
            problems = ["a transaction of the replica left its guard open"] if writing else []
            lines = len(self.timelines)
            problems += self.read(database)
            if len(self.timelines) > lines: self.replayed, self.place, self.set = self.timelines[-1].first_state, None, []
        # After the replica, so that the server's log has its cursor.
        problems += self.history.observe()
        problems += self.judge_users(cursor)
        problems += [problem for row in self.fresh for problem in self.judge_row(row)]
        # A set at a time is committed whole.
        if self.set: problems.append(f"the log ends within a set: {self.set[-1]}")
        self.counts["observations"] += 1
        return [f"{os.path.basename(self.path)}: {problem}" for problem in problems]

    def judge_users(self, cursor):
        self.cursor = cursor and parse(cursor)
        if not self.cursor: return ["there are users before the first copy"] if self.state else []
        line = self.history.find(*self.cursor)
        if not line: return [f"the server's log has no {cursor}"]
        self.judge_cut(line, self.cursor)
        expected = self.visible.move(line, self.cursor[1])
        return [f"at {cursor}, {problem}" for problem in
                different(expected, self.state, "the server has", "the replica has", None, self.history.excused(line, self.cursor[1]))]

    def judge_cut(self, line, cursor):
        revision = cursor[1]
        if revision > line.start and line.unit(revision).origin is False: self.cuts.append((revision, cursor[2]))

    def judge_row(self, row):
        """Takes a row of the replica's log; a set is judged at its end."""
        if row.op != END:
            self.set.append(row)
            return
        rows, self.set = self.set, []
        # A purge of this file only.
        if all(r.op == PURGED for r in rows): return
        if rows[0].seq != row.old: yield f"rows {rows[0].seq} to {row.old - 1} are of no set"
        notes = [r for r in rows if r.op == PULLED]
        if len(notes) != 1 or rows[-1] is not notes[0]:
            yield f"the set that ends at row {row.seq} has {len(notes)} notes, or not at its end"
            return
        yield from (f"row {r.seq} of the log {problem}: {r}" for r in rows if (problem := advance(self.replayed, r)))
        yield from (f"the set of {notes[0].old}: {problem}" for problem in self.judge_set(rows, parse(notes[0].old), row.attribute))

    def judge_set(self, rows, cursor, origin):
        history, before, revision = self.history, self.place, cursor[1]
        line = history.find(*cursor)
        if not line:
            yield "the server's log has no such place"
            return
        self.place = cursor
        self.counts["sets"] += 1
        self.judge_cut(line, cursor)
        events = self.events(rows)
        if len(events) != sum(r.op == EVENT for r in rows): yield "it has events of users that are not followed"
        excused = history.excused(line, revision)
        # A purge removes values from all of the log here.
        excused |= {user for user in history.purged if self.replayed.get(user, {"name": ""})["name"] is None}
        reasons, changes = [] if before else ["it is the first one"], []
        # Of a set that was compacted before anybody looked, only the state is known.
        unit = line.unit(revision) if revision > line.start else None
        if not unit:
            start = revision
            reasons.append("its set is not known")
        elif before and before[:1] == cursor[:1] and line.has(before[1], before[2]) and (
                # An older file, which was compacted before anybody looked, begins at a place of the log that is known from before.
                revision > before[1] or history.with_place(*cursor)[0].has(before[1], before[2])):
            if revision <= before[1]:
                yield f"it is not after the set before it, {before[1]}"
                return
            # What lies between the two sets, without that of this one.
            start = max(before[1] + 1, unit.first)
            was = {id: dict(user) for id, user in self.logged.move(line, before[1]).items()}
            changes = list(different(was, self.logged.move(line, start - 1), "a skipped set changes", "to", None, excused))
            if missing := self.events(line.between(before[1], start - 1)): reasons.append(f"the events {missing} are missing")
        else:
            start = unit.first
            if before: reasons.append("the server's log does not lead here")
        # Whether it is exactly one set of the server.
        differences = []
        if unit and events != (expected := self.events(line.between(start - 1, revision))):
            differences.append(f"its events are {shorten(events)}, not {shorten(expected)}")
        if unit and unit.last != revision and unit.origin is not False: differences.append("it ends within a set of the server")
        if unit and origin != (unit.origin or None): differences.append(f"its origin is {origin}, not {unit.origin or None}")
        if reasons or changes or differences:
            text = "; ".join(reasons + changes + differences)
            if before and history.still_has(*before): yield f"{text}, and the log has gone on from {before[1]}"
            # After a copy that changed nothing, the next set is one of the server again.
            elif (changes or differences) and (origin is not None or events): yield f"{text}, and a copy has no origin and no events"
            self.counts["copies"] += 1
        expected = self.logged.move(line, revision)
        yield from different(expected, self.replayed, "the server had", "the log here leads to", None, excused)

    def events(self, rows):
        """The events in rows of the server that the replica has; a purge removes their payloads, at different times here and there."""
        return [(r.user, typed(r.old), None if r.user in self.history.purged else typed(r.new))
                for r in rows if r.op == EVENT and (self.ids is None or r.user in self.ids)]

    def rest(self):
        """What is wrong when nobody writes and the replica is up to date: it equals the server, and nothing hides."""
        problems = self.observe()
        name = os.path.basename(self.path) + ": "
        expected = {id: user for id, user in self.history.state.items() if self.ids is None or id in self.ids}
        problems += [name + problem for problem in different(expected, self.state, "at rest, the server has", "the replica has")]
        if self.history.knows_commits:
            problems += [f"{name}it ended at {cut[0]}, within a transaction" for cut in self.cuts if cut not in self.history.commits]
        self.cuts = []
        with reading(self.path) as database:
            for user in self.history.left_purged():
                left = database.execute("SELECT count(*) FROM changes WHERE user = ? AND op BETWEEN 1 AND 6 "
                                        "AND (new IS NOT NULL OR old IS NOT NULL AND op <> 6)", (user,)).fetchone()[0]
                if left: problems.append(f"{name}{left} values of the purged user {user} are in the log")
        for path in (self.path, self.history.path): problems += damage(path)
        return problems


def damage(path):
    with reading(path) as database:
        try: found = [row[0] for row in database.execute("PRAGMA integrity_check")]
        except sqlite3.DatabaseError as error: found = [str(error)]
    return [] if found == ["ok"] else [f"{os.path.basename(path)}: damaged: {found[:3]}"]


# ----------------------------------------------------------------------------------------------------------- the controls

def some_set(database):
    """First row and end of the last set but two: one that follows another one, and is followed by others."""
    return database.execute("SELECT old, seq FROM changes WHERE op = 0 ORDER BY seq DESC LIMIT 1 OFFSET 2").fetchone()


class Falsehoods:
    """Each changes a copy of a replica in one way; it returns False if there is nothing to change."""

    def __init__(self, history): self.history = history

    def value(self, database):
        return database.execute("UPDATE users SET name = name || '?' WHERE id = (SELECT max(id) FROM users)").rowcount

    def kind(self, database):
        return database.execute("UPDATE attributes SET value = CAST(value AS REAL) WHERE rowid = "
                                "(SELECT rowid FROM attributes WHERE typeof(value) = 'integer' AND abs(value) < 1000 LIMIT 1)").rowcount

    def attribute_lost(self, database):
        return database.execute("DELETE FROM attributes WHERE rowid = (SELECT max(rowid) FROM attributes)").rowcount

    def user_lost(self, database):
        database.execute("DELETE FROM attributes WHERE user_id = (SELECT max(id) FROM users)")
        return database.execute("DELETE FROM users WHERE id = (SELECT max(id) FROM users)").rowcount

    def user_too_many(self, database):
        return database.execute("INSERT INTO users (id, name) VALUES (1 << 40, 'stranger')").rowcount

    def cursor_earlier(self, database):
        """The cursor of the newest set but one: what that set did is too much."""
        notes = database.execute("SELECT old FROM changes WHERE op = 8 ORDER BY seq DESC LIMIT 2").fetchall()
        return database.execute("UPDATE userstore_replica SET cursor = ?", notes[1]).rowcount

    def set_twice(self, database):
        first, end = some_set(database)
        top = database.execute("SELECT max(seq) FROM changes").fetchone()[0]
        database.execute("INSERT INTO changes SELECT seq + ?, op, user, attribute, old, new, random(), at FROM changes "
                         "WHERE seq BETWEEN ? AND ?", (top + 1 - first, first, end))
        return database.execute("UPDATE changes SET old = ? WHERE seq = ?", (top + 1, top + 1 + end - first)).rowcount

    def note_lost(self, database):
        # The row stays, so that the numbers have no gap.
        return database.execute("UPDATE changes SET op = 4 WHERE seq = ?", (some_set(database)[1] - 1,)).rowcount

    def notes_swapped(self, database):
        (one, first), (other, second) = database.execute("SELECT seq, old FROM changes WHERE op = 8 ORDER BY seq DESC LIMIT 2").fetchall()
        database.execute("UPDATE changes SET old = ? WHERE seq = ?", (second, one))
        return database.execute("UPDATE changes SET old = ? WHERE seq = ?", (first, other)).rowcount

    def set_lost(self, database):
        """A set that was left out, without a gap in the numbers."""
        first, end = some_set(database)
        database.execute("DELETE FROM changes WHERE seq BETWEEN ? AND ?", (first, end))
        less = end + 1 - first
        database.execute("UPDATE changes SET old = old - ? WHERE seq > ? AND op = 0", (less, end))
        for seq, in database.execute("SELECT seq FROM changes WHERE seq > ? ORDER BY seq", (end,)).fetchall():
            database.execute("UPDATE changes SET seq = ? WHERE seq = ?", (seq - less, seq))
        return True

    def row_lost(self, database):
        first, end = some_set(database)
        return database.execute("DELETE FROM changes WHERE seq = ?", (first,)).rowcount

    def sets_merged(self, database):
        """Two sets in one: the end and the note of the first are gone."""
        first, end = some_set(database)
        database.execute("UPDATE changes SET op = 4, old = NULL, attribute = NULL WHERE seq IN (?, ?)", (end - 1, end))
        return database.execute("UPDATE changes SET old = ? WHERE old = ? AND op = 0", (first, end + 1)).rowcount

    def origin(self, database):
        return database.execute("UPDATE changes SET attribute = 'somebody' WHERE seq = ?", (some_set(database)[1],)).rowcount

    def event(self, database):
        return database.execute("UPDATE changes SET old = 'x' WHERE seq = (SELECT max(seq) FROM changes WHERE op = 6)").rowcount

    def event_lost(self, database):
        return database.execute("UPDATE changes SET op = 4, old = NULL, new = NULL WHERE seq = "
                                "(SELECT max(seq) FROM changes WHERE op = 6)").rowcount

    def old_value(self, database):
        return database.execute("UPDATE changes SET old = 'x' WHERE seq = (SELECT max(seq) FROM changes WHERE op = 2 AND old IS NOT NULL)").rowcount

    def guard(self, database):
        return database.execute("UPDATE userstore_replica SET writing = 1").rowcount

    def purged_value(self, database):
        users = ", ".join(map(str, self.history.left_purged()))
        return database.execute("UPDATE changes SET old = 'secret' WHERE seq = (SELECT max(seq) FROM changes "
                                f"WHERE op IN (2, 3) AND attribute <> 'name' AND user IN ({users}))").rowcount

    def page(self, path):
        """A page of the file becomes another one."""
        with contextlib.closing(sqlite3.connect(path)) as database:
            [(root,)] = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_attributes_1'").fetchall()
            [(size,)] = database.execute("PRAGMA page_size").fetchall()
        with open(path, "r+b") as file:
            file.seek((root - 1) * size + 8)
            file.write(b"\xff" * 64)
        return True


def falsify(history, path, ids=None):
    """Falsifies copies of a replica at rest; returns how many falsehoods were noticed, and which were not.

    Since the last copy, the replica has at least six sets that change something, and the event of one.
    """
    noticed, missed = 0, []
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        whole = folder + "/whole.db"
        with contextlib.closing(sqlite3.connect(path)) as source, contextlib.closing(sqlite3.connect(whole)) as target: source.backup(target)
        if problems := Replica(history, whole, ids).rest(): raise SystemExit("judge: a true copy is reported:\n" + "\n".join(problems[:10]))
        for how in [name for name in vars(Falsehoods) if not name.startswith("_")]:
            copy = f"{folder}/{how}.db"
            shutil.copyfile(whole, copy)
            if how == "page":
                done = Falsehoods(history).page(copy)
            else:
                with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as database:
                    database.text_factory = decoded
                    for trigger, in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                        database.execute(f'DROP TRIGGER "{trigger}"')
                    done = getattr(Falsehoods(history), how)(database)
            if not done: continue
            try: problems = Replica(history, copy, ids).rest()
            except sqlite3.DatabaseError as error: problems = [str(error)]
            if problems: noticed += 1
            else: missed.append(how)
    return noticed, missed


def main(arguments):
    controls = "--controls" in arguments
    paths = [argument for argument in arguments if argument != "--controls"]
    if len(paths) < 2: raise SystemExit(__doc__)
    history = History(paths[0])
    problems = history.observe()
    for path in paths[1:]:
        with reading(path) as database: ids, = database.execute("SELECT users FROM userstore_replica").fetchone()
        ids = ids and [int(id) for id in ids.split(",")]
        replica = Replica(history, path, ids)
        problems += replica.rest()
        print(f"{path}: {len(replica.state)} users, {replica.counts['sets']} sets, {replica.counts['copies']} copies")
        if controls and not problems:
            noticed, missed = falsify(history, path, ids)
            print(f"{path}: {noticed} falsehoods noticed, {len(missed)} not{': ' if missed else ''}{', '.join(missed)}")
            problems += missed
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
