#!/usr/bin/python3
"""Each function of the schema against a simple answer, the rights of the roles, and what userstore.check() notices.

    scripts/postgres run Proof/Postgres/functions.py [--seed N]
"""
import json, os, random, subprocess, sys, time
import psycopg
from psycopg import errors

HERE = os.path.dirname(os.path.abspath(__file__))
seed = int(sys.argv[2]) if sys.argv[1:2] == ["--seed"] else random.SystemRandom().randrange(10**6)
print(f"seed {seed}")
r = random.Random(seed)
passed = 0


def connect(role=None):
    c = psycopg.connect("", autocommit=True)
    if role: c.execute(f"SET ROLE {role}")
    return c


def expect(what, got, wanted):
    global passed
    if got != wanted: sys.exit(f"FAILED: {what}: {got!r}, not {wanted!r}")
    passed += 1


def refused(what, c, sql, error, args=()):
    global passed
    try: c.execute(sql, args)
    except error as e:
        c.execute("ROLLBACK")
        passed += 1
        return str(e)
    sys.exit(f"FAILED: {what} was not refused")


def one(c, sql, *args): return c.execute(sql, args).fetchone()
def all_(c, sql, *args): return c.execute(sql, args).fetchall()


subprocess.run([os.path.join(HERE, "install")], check=True)
owner, c, reader = connect(), connect("userstore_writer"), connect("userstore_reader")
epoch = one(owner, "SELECT epoch FROM userstore.meta")[0]
expect("head of an empty log", one(reader, "SELECT * FROM userstore.head()"), (epoch, 0, 0))
expect("extent of an empty log", one(reader, "SELECT first, last, consumer FROM userstore.extent(0)"), (None, None, None))
expect("nonce in an empty log", one(reader, "SELECT nonce FROM userstore.nonce_at(0)"), None)
expect("nothing logged", one(c, "SELECT userstore.end_set(1, 'x'), userstore.place(), userstore.end_set(1, 'x', true)"), (None, None, None))

# A log of transactions of all sizes, with one to five sets.
for _ in range(60):
    c.execute("BEGIN")
    if r.random() < .6: c.execute("SELECT userstore.begin_writing(true)")
    for _ in range(r.choice([1, 1, 1, 2, 5])):
        for _ in range(r.choice([1, 1, 3])):
            c.execute("INSERT INTO userstore.users (name, hair_color) SELECT repeat('x', %s), NULL FROM generate_series(1, %s)", (r.choice([1, 10, 3000]), r.choice([1, 1, 1, 2, 30])))
            if r.random() < .4: c.execute("DELETE FROM userstore.users WHERE id = (SELECT min(id) FROM userstore.users)")
            if r.random() < .4: c.execute("INSERT INTO userstore.attributes (user_id, name, bytes) SELECT max(id), 'a', %s FROM userstore.users HAVING count(*) > 0 ON CONFLICT (user_id, name) DO UPDATE SET bytes = EXCLUDED.bytes", (os.urandom(r.choice([0, 5, 9000])),))
        if r.random() < .4: c.execute("SELECT userstore.post(%s, %s, (SELECT max(id) FROM userstore.users WHERE %s), payload_bytes => %s)", (r.choice(["é", "e" * 200]), *r.choice([(p, r.random() < .7, b) for p, b in ((None, None), ("", None), ("p" * 3000, None), (None, b"\0"))])))
        if r.random() < .7: c.execute("SELECT userstore.end_set(%s, %s)", (r.randrange(-2**63, 2**63), r.choice([None, "", "app"])))
    if r.random() < .5: c.execute(r.choice(["SELECT userstore.place()", "SELECT userstore.end_set(5, 'last', true)"]))
    c.execute("COMMIT")
    if r.random() < .2:
        c.execute("BEGIN; INSERT INTO userstore.users (name) VALUES ('gone'); SELECT userstore.place(); ROLLBACK")

VIEW = 'seq, op, "user", attribute, old_t, old_b, new_t, new_b, nonce, userstore.milliseconds(at), is_foreign, first, is_blank'
ROWS = 'seq, op, "user", attribute, old_t, old_b, new_t, new_b, nonce, at, is_foreign, first, is_blank'
def log(): return all_(owner, f"SELECT {VIEW} FROM userstore.log ORDER BY seq")
def size(row):
    old = 8 if row[1] == 0 else len((row[4] or "").encode()) + len(row[5] or b"")
    return 64 + old + len((row[6] or "").encode()) + len(row[7] or b"") + others.get(row[0], 0)
others = {}  # the sizes of payloads of other kinds, by the row
def page(rows, max_rows, max_bytes):
    found, total = [], 0
    for row in rows[:max_rows]:
        if total >= max_bytes: break
        found.append(row); total += size(row)
    return found


def compare(rows):
    """Every function of reading at random places."""
    end = rows[-1][0]
    horizon = one(owner, "SELECT horizon FROM userstore.meta")[0]
    by = {row[0]: row for row in rows}
    for _ in range(150):
        a, b = r.randrange(-1, end + 3), r.choice([r.randrange(-1, end + 3), 2**62])
        n, size_limit = r.choice([1, 7, 1001]), r.choice([100, 5000, 1 << 20])
        expect(f"log_rows({a}, {b}, {n}, {size_limit})", all_(reader, f"SELECT {ROWS} FROM userstore.log_rows(%s, %s, %s, %s)", a, b, n, size_limit), page([x for x in rows if a < x[0] <= b], n, size_limit))
        expect(f"log_rows_backwards({a}, {b}, {n}, {size_limit})", all_(reader, f"SELECT {ROWS} FROM userstore.log_rows_backwards(%s, %s, %s, %s)", a, b, n, size_limit), page([x for x in reversed(rows) if a <= x[0] < b], n, size_limit))
        ends = [x for x in rows if x[1] == 0]
        found = next(((x[0], x[11], x[8], x[3], x[10]) for x in ends if a < x[0] <= b), None)
        expect(f"next_end({a}, {b})", one(reader, "SELECT * FROM userstore.next_end(%s, %s)", a, b), found)
        expect(f"last_end({a})", one(reader, "SELECT * FROM userstore.last_end(%s)", a), next(((x[0], x[11], x[8], x[3], x[10]) for x in reversed(ends) if x[0] > a), None))
        expect(f"nonce_at({a})", one(reader, "SELECT * FROM userstore.nonce_at(%s)", a), (by[a][8],) if a in by else None)
        expect(f"time_at({a})", one(reader, "SELECT * FROM userstore.time_at(%s)", a), (by[a][9],) if a in by else None)
        if a >= horizon: expect(f"change_count({a})", one(reader, "SELECT userstore.change_count(%s)", a), (sum(x[1] != 0 and x[0] > a for x in rows),))
        expect(f"scan({a}, {b}, {n})", all_(reader, "SELECT * FROM userstore.scan(%s, %s, %s)", a, b, n), [(x[0], x[1] == 0, x[11] if x[1] == 0 else None, x[8], x[10], size(x)) for x in rows if a < x[0] <= b][:n])
        found = page([x for x in rows if a < x[0] <= b], n, size_limit)
        expect(f"size_of({a}, {b}, {n})", one(reader, "SELECT * FROM userstore.size_of(%s, %s, %s, %s)", a, b, n, size_limit), (found[-1][0] if found else a, sum(map(size, found))))
        u = r.choice(rows)[2]
        # A purge leaves the name of an event, and notes of earlier purges.
        if u: expect(f"changes_of({u})", all_(reader, "SELECT * FROM userstore.changes_of(%s, %s, %s, %s)", u, a, b, n), [(x[0], size(x) - (len(x[4].encode()) if x[1] == 6 else 0), x[12] or x[1] == 6 and x[6:8] == (None, None)) for x in rows if x[2] == u and x[1] not in (0, 5) and a < x[0] <= b][:n])
        expect(f"log_state({a})", one(reader, "SELECT last, nonce FROM userstore.log_state(%s)", a), (end, by[a][8] if a in by else None))
    expect("head", one(reader, "SELECT seq, nonce FROM userstore.head()"), (end, rows[-1][8]))
    expect("extent", one(reader, "SELECT first, last FROM userstore.extent(0)"), (rows[0][0], end))
    expect("used_bytes", one(reader, "SELECT userstore.used_bytes() >= %s", sum(map(size, rows))), (True,))


