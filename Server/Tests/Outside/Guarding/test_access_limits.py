"""What the holders of tokens see and change that are limited to some users, or to some attributes of them."""

import contextlib
import hashlib
import json
import re
import unittest

from support import POSTGRES, Writer, at, eventually, long, on_files, usertool
from test_access import JSONL, AccessCase

# Where clients choose something, by operation: each place is in the probes below, or cannot name a user.
PLACES = {
    "GET /about": [], "GET /consumers": [], "GET /replicas": [], "GET /metrics": [],
    "GET /users": ["where", "with", "without", "sort", "limit", "after", "count", "previous"],
    "POST /users": ["Change-Origin", "Idempotency-Key", "body"],
    "GET /users/{id}": ["id", "If-None-Match", "If-Match"],
    "PUT /users/{id}": ["id", "If-Match", "If-None-Match", "Change-Origin", "Idempotency-Key", "body"],
    "PATCH /users/{id}": ["id", "If-Match", "Change-Origin", "Idempotency-Key", "body"],
    "DELETE /users/{id}": ["id", "If-Match", "Change-Origin", "Idempotency-Key"],
    "GET /changes": ["after", "last", "Last-Event-ID", "attribute", "op", "user", "heartbeat", "limit", "timeout", "wait"],
    "POST /events": ["Change-Origin", "Idempotency-Key", "body"],
    "POST /changes/{revision}/undo": ["revision", "Change-Origin", "Idempotency-Key"],
    "GET /lists": ["where", "with", "without", "sort", "limit", "after", "heartbeat", "timeout"],
    "GET /sync": ["Userstore-Replica"],
    "GET /sync/users": ["from", "after", "Userstore-Replica"],
    "POST /sync/users": ["from", "after", "Userstore-Replica", "body"],
    "GET /sync/changes": ["after", "part", "also", "wait", "If-None-Match", "Userstore-Replica"],
    "POST /sync/changes": ["after", "part", "also", "wait", "Userstore-Replica", "body"],
    "POST /sync/push": ["Userstore-Replica", "body"],
}


