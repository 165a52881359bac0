"""Users: reading, adding, replacing, changing and removing them, and the conditions of a write."""

import subprocess

from support import DEADLINE, TestCase, USERTOOL, at, eventually, served, sql, usertool


class ServerFacts(TestCase):
    @served()
    def test_about_names_the_store_and_the_end_of_the_log(self, server):
        about = server.get("/about")
        self.assertEqual(
            list(about), ["store", "path", "revision", "cursor", "users", "version", "readOnly", "heartbeat", "streams", "replica"])
        self.assertIsNone(about["replica"])
        self.assertRegex(about["store"], "^[0-9a-f]+$")
        self.assertEqual(about["path"], server.database)
        self.assertEqual(about["cursor"].split("-")[1], about["store"])
        self.assertSame([about["revision"], about["users"], about["readOnly"], about["heartbeat"], about["streams"]],
                        [0, 0, False, 15, 0])
        written = server.add()
        about = server.get("/about")
        self.assertEqual((about["revision"], about["users"], about["cursor"]), (written["revision"], 1, written["cursor"]))

    @served()
    def test_about_counts_open_streams(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            self.assertEqual(server.get("/about")["streams"], 1)
        eventually(lambda: server.get("/about")["streams"] == 0, "the stream is counted although its client has left")

    @served()
    def test_health_and_the_api_description_need_no_token(self, server):
        self.assertEqual(server.request("GET", "/health", token=False).text, '{"status":"ok"}')
        description = server.request("GET", "/openapi.json", token=False)
        self.assertEqual((description.status, description.headers["content-type"]), (200, "application/json"))
        self.assertTrue(description.json()["openapi"].startswith("3.1"))
        self.assertEqual(description.json()["info"]["version"], server.get("/about")["version"])

    @served()
    def test_consumers_have_a_position_and_a_lag(self, server):
        self.assertEqual(server.get("/consumers"), {"consumers": []})
        server.add()
        watch = subprocess.Popen([USERTOOL, "watch", "--consumer", "mirror", "--db", server.database], stdout=subprocess.DEVNULL)
        eventually(lambda: server.get("/consumers")["consumers"], "the consumer has no position")
        watch.terminate()
        watch.wait(DEADLINE)
        behind = server.patch(1, age=1, room=2)
        [consumer] = server.get("/consumers")["consumers"]
        self.assertEqual(list(consumer), ["name", "revision", "cursor", "lag", "at"])
        self.assertEqual(consumer["name"], "mirror")
        self.assertEqual(consumer["lag"], 2)
        self.assertLess(consumer["revision"], behind["revision"])
        [(moment,)] = sql(server.database, "SELECT at FROM consumers",
                          postgres="SELECT milliseconds(date_trunc('milliseconds', at)) FROM consumers")
        self.assertEqual(consumer["at"][-5:], f".{moment % 1000:03}Z")
        after = server.get(at("/changes", after=consumer["cursor"]), headers={"Accept": "application/json"})
        self.assertEqual([change["attribute"] for change in after["changes"]], ["age", "room"])


class Adding(TestCase):
    @served()
    def test_a_write_answers_with_the_user_its_revision_and_its_cursor(self, server):
        response = server.request("POST", "/users", {"name": "NIX", "hair_color": "auburn", "age": 41})
        self.assertEqual(response.status, 201, response)
        self.assertEqual(response.headers["location"], "/users/1")
        self.assertRegex(response.headers["etag"], '^"[^"]+"$')
        answer = response.json()
        self.assertEqual(list(answer), ["user", "revision", "cursor"])
        self.assertEqual(
            response.text.split(',"revision"')[0], '{"user":{"id":1,"name":"NIX","hair_color":"#a52a2a","age":41}')
        [(revision,)] = sql(server.database, "SELECT max(seq) FROM changes", postgres="SELECT max(last) FROM commits")
        self.assertEqual(answer["revision"], revision)
        self.assertEqual(answer["cursor"], server.get("/about")["cursor"])

    @served()
    def test_attributes_are_in_the_order_of_their_names_after_the_name_and_the_color(self, server):
        server.add("NIX", z=1, **{"Ö": 2, "a b": 3, 'quote"d': 4, "back\\slash": 5, "😀": 6, "__proto__": 7})
        user = server.request("GET", "/users/1").text
        self.assertEqual(
            user, '{"id":1,"name":"NIX","hair_color":null,"__proto__":7,"a b":3,"back\\\\slash":5,"quote\\"d":4,"z":1,"Ö":2,"😀":6}')

    @served()
    def test_a_user_without_a_name_or_with_a_bad_one_is_refused(self, server):
        for body in ({}, {"age": 1}, {"name": ""}, {"name": None}, {"name": 7}, {"name": "a\u0000b"}, {"name": "a\nb"},
                     {"name": "x" * 1001}, {"name": {"base64": "AA=="}}, {"id": 7, "name": "NIX"}):
            self.assertProblem(server.request("POST", "/users", body), 400)
        self.assertEqual(server.get("/about")["revision"], 0)
        server.add("x" * 1000)

    @served()
    def test_an_unknown_color_is_refused_with_a_suggestion(self, server):
        problem = self.assertProblem(server.request("POST", "/users", {"name": "NIX", "hair_color": "aubrn"}), 400)
        self.assertIn("auburn", problem["detail"] + problem.get("hint", ""))
        server.add("NIX", hair_color="AUBURN")
        problem = self.assertProblem(server.request("PATCH", "/users/1", {"set": {"hair_color": "#12345"}}), 400)
        self.assertIn("rrggbb", problem["detail"] + problem.get("hint", ""))
        self.assertEqual(server.get("/users/1")["hair_color"], "#a52a2a")

    @served()
    def test_the_origin_of_a_write_is_the_servers_or_that_of_the_header(self, server):
        with server.follow(server.get("/about")["cursor"]) as stream:
            server.add()
            server.write("PATCH", "/users/1", {"set": {"age": 1}}, {"Change-Origin": "mirror"})
            revision = server.write("DELETE", "/users/1", headers={"If-Match": "*"})["revision"]
            server.write("POST", f"/changes/{revision}/undo")
            self.assertEqual([stream.set().data["origin"] for _ in range(4)], ["userserver", "mirror", "userserver", "undo"])


class Reading(TestCase):
    @served()
    def test_a_user_that_does_not_exist_is_404(self, server):
        for identifier in ("1", "-1", "9223372036854775807"):
            self.assertProblem(server.request("GET", f"/users/{identifier}"), 404, "userNotFound")
        for identifier in ("abc", "1.0", "9223372036854775808", "1e0", "%31%30", ""):
            self.assertIn(server.request("GET", f"/users/{identifier}").status, (400, 404), identifier)

    @served()
    def test_the_etag_stands_for_exact_values(self, server):
        server.add(age=1)

        def tag():
            return server.request("GET", "/users/1").headers["etag"]

        first = tag()
        tags = {first}
        for value in (1.0, "1", {"base64": "MQ=="}, None):
            server.patch(1, age=value)
            tags.add(tag())
        self.assertEqual(len(tags), 5)
        patched = server.request("PATCH", "/users/1", {"set": {"age": 1}})
        self.assertEqual(patched.headers["etag"], first)
        usertool("compact", "--keep", "0", database=server.database)
        self.assertEqual(tag(), first)

    @served()
    def test_a_current_copy_is_304_without_a_body(self, server):
        server.add()
        tag = server.request("GET", "/users/1").headers["etag"]
        for condition in (tag, f'"other", {tag}', "*", f"W/{tag}"):
            response = server.request("GET", "/users/1", headers={"If-None-Match": condition})
            self.assertEqual((response.status, response.body, response.headers.get("etag")), (304, b"", tag), condition)
        self.assertEqual(server.request("GET", "/users/1", headers={"If-None-Match": '"other"'}).status, 200)

    @served()
    def test_a_foreign_writers_sql_is_visible_at_once(self, server):
        for number in range(20):
            sql(server.database, "INSERT INTO users (name) VALUES (?)", (f"user {number}",))
            self.assertEqual(server.get("/users")["users"][-1]["name"], f"user {number}")


class Replacing(TestCase):
    @served()
    def test_a_replacement_needs_a_condition(self, server):
        server.add()
        self.assertProblem(server.request("PUT", "/users/1", {"name": "Zoë"}), 428, "preconditionRequired")
        self.assertProblem(server.request("DELETE", "/users/1"), 428, "preconditionRequired")
        self.assertProblem(
            server.request("PUT", "/users/1", {"name": "Zoë"}, {"If-Match": '"other"'}), 412, "preconditionFailed")
        self.assertProblem(server.request("DELETE", "/users/1", headers={"If-Match": '"other"'}), 412, "preconditionFailed")
        self.assertProblem(server.request("GET", "/users/1", headers={"If-Match": '"other"'}), 412, "preconditionFailed")
        self.assertEqual(server.get("/users/1")["name"], "NIX")

    @served()
    def test_a_replacement_is_the_whole_record(self, server):
        tag = f'"other", {server.request("POST", "/users", {"name": "NIX", "age": 41, "room": 7}).headers["etag"]}'
        response = server.request("PUT", "/users/1", {"id": 1, "name": "Zoë", "age": 42}, {"If-Match": tag})
        self.assertEqual(response.status, 200, response)
        self.assertSame(response.json()["user"], {"id": 1, "name": "Zoë", "hair_color": None, "age": 42})
        self.assertSame(server.get("/users/1"), response.json()["user"])
        self.assertEqual(response.headers["etag"], server.request("GET", "/users/1").headers["etag"])
        self.assertEqual(server.request("PUT", "/users/1", {"name": "Chloe"}, {"If-Match": tag}).status, 412)
        self.assertEqual(server.request("PUT", "/users/1", {"id": 2, "name": "Chloe"}, {"If-Match": "*"}).status, 400)
        self.assertSame(server.write("PUT", "/users/1", {"name": "Chloe"}, {"If-Match": "*"})["user"],
                        {"id": 1, "name": "Chloe", "hair_color": None})

    @served()
    def test_a_tag_that_has_lost_its_quotes_is_a_bad_request(self, server):
        tag = server.request("POST", "/users", {"name": "NIX"}).headers["etag"]
        for method, body in (("PUT", {"name": "Zoë"}), ("PATCH", {"set": {"name": "Zoë"}}), ("DELETE", None)):
            for bare in (tag.strip('"'), "W/" + tag.strip('"'), ""):
                response = server.request(method, "/users/1", body, {"If-Match": bare})
                problem = self.assertProblem(response, 400, "badRequest", parameter="If-Match")
                self.assertIn("quotes", problem["hint"])
        self.assertEqual(server.get("/users/1")["name"], "NIX")

    @served()
    def test_a_list_of_tags_is_read_as_the_standard_says(self, server):
        tag = server.request("POST", "/users", {"name": "NIX"}).headers["etag"]
        patch = lambda tags: server.request("PATCH", "/users/1", {"set": {"name": "NIX"}}, {"If-Match": tags})
        # No list of tags, although a part of it is one: nothing may be written.
        for tags in (f"{tag}, *", f"*, {tag}", "*, *", f"{tag} {tag}", f"{tag}x", f"x{tag}", f"{tag}; q=1", '"', f'{tag}, "x', "w/" + tag,
                     f"W/ {tag}", ",", "**"):
            for method, body in (("PUT", {"name": "Zoë"}), ("PATCH", {"set": {"name": "Zoë"}}), ("DELETE", None)):
                self.assertProblem(server.request(method, "/users/1", body, {"If-Match": tags}), 400, "badRequest", parameter="If-Match")
            self.assertProblem(server.request("GET", "/users/1", headers={"If-None-Match": tags}), 400, "badRequest")
        for tags in (f'"x","y",{tag}', f'"x"\t,\t{tag}', f'"x, *", {tag}', f",,{tag},", f'W/"x", {tag}', f'"", {tag}'):
            self.assertEqual(patch(tags).status, 200, tags)
            self.assertEqual(server.request("GET", "/users/1", headers={"If-None-Match": tags}).status, 304, tags)
        for tags in (f'"x, {tag[1:]}', '"*"', '"x, *"', f"W/{tag}"):
            self.assertEqual(patch(tags).status, 412, tags)
        self.assertEqual(server.get("/users/1")["name"], "NIX")

    @served()
    def test_a_condition_that_a_request_cannot_have_is_refused(self, server):
        revision = server.add()["revision"]
        tag = server.request("GET", "/users/1").headers["etag"]
        match, none = {"If-Match": tag}, {"If-None-Match": "*"}
        for method, path, body, headers in (
                ("PUT", "/users/1", {"name": "Zoë"}, {**match, **none}), ("PUT", "/users/2", {"name": "Zoë"}, {**match, **none}),
                ("POST", "/users", {"name": "Zoë"}, match), ("POST", "/users", {"name": "Zoë"}, none),
                ("PATCH", "/users/1", {"set": {"name": "Zoë"}}, none), ("PATCH", "/users/1", {"set": {"name": "Zoë"}}, {**match, **none}),
                ("DELETE", "/users/1", None, none), ("DELETE", "/users/1", None, {**match, **none}),
                ("POST", f"/changes/{revision}/undo", None, match), ("POST", f"/changes/{revision}/undo", None, none)):
            self.assertProblem(server.request(method, path, body, headers), 400, "badRequest")
        self.assertEqual((server.get("/about")["revision"], server.get("/users/1")["name"]), (revision, "NIX"))

    @served()
    def test_a_weak_tag_does_not_allow_a_write(self, server):
        tag = server.request("POST", "/users", {"name": "NIX"}).headers["etag"]
        response = server.request("DELETE", "/users/1", headers={"If-Match": f"W/{tag}"})
        self.assertProblem(response, 412, "preconditionFailed")
        self.assertIn("weak", response.json()["detail"])

    @served()
    def test_a_repeated_creation_with_an_id_adds_one_user(self, server):
        body, once = {"name": "NIX", "age": 41}, {"If-None-Match": "*"}
        created = server.request("PUT", "/users/77", body, once)
        self.assertEqual((created.status, created.headers["location"]), (201, "/users/77"))
        self.assertProblem(server.request("PUT", "/users/77", body, once), 412, "preconditionFailed")
        self.assertEqual(len(server.get("/users")["users"]), 1)
        for identifier in (0, -5, 2**62):
            self.assertEqual(server.request("PUT", f"/users/{identifier}", body, once).status, 201, identifier)
        self.assertProblem(server.request("PUT", f"/users/{2**62 + 1}", body, once), 400, "badValue")
        self.assertEqual(server.request("PUT", "/users/78", body, {"If-Match": "*"}).status in (404, 412), True)

    @served()
    def test_a_negative_id_is_an_id_everywhere(self, server):
        # Users that are added on a replica have one.
        least = -2**62
        for identifier in (-5, least):
            created = server.request("PUT", f"/users/{identifier}", {"name": "NIX", "age": 41}, {"If-None-Match": "*"})
            self.assertEqual((created.status, created.headers["location"]), (201, f"/users/{identifier}"))
            self.assertEqual(server.get(f"/users/{identifier}")["name"], "NIX")
            self.assertEqual(server.patch(identifier, name="Zoë")["user"]["id"], identifier)
            undone = server.write("POST", f"/changes/{server.get('/about')['revision']}/undo")
            self.assertEqual(server.get(f"/users/{identifier}")["name"], "NIX", undone)
            server.post("seen", user=identifier)
            changes = server.get(at("/changes", user=identifier, after="oldest"), headers={"Accept": "application/json"})["changes"]
            self.assertEqual({change["user"] for change in changes}, {identifier})
        listed = server.get(at("/users", where="id<0"))["users"]
        self.assertEqual([user["id"] for user in listed], [least, -5])
        first = server.get(at("/users", limit=1))
        self.assertEqual([user["id"] for user in first["users"]], [least])
        self.assertEqual([user["id"] for user in server.get(at("/users", after=first["next"]))["users"]], [-5])
        server.write("DELETE", "/users/-5", headers={"If-Match": "*"})
        self.assertProblem(server.request("GET", "/users/-5"), 404, "userNotFound")

    @served()
    def test_a_removed_user_is_gone(self, server):
        tag = server.request("POST", "/users", {"name": "NIX"}).headers["etag"]
        removed = server.write("DELETE", "/users/1", headers={"If-Match": tag})
        self.assertEqual(list(removed), ["revision", "cursor"])
        self.assertEqual(removed["cursor"], server.get("/about")["cursor"])
        self.assertProblem(server.request("GET", "/users/1"), 404, "userNotFound")
        self.assertIn(server.request("DELETE", "/users/1", headers={"If-Match": tag}).status, (404, 412))


class Changing(TestCase):
    @served()
    def test_a_patch_sets_and_unsets_attributes(self, server):
        server.add("NIX", age=41, room=7)
        answer = server.write("PATCH", "/users/1", {"set": {"name": "Zoë", "age": None, "team": "x"}})
        self.assertSame(answer["user"], {"id": 1, "name": "Zoë", "hair_color": None, "room": 7, "team": "x"})
        self.assertNotIn("unchanged", answer)
        self.assertEqual(answer["cursor"], server.get("/about")["cursor"])

    @served()
    def test_a_patch_that_changes_nothing_says_so_with_the_current_end(self, server):
        server.add("NIX", age=41)
        end = server.add("Zoë")
        answer = server.write("PATCH", "/users/1", {"set": {"age": 41, "room": None}})
        self.assertIs(answer["unchanged"], True)
        self.assertEqual((answer["revision"], answer["cursor"]), (end["revision"], end["cursor"]))
        self.assertEqual(server.get("/about")["cursor"], end["cursor"])

    @served()
    def test_a_conflict_shows_the_current_values_and_changes_nothing(self, server):
        server.add("Zoë", age=41)
        before = server.request("GET", "/users/1")
        for expected, current in (({"name": "NIX"}, {"name": "Zoë"}), ({"age": 41.0}, {"age": 41}), ({"age": "41"}, {"age": 41}),
                                  ({"age": None}, {"age": 41}), ({"room": 7, "name": "Zoë"}, {"room": None, "name": "Zoë"}),
                                  ({"hair_color": "red"}, {"hair_color": None})):
            response = server.request("PATCH", "/users/1", {"set": {"room": 8}, "expect": expected})
            self.assertSame(self.assertProblem(response, 409, "conflict")["current"], current)
        self.assertEqual(server.request("GET", "/users/1").body, before.body)
        answer = server.write(
            "PATCH", "/users/1", {"set": {"room": 8}, "expect": {"name": "Zoë", "age": 41, "room": None, "hair_color": None}})
        self.assertSame(answer["user"]["room"], 8)

    @served()
    def test_edits_of_two_attributes_do_not_conflict(self, server):
        server.add("NIX", hair_color="red")
        server.write("PATCH", "/users/1", {"set": {"name": "Zoë"}, "expect": {"name": "NIX"}})
        answer = server.write("PATCH", "/users/1", {"set": {"hair_color": "blue"}, "expect": {"hair_color": "#ff0000"}})
        self.assertSame(answer["user"], {"id": 1, "name": "Zoë", "hair_color": "#0000ff"})

    @served()
    def test_a_patch_can_require_an_etag(self, server):
        tag = server.request("POST", "/users", {"name": "NIX"}).headers["etag"]
        response = server.request("PATCH", "/users/1", {"set": {"age": 1}}, {"If-Match": tag})
        self.assertEqual(response.status, 200, response)
        self.assertNotEqual(response.headers["etag"], tag)
        self.assertProblem(
            server.request("PATCH", "/users/1", {"set": {"age": 2}}, {"If-Match": tag}), 412, "preconditionFailed")
        self.assertSame(server.get("/users/1")["age"], 1)

    @served()
    def test_a_bad_patch_is_refused(self, server):
        server.add()
        for change in ({"set": {"name": None}}, {"set": {"name": ""}}, {"set": {"id": 2}}, {"set": {"": 1}}, {"set": [1]},
                       {"set": {"x" * 201: 1}}, {"set": {"a\u0085": 1}}, {"age": 1}, [], 7, "text", None):
            self.assertProblem(server.request("PATCH", "/users/1", change if change is not None else "null"), 400)
        self.assertProblem(server.request("PATCH", "/users/2", {"set": {"age": 1}}), 404, "userNotFound")
        self.assertEqual(server.get("/about")["revision"], 3)