rows = log()
expect("places", [x[0] for x in rows], list(range(1, rows[-1][0] + 1)))
expect("events in the log", any(x[1] == 6 and x[2] for x in rows) and any(x[1] == 6 and not x[2] for x in rows), True)
compare(rows)

# The rows of a transaction before it has a place, and after.
c.execute("BEGIN")
begin = one(c, "SELECT seq FROM userstore.begin_writing(true)")[0]
c.execute("INSERT INTO userstore.users (name) VALUES ('own')")
expect("own rows", all_(c, "SELECT seq, op, new_t FROM userstore.own_rows(0, 2147483647, 10)"), [(1, 1, "own"), (2, 1, None)])
expect("no place yet", one(c, "SELECT * FROM userstore.own_place()"), None)
expect("end", one(c, "SELECT userstore.end_set(7, 'me')"), (3,))
expect("no end twice", one(c, "SELECT userstore.end_set(8, 'me')"), (None,))
expect("place", one(c, "SELECT userstore.place()"), (begin + 3,))
c.execute("INSERT INTO userstore.users (name) VALUES ('more')")
expect("own rows after the first end", all_(c, "SELECT seq, first FROM userstore.own_rows(2, 2147483647, 10)"), [(3, 1), (4, None), (5, None)])
expect("end 2", one(c, "SELECT userstore.end_set(9, NULL)"), (6,))
expect("extended", one(c, "SELECT userstore.place()"), (begin + 6,))
expect("the base stays", one(c, "SELECT * FROM userstore.own_place()"), (begin, begin + 6))
c.execute("SAVEPOINT s; INSERT INTO userstore.users (name) VALUES ('undone')")
expect("an end and an extension in one call", one(c, "SELECT userstore.end_set(10, 'me', true)"), (begin + 9,))
expect("nothing to end", one(c, "SELECT userstore.end_set(11, 'me', true)"), (begin + 9,))
c.execute("ROLLBACK TO s")
expect("an extension that was undone", one(c, "SELECT userstore.end_set(12, 'me', true)"), (begin + 6,))
c.execute("COMMIT")
expect("sets", all_(reader, "SELECT seq, first, nonce, attribute, is_foreign FROM userstore.log_rows(%s, %s, 100) WHERE op = 0", begin, begin + 6), [(begin + 3, begin + 1, 7, "me", False), (begin + 6, begin + 4, 9, None, False)])

# Only one writer; the line makes others wait.
d = connect("userstore_writer")
c.execute("BEGIN; SELECT userstore.begin_writing(true)")
refused("a second writer", d, "SELECT userstore.begin_writing(false)", errors.LockNotAvailable)
c.execute("ROLLBACK")

# A notification for each commit.
l = connect("userstore_reader")
l.execute("LISTEN userstore")
c.execute("UPDATE userstore.users SET name = 'notified' WHERE name = 'own'")
expect("notification", next(l.notifies()).payload, str(begin + 8))
l.close()

# Events: with every kind of payload, of any program, in order with the changes of the transaction.
EVENTS = 'SELECT op, "user", attribute, old_t, new_i, new_r, new_t, new_b, new_x, is_foreign FROM userstore.log_rows(%s, %s, 100)'
before = one(reader, "SELECT seq FROM userstore.head()")[0]
u = one(c, "INSERT INTO userstore.users (name) VALUES ('host') RETURNING id")[0]
c.execute(f"BEGIN; SELECT userstore.post('invited', '{{}}', about => {u}); UPDATE userstore.users SET name = 'guest' WHERE id = {u}; SELECT userstore.post('closed'); COMMIT")
c.execute("SELECT userstore.post(%s, payload_integer => -5)", ("\U0001F600" * 200,))
c.execute("SELECT userstore.post('é', payload_real => 0.5), userstore.post('é', payload_bytes => '\\x00'), userstore.post('é', payload_raw => '\\xff')")
c.execute("SELECT userstore.post('many', g::text) FROM generate_series(1, 3) g")
c.execute("BEGIN; SELECT userstore.post('undone'); ROLLBACK")
c.execute("BEGIN; SELECT userstore.post('first'); SELECT userstore.end_set(1, 'app'); SELECT userstore.post('second'); SAVEPOINT s; SELECT userstore.post('undone'); ROLLBACK TO s; SELECT userstore.end_set(2, NULL, true); SELECT userstore.post('after the place'); COMMIT")
c.execute("BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SELECT userstore.post('at once'); SELECT userstore.post('at once'); COMMIT")
NOTHING, FOREIGN, OWN = (None,) * 5, (0, None) + (None,) * 7 + (True,), lambda o: (0, None, o) + (None,) * 6 + (False,)
def event(name, about=None, **value): return (6, about, None, name, value.get("i"), value.get("r"), value.get("t"), value.get("b"), value.get("x"), False)
expect("events", all_(reader, EVENTS, before + 3, 2**62), [
    event("invited", u, t="{}"), (2, u, "name", "host", None, None, "guest", None, None, False), event("closed"), FOREIGN,
    event("\U0001F600" * 200, i=-5), FOREIGN, event("é", r=.5), event("é", b=b"\0"), event("é", x=b"\xff"), FOREIGN,
    event("many", t="1"), event("many", t="2"), event("many", t="3"), FOREIGN,
    event("first"), OWN("app"), event("second"), OWN(None), event("after the place"), FOREIGN,
    event("at once"), FOREIGN, event("at once"), FOREIGN])
others = {seq: 1 if raw else 8 for seq, raw in all_(owner, "SELECT seq, new_x IS NOT NULL FROM userstore.log WHERE op = 6 AND num_nonnulls(new_i, new_r, new_x) = 1")}
expect("check of events", all_(owner, "SELECT * FROM userstore.check(true)"), [])
for what, arguments, error in [("no name", "NULL", errors.NullValueNotAllowed), ("an empty name", "''", errors.InvalidParameterValue), ("a long name", "repeat('é', 201)", errors.InvalidParameterValue),
    *((f"a name with U+{x:04X}", f"'a' || chr({x})", errors.InvalidParameterValue) for x in (1, 9, 0x1F, 0x7F, 0x80, 0x85, 0x9F)),
    ("two payloads", "'x', '', payload_raw => ''", errors.InvalidParameterValue), ("NaN", "'x', payload_real => 'NaN'", errors.InvalidParameterValue),
    *((f"an endless {k}", f"'x', {k} => {v}", errors.ProgramLimitExceeded) for k, v in (("payload", "repeat('é', 8388609)"), ("payload_bytes", "convert_to(repeat('x', 16777217), 'UTF8')"), ("payload_raw", "convert_to(repeat('x', 16777217), 'UTF8')"))),
    ("an event about nobody", "'x', about => 1099511627776", errors.ForeignKeyViolation)]:
    refused(what, c, f"SELECT userstore.post({arguments})", error)
