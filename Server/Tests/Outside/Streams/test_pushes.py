"""What replicas send: sets that were written there, which the server decides."""

import itertools
import json

from support import Server, TestCase, parse, served, sql, usertool

JSONL = {"Content-Type": "application/jsonl", "Accept": "application/jsonl"}
STRANGE = "v1-1234-3-5678"


class Pusher:
    """A replica in a few lines: it numbers sets and sends them."""

    nonces = itertools.count(1_000_000_000_000)

    def __init__(self, server, producer=7):
        self.server, self.producer = server, producer
        state = server.get("/sync")
        self.identity, self.cursor, self.number = state["identity"], state["cursor"], 0

    def set(self, *rows, **fields):
        """The lines of the next set."""
        self.number += 1
        end = {"op": "end", "number": self.number, "nonce": str(next(self.nonces)), "origin": "own", **fields}
        return [*rows, end]

    def body(self, *sets, **fields):
        head = {"op": "push", "identity": self.identity, "subject": "", "producer": str(self.producer), "cursor": self.cursor,
                "decided": 0, **fields}
        return "".join(json.dumps(line) + "\n" for line in [head, *itertools.chain(*sets)]).encode()

    def send(self, *sets, **fields):
        return self.server.request("POST", "/sync/push", self.body(*sets, **fields), JSONL)

    def push(self, *sets, **fields):
        """The results, and the last line."""
        response = self.send(*sets, **fields)
        if response.status != 200:
            raise AssertionError(f"{response}")
        *results, end = [parse(line) for line in response.text.splitlines()]
        return [result["result"] for result in results], end


def change(user, attribute="age", value=1):
    return {"op": "set", "user": user, "attribute": attribute, "value": value}