class Limits(AccessCase):
    """Ann (1) and Bob (2) and Cat (3), who have an age and a city each, and a color of their own."""

    def setUp(self):
        super().setUp()
        for name, color in (("Ann", "#aa0000"), ("Bob", "#00bb00"), ("Cat", "#0000cc")):
            self.server.request("POST", "/users", {"name": name, "hair_color": color, "age": 40, "city": f"{name}ville"})
        self.start = self.server.get("/about")["cursor"]

    def ask(self, method, path, body=None, headers={}, *, token):
        return self.server.request(method, path, body, headers, token=token)

    def users(self, token, **parameters):
        return self.ask("GET", at("/users", **parameters), token=token).json()

    def changes(self, token, **parameters):
        return self.ask("GET", at("/changes", after=parameters.pop("after", "oldest"), **parameters), token=token).json()["changes"]

    def sync(self, path, token, body=None, **parameters):
        """The lines of an answer to a replica."""
        headers = {"Accept": "application/jsonl"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        response = self.ask("GET" if body is None else "POST", at(path, **parameters), body, headers, token=token)
        self.assertEqual(response.status, 200, response.text)
        return [json.loads(line) for line in response.text.splitlines()]

    def push(self, token, *rows, number=1, subject="ann"):
        """What the server decides about a set of a replica."""
        state = self.ask("GET", "/sync", token=token).json()
        lines = [{"op": "push", "identity": state["identity"], "subject": subject, "producer": "7", "cursor": state["cursor"], "decided": 0},
                 *rows, {"op": "end", "number": number, "nonce": str(10_000 + number), "origin": None}]
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        response = self.ask("POST", "/sync/push", body, JSONL, token=token)
        self.assertEqual(response.status, 200, response.text)
        return json.loads(response.text.splitlines()[0])

    def numbers(self):
        self.number = getattr(self, "number", 0) + 10
        return self.number


class Users(Limits):
    def test_the_places_of_each_operation_are_known(self):
        description = self.server.request("GET", "/openapi.json").json()
        found = {}
        for path, item in description["paths"].items():
            for method, operation in item.items():
                name = f"{method.upper()} {path}"
                if method == "parameters" or operation.get("security") == [] and "/users" not in path:
                    continue
                parameters = [description["components"]["parameters"][p["$ref"].split("/")[-1]] if "$ref" in p else p
                              for p in item.get("parameters", []) + operation.get("parameters", [])]
                found[name] = {p["name"] for p in parameters} | ({"body"} if "requestBody" in operation else set())
        for name in ("GET /", "GET /screens", "GET /log", "GET /pulse", "GET /health", "GET /openapi.json"):
            found.pop(name, None)
        self.assertEqual(found, {name: set(places) for name, places in PLACES.items()})

    def test_a_hidden_user_is_answered_as_one_that_does_not_exist(self):
        token = self.token("--read", "1", "--write", "1")
        cursor = self.server.get("/about")["cursor"]
        lines = {"Accept": "application/jsonl"}
        etag = self.ask("GET", "/users/2", token=self.token("--read", "all")).headers["etag"]
        add = lambda id: [{"op": "add", "user": id, "name": "x"}]
        probes = {
            "GET": lambda id: ("GET", f"/users/{id}"),
            "GET with a tag": lambda id: ("GET", f"/users/{id}", None, {"If-None-Match": etag}),
            "GET if it matches": lambda id: ("GET", f"/users/{id}", None, {"If-Match": etag}),
            "HEAD": lambda id: ("HEAD", f"/users/{id}"),
            "PUT": lambda id: ("PUT", f"/users/{id}", {"name": "x"}, {"If-Match": "*"}),
            "PUT with a tag": lambda id: ("PUT", f"/users/{id}", {"name": "x"}, {"If-Match": etag}),
            "PUT of a new one": lambda id: ("PUT", f"/users/{id}", {"name": "x"}, {"If-None-Match": "*"}),
            "PATCH": lambda id: ("PATCH", f"/users/{id}", {"set": {"age": 1}}),
            "PATCH with a tag": lambda id: ("PATCH", f"/users/{id}", {"set": {"age": 1}}, {"If-Match": etag}),
            "PATCH that expects": lambda id: ("PATCH", f"/users/{id}", {"set": {"age": 1}, "expect": {"age": 40}}),
            "PATCH with a mistake": lambda id: ("PATCH", f"/users/{id}", {"set": {"hair_color": "?"}}),
            "DELETE": lambda id: ("DELETE", f"/users/{id}", None, {"If-Match": "*"}),
            "DELETE with a tag": lambda id: ("DELETE", f"/users/{id}", None, {"If-Match": etag}),
            "event": lambda id: ("POST", "/events", {"event": "hello", "user": id}),
            "where id": lambda id: ("GET", at("/users", where=f"id={id}", count="true")),
            "where id, in order": lambda id: ("GET", at("/users", where=f"id>={id}", sort="age", count="true", previous="true")),
            "after a place": lambda id: ("GET", at("/users", after=id, count="true", previous="true")),
            "changes": lambda id: ("GET", at("/changes", after="oldest", user=id)),
            "users of a replica": lambda id: ("POST", at("/sync/users", **{"from": cursor}), {"users": [1, id]}, lines),
            "changes of a replica": lambda id: ("POST", at("/sync/changes", after=self.start), {"users": [1, id]}, lines),
        }
        for name, probe in probes.items():
            with self.subTest(name):
                hidden, missing = (self.ask(*probe(id), token=token) for id in (2, 77))
                shown = lambda response, id: (response.status, re.sub(rf"\b{id}\b", "ID", response.text).replace("after=ID", ""))
                self.assertEqual(shown(hidden, 2), shown(missing, 77))
                self.assertNotIn("Bob", hidden.text)
                self.assertIsNone(hidden.headers.get("etag"))
        for rows in (add, lambda id: [{"op": "set", "user": id, "attribute": "age", "value": 1}], lambda id: [{"op": "remove", "user": id}],
                     lambda id: [{"op": "expect", "user": id, "attribute": "age", "value": 40}], lambda id: [{"op": "post", "event": "e", "payload": None, "user": id}]):
            results = [self.push(token, *rows(id), number=number) for number, id in enumerate((2, 77), self.numbers())]
            self.assertEqual([result["result"] for result in results], ["forbidden", "forbidden"])
            self.assertEqual(results[0]["detail"].replace("2", "77"), results[1]["detail"])
        self.assertEqual(self.server.get("/users/2")["name"], "Bob")
        self.assertEqual(self.server.get("/about")["users"], 3)

    def test_lists_and_counts_have_only_what_may_be_read(self):
        token = self.token("--read", "1,3,99")
        page = self.users(token, count="true", sort="name:desc", limit=1, previous="true")
        self.assertEqual([user["name"] for user in page["users"]], ["Cat"])
        self.assertEqual((page["count"], page["before"]), (2, 0))
        page = self.users(token, count="true", sort="name:desc", limit=1, previous="true", after=page["next"])
        self.assertEqual(([user["name"] for user in page["users"]], page["before"], page["next"]), (["Ann"], 1, None))
        self.assertEqual(self.users(token, where="age=40", count="true")["count"], 2)
        self.assertEqual(self.users(token, where="name=Bob", count="true")["count"], 0)
        # A name that no user has is a mistake only for those who see all.
        self.assertEqual(self.users(token, where="age!>18")["users"], [])
        about = self.ask("GET", "/about", token=token).json()
        self.assertEqual((about["users"], about["path"], about["replica"], about["streams"]), (2, None, None, None))
        with self.server.stream(at("/lists", sort="name", where="age>0"), token=token) as stream:
            self.assertEqual([user["name"] for user in stream.wait("rows").data["rows"]], ["Ann", "Cat"])
            self.server.patch(2, name="Hidden")
            self.server.patch(3, name="Shown")
            steps = stream.wait("steps").data["steps"]
            self.assertEqual([step["user"]["name"] for step in steps], ["Shown"])

    def test_changes_and_events_of_others_are_not_sent_but_the_cursor_moves(self):
        token = self.token("--read", "1")
        self.server.request("POST", "/events", {"event": "for all"})
        self.server.request("POST", "/events", {"event": "for Bob", "user": 2})
        self.server.patch(2, age=41)
        self.server.request("DELETE", "/users/3", None, {"If-Match": "*"})
        self.server.patch(1, age=42)
        self.server.request("POST", "/events", {"event": "for Ann", "user": 1})
        shown = self.changes(token)
        self.assertEqual({change["user"] for change in shown}, {1})
        self.assertEqual([change.get("event") for change in shown][-1], "for Ann")
        head = self.server.get("/about")["cursor"]
        self.assertEqual(self.ask("GET", at("/changes", after=self.start), token=token).json()["cursor"], head)
        with self.server.stream(at("/changes", after=self.start), token=token) as stream:
            self.assertEqual(stream.wait("changes").data["changes"][0]["new"], 42)
        with self.server.stream(at("/changes", after="oldest"), accept="application/jsonl", token=token) as stream:
            self.assertEqual(json.loads(stream.line())["user"], 1)
        lines = self.sync("/sync/changes", token, after=self.start)
        self.assertEqual({line["user"] for line in lines if "user" in line}, {1})
        self.assertEqual(lines[-1]["cursor"], head)

    def test_a_copy_does_not_read_hidden_users(self):
        token, cursor = self.token("--read", "1"), self.server.get("/about")["cursor"]
        self.server.write("PATCH", "/users/2", {"set": {"large": "x" * (15 << 20)}})
        lines = self.ask("POST", at("/sync/users", **{"from": cursor}), {"users": [1, 2, 77]}, {"Accept": "application/jsonl"}, token=token)
        self.assertEqual([json.loads(line).get("name") for line in lines.text.splitlines()], [None, "Ann", None])

    def test_a_replica_copies_what_may_be_read_and_again_when_that_changes(self):
        tokens = [self.token("--read", ids) for ids in ("1", "1,2", "all")]
        states = [self.ask("GET", "/sync", token=token).json() for token in tokens]
        self.assertEqual([state["count"] for state in states], [1, 2, 3])
        self.assertEqual(len({state["grant"] for state in states}), 3)
        self.assertEqual(self.ask("GET", "/sync", token=self.token("--read", "1", subject="bob")).json()["grant"], states[0]["grant"])
        for token, names in zip(tokens, (["Ann"], ["Ann", "Bob"], ["Ann", "Bob", "Cat"])):
            lines = self.sync("/sync/users", token, **{"from": states[0]["cursor"]})
            self.assertEqual([line["name"] for line in lines if "name" in line], names)
        # A full page of the past may be cached by a proxy only if everybody gets the same.
        self.assertIsNone(self.ask("GET", at("/sync/changes", after=self.start), headers={"Accept": "application/jsonl"}, token=tokens[0]).headers.get("etag"))

    def test_only_users_that_may_be_written_are_changed(self):
        token = self.token("--read", "2", "--write", "1")
        self.assertEqual(self.ask("PATCH", "/users/1", {"set": {"age": 5}}, token=token).status, 200)
        for method, path, body, headers in (
                ("PATCH", "/users/2", {"set": {"age": 5}}, {}), ("DELETE", "/users/2", None, {"If-Match": "*"}),
                ("PUT", "/users/2", {"name": "x"}, {"If-Match": "*"}), ("POST", "/events", {"event": "x", "user": 2}, {}),
                ("POST", "/events", {"event": "x"}, {}), ("POST", "/users", {"name": "x"}, {}),
                ("PUT", "/users/9", {"name": "x"}, {"If-None-Match": "*"})):
            with self.subTest(method, path=path, body=body):
                self.assertProblem(self.ask(method, path, body, headers, token=token), 403, "forbidden")
        self.assertEqual(self.push(token, {"op": "set", "user": 1, "attribute": "age", "value": 6})["result"], "accepted")
        self.assertEqual(self.push(token, {"op": "post", "event": "x", "payload": None, "user": None}, number=2)["result"], "forbidden")
        self.assertEqual(self.push(token, {"op": "set", "user": 1, "attribute": "age", "value": 7},
                                   {"op": "set", "user": 2, "attribute": "age", "value": 7}, number=3)["result"], "forbidden")
        self.assertEqual((self.server.get("/users/1")["age"], self.server.get("/users/2")["age"]), (6, 40))

    def test_an_undo_needs_the_whole_set(self):
        token = self.token("--read", "1,2", "--write", "1")
        own = self.server.patch(1, age=1)["revision"]
        read = self.server.patch(2, age=2)["revision"]
        hidden = self.server.patch(3, age=3)["revision"]
        self.server.request("DELETE", "/users/3", None, {"If-Match": "*"})
        undo = lambda revision: self.ask("POST", f"/changes/{revision}/undo", token=token)
        self.assertProblem(undo(read), 403, "forbidden")
        for event in ({"event": "hidden"}, {"event": "hidden", "user": 2}):
            self.server.request("POST", "/events", event)
        last = self.server.get("/about")["revision"]
        # Hidden sets, and what is within them, or has only events: as what is not there.
        texts = {re.sub(r"\d+", "N", undo(revision).text) for revision in (hidden, hidden - 1, *range(hidden + 1, last + 1), 10_000_000)}
        self.assertEqual(len(texts), 1, texts)
        self.assertIn("revisionNotFound", texts.pop())
        self.assertEqual(undo(own).status, 200)
        self.assertEqual(self.server.get("/users/1")["age"], 40)

    def test_what_is_deleted_from_the_log_is_as_what_is_not_there(self):
        token = self.token("--read", "1,2", "--write", "1")
        own, hidden = self.server.patch(1, age=1)["revision"], self.server.patch(3, age=3)["revision"]
        self.server.patch(2, age=2)
        usertool("compact", "--keep", "1", database=self.server.database)
        texts = {re.sub(r"\d+", "N", self.ask("POST", f"/changes/{number}/undo", token=token).text) for number in (own, hidden, hidden - 1, 10_000)}
        self.assertEqual(len(texts), 1, texts)
        self.assertIn("revisionNotFound", texts.pop())

    def test_a_known_decision_is_told_without_values(self):
        expect = {"op": "expect", "user": 1, "attribute": "age", "value": 39}
        first = self.push(self.token("--write", "all"), expect)
        self.assertEqual((first["result"], "40" in first["detail"]), ("conflict", True))
        again = self.push(self.token("--write", "all"), expect)
        self.assertEqual(again, first)
        for rows in ([expect], [{"op": "set", "user": 2, "attribute": "age", "value": 1}]):
            self.assertEqual(self.push(self.token("--write", "2", subject="eve"), *rows, subject="eve"), {**first, "detail": None})

    def test_the_author_of_a_hidden_set_in_parts_is_not_told(self):
        state = self.server.get("/sync")
        rows = [{"op": "set", "user": 3, "attribute": "age", "value": age} for age in range(3_000)]
        lines = [{"op": "push", "identity": state["identity"], "subject": "bob", "producer": "8", "cursor": state["cursor"], "decided": 0},
                 *rows, {"op": "end", "number": 1, "nonce": "4711", "origin": None}]
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        bob, ann = self.token("--write", "3", subject="bob"), self.token("--read", "1")
        self.assertEqual(self.ask("POST", "/sync/push", body, JSONL, token=bob).status, 200)
        for token, seen in ((bob, True), (ann, False)):
            lines, part = [], {}
            while not lines or part:
                lines += self.sync("/sync/changes", token, after=self.start, **part)
                part = {"part": lines[-1]["part"]} if lines[-1]["part"] else {}
            text = json.dumps(lines)
            self.assertEqual(("bob" in text, "4711" in text), (seen, seen))

    def test_a_unique_value_of_a_hidden_user_does_not_name_the_user(self):
        self.server.patch(2, email="bob@example.com")
        usertool("unique", "add", "email", database=self.server.database)
        token = self.token("--write", "1")
        problem = self.ask("PATCH", "/users/1", {"set": {"email": "bob@example.com"}}, token=token)
        self.assertProblem(problem, 409, "notUnique")
        self.assertNotRegex(problem.text, r"user 2|Bob")
        pushed = self.push(token, {"op": "set", "user": 1, "attribute": "email", "value": "bob@example.com"})
        self.assertEqual((pushed["result"], pushed["detail"]), ("notUnique", "another user has this value"))


class Attributes(Limits):
    """The name of a user who may be read can be read."""

    def test_attributes_that_may_not_be_read_are_nowhere(self):
        token = self.token("--read", "all", "--readable", "age")
        self.assertEqual(self.users(token)["users"][0], {"id": 1, "name": "Ann", "hair_color": None, "age": 40})
        user = self.ask("GET", "/users/1", token=token)
        self.assertEqual(user.json(), {"id": 1, "name": "Ann", "hair_color": None, "age": 40})
        for parameters in ({"where": "city=Annville"}, {"sort": "city"}, {"with": "city"}, {"without": "city"}, {"where": "hair_color=#aa0000"}):
            for path in ("/users", "/lists"):
                accept = {"Accept": "text/event-stream"} if path == "/lists" else {}
                self.assertProblem(self.ask("GET", at(path, **parameters), headers=accept, token=token), 403, "forbidden")
        self.assertEqual({change["attribute"] for change in self.changes(token)}, {"name", "age"})
        self.assertEqual(self.changes(token, attribute="city"), [])
        with self.server.stream("/lists", token=token) as stream:
            self.assertEqual(set(stream.wait("rows").data["rows"][0]), {"id", "name", "hair_color", "age"})
            self.server.patch(1, city="Elsewhere")
            self.server.patch(1, age=41)
            step = stream.wait("steps").data["steps"][0]
            self.assertEqual((step["changed"], step["user"].get("city")), (["age"], None))
        # The tag does not tell that something hidden has changed.
        tag = self.ask("GET", "/users/2", token=token).headers["etag"]
        self.server.patch(2, city="Elsewhere")
        self.assertEqual(self.ask("GET", "/users/2", token=token).headers["etag"], tag)
        state = self.ask("GET", "/sync", token=token).json()
        text = json.dumps(self.sync("/sync/users", token, **{"from": state["cursor"]}) + self.sync("/sync/changes", token, after=self.start))
        self.assertNotRegex(text, "city|ville|Elsewhere|#aa0000")
        for path in ("/metrics", "/consumers", "/replicas"):
            self.assertProblem(self.ask("GET", path, token=token), 403, "forbidden")

    def test_attributes_that_may_not_be_written_stay(self):
        token = self.token("--write", "all", "--readable", "city", "--writable", "age")
        patch = lambda body: self.ask("PATCH", "/users/1", body, token=token)
        self.assertEqual(patch({"set": {"age": 5}}).json()["user"], {"id": 1, "name": "Ann", "hair_color": None, "age": 5, "city": "Annville"})
        for body in ({"set": {"city": "x"}}, {"set": {"age": 6, "name": "x"}}, {"set": {"secret": 1}}, {"set": {"age": 6}, "expect": {"secret": 1}}):
            self.assertProblem(patch(body), 403, "forbidden")
        self.assertEqual(patch({"set": {"age": 6}, "expect": {"city": "Annville"}}).status, 200)
        put = lambda body: self.ask("PUT", "/users/1", body, {"If-Match": "*"}, token=token)
        # As it was read, with another age.
        self.assertEqual(put({"id": 1, "name": "Ann", "age": 7, "city": "Annville"}).status, 200)
        self.assertEqual(self.server.get("/users/1"), {"id": 1, "name": "Ann", "hair_color": "#aa0000", "age": 7, "city": "Annville"})
        self.assertEqual(put({**self.ask("GET", "/users/1", token=token).json(), "age": 8}).status, 200)
        for body in ({"name": "Ann", "age": 7}, {"name": "x", "age": 7, "city": "Annville"},
                     {"name": "Ann", "age": 7, "city": "Annville", "hair_color": "#aa0000"}):
            self.assertProblem(put(body), 403, "forbidden")
        self.assertProblem(self.ask("DELETE", "/users/1", None, {"If-Match": "*"}, token=token), 403, "forbidden")
        city = self.server.patch(1, city="x")["revision"]
        self.assertProblem(self.ask("POST", f"/changes/{city}/undo", token=token), 403, "forbidden")
        secret = self.server.patch(1, secret=1)["revision"]
        self.assertProblem(self.ask("POST", f"/changes/{secret}/undo", token=token), 404, "revisionNotFound")
        for number, (row, result) in enumerate((
                ({"op": "set", "user": 1, "attribute": "age", "value": 8}, "accepted"),
                ({"op": "set", "user": 1, "attribute": "city", "value": "y"}, "forbidden"),
                ({"op": "remove", "user": 1}, "forbidden"),
                ({"op": "expect", "user": 1, "attribute": "secret", "value": 2}, "forbidden")), 1):
            self.assertEqual(self.push(token, row, number=number)["result"], result, row)

    def test_a_new_user_has_only_attributes_that_may_be_written(self):
        token = self.token("--write", "all", "--add", "--writable", "name,age")
        self.assertEqual(self.ask("POST", "/users", {"name": "Dan", "age": 1}, token=token).status, 201)
        self.assertProblem(self.ask("POST", "/users", {"name": "Dan", "city": "x"}, token=token), 403, "forbidden")
        self.assertProblem(self.ask("POST", "/users", {"name": "Dan"}, token=self.token("--write", "all", "--add", "--writable", "age")), 403)

    def test_without_a_list_of_its_own_writing_has_the_limits_of_reading(self):
        token = self.token("--write", "all", "--readable", "age")
        self.assertEqual(self.ask("PATCH", "/users/1", {"set": {"age": 1}}, token=token).status, 200)
        for attribute in ("city", "name"):
            self.assertProblem(self.ask("PATCH", "/users/1", {"set": {attribute: "x"}}, token=token), 403, "forbidden")


class Owners(Limits):
    """Who may add users, but not write all, reads and writes those that they have added."""

    def setUp(self):
        super().setUp()
        self.ann = self.token("--add")
        self.bob = self.token("--add", "--read", "1", subject="bob")

    def add(self, token, **values):
        response = self.ask("POST", "/users", {"name": "Own", **values}, token=token)
        self.assertEqual(response.status, 201, response.text)
        return response.json()["user"]

    def test_own_users_are_read_and_written_and_no_others(self):
        user = self.add(self.ann, age=1)
        self.assertEqual(user["owner_subject"], "ann")
        self.assertEqual([found["id"] for found in self.users(self.ann)["users"]], [user["id"]])
        self.assertEqual([found["id"] for found in self.users(self.bob)["users"]], [1])
        own = f"/users/{user['id']}"
        self.assertEqual(self.ask("PATCH", own, {"set": {"age": 2}}, token=self.ann).json()["user"]["age"], 2)
        self.assertEqual(self.ask("PUT", own, {**user, "age": 3}, {"If-Match": "*"}, token=self.ann).status, 200)
        self.assertEqual(self.ask("POST", "/events", {"event": "mine", "user": user["id"]}, token=self.ann).status, 201)
        for method, body in (("GET", None), ("PATCH", {"set": {"age": 9}}), ("DELETE", None)):
            self.assertProblem(self.ask(method, own, body, {"If-Match": "*"}, token=self.bob), 404, "userNotFound")
        self.assertProblem(self.ask("GET", "/users/1", token=self.ann), 404, "userNotFound")
        self.assertProblem(self.ask("PATCH", "/users/1", {"set": {"age": 9}}, token=self.bob), 403, "forbidden")
        self.assertEqual(self.ask("GET", "/about", token=self.ann).json()["users"], 1)
        # Another token of the same person, which may not add, does not give them.
        self.assertProblem(self.ask("GET", own, token=self.token("--read", "1")), 404, "userNotFound")
        self.assertEqual(self.ask("DELETE", own, None, {"If-Match": "*"}, token=self.ann).status, 200)
        self.assertEqual(self.users(self.ann)["users"], [])

    def test_whose_a_user_is_can_only_be_written_with_the_own_token_of_the_server(self):
        user = self.add(self.ann)["id"]
        for token in (self.ann, self.token("--write", "all", "--add", subject="carl")):
            for body in ({"set": {"owner_subject": "bob"}}, {"set": {"owner_subject": None}}):
                self.assertProblem(self.ask("PATCH", f"/users/{user}", body, token=token), 403, "forbidden")
            self.assertProblem(self.ask("POST", "/users", {"name": "x", "owner_subject": "bob"}, token=token), 403, "forbidden")
        self.assertEqual(self.push(self.ann, {"op": "set", "user": user, "attribute": "owner_subject", "value": "bob"})["result"], "forbidden")
        self.server.patch(user, owner_subject="bob")
        self.assertEqual([self.ask("GET", f"/users/{user}", token=token).status for token in (self.ann, self.bob)], [404, 200])

    def test_an_id_that_is_chosen_tells_nothing(self):
        put = lambda id: self.ask("PUT", f"/users/{id}", {"name": "x"}, {"If-None-Match": "*"}, token=self.ann)
        answers = [(answer.status, answer.text.replace(str(id), "ID")) for id, answer in ((id, put(id)) for id in (2, 77))]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0][0], 403)
        self.assertEqual(put(-77).status, 201)
        self.assertEqual(self.ask("GET", "/users/-77", token=self.ann).json()["owner_subject"], "ann")
        for number, (id, result) in enumerate(((2, "forbidden"), (77, "forbidden"), (-5, "accepted")), 1):
            self.assertEqual(self.push(self.ann, {"op": "add", "user": id, "name": "x"}, {"op": "set", "user": id, "attribute": "age", "value": 1},
                                       number=number)["result"], result)
        self.assertEqual(self.server.get("/users/-5"), {"id": -5, "name": "x", "hair_color": None, "age": 1, "owner_subject": "ann"})
        # What a refused set would have added is nobody's.
        refused = self.push(self.ann, {"op": "add", "user": -6, "name": "x"}, {"op": "set", "user": 1, "attribute": "age", "value": 1}, number=4)
        self.assertEqual(refused["result"], "forbidden")
        self.assertEqual(self.push(self.ann, {"op": "set", "user": -6, "attribute": "age", "value": 1}, number=5)["result"], "forbidden")

    def test_feeds_show_users_from_their_addition_to_their_removal(self):
        with self.server.stream("/lists", token=self.ann) as rows, self.server.stream(at("/changes", after=self.start), token=self.ann) as stream:
            self.assertEqual(rows.wait("rows").data["rows"], [])
            self.add(self.bob)
            user = self.add(self.ann)["id"]
            self.assertEqual(rows.wait("steps").data["steps"][0]["user"]["id"], user)
            self.server.patch(user, age=5)
            self.server.patch(1, age=5)
            self.server.request("DELETE", f"/users/{user}", None, {"If-Match": "*"})
            given = self.add(self.bob)["id"]
            self.server.patch(given, owner_subject="ann")
            self.server.patch(given, age=6)
            self.server.patch(given, owner_subject="bob")
            self.server.patch(given, age=7)
            self.add(self.ann, note="last")
            seen = []
            while "last" not in [change["new"] for change in seen]:
                seen += stream.wait("changes").data["changes"]
        kinds = [(change["op"], change["attribute"], change["new"]) for change in seen if change["user"] == user]
        self.assertEqual([kind[0] for kind in kinds if kind[1] == "name"], ["insert", "delete"])
        self.assertIn(("update", "age", 5), kinds)
        values = [(change["attribute"], change["new"]) for change in seen if change["user"] == given]
        self.assertEqual(values, [("owner_subject", "ann"), ("age", 6), ("owner_subject", "bob")])
        self.assertNotIn(1, {change["user"] for change in seen})

    def test_a_replica_copies_again_when_a_user_is_handed_over(self):
        user = self.add(self.ann)["id"]
        state = self.ask("GET", "/sync", token=self.ann).json()
        self.assertEqual(state["count"], 1)
        lines = self.sync("/sync/users", self.ann, **{"from": state["cursor"]})
        self.assertEqual([line["id"] for line in lines if "id" in line], [user])
        new = self.add(self.ann)["id"]
        lines = self.sync("/sync/changes", self.ann, after=state["cursor"])
        self.assertEqual({line["user"] for line in lines if "user" in line}, {new})
        self.assertEqual(self.ask("GET", "/sync", token=self.ann).json()["grant"], state["grant"])
        self.server.request("DELETE", f"/users/{new}", None, {"If-Match": "*"})
        lines = self.sync("/sync/changes", self.ann, after=state["cursor"])
        self.assertEqual([line["op"] for line in lines if line.get("user") == new][-1], "delete")
        cursor = lines[-1]["cursor"]
        for subject in ("bob", "ann"):
            self.server.patch(user, owner_subject=subject)
            self.assertProblem(self.ask("GET", at("/sync/changes", after=cursor), headers={"Accept": "application/jsonl"}, token=self.ann), 409, "diverged")
            cursor = self.server.get("/about")["cursor"]
        self.assertEqual(self.sync("/sync/changes", self.ann, after=cursor)[-1]["cursor"], cursor)

    def test_the_addition_of_an_own_user_can_be_undone(self):
        response = self.ask("POST", "/users", {"name": "x", "age": 1}, token=self.ann).json()
        self.assertProblem(self.ask("POST", f"/changes/{response['revision']}/undo", token=self.bob), 404, "revisionNotFound")
        self.assertEqual(self.ask("POST", f"/changes/{response['revision']}/undo", token=self.ann).status, 200)
        self.assertEqual(self.users(self.ann)["users"], [])


    def test_who_adds_a_removed_id_does_not_read_what_its_former_owner_wrote(self):
        put = lambda token, name: self.ask("PUT", "/users/-77", {"name": name, "secret": name}, {"If-None-Match": "*"}, token=token)
        self.assertEqual(put(self.ann, "ann's").status, 201)
        middle = self.server.get("/about")["cursor"]
        self.ask("PATCH", "/users/-77", {"set": {"secret": "ann's too"}}, token=self.ann)
        self.assertEqual(self.ask("DELETE", "/users/-77", None, {"If-Match": "*"}, token=self.ann).status, 200)
        self.assertEqual(put(self.bob, "bob's").status, 201)
        for cursor in (self.start, "oldest", middle):
            shown = self.changes(self.bob, after=cursor)
            self.assertIn("bob's", str(shown))
            self.assertNotIn("ann's", str(shown))
            if cursor != "oldest":
                lines = self.sync("/sync/changes", self.bob, after=cursor)
                self.assertIn("bob's", str(lines))
                self.assertNotIn("ann's", str(lines))
            with self.server.stream(at("/changes", after=cursor), token=self.bob) as stream:
                self.assertNotIn("ann's", str(stream.wait("changes").data))
            self.assertNotIn("bob's", str(self.changes(self.ann, after=cursor)))
        # Whose a user was is known from each place: ann's feed shows all that she did.
        self.assertIn("ann's too", str(self.changes(self.ann, after=middle)))

    def test_a_user_that_is_handed_over_while_a_body_arrives_is_not_written(self):
        user = self.ask("POST", "/users", {"name": "x"}, token=self.ann).json()["user"]["id"]
        body = b'{"set":{"x":1}}'
        with self.server.connect() as raw:
            raw.send(self.server.head("PATCH", f"/users/{user}", {"Content-Type": "application/json", "Content-Length": str(len(body)),
                                                                  "Expect": "100-continue"}, self.ann))
            self.assertEqual(raw.head().status, 100)
            self.server.patch(user, owner_subject="bob", secret="bob's")
            raw.send(body)
            self.assertEqual(raw.head().status, 404)
        self.assertNotIn("x", self.server.get(f"/users/{user}"))

    def test_a_handover_is_not_undone_by_its_former_owner(self):
        user = self.ask("POST", "/users", {"name": "x"}, token=self.ann).json()["user"]["id"]
        handover = self.server.patch(user, owner_subject="bob")["revision"]
        for token in (self.ann, self.bob):
            self.assertIn(self.ask("POST", f"/changes/{handover}/undo", token=token).status, (403, 404))
        self.assertEqual(self.server.get(f"/users/{user}")["owner_subject"], "bob")
        given = self.server.patch(1, owner_subject="ann")["revision"]
        self.assertProblem(self.ask("POST", f"/changes/{given}/undo", token=self.ann), 403, "forbidden")
        self.assertEqual(self.server.get("/users/1")["owner_subject"], "ann")

    def test_an_owner_does_not_undo_what_the_former_owner_wrote(self):
        put = lambda token: self.ask("PUT", "/users/-8", {"name": "x"}, {"If-None-Match": "*"}, token=token)
        patch = lambda secret: self.ask("PATCH", "/users/-8", {"set": {"secret": secret}}, token=self.bob).json()["revision"]
        undo = lambda revision, token: self.ask("POST", f"/changes/{revision}/undo", token=token)
        put(self.bob)
        revisions = [patch("BOB-1"), patch("BOB-2"), patch(None)]
        self.assertEqual(undo(revisions[-1], self.bob).status, 200)
        revisions.append(patch(None))
        handover = self.server.patch(-8, owner_subject="ann", note="for ann")["revision"]
        for _ in range(2):
            for revision in [*range(1, handover), *revisions, handover]:
                self.assertProblem(undo(revision, self.ann), 404, "revisionNotFound")
            self.assertNotIn("secret", self.ask("GET", "/users/-8", token=self.ann).json())
            # The same if the user was removed, and is added again.
            self.assertEqual(self.ask("DELETE", "/users/-8", None, {"If-Match": "*"}, token=self.ann).status, 200)
            self.assertEqual(put(self.ann).status, 201)
        own = self.ask("PATCH", "/users/-8", {"set": {"age": 1}}, token=self.ann).json()["revision"]
        self.assertEqual(undo(own, self.ann).status, 200)

    def test_of_a_user_that_is_handed_over_only_the_owner_is_shown(self):
        user = self.add(self.ann, secret="ANN'S")["id"]
        start = self.server.get("/about")["cursor"]
        self.server.patch(user, owner_subject="bob", secret=None, note="FOR BOB")
        for token in (self.ann, self.bob):
            shown = self.changes(token, after=start)
            self.assertEqual([(change["user"], change["attribute"]) for change in shown], [(user, "owner_subject")])
            # Also from within the set.
            for last in range(1, 15):
                shown = self.ask("GET", at("/changes", last=last), token=token).text
                self.assertFalse("FOR BOB" in shown or token == self.bob and "ANN'S" in shown, last)
                with self.server.stream(at("/changes", last=last), accept="application/jsonl") as stream:
                    within = stream.headers["change-cursor"]
                shown = str(self.changes(token, after=within))
                self.assertFalse("FOR BOB" in shown or token == self.bob and "ANN'S" in shown, within)
                answer = self.ask("GET", at("/sync/changes", after=within), headers={"Accept": "application/jsonl"}, token=token).text
                self.assertFalse("FOR BOB" in answer or token == self.bob and "ANN'S" in answer, within)
        self.assertEqual(self.ask("GET", f"/users/{user}", token=self.bob).json()["note"], "FOR BOB")

    @on_files
    def test_transactions_of_another_program_show_nobody_what_was_not_theirs(self):
        def run(*statements):
            start = self.server.get("/about")["cursor"]
            with Writer(self.server.database) as writer:
                for statement in ("BEGIN", *statements, "COMMIT"):
                    writer.run(statement)
            eventually(lambda: self.server.get("/about")["cursor"] != start, "the transaction is seen")

        own = "INSERT INTO attributes VALUES ({}, 'owner_subject', 'ann')".format
        self.ask("PUT", "/users/-7", {"name": "BOB'S", "a": "BOB'S", "z": "BOB'S"}, {"If-None-Match": "*"}, token=self.bob)
        start = self.server.get("/about")["cursor"]
        # Each does one thing.
        run("DELETE FROM users WHERE id = -7")
        run("INSERT INTO users (id, name) VALUES (-7, 'new')", own(-7))
        run("INSERT INTO users (id, name) VALUES (-8, 'new')", "INSERT INTO attributes VALUES (-8, 'q', 'NOBODY''S')")
        run("DELETE FROM attributes WHERE user_id = -8 AND name = 'q'")
        run(own(-8))
        self.assertEqual([user["id"] for user in self.ask("GET", "/users", token=self.ann).json()["users"]], [-8, -7])
        for last in range(30):
            place = {"last": last} if last else {"after": start}
            with self.server.stream(at("/changes", **place), accept="application/jsonl", token=self.ann) as stream:
                within = stream.headers["change-cursor"]
            answer = self.ask("GET", at("/sync/changes", after=within), headers={"Accept": "application/jsonl"}, token=self.ann).text
            with self.server.stream(at("/changes", **place), token=self.ann) as stream:
                events = [next(stream)]
                self.assertEqual(events[0].id, within)
                while not events[-1].data.get("upToDate"):
                    events.append(next(stream))
            shown = [self.ask("GET", at("/changes", **place), token=self.ann).text, str(self.changes(self.ann, after=within)), answer]
            for text in (*shown, str([event.data for event in events])):
                self.assertFalse("BOB'S" in text or "NOBODY'S" in text, f"{place}: {text}")
        # A browser that connects again repeats the address.
        end = self.server.get("/about")["cursor"]
        again = self.ask("GET", at("/changes", last=20), headers={"Last-Event-ID": end}, token=self.ann)
        self.assertEqual(again.json()["changes"], [])

    @unittest.skipUnless(POSTGRES, "in a file, every write waits for the one before")
    def test_what_is_hidden_is_neither_locked_nor_waited_for(self):
        self.add(self.ann)
        own = self.add(self.ann)["id"]
        self.ask("PUT", "/users/-7", {"name": "bob's"}, {"If-None-Match": "*"}, token=self.bob)
        self.server.patch(own, hidden="x")
        limited = self.token("--write", str(own), "--readable", "name,age", subject="cleo")
        with Writer(self.server.database) as writer:
            writer.run("BEGIN")
            writer.run("UPDATE users SET name = 'b' WHERE id = -7")
            writer.run("UPDATE attributes SET text = 'y' WHERE user_id = ? AND name = 'hidden'", (own,))
            refused = self.push(self.ann, {"op": "set", "user": own, "attribute": "age", "value": 1},
                                {"op": "set", "user": -7, "attribute": "age", "value": 1})
            self.assertEqual(refused["result"], "forbidden")
            taken = self.push(self.ann, {"op": "add", "user": -7, "name": "x"}, number=2)
            self.assertEqual(taken["result"], "userExists")
            for body, path in (({"set": {"age": 1}}, "/users/-7"), ({"event": "e", "user": -7}, "/events")):
                answer = self.ask("PATCH" if "set" in body else "POST", path, body, {"Idempotency-Key": "1"}, token=self.ann)
                self.assertProblem(answer, 404, "userNotFound")
            self.assertEqual(self.ask("PATCH", f"/users/{own}", {"set": {"age": 2}}, token=limited).status, 200)
            self.assertEqual(self.ask("PATCH", f"/users/{own}", {"set": {"age": 3}}, {"If-Match": '"1"'}, token=limited).status, 412)
            # Nor does the refused set keep anything that the other program writes.
            writer.run("UPDATE users SET name = 'c' WHERE id = ?", (own,))
            writer.run("COMMIT")

    @on_files
    def test_after_a_purge_the_former_owner_does_not_see_who_has_the_id(self):
        put = lambda token, name: self.ask("PUT", "/users/-7", {"name": name}, {"If-None-Match": "*"}, token=token)
        self.assertEqual(put(self.ann, "ann's").status, 201)
        cursor = self.server.get("/about")["cursor"]
        self.ask("PATCH", "/users/-7", {"set": {"secret": "ann's"}}, token=self.ann)
        self.ask("DELETE", "/users/-7", None, {"If-Match": "*"}, token=self.ann)
        # From then on, it is known that she owned it there.
        self.assertIn("ann's", str(self.changes(self.ann, after=cursor)))
        usertool("purge", "--yes", "id:-7", database=self.server.database)
        self.assertEqual(put(self.bob, "BOB'S").status, 201)
        self.ask("PATCH", "/users/-7", {"set": {"secret": "BOB'S"}}, token=self.bob)
        self.assertNotIn("BOB", str(self.changes(self.ann, after=cursor)).upper().replace("ANN'S", ""))
        self.assertNotIn("BOB", str(self.sync("/sync/changes", self.ann, after=cursor)).upper())

    @on_files
    def test_a_replica_of_an_owner_copies_again_after_a_set_in_parts(self):
        keys = {f"k{number:04}": "BOB'S" for number in range(1_200)}
        self.assertEqual(self.ask("PUT", "/users/-8", {"name": "x", **keys}, {"If-None-Match": "*"}, token=self.bob).status, 201)
        cursor = self.ask("GET", "/sync", token=self.ann).json()["cursor"]
        with Writer(self.server.database) as writer:
            for statement in ("BEGIN", "DELETE FROM users WHERE id = -8", "INSERT INTO users (id, name) VALUES (-8, 'x')",
                              "INSERT INTO attributes VALUES (-8, 'owner_subject', 'ann')", "COMMIT"):
                writer.run(statement)
        answer = self.ask("GET", at("/sync/changes", after=cursor), headers={"Accept": "application/jsonl"}, token=self.ann)
        self.assertProblem(answer, 409, "diverged")
        self.assertNotIn("BOB'S", str(self.changes(self.ann, after=cursor)))
        self.assertEqual([line["id"] for line in self.sync("/sync/users", self.ann, **{"from": self.server.get("/about")["cursor"]}) if "id" in line], [-8])

    def test_who_reads_a_user_anyway_sees_all_of_its_handover(self):
        token = self.token("--read", "1", "--add")
        start = self.server.get("/about")["cursor"]
        self.server.patch(1, owner_subject="ann", note="x")
        self.assertEqual({change["attribute"] for change in self.changes(token, after=start)}, {"note", "owner_subject"})
        self.sync("/sync/changes", token, after=start)

    def test_lists_of_one_person_leave_memory_to_others(self):
        for number in range(40):
            self.server.add(f"large {number}", text="x" * (900 << 10))
        with contextlib.ExitStack() as streams:
            token = self.token("--read", "all")
            for limit in range(5, 41):
                stream = streams.enter_context(self.server.stream(at("/lists", limit=limit), token=token))
                if stream.status != 200:
                    break
            self.assertEqual(stream.status, 503)
            other = streams.enter_context(self.server.stream(at("/lists", limit=4), token=self.token("--read", "all", subject="bob")))
            self.assertEqual(other.status, 200)

    def test_a_user_does_not_become_too_large_for_others_to_read(self):
        user = self.ask("POST", "/users", {"name": "x"}, token=self.ann).json()["user"]["id"]
        large = "x" * (500 << 10)
        patch = lambda name: self.ask("PATCH", f"/users/{user}", {"set": {name: large}}, token=self.ann)
        self.assertEqual([patch("a").status, patch("b").status], [200, 200])
        self.assertProblem(patch("c"), 413, "tooLarge")
        # A value of the largest size is decided: its push fits in a person's share of the memory.
        large = "x" * (16 << 20)
        result = self.push(self.ann, {"op": "set", "user": user, "attribute": "d", "value": large}, number=self.numbers())
        self.assertEqual(result["result"], "invalid")
        self.assertEqual(sorted(self.server.get(f"/users/{user}")), ["a", "b", "hair_color", "id", "name", "owner_subject"])

    @long
    def test_an_undo_and_texts_that_are_long_in_json_do_not_make_a_user_too_large(self):
        user = self.ask("POST", "/users", {"name": "x"}, token=self.ann).json()["user"]["id"]
        large = "x" * (500 << 10)
        patch = lambda name: self.ask("PATCH", f"/users/{user}", {"set": {name: large}}, token=self.ann)
        self.assertEqual([patch("a").status, patch("b").status], [200, 200])
        emptied = self.ask("PATCH", f"/users/{user}", {"set": {"a": None, "b": None}}, token=self.ann).json()["revision"]
        self.assertEqual([patch("c").status, patch("d").status], [200, 200])
        self.assertProblem(self.ask("POST", f"/changes/{emptied}/undo", token=self.ann), 413, "tooLarge")
        self.ask("PATCH", f"/users/{user}", {"set": {"c": None, "d": None}}, token=self.ann)
        large = "\x7f" * (200 << 10)
        self.assertProblem(self.ask("PATCH", f"/users/{user}", ('{"set":{"e":"' + large + '"}}').encode(), token=self.ann), 413, "tooLarge")