for name in (" ", "~", "\u00a0", "a\\b'\"", "é" * 200): expect(f"the name {name}", one(c, "SELECT userstore.post(%s)", name), ("",))
c.execute("BEGIN; SELECT userstore.post('x', repeat('x', 16777216)); ROLLBACK")
# The user of an event stays until the transaction ends.
c.execute(f"BEGIN; SELECT userstore.post('x', about => {u})")
d.execute("SET lock_timeout = '50ms'")
refused("removing the user of an event that is not committed", d, f"DELETE FROM userstore.users WHERE id = {u}", errors.LockNotAvailable)
c.execute(f"ROLLBACK; BEGIN; DELETE FROM userstore.users WHERE id = {u}")
refused("an event about a user who was removed", c, f"SELECT userstore.post('x', about => {u})", errors.ForeignKeyViolation)
d.execute("RESET lock_timeout")
# A purge removes the payload, not the name, and is noted.
refused("a note of the purge of a user who exists", c, f"SELECT userstore.note_purged({u})", errors.RestrictViolation)
refused("a note of the purge of nobody", c, "SELECT userstore.note_purged(NULL)", errors.NullValueNotAllowed)
c.execute(f"DELETE FROM userstore.users WHERE id = {u}")
c.execute("BEGIN; SELECT userstore.begin_writing(true)")
found = all_(c, "SELECT seq, bytes, is_blank FROM userstore.changes_of(%s, 0, %s, 100)", u, 2**62)
expect("rows about a user", [x[1:] for x in found], [(68, False), (64, False), (66, False), (73, False), (69, False), (64, False)])
for seq, *_ in found: expect("blank", one(c, "SELECT userstore.blank(%s, %s)", seq, u), (True,))
c.execute(f"SELECT userstore.note_purged({u}); SELECT userstore.end_set(3, NULL, true); COMMIT")
last = one(reader, "SELECT seq FROM userstore.head()")[0]
expect("the note of a purge", all_(reader, EVENTS, last - 2, last), [(5, u, None) + (None,) * 6 + (False,), OWN(None)])
expect("a purged event", all_(reader, 'SELECT "user", old_t, new_t, is_blank FROM userstore.log_rows(%s, %s, 1)', before + 3, before + 4), [(u, "invited", None, True)])
expect("purged rows", all_(c, "SELECT bytes, is_blank FROM userstore.changes_of(%s, 0, %s, 100)", u, 2**62), [(64, True)] * 6)
expect("the note itself has nothing to remove", one(c, "SELECT userstore.blank(%s, %s)", last - 1, u), (False,))
expect("check after the purge of events", all_(owner, "SELECT * FROM userstore.check(true)"), [])
# What a server has decided about sets of replicas: the note in the log, and the decisions beside it.
refused("a note without a nonce", c, "SELECT userstore.note_pushed(NULL)", errors.NullValueNotAllowed)
before = one(reader, "SELECT seq FROM userstore.head()")[0]
c.execute("BEGIN; SELECT userstore.note_pushed(%s), userstore.end_set(1, 'app'); SELECT userstore.post('x'), userstore.note_pushed(5), userstore.end_set(2, NULL, true); COMMIT".replace("%s", str(-2**63)))
c.execute("BEGIN; SET CONSTRAINTS ALL IMMEDIATE; SELECT userstore.note_pushed(6); SELECT userstore.note_pushed(7); COMMIT; BEGIN; SELECT userstore.note_pushed(8); ROLLBACK")
expect("notes of sets of replicas", all_(reader, "SELECT op, old_i, nonce, is_foreign FROM userstore.log_rows(%s, %s, 100) WHERE op <> 0 OR NOT is_foreign", before, 2**62),
    [(9, -2**63, None, False), (0, None, 1, False), (6, None, None, False), (9, 5, None, False), (0, None, 2, False), (9, 6, None, False), (9, 7, None, False)])
others |= {seq: 0 for seq, in all_(owner, "SELECT seq FROM userstore.log WHERE op = 6 AND old_t = 'x'")} | {seq: 8 for seq, in all_(owner, "SELECT seq FROM userstore.log WHERE op = 9")}
expect("check of these notes", all_(owner, "SELECT * FROM userstore.check(true)"), [])
known, forgotten = {}, {}  # by the nonce: producer, number, result, detail; by the producer: the largest number
for _ in range(40):
    producer, sets = r.randrange(3), [(r.randrange(-2**63, 2**63), r.choice(["accepted", "conflict"]), r.choice([None, "", "é \"'\\"])) for _ in range(r.choice([0, 1, 5]))]
    number = max([0, forgotten.get(producer, 0)] + [k[1] for k in known.values() if k[0] == producer])
    rows = [[number + i + 1, *s] for i, s in enumerate(sets)]
    c.execute("SELECT FROM userstore.store_decisions(%s, %s::text::jsonb)", (producer, json.dumps(rows)))
    known |= {row[1]: (producer, row[0], *row[2:]) for row in rows}
    through, is_old = r.randrange(0, number + 3), r.random() < .5
    c.execute("SELECT FROM userstore.forget_decisions(%s, %s, %s)", (producer, through, 2**62 if is_old else 0))
    gone = {k: v for k, v in known.items() if is_old and v[0] == producer and v[1] <= through}
    known = {k: v for k, v in known.items() if k not in gone}
    if gone: forgotten[producer] = max(v[1] for v in gone.values())
    expect("decisions", {row[0]: row[1:] for row in all_(reader, "SELECT nonce, producer, number, result, detail FROM userstore.decisions")}, known)
    expect("forgotten", dict(all_(reader, "SELECT * FROM userstore.producers")), forgotten)
expect("when it was decided", one(reader, "SELECT bool_and(at BETWEEN %s AND %s) FROM userstore.decisions", (time.time() - 600) * 1000, (time.time() + 600) * 1000), (True,))
nonce = next(iter(known))
refused("a second decision", c, "SELECT userstore.store_decisions(9, %s::text::jsonb)", errors.UniqueViolation, (json.dumps([[1, nonce, "accepted", None]]),))
for what, row in [("a nonce", [1, None, "accepted", None]), ("a number", [None, 1, "accepted", None]), ("a result", [1, 1, None, None])]:
    refused("a decision without " + what, c, "SELECT userstore.store_decisions(9, %s::text::jsonb)", errors.NotNullViolation, (json.dumps([row]),))

# Notes of every kind are well-formed: also expectations, which nothing writes yet.
owner.execute(f"BEGIN; INSERT INTO userstore.changes (n, op, \"user\", attribute, old_i, new_i, starts) VALUES (1, 4, {u}, 'age', 5, 5, true), (2, 4, {u}, 'city', NULL, NULL, false); SELECT userstore.place()")
expect("check of expectations", all_(owner, "SELECT * FROM userstore.check(true)"), [])
owner.execute("ROLLBACK")

# Purging.
rows = log()
there = {x for x, in all_(owner, "SELECT id FROM userstore.users")}
victim = next(x for x in rows if x[2] and (x[6] or x[7]) and x[2] not in there)
refused("purging a user who exists", c, "SELECT userstore.blank(%s, %s)", errors.RestrictViolation, next((x[0], x[2]) for x in rows if x[1] and x[2] in there))
expect("blank", one(c, "SELECT userstore.blank(%s, %s)", victim[0], victim[2]), (True,))
expect("not of another user", one(c, "SELECT userstore.blank(%s, %s)", victim[0], 2**40), (False,))
expect("blanked", all_(reader, "SELECT new_t, new_b, is_blank FROM userstore.log_rows(%s, %s, 1)", victim[0] - 1, victim[0]), [(None, None, True)])
expect("check after a purge", all_(reader, "SELECT * FROM userstore.check(true)"), [])