class Pushes(TestCase):
    @served("--replicas")
    def test_a_set_is_written_once_with_its_origin_and_its_nonce(self, server):
        user = server.add()["id"]
        replica = Pusher(server)
        first = replica.set(change(user), {"op": "post", "event": "birthday", "payload": {"base64": "AP8="}, "user": user})
        with server.stream("/changes?after=newest", accept="application/jsonl") as stream:
            results, end = replica.push(first)
            lines = [parse(stream.line()) for _ in range(2)]
        self.assertEqual((results, end["forked"]), (["accepted"], None))
        self.assertEqual([line["op"] for line in lines], ["update", "event"])
        self.assertEqual({line["origin"] for line in lines if "origin" in line}, {"own"})
        self.assertEqual(end["cursor"], server.get("/about")["cursor"])
        # Sent again, after an answer that was lost.
        self.assertEqual(replica.push(first), (["accepted"], end))
        lines = server.request("GET", f"/sync/changes?after={replica.cursor}", headers={"Accept": "application/jsonl"}).text.splitlines()
        nonces = [parse(line)["nonce"] for line in lines if parse(line)["op"] == "pushed"]
        self.assertEqual(nonces, [first[-1]["nonce"]])

    @served("--replicas")
    def test_a_set_is_refused_whole_and_later_ones_are_decided(self, server):
        user = server.add(age=1)["id"]
        replica = Pusher(server)
        results, end = replica.push(
            replica.set(change(user, "other"), {"op": "expect", "user": user, "attribute": "age", "value": 1.0}),
            replica.set({"op": "add", "user": user, "name": "x"}), replica.set(change(99)), replica.set(change(user, "name", None)),
            replica.set(change(user, "hair_color", "none")), replica.set({"op": "remove", "user": 99}),
            [{**replica.set()[-1], "op": "void"}],
            replica.set({"op": "expect", "user": user, "attribute": "age", "value": 1}, change(user, "age", 2)))
        self.assertEqual(results, ["conflict", "userExists", "userRemoved", "invalid", "invalid", "accepted", "userRemoved", "accepted"])
        self.assertEqual(server.get(f"/users/{user}"), {"id": user, "name": "NIX", "age": 2})

    @served("--replicas")
    def test_a_unique_value_and_a_row_that_refers_to_a_user(self, server):
        user = server.add(email="a@example.com")["id"]
        usertool("unique", "add", "email", database=server.database)
        sql(server.database, "CREATE TABLE visits (user_id INTEGER REFERENCES users (id))", postgres="CREATE TABLE visits (user_id bigint REFERENCES users (id))")
        sql(server.database, "INSERT INTO visits VALUES (1)")
        replica = Pusher(server)
        results, _ = replica.push(replica.set({"op": "add", "user": -5, "name": "x"}, change(-5, "email", "a@example.com")),
                                  replica.set({"op": "remove", "user": user}), replica.set(change(user)))
        self.assertEqual(results, ["notUnique", "stillReferenced", "accepted"])
        self.assertEqual(server.request("GET", "/users/-5").status, 404)

    @served("--replicas")
    def test_a_number_that_another_set_has_is_a_fork(self, server):
        user = server.add()["id"]
        replica, copy = Pusher(server), Pusher(server)
        replica.push(replica.set(change(user)))
        first, second = copy.set(change(user, "other")), copy.set(change(user, "third"))
        results, end = copy.push(first, second)
        self.assertEqual((results, end["forked"]), ([], 1))
        copy.producer = 8
        self.assertEqual(copy.push(first, second)[0], ["accepted", "accepted"])

    @served("--replicas")
    def test_what_does_not_continue_is_refused(self, server):
        user = server.add()["id"]
        replica = Pusher(server)
        one = replica.set(change(user))
        self.assertProblem(replica.send(one, identity="0123456789abcdef"), 409, "diverged")
        self.assertProblem(replica.send(one, cursor=STRANGE), 409, "diverged")
        self.assertProblem(replica.send(one, subject="somebody"), 403, "wrongSubject")
        server.patch(user, age=5)
        usertool("compact", "--keep", "0", database=server.database)
        self.assertProblem(replica.send(one), 410, "compacted")
        self.assertEqual(server.get(f"/users/{user}")["age"], 5)

    @served("--replicas")
    def test_what_is_not_of_the_protocol_is_400(self, server):
        user = server.add()["id"]
        replica = Pusher(server)
        one, other = replica.set(change(user)), replica.set(change(user))
        head = replica.body()
        good = replica.body(one)
        lines = good.splitlines(keepends=True)
        for body in (b"", b"{}", b"x\n", head, good[:-1], good + b"x", good + b'{"op":"set"}\n', replica.body(one[:-1]), replica.body(other, one),
                     replica.body(one, one), replica.body([{"op": "odd"}], one), replica.body(one, producer="0"), replica.body(one, producer=7),
                     replica.body(one, cursor="x"), replica.body(one, decided="1"), replica.body([{**change(user), "user": 1.5}], one),
                     replica.body([change(user), {**one[-1], "op": "void"}]), b"".join(lines[1:]), lines[0] + b"\xff\n" + b"".join(lines[1:]),
                     replica.body(*([[{**one[-1], "number": number, "nonce": str(number)}] for number in range(1, 1_002)]))):
            with self.subTest(body=body[:200]):
                self.assertProblem(server.request("POST", "/sync/push", body, JSONL), 400)
        self.assertProblem(server.request("POST", "/sync/push?x=1", good, JSONL), 400)
        self.assertProblem(server.request("POST", "/sync/push", good), 415, "unsupportedMediaType")
        self.assertProblem(server.request("GET", "/sync/push"), 405, "methodNotAllowed")
        self.assertProblem(server.request("POST", "/sync/push", good, JSONL, token=False), 401, "badToken")
        self.assertProblem(server.request("POST", "/sync/push", good + b" " * (24 << 20), JSONL), 413, "tooLarge")
        self.assertNotIn("age", server.get(f"/users/{user}"))

    @served("--replicas", "--read-only")
    def test_a_server_that_only_reads_takes_nothing(self, server):
        self.assertProblem(server.request("POST", "/sync/push", b"x", JSONL), 403, "readOnly")

    @served()
    def test_without_replicas_there_is_nothing(self, server):
        self.assertProblem(server.request("POST", "/sync/push", b"x", JSONL), 404, "notFound")