class KeysOfPeople(AccessCase):
    """Requests that are sent again with the same `Idempotency-Key`."""

    KEY = {"Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}

    def answer(self, response):
        return (response.status, response.text, response.headers.get("etag"))

    def test_a_key_belongs_to_a_person(self):
        send = lambda subject, *grants: self.server.request("POST", "/users", {"name": "NIX"}, self.KEY, token=self.token(*grants, subject=subject))
        ann = send("ann", "--add")
        bob = send("bob", "--add")
        self.assertEqual((ann.json()["user"]["id"], bob.json()["user"]["id"]), (1, 2))
        self.assertEqual([self.answer(send("ann", "--add")), self.answer(send("bob", "--add"))], [self.answer(ann), self.answer(bob)])
        # The server's own token is no person.
        self.assertEqual(self.server.request("POST", "/users", {"name": "NIX"}, self.KEY).json()["user"]["id"], 3)

    def test_an_answer_has_only_what_may_be_read_now(self):
        send = lambda *grants: self.server.request("POST", "/users", {"name": "NIX", "age": 1}, self.KEY, token=self.token(*grants))
        first = send("--add")
        self.assertEqual(self.answer(send("--add")), self.answer(first))
        # Handed over to somebody else.
        self.server.patch(1, owner_subject="bob")
        self.assertProblem(send("--add"), 410, "answerForgotten")
        self.server.patch(1, owner_subject=first.json()["user"]["owner_subject"])
        self.assertEqual(self.answer(send("--add")), self.answer(first))
        self.assertProblem(send("--add", "--readable", "name", "--writable", "name,age"), 422, "keyReused")
        self.assertProblem(send("--read", "1"), 403, "forbidden")
        self.assertEqual(self.server.get("/about")["users"], 1)
        removed = [self.server.request("DELETE", "/users/1", None, {"If-Match": "*", "Idempotency-Key": "removal"}, token=self.token("--add"))
                   for _ in range(2)]
        self.assertEqual((removed[0].status, self.answer(removed[1])), (200, self.answer(removed[0])))
        self.assertProblem(send("--add"), 410, "answerForgotten")
        self.assertEqual(self.server.get("/about")["users"], 0)

    def test_a_set_of_a_replica_with_the_identity_of_a_request_neither_runs_nor_tells_the_outcome(self):
        """Who knows another's key can block it, so keys are random."""
        identity = lambda subject, key: int.from_bytes(hashlib.sha256(f"{subject}\0{key}".encode()).digest()[:8], "big", signed=True)
        self.server.add("Ann")
        state = self.server.get("/sync")

        def push(nonce, number, age):
            lines = [{"op": "push", "identity": state["identity"], "subject": "", "producer": "7", "cursor": state["cursor"], "decided": 0},
                     {"op": "set", "user": 1, "attribute": "age", "value": age}, {"op": "end", "number": number, "nonce": str(nonce), "origin": None}]
            response = self.server.request("POST", "/sync/push", "".join(json.dumps(line) + "\n" for line in lines).encode(), JSONL)
            self.assertEqual(response.status, 200, response.text)
            return json.loads(response.text.splitlines()[0])

        self.assertEqual(self.server.request("PATCH", "/users/1", {"set": {"age": 1}}, {"Idempotency-Key": "known"}).status, 200)
        told = push(identity("", "known"), 1, 2)
        self.assertEqual((told["result"], told["detail"] and "request" in told["detail"]), ("expired", False))
        self.assertEqual(push(identity("", "guessed"), 2, 3)["result"], "accepted")
        blocked = self.server.request("PATCH", "/users/1", {"set": {"age": 4}}, {"Idempotency-Key": "guessed"})
        self.assertProblem(blocked, 422, "keyReused")
        self.assertEqual(self.server.get("/users/1")["age"], 3)