# Retention.
rows = log()
ends = [x for x in rows if x[1] == 0]
save = "SELECT userstore.save_extent(%s, %s, 5, 6, 7, 8, 9)"
refused("a horizon within a set", c, save, errors.RestrictViolation, (ends[3][0] - 1, 0))
refused("a horizon with another nonce", c, save, errors.RestrictViolation, (ends[3][0], 123))
expect("nothing before the horizon", one(c, "SELECT userstore.forget(%s, 1000)", rows[-1][0]), (0,))
first = 1
for i in sorted(r.sample(range(len(ends)), 8)) + [len(ends) - 1]:
    c.execute(save, (ends[i][0], ends[i][8]))
    expect("saved", one(reader, "SELECT horizon, horizon_nonce, measured, bytes, searched, sized, size FROM userstore.extent(0)"), (ends[i][0], ends[i][8], 5, 6, 7, 8, 9))
    while first <= min(ends[i][0], rows[-1][0] - 1):
        n = r.choice([1, 2, 10, 1000])
        wanted = min(n, min(ends[i][0], rows[-1][0] - 1) - first + 1)
        expect(f"forget {n} from {first}", one(c, "SELECT userstore.forget(%s, %s)", 2**62, n), (wanted,))
        first += wanted
        left = log()
        expect("rest", left, [x for x in rows if x[0] >= first])
        expect("check while compacting", all_(reader, "SELECT * FROM userstore.check(true)"), [])
    compare(log())
    refused("a horizon that moves back", c, save, errors.RestrictViolation, (ends[0][0], ends[0][8])) if i else None
expect("the newest end stays", [x[:2] for x in log()], [rows[-1][:2]])
c.execute("INSERT INTO userstore.users (name) VALUES ('goes on')")
expect("goes on", one(reader, "SELECT seq FROM userstore.head()"), (rows[-1][0] + 3,))

# Rights.
DENIED = errors.InsufficientPrivilege
for sql in ["DELETE FROM userstore.changes", "INSERT INTO userstore.commits VALUES (9, 8, 1, '5', now(), now())", "UPDATE userstore.meta SET epoch = 1",
    "SELECT setval('userstore.placed', 1)", "SELECT userstore.finish('5', 1, '', false, true)", "SELECT userstore.has_place()", "SELECT userstore.refuse_attribute(NULL)",
    "SELECT userstore.append_note(6::smallint, NULL, 'x', 1, NULL, NULL, NULL, NULL)",
    "SELECT userstore.renew()", "SELECT userstore.is_last(5, '5')", "ALTER TABLE userstore.users DISABLE TRIGGER ALL", "SET session_replication_role = replica",
    "DELETE FROM userstore.decisions", "UPDATE userstore.producers SET forgotten = 1", "CREATE TABLE userstore.x (i int)", "TRUNCATE userstore.users CASCADE", "BEGIN; LOCK TABLE userstore.line IN EXCLUSIVE MODE", "BEGIN; LOCK TABLE userstore.writers IN ROW SHARE MODE",
    "BEGIN; LOCK TABLE userstore.ids IN SHARE MODE", "SELECT setval('userstore.users_id_seq', 1)", "INSERT INTO userstore.migrations VALUES (2, '', '')", "DROP FUNCTION userstore.place()",
    "CREATE TEMP TABLE t (id bigint, name text, hair_color text); CREATE TRIGGER t AFTER INSERT ON t REFERENCING NEW TABLE AS new_rows FOR EACH ROW EXECUTE FUNCTION userstore.users_added()"]:
    refused("a writer: " + sql, c, sql, DENIED)
    refused("a reader: " + sql, reader, sql, DENIED)
for sql in ["INSERT INTO userstore.users (name) VALUES ('x')", "SELECT userstore.begin_writing(true)", "SELECT userstore.place()", "SELECT userstore.end_set(1, 'x', true)", "SELECT userstore.forget(1, 1)", "UPDATE userstore.consumers SET seq = 1", "SELECT userstore.post('x')", "SELECT userstore.note_purged(1)",
    "SELECT userstore.serve_replicas()", "SELECT userstore.note_pushed(1)", "SELECT userstore.store_decisions(1, '[]')", "SELECT userstore.forget_decisions(1, 1, 1)",
    "SELECT FROM userstore.users FOR KEY SHARE", "BEGIN; LOCK TABLE userstore.users IN ROW SHARE MODE", "SELECT nextval('userstore.users_id_seq')"]:
    refused("a reader: " + sql, reader, sql, DENIED)
refused("TRUNCATE by the owner", owner, "TRUNCATE userstore.users CASCADE", errors.RestrictViolation)
refused("TRUNCATE of the log", owner, "TRUNCATE userstore.changes", errors.RestrictViolation)
refused("another id", c, "UPDATE userstore.users SET id = id + 1000000", errors.RestrictViolation)
refused("another key", c, "UPDATE userstore.attributes SET name = 'b'", errors.RestrictViolation)
refused("an id beyond the limit", c, "INSERT INTO userstore.users (id, name) VALUES (4611686018427387905, 'x')", errors.CheckViolation)
# The values of an attribute, also of the second row of a statement, and in sessions that apply changes of another server.
for what, bad in [("NaN", "'nan', NULL, 'NaN'"), ("two values", "'two', 1, 1"), ("no value", "'none', NULL, NULL"), ("a reserved name", "'hair_color', 1, NULL")]:
    insert = f"INSERT INTO userstore.attributes (user_id, name, integer, real) VALUES ({one(owner, 'SELECT max(id) FROM userstore.users')[0]}, "
    refused(what, c, f"{insert} {bad})", errors.CheckViolation)
    refused(what + " in the second row", c, f"{insert} 'fine', 1, NULL), {insert.split('VALUES')[1]} {bad})", errors.CheckViolation)
    refused(what + " of another server", owner, f"BEGIN; SET LOCAL session_replication_role = replica; {insert} {bad})", errors.CheckViolation)
for what, change in [("to NaN", "integer = NULL, real = 'NaN'"), ("to two values", "integer = 1, text = ''"), ("to no value", "integer = NULL, real = NULL, text = NULL, bytes = NULL, raw = NULL")]:
    refused(what, c, f"INSERT INTO userstore.attributes (user_id, name, integer) SELECT max(id), 'to', 1 FROM userstore.users; UPDATE userstore.attributes SET {change} WHERE name = 'to'", errors.CheckViolation)
# Temporary tables with the names of the log receive nothing.
e = connect("userstore_writer")
e.execute("CREATE TEMP TABLE changes (LIKE userstore.changes); CREATE TEMP TABLE commits (LIKE userstore.commits); CREATE TEMP TABLE meta (LIKE userstore.meta); CREATE TEMP TABLE users (LIKE userstore.users); GRANT ALL ON changes, commits, meta, users TO PUBLIC; SET search_path = pg_temp, userstore, pg_catalog")
before = one(reader, "SELECT seq FROM userstore.head()")[0]
e.execute("BEGIN; SELECT userstore.begin_writing(true); INSERT INTO userstore.users (name) VALUES ('temp'); SELECT userstore.end_set(1, ''); SELECT userstore.place(); COMMIT; INSERT INTO userstore.users (name) VALUES ('temp'); SELECT userstore.post('temp', about => (SELECT max(id) FROM userstore.users))")
expect("temporary tables", (one(e, "SELECT (SELECT count(*) FROM pg_temp.changes) + (SELECT count(*) FROM pg_temp.commits)")[0], one(e, "SELECT seq FROM userstore.head()")[0], one(reader, "SELECT seq FROM userstore.head()")[0]), (0, before + 7, before + 7))

