"""Events: posted over HTTP, and delivered in order with the changes; and what the description says of both."""

import jsonschema

from support import Server, TestCase, at, served, sql, usertool

JSON = {"Accept": "application/json"}


class Events(TestCase):
    @served()
    def test_an_event_is_delivered_in_order_with_the_changes(self, server):
        server.add("NIX")
        with server.stream("/changes") as stream:
            stream.wait("hello")
            answer = server.post("invited", user=1, payload='{"by":2}')
            server.patch(1, name="Zoë")
            event = stream.wait("changes")
            [line] = event.data["changes"]
            self.assertSame({**line, "at": None}, {
                "revision": answer["revision"], "cursor": answer["cursor"], "op": "event", "event": "invited", "user": 1,
                "payload": '{"by":2}', "at": None})
            self.assertEqual((event.id, event.data["origin"], event.data["foreign"]), (answer["cursor"], "userserver", False))
            self.assertEqual(stream.wait("changes").data["changes"][0]["new"], "Zoë")
        printed = usertool("log", "--format", "jsonl", database=server.database).splitlines()
        self.assertIn('"event":"invited"', printed[2])

    @served()
    def test_filters_choose_events(self, server):
        server.add("NIX")
        server.add("Zoë")
        server.post("invited", user=1)
        server.post("restarted", payload=1.0)
        server.patch(1, age=1)
        page = lambda **filters: [line.get("event", line["op"]) for line in server.get(at("/changes", after="oldest", **filters), headers=JSON)["changes"]]
        self.assertEqual(page(op="event"), ["invited", "restarted"])
        self.assertEqual(page(user="1"), ["insert", "insert", "invited", "update"])
        self.assertEqual(page(user="2"), ["insert", "insert"])
        self.assertEqual(page(attribute="age"), ["update"])

    @served()
    def test_events_of_other_programs_are_delivered(self, server):
        server.add("NIX")
        with server.stream("/changes") as stream:
            stream.wait("hello")
            sql(server.database, "INSERT INTO changes (op, user, old, new) VALUES (6, 1, 'invited', x'00')",
                postgres="SELECT userstore.post('invited', about => 1)")
            self.assertEqual(stream.wait("changes").data["changes"][0]["event"], "invited")

    @served()
    def test_bad_events_are_refused_and_nothing_is_posted(self, server):
        server.add("NIX")
        end = server.get("/about")["cursor"]
        for body, status, text in (({}, 400, "event"), ({"event": 7}, 400, "event"), ({"event": None}, 400, "event"),
                                   ({"event": ""}, 400, "empty"), ({"event": "a\nb"}, 400, "control"), ({"event": "x" * 201}, 400, "200"),
                                   ({"event": "x", "user": "1"}, 400, "user"), ({"event": "x", "user": 99}, 404, "99"),
                                   ({"event": "x", "other": 1}, 400, "other"), ({"event": "x", "payload": {"by": 2}}, 400, "data"),
                                   ({"event": "x", "payload": [1]}, 400, "list"), ([], 400, "object"), ("x", 400, "object")):
            response = server.request("POST", "/events", body)
            self.assertEqual(response.status, status, (body, response.body))
            self.assertIn(text, response.json()["detail"], body)
        twice = server.request("POST", "/events", b'{"event":"x","event":"y"}')
        self.assertEqual((twice.status, "twice" in twice.json()["detail"]), (400, True), twice.body)
        self.assertEqual(server.get("/about")["cursor"], end)

    @served()
    def test_a_server_that_only_reads_refuses_them(self, server):
        with Server("--read-only", database=server.database) as reader:
            self.assertProblem(reader.request("POST", "/events", {"event": "x"}), 403, "readOnly")

    @served()
    def test_the_description_describes_them_and_the_changes(self, server):
        server.add("NIX", age=1.0, data={"base64": "AP8="})
        server.post("invited", user=1, payload={"base64": "AP8="})
        answer = server.post("restarted")
        server.write("DELETE", "/users/1", headers={"If-Match": "*"})
        usertool("purge", "1", "--yes", database=server.database)
        # The note of the purge is in no event, but the page's cursor is after it.
        server.post("last")
        description = server.request("GET", "/openapi.json").json()
        def check(value, name):
            schema = {"$ref": f"#/components/schemas/{name}"}
            resolver = jsonschema.RefResolver("", description)
            errors = list(jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(value))
            self.assertEqual(errors, [], name)
        check(answer, "Posted")
        page = server.get(at("/changes", after="oldest"), headers=JSON)
        self.assertGreater(len(page["changes"]), 7)
        check(page, "ChangePage")
        with server.stream(at("/changes", after="oldest")) as stream:
            check(stream.wait("hello").data, "HelloEvent")
            while (event := stream.wait("changes")).id != page["cursor"]:
                check(event.data, "ChangesEvent")
            check(event.data, "ChangesEvent")
