#!/usr/bin/env python3
"""Judges what became of each write on replicas, from the files of a run of `workload`. It reads them with sqlite3 and uses nothing of the library.

    Proof/Replicas/decisions.py FOLDER…               judges runs whose files were kept (`workload --keep`)
    Proof/Replicas/decisions.py --controls FOLDER…    the same, and then falsifies what it has read, which it must report

A folder has `run.json`, `server.db`, and for each client N `N.db`, its replica, and `N.jsonl`: what the client did, in its order. Each transaction
of a client writes a value that no other one writes, "CLIENT.NUMBER", to all its keys; a key is an attribute of a user.

Judged, when the faults are over and everybody is at rest. The word before each is that of the report:

  lost       a transaction that was committed on a replica is in the server's log, or in a refusal; one that failed is in no log
  parts      all of its writes are in one set of the server's log, or in one refusal
  twice      each write is there once, and not in a refusal too; no set has two numbers, and no number two sets
  order      the transactions of a client are in the server's log in the order in which it committed them
  nobody     the server's log has no write that no client has made
  log        the log of each file leads to its records
  differs    every replica has the records of the server
  undecided  nothing is left to send
  own        a client sees its own last write of a key, until another one's write that the server has after it, or a refusal, replaces it
  back       what it has seen of a key is never replaced by what the server had earlier
  torn       at each read, there is a place of the server's log, not before that of the reads before, that explains every value: it sees the sets
             of others whole and in order, for all keys; its own writes after one that was refused, which it does not know yet, are on top
  never      it sees nothing that another one wrote and the server never had
"""
import bisect, collections, contextlib, copy, json, pathlib, sqlite3, sys

import judge
from judge import ADDED, END, PULLED, REMOVED, UPDATED, Row

PUSHED = 9
FIRST = "0.0"


def sets(rows):
    """The sets of a log: their rows, and whether they have an end; rows of foreign programs have none."""
    waiting = []
    for row in rows:
        if row.op != END:
            waiting.append(row)
            continue
        foreign = [each for each in waiting if each.seq < row.old]
        if foreign: yield foreign, False
        yield [each for each in waiting if each.seq >= row.old] + [row], True
        waiting = []
    if waiting: yield waiting, False


def key(row): return f"{row.user}.{row.attribute}"


class Client:
    """What a client did, and its file."""

    def __init__(self, folder, number, is_replica):
        self.number = number
        with open(folder / f"{number}.jsonl") as lines: self.history = [json.loads(line) for line in lines]
        with judge.reading(str(folder / f"{number}.db")) as database:
            self.records = judge.records(database)
            if is_replica:
                self.rows = judge.read_log(database, 0)
                self.refusals = database.execute("SELECT first, last, reason FROM userstore_refusals ORDER BY last").fetchall()
                self.pending = database.execute("SELECT count(*) FROM userstore_outbox").fetchone()[0]
            else:
                self.rows, self.refusals = None, []
                self.pending = database.execute("SELECT count(*) FROM outbox").fetchone()[0]