# Functions and operators of a schema that is first in the path are not called, nor its types used, wherever a function of the
# owner was entered: here, each of them fails.
owner.execute('''DROP SCHEMA IF EXISTS hostile CASCADE; CREATE SCHEMA hostile;
    CREATE FUNCTION hostile.fail() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called with the rights of %', current_user; END $$''')
for name, arguments, result in [("now", "", "timestamptz"), ("clock_timestamp", "", "timestamptz"), ("pg_current_xact_id", "", "xid8"),
    ("pg_current_xact_id_if_assigned", "", "xid8"), ("setval", "regclass, bigint", "bigint"), ("setval", "regclass, bigint, boolean", "bigint"),
    ("nextval", "regclass", "bigint"), ("pg_notify", "text, text", "void"), ("current_setting", "text", "text"), ("octet_length", "text", "int"), ("octet_length", "bytea", "int"), ("length", "text", "int"),
    ("gen_random_uuid", "", "uuid"), ("uuid_hash_extended", "uuid, bigint", "bigint"), ("count", "bigint", "bigint"), ("max", "bigint", "bigint")]:
    owner.execute(f"CREATE FUNCTION hostile.{name}({arguments}) RETURNS {result} LANGUAGE sql AS 'SELECT hostile.fail(); SELECT NULL::{result}'" if result != "void"
        else f"CREATE FUNCTION hostile.{name}({arguments}) RETURNS void LANGUAGE sql AS 'SELECT hostile.fail()'")
for operator, left, right, result in [(o, *t, "boolean") for o in ("=", "<>", "<", ">", ">=", "<=") for t in (("xid8", "xid8"), ("timestamptz", "timestamptz"), ("bigint", "bigint"),
    ("int", "int"), ("bigint", "int"), ("smallint", "int"), ("smallint", "smallint"), ("text", "text"), ("boolean", "boolean"))] \
    + [("+", "int", "int", "int"), ("+", "bigint", "int", "bigint"), ("-", "bigint", "int", "bigint"), ("-", "bigint", "bigint", "bigint"), ("~", "text", "text", "boolean"), ("*<>", "record", "record", "boolean")]:
    name = f"f{passed}{len(left + right)}{ord(operator[0])}{ord(operator[-1])}_{left}_{right}".replace(" ", "")
    body = "BEGIN PERFORM hostile.fail(); RETURN NULL; END"
    owner.execute(f"CREATE FUNCTION hostile.{name}({left}, {right}) RETURNS {result} LANGUAGE plpgsql AS $$ {body} $$; CREATE OPERATOR hostile.{operator} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = hostile.{name})")
owner.execute("CREATE DOMAIN hostile.bigint AS pg_catalog.int8 CHECK (false); CREATE DOMAIN hostile.int4 AS pg_catalog.int4 CHECK (false); GRANT USAGE ON SCHEMA hostile TO PUBLIC")
e.execute("SET search_path = hostile, pg_temp, userstore, pg_catalog")
refused("what a hostile operator does", e, "SELECT 1 = 1", errors.RaiseException)
before = one(reader, "SELECT seq FROM userstore.head()")[0]
ID = "OPERATOR(pg_catalog.=)"
for level in "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE":
    e.execute(f"BEGIN ISOLATION LEVEL {level}; SELECT FROM userstore.begin_writing(true); INSERT INTO userstore.users (name) VALUES ('hostile'), ('hostile')")
    u = one(e, "INSERT INTO userstore.users (name) VALUES ('hostile') RETURNING id")[0]
    e.execute(f"INSERT INTO userstore.attributes (user_id, name, integer) VALUES ({u}, 'age', 1), ({u}, 'x', 1); INSERT INTO userstore.attributes (user_id, name, integer) VALUES ({u}, 'y', 1)")
    e.execute("SELECT userstore.end_set(1, 'me'); SAVEPOINT s")
    e.execute(f"UPDATE userstore.attributes SET integer = 2 WHERE user_id {ID} {u}; UPDATE userstore.users SET name = 'x', hair_color = '#000000' WHERE id {ID} {u}")
    e.execute("SELECT userstore.next_base(); SELECT userstore.place(); ROLLBACK TO s")
    e.execute(f"DELETE FROM userstore.attributes WHERE user_id {ID} {u} AND name {ID} 'age'; DELETE FROM userstore.users WHERE id {ID} {u}")
    e.execute(f"SELECT userstore.post('hostile', about => (SELECT id FROM userstore.users WHERE id {ID} (SELECT pg_catalog.max(id) FROM userstore.users))); SELECT userstore.note_purged({u})")
    e.execute(f"SELECT userstore.note_pushed({u}); SELECT userstore.store_decisions({u}, '[[1, {u}, \"accepted\", null]]'); SELECT userstore.forget_decisions({u}, 1, 9223372036854775807)")
    e.execute("SELECT userstore.end_set(2, 'me', true); COMMIT")
    e.execute(f"INSERT INTO userstore.users (id, name) VALUES ({u + 10}, 'foreign')")
e.execute("RESET search_path; DROP TABLE changes, commits, meta, users")
expect("a hostile path", (one(reader, "SELECT seq FROM userstore.head()")[0] - before, all_(owner, "SELECT * FROM userstore.check(true)")), (3 * (6 + 3 + 1 + 5 + 2 + 1 + 1 + 3), []))
owner.execute("DROP SCHEMA hostile CASCADE")

# Ids are not given again (that the first one is not either, LayoutTests checks in a new database).
top = one(c, "INSERT INTO userstore.users (name) VALUES ('x') RETURNING id")[0]
for distance in (1, 100, 2_000_000):
    top += distance
    c.execute("INSERT INTO userstore.users (id, name) VALUES (%s, 'chosen')", (top,))
    c.execute("DELETE FROM userstore.users WHERE id = %s", (top,))
    got = one(c, "INSERT INTO userstore.users (name) VALUES ('x') RETURNING id")[0]
    expect("the next id", got, top + 1)
    top = got

# What a writer does to others.
refused("a set without a nonce", c, "SELECT userstore.end_set(NULL, 'x')", errors.NullValueNotAllowed)
refused("an endless origin", c, "SELECT userstore.end_set(1, repeat('x', 10001))", errors.ProgramLimitExceeded)
# Ids are left, whatever id is chosen.
owner.execute("BEGIN; SAVEPOINT s; INSERT INTO userstore.users (id, name) VALUES (4611686018427387904, 'last')")
expect("the id after the limit", one(owner, "INSERT INTO userstore.users (name) VALUES ('x') RETURNING id"), (4611686018427387905,))
refused("another id beyond the limit", owner, "INSERT INTO userstore.users (id, name) VALUES (4611686018427387907, 'x')", errors.CheckViolation)
owner.execute("SELECT setval('userstore.users_id_seq', %s)", (top,))
# A transaction that has chosen an id does not hold up others that choose one.
c.execute("BEGIN; INSERT INTO userstore.users (id, name) VALUES (%d, 'chosen')" % (top + 1))
d.execute("SET lock_timeout = '5s'; INSERT INTO userstore.users (id, name) VALUES (%d, 'chosen')" % (top + 2))
c.execute("ROLLBACK; SET standard_conforming_strings = off; SET quote_all_identifiers = on; SET backslash_quote = on")
# Settings of the session change nothing in the functions of the owner.
expect("a quoted name", one(c, "SELECT userstore.create_index(%s)", "a\\'; DROP TABLE userstore.consumers; --"), (True,))
expect("the index of a quoted name", all_(reader, "SELECT * FROM userstore.indexes()"), [("a\\'; DROP TABLE userstore.consumers; --",)])
expect("a quoted name", one(c, "SELECT userstore.drop_index(%s)", "a\\'; DROP TABLE userstore.consumers; --"), (True,))
c.execute("RESET ALL; SET ROLE userstore_writer")
# A large extension of a place that is rolled back: a writer with an old snapshot does not look for its own place for minutes.
def old_snapshot():
    e = connect("userstore_writer")
    e.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM userstore.users; INSERT INTO userstore.users (name) VALUES ('old')")
    return e
for i, rows_before in enumerate(("", "INSERT INTO userstore.users (name) VALUES ('first');")):
    old, older = old_snapshot(), old_snapshot()
    c.execute(f"BEGIN; {rows_before} SELECT userstore.place(); SAVEPOINT s; INSERT INTO userstore.users (name) VALUES ('x'); SELECT userstore.place(); INSERT INTO userstore.users (name) SELECT 'x' FROM generate_series(1, 2000); SELECT userstore.place(); ROLLBACK TO s; COMMIT")
    for e in old, older: refused("the place of an old snapshot", e, "COMMIT", errors.SerializationFailure)
    before = one(reader, "SELECT seq FROM userstore.head()")[0]
    for e in old, older, old_snapshot(), old_snapshot():
        if e.info.transaction_status: e.execute("COMMIT")
        else: e.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO userstore.users (name) VALUES ('again'); COMMIT")
    expect("places after that", (one(reader, "SELECT seq FROM userstore.head()")[0], all_(owner, "SELECT * FROM userstore.check(true)")), (before + 12, []))
# After a purge, the statistics have no values of the log.
owner.execute("ANALYZE userstore.changes")
expect("statistics", all_(reader, "SELECT attname FROM pg_stats WHERE schemaname = 'userstore' AND tablename = 'changes' AND attname ~ '^(old|new)_'"), [])

# The log, row by row: an attribute is removed with its user only after the user was removed, in the same transaction.
def told(sql, sql_meanwhile="SELECT 1", meanwhile=None):
    """The rows that the statements log: kind, attribute; those of the other connection too, which commits first."""
    before = one(reader, "SELECT seq FROM userstore.head()")[0]
    owner.execute("BEGIN")
    owner.execute(sql)
    if meanwhile: meanwhile.execute(sql_meanwhile)
    owner.execute("COMMIT")
    return all_(reader, "SELECT op, attribute FROM userstore.log_rows(%s, %s, 100) WHERE op <> 0", before, 2**62)
def victim(): return one(owner, """WITH i AS (INSERT INTO userstore.users (name) VALUES ('victim') RETURNING id)
    INSERT INTO userstore.attributes (user_id, name, integer) SELECT id, 'age', 1 FROM i RETURNING user_id""")[0]