class Run:
    """The files of a run."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.about = json.loads((folder / "run.json").read_text())
        self.is_replica = self.about["kind"] != "baseline"
        # The row through which the server's log is from before the run.
        self.start = self.about["start"]
        with judge.reading(str(folder / "server.db")) as database: self.rows, self.records = judge.read_log(database, 0), judge.records(database)
        self.clients = {number: Client(folder, number, self.is_replica) for number in range(1, self.about["clients"] + 1)}


class Verdict:
    """What is wrong in a run, and its counts."""

    def __init__(self, run):
        self.run, self.problems, self.counts = run, collections.defaultdict(list), collections.Counter()
        self.read_server()
        self.committed, self.refused = {}, {}
        for client in run.clients.values(): self.read_client(client)
        for client in run.clients.values(): self.judge_decisions(client)
        self.judge_nobody()
        if run.is_replica: self.judge_numbers()
        for client in run.clients.values():
            self.judge_reads(client)
            self.judge_rest(client)

    def wrong(self, word, text): self.problems[word].append(text)

    def read_server(self):
        run = self.run
        # Of each value of a key: the rows that write it, with the ends of their sets.
        self.places = collections.defaultdict(list)
        # Of each key: the ends of the sets that write it, in order.
        self.changed = collections.defaultdict(list)
        self.sets = []
        for rows, _ in sets([row for row in run.rows if row.seq > run.start]):
            end = rows[-1].seq
            self.sets.append(rows)
            for row in rows:
                if row.op in (ADDED, UPDATED, REMOVED):
                    self.places[key(row), row.new].append((row.seq, end))
                    self.changed[key(row)].append(end)
        self.follow("the server", run.rows, run.records)

    def follow(self, name, rows, records):
        """The log leads to the records."""
        state = {}
        for place, row in enumerate(rows, rows[0].seq if rows else 1):
            if row.seq != place: return self.wrong("log", f"{name}: the log has no row {place}")
            if problem := judge.advance(state, row): self.wrong("log", f"{name}: row {row.seq} {problem}")
        for problem in judge.different(state, records, "the log leads to", "the records have"): self.wrong("log", f"{name}: {problem}")

    def place(self, name, value, which=-1):
        """The end of the set of a value; 0 for the first one, None if the server does not have it. Of one that is there twice, the last, or another one."""
        if value == FIRST: return 0
        found = self.places.get((name, value))
        return found[which][1] if found else None

    # What was committed, and what became of it

    def read_client(self, client):
        """Which transactions a client has committed, as numbers with their keys."""
        made = {line["n"]: line for line in client.history if "n" in line}
        if not self.run.is_replica:
            self.committed[client.number] = {n: line["keys"] for n, line in made.items() if line["outcome"] == "committed"}
            self.refused[client.number] = {}
            return
        own, last = collections.defaultdict(list), 0
        for rows, has_end in sets(client.rows):
            if any(row.op == PULLED for row in rows): continue
            for row in rows:
                if row.op in (ADDED, UPDATED, REMOVED) and str(row.new).startswith(f"{client.number}."):
                    n = int(row.new.split(".")[1])
                    own[n].append(row)
                    if n < last: self.wrong("order", f"replica {client.number}: {row.new} is in the log after {last}")
                    last = max(last, n)
        for n, line in made.items():
            found = sorted(key(row) for row in own.get(n, []))
            if line["outcome"] == "committed" and not found: self.wrong("lost", f"{client.number}.{n} was committed, and is not in the log of the replica")
            elif line["outcome"] == "failed" and found: self.wrong("nobody", f"{client.number}.{n} failed, and is in the log of the replica")
            elif found and found != sorted(line["keys"]): self.wrong("parts", f"of {client.number}.{n}, the replica has {found}, not {line['keys']}")
        for n in own.keys() - made.keys(): self.wrong("nobody", f"replica {client.number}: nobody wrote {client.number}.{n}")
        self.committed[client.number] = {n: made[n]["keys"] for n in sorted(own.keys() & made.keys())}
        self.refused[client.number] = refused = {}
        for first, last, reason in client.refusals:
            for row in client.rows[first - client.rows[0].seq:last + 1 - client.rows[0].seq]:
                if row.op not in (ADDED, UPDATED, REMOVED): continue
                owner, _, n = str(row.new).partition(".")
                if owner != str(client.number): self.wrong("nobody", f"replica {client.number}: {row.new} was refused, and another one wrote it")
                else: refused.setdefault(int(n), []).append((key(row), last, reason))

    def judge_decisions(self, client):
        before = 0
        # Foreign rows that are taken in together are one set, in which a later value may replace an earlier one.
        later = collections.defaultdict(dict)
        for n, keys in self.committed[client.number].items():
            for name in keys:
                for _, end in self.places.get((name, f"{client.number}.{n}"), []): later[end][name] = n
        for n, keys in self.committed[client.number].items():
            value = f"{client.number}.{n}"
            found = {name: self.places.get((name, value), []) for name in keys}
            ends = {end for places in found.values() for _, end in places}
            missing = [name for name, places in found.items() if not places and not any(later[end].get(name, 0) > n for end in ends)]
            refused = self.refused[client.number].get(n, [])
            self.counts["transactions"] += 1
            if not ends and not refused: self.wrong("lost", f"{value} is neither in the server's log nor refused")
            if ends and refused: self.wrong("twice", f"{value} is in the server's log, and refused")
            if refused and not ends:
                self.counts["refused"] += 1
                if sorted(name for name, _, _ in refused) != sorted(keys) or len({last for _, last, _ in refused}) > 1:
                    self.wrong("parts", f"of {value}, {refused} is refused, not {keys}")
            if not ends: continue
            self.counts["accepted"] += 1
            if missing: self.wrong("parts", f"of {value}, {missing} is not in the server's log")
            if any(len(places) > 1 for places in found.values()): self.wrong("twice", f"{value} is in the server's log at {found}")
            elif len(ends) > 1: self.wrong("parts", f"{value} is in the server's log in {len(ends)} sets")
            first = min(seq for places in found.values() for seq, _ in places)
            if first < before: self.wrong("order", f"{value} is in the server's log at {first}, an earlier one of the client at {before}")
            before = max(before, max(seq for places in found.values() for seq, _ in places))

    def judge_nobody(self):
        for rows in self.sets:
            for row in rows:
                if row.op in (END, PUSHED) or row.op == 4: continue
                owner, _, n = str(row.new).partition(".")
                keys = self.committed.get(int(owner), {}).get(int(n), []) if owner.isdigit() and n.isdigit() else []
                if row.op != UPDATED or key(row) not in keys: self.wrong("nobody", f"nobody wrote {row}")

    def judge_numbers(self):
        """Each set of the server is one of a replica, by its random number, and none is there twice."""
        known = {row.nonce for client in self.run.clients.values() for row in client.rows}
        seen = set()
        for rows in self.sets:
            notes = [row.old for row in rows if row.op == PUSHED]
            if len(notes) != 1: self.wrong("twice", f"the set at {rows[0].seq} has the numbers {notes}")
            for note in notes:
                if note in seen: self.wrong("twice", f"the set at {rows[0].seq} was there before: {note}")
                if note not in known: self.wrong("nobody", f"the set at {rows[0].seq} is of no replica: {note}")
                seen.add(note)

    # What a client saw

    def judge_reads(self, client):
        number, committed, refused = client.number, self.committed[client.number], self.refused[client.number]
        # Through where the replica has certainly read the server's log.
        cursor = 0
        # The last of its transactions that is certainly decided.
        decided = -1
        # Of each key, its own writes so far, the largest place of those that were accepted, and the values that were replaced.
        own, top, gone = collections.defaultdict(list), collections.defaultdict(int), collections.defaultdict(set)
        seen, latest = {}, collections.defaultdict(int)
        for line in client.history:
            reads = line.get("reads", {})
            self.counts["reads"] += bool(reads)
            self.counts["values read"] += len(reads)
            where = f"client {number}, line {line['line']}"
            for name, value in reads.items():
                if not value.startswith(f"{number}."): cursor = max(cursor, self.place(name, value, 0) or 0)
            # An own last write that is gone is decided, and all before it: they are decided in their order.
            decided = max([decided] + [int(own[name][-1].split(".")[1]) for name, value in reads.items() if own[name] and value != own[name][-1]])
            for name, value in reads.items():
                place = self.place(name, value)
                if value.startswith(f"{number}."):
                    if value not in own[name]: self.wrong("never", f"{where}: {name} is {value}, which was not written before")
                    elif value != own[name][-1]:
                        after = own[name][own[name].index(value) + 1:]
                        if place is None or any(int(other.split(".")[1]) not in refused for other in after):
                            self.wrong("own", f"{where}: {name} is {value}, and not its own last write {own[name][-1]}")
                    if place is None and value in gone[name]: self.wrong("back", f"{where}: {name} is {value} again, which was replaced")
                elif place is None: self.wrong("never", f"{where}: {name} is {value}, which the server never had")
                elif place < top[name]:
                    self.wrong("own", f"{where}: {name} is {value}, and its own last write {own[name][-1]} is gone, which the server has later")
                if place is not None:
                    index = bisect.bisect_right(self.changed[name], place) if place else 0
                    if place < latest[name]: self.wrong("back", f"{where}: {name} is {value} of {place}, after it was that of {latest[name]}")
                    elif index < len(self.changed[name]) and self.changed[name][index] <= cursor and not self.waits(number, value, decided):
                        self.wrong("torn", f"{where}: {name} is {value} of {place}, but something else was seen of {cursor}, after the next one")
                    latest[name] = max(latest[name], self.place(name, value, 0))
                if name in seen and seen[name] != value: gone[name].add(seen[name])
                seen[name] = value
            if line.get("n") in committed:
                value = f"{number}.{line['n']}"
                for name in line["keys"]:
                    own[name].append(value)
                    top[name] = max(top[name], self.place(name, value) or 0)
                    if name in seen: gone[name].add(seen[name])
                    seen[name] = value

    def waits(self, number, value, decided):
        """Whether a write of the client may be on top although the log goes on: an earlier one was refused, and that was not known yet."""
        if not value.startswith(f"{number}."): return False
        return any(decided < other < int(value.split(".")[1]) for other in self.refused[number])

    # At rest

    def judge_rest(self, client):
        name = f"replica {client.number}"
        if client.rows is not None: self.follow(name, client.rows, client.records)
        if client.pending: self.wrong("undecided", f"{name}: {client.pending} writes are undecided")
        for problem in judge.different(self.run.records, client.records, "the server has", "the replica has"): self.wrong("differs", f"{name}: {problem}")


# ----------------------------------------------------------------------------------------------------------- the controls

READ = ("own", "back", "torn", "never")


class Falsehoods:
    """Each changes what was read in one way, and returns the words of which one has to be in the report; None if there is nothing to change."""

    def __init__(self, run, verdict):
        self.run, self.verdict = run, verdict
        # In the middle: a set of one transaction.
        found = [rows for rows in verdict.sets if sum(row.op == UPDATED for row in rows) > 1 and len({row.new for row in rows if row.op == UPDATED}) == 1]
        self.set = found[len(found) // 2]
        self.row = next(row for row in self.set if row.op == UPDATED)
        self.client = run.clients[int(self.row.new.split(".")[0])]
        self.other = next(client for client in run.clients.values() if client is not self.client)
        self.sets = verdict.sets

    def replace(self, rows, seq, **fields):
        index = next(index for index, row in enumerate(rows) if row.seq == seq)
        rows[index] = rows[index]._replace(**fields)

    def refused_and_lost(self):
        """A set that is not in the server's log; its rows stay, so that the numbers have no gap."""
        for row in self.set: self.replace(self.run.rows, row.seq, op=4)
        return "lost"

    def half_lost(self):
        self.replace(self.run.rows, self.row.seq, op=4)
        return "parts"

    def repeated(self):
        """A set that was decided twice."""
        end = self.run.rows[-1].seq
        first = self.set[0].seq
        self.run.rows += [row._replace(seq=end + 1 + row.seq - first, old=end + 1 if row.op == END else row.old, nonce=(row.nonce or 0) + 1) for row in self.set]
        return "twice"

    def number_repeated(self):
        notes = [row for rows in self.sets for row in rows if row.op == PUSHED]
        self.replace(self.run.rows, notes[1].seq, old=notes[0].old)
        return "twice"

    def divided(self):
        """A set in two sets."""
        self.replace(self.run.rows, self.row.seq + 1, op=END, old=self.set[0].seq, attribute=None)
        return "parts"

    def exchanged(self):
        """Two sets of a client in the other order: their values are exchanged, key by key the same."""
        mine = [rows for rows in self.sets if any(str(row.new).startswith(f"{self.client.number}.") for row in rows)]
        if len(mine) < 2: return None
        one, other = mine[0], mine[-1]
        values = ({row.new for row in one if row.op == UPDATED}, {row.new for row in other if row.op == UPDATED})
        for rows, new in ((one, sorted(values[1])[0]), (other, sorted(values[0])[0])):
            for row in rows:
                if row.op == UPDATED: self.replace(self.run.rows, row.seq, new=new)
        return "order", "lost"

    def stranger(self):
        self.replace(self.run.rows, self.row.seq, new="99.1")
        return "nobody"

    def never_written(self):
        """The client says that it did not commit what the server has."""
        n = int(self.row.new.split(".")[1])
        for line in self.client.history:
            if line.get("n") == n: line["outcome"] = "failed"
        return "nobody"

    def never_logged(self):
        """A client was told that it had committed, and its replica has nothing."""
        made = next(line for line in self.client.history if line.get("outcome") == "committed")
        self.client.history.insert(0, made | {"n": 1_000_000, "line": -1, "reads": {}})
        return "lost"

    def refused_too(self):
        n = self.row.new
        own = [row.seq for row in self.client.rows if row.new == n]
        self.client.refusals.append((own[0], own[-1], "conflict"))
        return "twice"

    def refusal_lost(self):
        client = next((client for client in self.run.clients.values() if client.refusals), None)
        if not client: return None
        client.refusals.pop()
        return "lost"

    def pending(self):
        self.client.pending = 1
        return "undecided"

    def value(self):
        user = self.client.records[self.row.user]
        user[self.row.attribute] = ("str", "another")
        return "differs"

    def kind(self):
        self.other.records[self.row.user][self.row.attribute] = ("bytes", b"1")
        return "differs"

    def user(self):
        del self.other.records[self.row.user]
        return "differs"

    def log_value(self):
        self.replace(self.client.rows, next(row.seq for row in reversed(self.client.rows) if row.op == UPDATED), old="x")
        return "log"

    def log_row(self):
        del self.client.rows[len(self.client.rows) // 2]
        return "log"

    def server_value(self):
        self.run.records[self.row.user][self.row.attribute] = ("str", "another")
        return "log"

    def is_refused(self, value):
        owner, n = value.split(".")
        return int(n) in self.verdict.refused[int(owner)]

    def last_read(self, client): return next(line for line in reversed(client.history) if line.get("reads"))

    def read_first(self):
        """At the end, a client sees the first value again."""
        reads = self.last_read(self.client)["reads"]
        reads[min((name for name in reads if self.verdict.changed[name]), key=lambda name: self.verdict.changed[name][0])] = FIRST
        return READ

    def read_earlier(self):
        """A client sees a value of another one that it has seen replaced."""
        line = self.last_read(self.client)
        for name, value in line["reads"].items():
            earlier = [read["reads"][name] for read in self.client.history if name in read.get("reads", {})]
            found = [old for old in earlier if old != value and old != FIRST and not old.startswith(f"{self.client.number}.")]
            if found:
                line["reads"][name] = found[0]
                return READ

    def read_own_earlier(self):
        """A client does not see its last write, but the one before it."""
        own = {}
        for line in self.client.history:
            for name in own.keys() & line.get("reads", {}).keys():
                if len(own[name]) > 1 and line["reads"][name] == own[name][-1] and not self.is_refused(own[name][-1]):
                    line["reads"][name] = own[name][-2]
                    return READ
            if line.get("outcome") == "committed":
                for name in line["keys"]: own.setdefault(name, []).append(f"{self.client.number}.{line['n']}")

    def read_before_own(self):
        """Right after its write, a client sees what it saw before."""
        before = None
        for line in self.client.history:
            if before and line.get("reads"):
                old, keys, value = before
                for name in keys:
                    if name in old and line["reads"].get(name) == value and old[name] != value and not self.is_refused(value):
                        line["reads"][name] = old[name]
                        return READ
            if line.get("reads") and line.get("outcome") == "committed": before = (dict(line["reads"]), line["keys"], f"{self.client.number}.{line['n']}")

    def read_never(self):
        """A client sees what another one wrote, and the server refused."""
        client = next((client for client in self.run.clients.values() if client.refusals), None)
        if not client: return None
        first, last, _ = client.refusals[0]
        row = next(row for row in client.rows if first <= row.seq <= last and row.op == UPDATED)
        reader = next(other for other in self.run.clients.values() if other is not client)
        self.last_read(reader)["reads"][key(row)] = row.new
        return READ

    def read_half(self):
        """A client sees a part of a set of another one, and for the other part what was there before."""
        for rows in self.sets:
            changes = [row for row in rows if row.op == UPDATED]
            if len({row.new for row in changes}) != 1 or len(changes) < 2: continue
            value = changes[0].new
            for reader in self.run.clients.values():
                if value.startswith(f"{reader.number}."): continue
                for line in reader.history:
                    reads = line.get("reads", {})
                    halves = [row for row in changes if reads.get(key(row)) == value and not str(row.old).startswith(f"{reader.number}.")]
                    if len(halves) > 1:
                        reads[key(halves[0])] = halves[0].old
                        return READ


def falsify(run):
    """Falsifies copies of what was read; returns how many falsehoods were noticed, and which were not."""
    noticed, missed = 0, []
    for how in [name for name, value in vars(Falsehoods).items() if callable(value) and name not in ("__init__", "replace", "is_refused", "last_read")]:
        copied = copy.deepcopy(run)
        words = getattr(Falsehoods(copied, Verdict(copied)), how)()
        if words is None: continue
        found = Verdict(copied).problems
        if set(found) & set(words if isinstance(words, tuple) else (words,)): noticed += 1
        else: missed.append(f"{how}: found {sorted(found)}")
    return noticed, missed


def main(arguments):
    folders = [argument for argument in arguments if argument != "--controls"]
    if not folders: raise SystemExit(__doc__)
    failed = False
    for folder in folders:
        run = Run(folder)
        verdict = Verdict(run)
        print(folder, dict(verdict.counts))
        for word, texts in verdict.problems.items():
            failed = True
            print(f"  {len(texts):6} {word}")
            for text in texts[:5]: print(f"         {text}")
        if "--controls" in arguments and not verdict.problems:
            noticed, missed = falsify(run)
            print(f"  {noticed} falsehoods noticed, {len(missed)} not")
            for text in missed: print(f"         {text}")
            failed |= bool(missed)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