ALONE, ADDED, REMOVED, WITH_USER = [(2, "age")], [(1, "name"), (1, "hair_color")], [(3, "name"), (3, "hair_color")], [(3, "age")]
u = victim()
expect("a user is removed", told(f"DELETE FROM userstore.users WHERE id = {u}"), REMOVED + WITH_USER)
u = victim()
expect("an attribute is removed", told(f"DELETE FROM userstore.attributes WHERE user_id = {u}"), ALONE)
u = victim()
expect("an attribute and its user in one statement", told(f"WITH a AS (DELETE FROM userstore.attributes WHERE user_id = {u} RETURNING user_id) DELETE FROM userstore.users WHERE id IN (SELECT user_id FROM a)"), ALONE + REMOVED)
u = victim()
expect("a user and its attribute in one statement", told(f"WITH u AS (DELETE FROM userstore.users WHERE id = {u} RETURNING id) DELETE FROM userstore.attributes WHERE user_id IN (SELECT id FROM u)"), REMOVED + WITH_USER)
u = victim()
expect("removed and added in one statement", told(f"WITH u AS (DELETE FROM userstore.users WHERE id = {u} RETURNING id) INSERT INTO userstore.users (id, name) SELECT id, 'again' FROM u"), REMOVED + ADDED + ALONE)
u = victim()
expect("removed, added, and both again in one statement", told(f"DELETE FROM userstore.users WHERE id = {u}; INSERT INTO userstore.users (id, name) VALUES ({u}, 'again'); INSERT INTO userstore.attributes (user_id, name, integer) VALUES ({u}, 'age', 1); WITH a AS (DELETE FROM userstore.attributes WHERE user_id = {u} RETURNING user_id) DELETE FROM userstore.users WHERE id IN (SELECT user_id FROM a)"), REMOVED + WITH_USER + ADDED + ALONE + ALONE + REMOVED)
u = victim()
expect("two columns in one statement, with sets that end at once", told(f"SET CONSTRAINTS ALL IMMEDIATE; UPDATE userstore.users SET name = 'x', hair_color = '#000000' WHERE id = {u}"), [(2, "name"), (2, "hair_color")])
expect("the same with a place", told(f"SET CONSTRAINTS ALL IMMEDIATE; UPDATE userstore.users SET name = 'y', hair_color = NULL WHERE id = {u}; UPDATE userstore.users SET hair_color = '#111111' WHERE id = {u}"), [(2, "name"), (2, "hair_color"), (2, "hair_color")])
u = victim()
expect("an attribute loses its user", told(f"SET LOCAL session_replication_role = replica; DELETE FROM userstore.users WHERE id = {u}"), REMOVED)
expect("it is removed while the user is added again", told(f"DELETE FROM userstore.attributes WHERE user_id = {u}", f"INSERT INTO userstore.users (id, name) VALUES ({u}, 'again')", c), ADDED + ALONE)
# The work for a row does not grow with the rows of the transaction.
owner.execute("BEGIN; WITH i AS (INSERT INTO userstore.users (name) SELECT 'many' FROM generate_series(1, 1000) RETURNING id) INSERT INTO userstore.attributes (user_id, name, integer) SELECT id, 'age', 1 FROM i; DELETE FROM userstore.users WHERE name = 'many'")
read = one(owner, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = 'userstore.changes'::regclass")[0]
owner.execute("COMMIT")
expect(f"rows of the log that were read for 6,000 rows: {read}", read < 20000, True)

# A function that changes a row of the statement that calls it: its change would be logged before the statement's.
u, u2 = victim(), victim()
c.execute("CREATE FUNCTION pg_temp.again(i bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN IF i = %d THEN UPDATE userstore.users SET name = 'v3' WHERE id = %d; UPDATE userstore.attributes SET integer = 3 WHERE user_id = %d; END IF; RETURN '2'; END $$" % (u2, u, u))
for sql in ["UPDATE userstore.users SET name = pg_temp.again(id) WHERE id IN (%d, %d)", "UPDATE userstore.attributes SET integer = pg_temp.again(user_id)::int WHERE user_id IN (%d, %d)"]:
    refused("a change within the statement", c, sql % (u, u2), errors.TriggeredDataChangeViolation)
# Also if the function's change is the only row of the log.
c.execute("CREATE FUNCTION pg_temp.once(i bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN IF i = %d THEN UPDATE userstore.users SET name = 'v4' WHERE id = %d; END IF; RETURN 'v5'; END $$" % (u2, u))
refused("one change within the statement", c, "UPDATE userstore.users SET name = pg_temp.once(id) WHERE id IN (%d, %d)" % (u, u2), errors.TriggeredDataChangeViolation)
c.execute("CREATE FUNCTION pg_temp.age_once(i bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN IF i = %d THEN UPDATE userstore.attributes SET integer = 4 WHERE user_id = %d; END IF; RETURN 5; END $$" % (u2, u))
refused("one change of an attribute within the statement", c, "UPDATE userstore.attributes SET integer = pg_temp.age_once(user_id) WHERE user_id IN (%d, %d)" % (u, u2), errors.TriggeredDataChangeViolation)
expect("changes of other rows", c.execute("UPDATE userstore.users SET name = pg_temp.again(id) WHERE id = %d" % u2).rowcount, 1)

# Indexes. A writer creates and drops them; the names cannot be used to run anything else.
u = victim()
NAMES = ["age", "name", "hair_color", "a'); DROP TABLE userstore.consumers; --", 'é"\\', "x" * 200]
for name in NAMES:
    expect(f"create the index of {name[:20]}", (one(c, "SELECT userstore.create_index(%s)", name), one(c, "SELECT userstore.create_index(%s)", name)), ((True,), (False,)))
expect("indexes", [x for x, in all_(reader, "SELECT * FROM userstore.indexes()")], sorted(NAMES))
expect("with indexes", (all_(owner, "SELECT * FROM userstore.check(true)"), one(owner, "SELECT count(*) FROM pg_indexes WHERE schemaname = 'userstore' AND indexname LIKE 'attribute\\_%%'")), ([], (14,)))
c.execute("BEGIN; SET LOCAL enable_seqscan = off")
for sql in ["SELECT FROM userstore.attributes WHERE name = 'age' AND integer = 5", "SELECT FROM userstore.users WHERE name = 'x'"]:
    expect("the plan uses the index", any("attribute_" in line for line, in all_(c, "EXPLAIN " + sql)), True)
c.execute("ROLLBACK")
for name in NAMES: expect(f"drop the index of {name[:20]}", (one(c, "SELECT userstore.drop_index(%s)", name), one(c, "SELECT userstore.drop_index(%s)", name)), ((True,), (False,)))
expect("no indexes", all_(reader, "SELECT * FROM userstore.indexes()"), [])
for name in (None, "", "id", "x" * 201): refused(f"an index of {name}", c, "SELECT userstore.create_index(%s)", errors.InvalidParameterValue, (name,))
c.execute("BEGIN; SELECT userstore.create_index('a' || g) FROM generate_series(1, 64) g")
refused("65 indexes", c, "SELECT userstore.create_index('b')", errors.ConfigurationLimitExceeded)
for sql in ["SELECT userstore.create_index('age')", "SELECT userstore.drop_index('age')"]: refused("a reader: " + sql, reader, sql, DENIED)

# What check() notices. Each edit is rolled back. The codes are those of the library's findings; part of the message.
owner.execute("CREATE ROLE stranger" if not one(owner, "SELECT 1 FROM pg_roles WHERE rolname = 'stranger'") else "SELECT 1")
owner.execute("CREATE OR REPLACE FUNCTION public.other() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
expect("check", all_(owner, "SELECT * FROM userstore.check(true)"), [])
u = victim()
LAST = "(SELECT max(last) FROM userstore.commits)"
XACT = "xact = (SELECT xact FROM userstore.commits ORDER BY last DESC LIMIT 1)"
PAST = "SET LOCAL session_replication_role = replica; ALTER TABLE userstore.users DISABLE TRIGGER ALL; ALTER TABLE userstore.attributes DISABLE TRIGGER ALL; "
AGAIN = "; ALTER TABLE userstore.users ENABLE TRIGGER ALL; ALTER TABLE userstore.attributes ENABLE TRIGGER ALL"
for code, said, sql in [
    ("schema", "column hair_color of users is missing", "ALTER TABLE userstore.users RENAME hair_color TO color"),
    ("schema", "column name of users was changed", "ALTER TABLE userstore.users ALTER name DROP NOT NULL"),
    ("schema", "column name of users was changed", 'ALTER TABLE userstore.users ALTER name TYPE text COLLATE "POSIX"'),
    ("schema", "table consumers is missing", "ALTER TABLE userstore.consumers RENAME TO others"),
    ("schema", "table users was changed", "CREATE TABLE public.child () INHERITS (userstore.users)"),
    ("schema", "table changes was changed", "ALTER TABLE userstore.changes ENABLE ROW LEVEL SECURITY"),
    ("schema", "table changes was changed", "ALTER TABLE userstore.changes SET UNLOGGED"),
    ("schema", "constraint attributes_user_id_fkey of attributes is missing", "ALTER TABLE userstore.attributes DROP CONSTRAINT attributes_user_id_fkey"),
    ("schema", "constraint commits_pkey of commits is missing", "ALTER TABLE userstore.commits DROP CONSTRAINT commits_pkey"),
    ("schema", "constraint attributes_user_id_fkey of attributes was changed", "ALTER TABLE userstore.attributes DROP CONSTRAINT attributes_user_id_fkey, ADD FOREIGN KEY (user_id) REFERENCES userstore.users"),
    ("schema", "index changes_users is missing", "DROP INDEX userstore.changes_users"),
    ("schema", "function place() was changed", "ALTER FUNCTION userstore.place() SET search_path = userstore, pg_catalog"),
    ("schema", "function users_added() was changed", "ALTER FUNCTION userstore.users_added() RESET search_path"),
    ("schema", "function users_added() was changed", "ALTER FUNCTION userstore.users_added() SECURITY INVOKER"),
    ("schema", "function users_removed() was changed", "CREATE OR REPLACE FUNCTION userstore.users_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, userstore, pg_temp AS 'BEGIN RETURN NULL; END'"),
    ("schema", "function blank", "DROP FUNCTION userstore.blank"),
    ("schema", "list of the parts", "DELETE FROM userstore.layout"),
    ("trigger", "is missing", 'DROP TRIGGER "A_userstore_removed" ON userstore.users'),
    ("trigger", "is disabled", 'ALTER TABLE userstore.attributes DISABLE TRIGGER "A_userstore_added"'),
    ("trigger", "another server", 'ALTER TABLE userstore.changes ENABLE TRIGGER "A_userstore_commit"'),
    ("trigger", "ordinary sessions", 'ALTER TABLE userstore.users ENABLE REPLICA TRIGGER "A_userstore_updated"'),
    ("trigger", "was replaced", 'DROP TRIGGER "A_userstore_updated" ON userstore.users; CREATE TRIGGER "A_userstore_updated" AFTER UPDATE ON userstore.users FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION userstore.users_updated(); ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER "A_userstore_updated"'),
    ("trigger", "was replaced", 'DROP TRIGGER "A_userstore_removed" ON userstore.users; CREATE TRIGGER "A_userstore_removed" AFTER DELETE ON userstore.users FOR EACH ROW EXECUTE FUNCTION public.other(); ALTER TABLE userstore.users ENABLE ALWAYS TRIGGER "A_userstore_removed"'),
    ("trigger", "was replaced", 'DROP TRIGGER "A_userstore_commit" ON userstore.changes; CREATE CONSTRAINT TRIGGER "A_userstore_commit" AFTER INSERT ON userstore.changes FOR EACH ROW WHEN (NEW.starts) EXECUTE FUNCTION userstore.commit_log(); ALTER TABLE userstore.changes ENABLE ALWAYS TRIGGER "A_userstore_commit"'),
    ("trigger", "warning: the trigger other", "CREATE TRIGGER other AFTER UPDATE ON userstore.users FOR EACH ROW EXECUTE FUNCTION public.other()"),
    ("trigger", "foreign key", "ALTER TABLE userstore.users DISABLE TRIGGER ALL"),
    ("trigger", "rule", "CREATE RULE r AS ON INSERT TO userstore.users DO INSTEAD NOTHING"),
    ("permissions", "changes belongs to stranger", "ALTER TABLE userstore.changes OWNER TO stranger"),
    ("permissions", "place() belongs to stranger", "ALTER FUNCTION userstore.place() OWNER TO stranger"),
    ("permissions", "everybody may execute finish", "GRANT EXECUTE ON FUNCTION userstore.finish TO PUBLIC"),
    ("permissions", "stranger may execute renew", "GRANT EXECUTE ON FUNCTION userstore.renew TO stranger"),
    ("permissions", "stranger may execute append_note", "GRANT EXECUTE ON FUNCTION userstore.append_note TO stranger"),
    ("permissions", "stranger may INSERT on changes", "GRANT INSERT ON userstore.changes TO stranger"),
    ("permissions", "stranger may UPDATE on changes", "GRANT UPDATE (op) ON userstore.changes TO stranger"),
    ("permissions", "everybody may SELECT on users", "GRANT SELECT ON userstore.users TO PUBLIC"),
    ("permissions", "everybody may UPDATE on placed", "GRANT UPDATE ON SEQUENCE userstore.placed TO PUBLIC"),
    ("permissions", "stranger may UPDATE on users_id_seq", "GRANT UPDATE ON SEQUENCE userstore.users_id_seq TO stranger"),
    ("permissions", "stranger may TRIGGER on users", "GRANT TRIGGER ON userstore.users TO stranger"),
    ("permissions", "stranger may create objects", "GRANT CREATE ON SCHEMA userstore TO stranger"),
    ("log", "no meta row", "DELETE FROM userstore.meta"),
    ("log", "has a gap", f"UPDATE userstore.commits SET last = last + 100, base = base + 100 WHERE last = {LAST}"),
    ("log", "oldest commit begins after", "UPDATE userstore.meta SET horizon = 0"),
    ("log", "begins after 1000000000 and ends at", "UPDATE userstore.meta SET horizon = 1000000000"),
    ("log", "no set ends with that nonce", f"UPDATE userstore.meta SET horizon = {LAST}"),
    ("log", "has 2 places", "INSERT INTO userstore.commits SELECT last + 1, last, 1, xact, started, at FROM userstore.commits ORDER BY last DESC LIMIT 1"),
    ("log", "rows of transaction", f"DELETE FROM userstore.commits WHERE last = {LAST}"),
    ("log", "are not numbered", f"DELETE FROM userstore.changes WHERE n = 2 AND {XACT}"),
    ("log", "are not numbered", f"DELETE FROM userstore.changes WHERE {XACT}"),
    ("log", "was not written by the triggers", f"UPDATE userstore.changes SET op = 7 WHERE n = 2 AND {XACT}"),
    ("log", "was not written by the triggers", f'UPDATE userstore.changes SET "user" = NULL WHERE n = 2 AND {XACT}'),
    ("log", "was not written by the triggers", f"UPDATE userstore.changes SET nonce = NULL WHERE op = 0 AND {XACT}"),
    *(("log", "was not written by the triggers", f"SELECT userstore.post('x', 'y'); UPDATE userstore.changes SET {change} WHERE old_t = 'x' AND op = 6 AND xact = pg_current_xact_id(); SELECT userstore.place()") for change in (
        "attribute = 'age'", "old_t = NULL", "old_i = 1", "new_i = 1", "nonce = 1", "first = 1", "op = 7", 'op = 5, "user" = 1', 'op = 4, "user" = 1', 'op = 4, "user" = 1, attribute = old_t', "op = 5, old_t = NULL, new_t = NULL",
        "op = 4, attribute = old_t, new_t = old_t", 'op = 2, "user" = 1')),
    ("log", "and the one before it ends at", f"INSERT INTO userstore.changes (n, op, starts, nonce, first, nth, is_foreign, xact, started) SELECT n + 1, 0, false, 1, n, 2, true, xact, started FROM userstore.changes WHERE op = 0 AND {XACT}"),
    ("log", "the name of user %d differs from its last value", PAST + "UPDATE userstore.users SET name = 'past' WHERE id = %d" + AGAIN),
    ("log", "the age of user %d differs from its last value", PAST + "DELETE FROM userstore.attributes WHERE user_id = %d" + AGAIN),
    ("log", "the age of user %d has another value before revision", PAST + "UPDATE userstore.attributes SET integer = 9 WHERE user_id = %d" + AGAIN + "; SET LOCAL session_replication_role = origin; UPDATE userstore.attributes SET integer = 1 WHERE user_id = %d; SET CONSTRAINTS ALL IMMEDIATE"),
    ("value", "the next user would receive the id", "SELECT setval('userstore.users_id_seq', (SELECT max(id) - 1 FROM userstore.users))"),
    ("value", "no id is left", "SELECT setval('userstore.users_id_seq', 9223372036854775807)"),
    ("value", "is not a color", "UPDATE userstore.users SET hair_color = 'red' WHERE id = %d"),
    ("value", "reserved name", PAST + "INSERT INTO userstore.attributes (user_id, name, integer) VALUES (%d, 'id', 1)" + AGAIN),
    ("value", "is not one value", PAST + "INSERT INTO userstore.attributes (user_id, name) VALUES (%d, 'none')" + AGAIN),
    ("value", "is not one value", PAST + "INSERT INTO userstore.attributes (user_id, name, real) VALUES (%d, 'nan', 'NaN')" + AGAIN),
    ("value", "is not valid UTF-8", "INSERT INTO userstore.attributes (user_id, name, raw) VALUES (%d, 'raw', '\\xeda080')"),
    ("orphan", "belongs to user %d", "SET LOCAL session_replication_role = replica; DELETE FROM userstore.users WHERE id = %d"),
]:
    said, sql = said.replace("%d", str(u)), sql.replace("%d", str(u))
    given = one(owner, "SELECT last_value FROM userstore.users_id_seq")[0]
    owner.execute("BEGIN")
    if "no set ends" in said: owner.execute("UPDATE userstore.meta SET horizon_nonce = 1")
    owner.execute(sql)
    found = all_(owner, "SELECT code, severity || ': ' || message FROM userstore.check(true)")
    if not any(x == code and said in y for x, y in found): sys.exit(f"FAILED: check() says {found}, not {code}: {said}, after: {sql}")
    passed += 1
    owner.execute("ROLLBACK")
    owner.execute("SELECT setval('userstore.users_id_seq', %s)", (given,))
# Valid text with a NUL is no finding. A finding names its user; of many, twenty are listed.
owner.execute("BEGIN; INSERT INTO userstore.attributes (user_id, name, raw) VALUES (%d, 'raw', convert_to('aé€😀', 'UTF8') || '\\x00')" % u)
expect("check of a NUL", all_(owner, "SELECT * FROM userstore.check(true)"), [])
owner.execute(f"UPDATE userstore.users SET hair_color = 'red' WHERE id = {u}; SELECT userstore.place()")
expect("the user of a finding", all_(owner, "SELECT code, severity, \"user\", attribute FROM userstore.check(true)"), [("value", "problem", u, "hair_color")])
owner.execute("INSERT INTO userstore.users (name, hair_color) SELECT 'many', '' FROM generate_series(1, 30); SELECT userstore.place()")
found = all_(owner, "SELECT * FROM userstore.check(true)")
expect("twenty of 31", (len(found), found[-1]), (21, ("value", "and 11 more of this kind", "problem", None, None)))
owner.execute("ROLLBACK")
c.execute("BEGIN; SELECT pg_current_xact_id()")
expect("a reader", [x[0] for x in all_(owner, "SELECT code FROM userstore.findings(true, '0')")], ["reader"])
c.execute("ROLLBACK")
expect("no reader", all_(owner, "SELECT code FROM userstore.findings(true, '0')"), [])

# A new epoch.
old = one(reader, "SELECT epoch, seq, nonce FROM userstore.head()")
new = one(owner, "SELECT userstore.renew()")[0]
expect("a new epoch", one(reader, "SELECT epoch <> %s, epoch = %s, horizon, horizon_nonce FROM userstore.extent(0)", old[0], new), (True, True, old[1], old[2]))
print(f"{passed} answers right")
