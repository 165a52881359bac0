"""The query language of GET /users, compared with `usertool list`, and the messages for its mistakes."""

import json

from support import TestCase, at, parse, served, sql, usertool

USERS = [
    {"name": "NIX", "hair_color": "auburn", "age": 41, "room": "007"},
    {"name": "Zoë", "age": 17},
    {"name": "Zoe", "hair_color": "silver", "age": 18.0, "room": 7},
    {"name": "Ada", "age": "18", "team": "x"},
    {"name": "Bob", "hair_color": "red", "age": 9007199254740993, "team": ""},
    {"name": "Eve", "age": -1.5, "data": {"base64": "AP8="}},
    {"name": "O'Neil & Söhne+1=2", "größe": 1.8},
    {"name": "😀", "age": 1e999},
]


def fill(server):
    for user in USERS:
        server.write("POST", "/users", user)


class Queries(TestCase):
    @served()
    def test_each_query_finds_what_usertool_finds(self, server):
        fill(server)
        for options in (
            [], [("where", "age>=18")], [("where", "age>=18"), ("where", "age<42")], [("where", "age=18.0")],
            [("where", "age:=18")], [("where", "age!=41")], [("where", "age<0")], [("where", "age=9007199254740993")],
            [("where", "name^=Zo")], [("where", "name*=o")], [("where", "name~=zOË")], [("where", "name=O'Neil & Söhne+1=2")], [("where", "name>Z")],
            [("where", "room:>=007")], [("where", "room=007")], [("where", "team:=")], [("where", "größe>1")],
            [("where", "hair_color=auburn")], [("where", "hair_color=#C0C0C0")], [("where", "id>=3")], [("where", "name=😀")],
            [("where", 'data={"base64":"AP8="}')], [("with", "age")], [("without", "age")], [("with", "age"), ("without", "room")],
            [("with", "größe")], [("sort", "age")], [("sort", "age:desc")], [("sort", "name:desc"), ("limit", "3")],
            [("sort", "room"), ("sort", "age:desc")], [("where", "age>=18"), ("sort", "hair_color"), ("limit", "2")],
            [("where", "nobody=1")], [("sort", "id:desc")],
        ):
            arguments = [word for name, value in options for word in ("--" + name, value)]
            lines = usertool("list", "--format", "jsonl", *arguments, database=server.database).splitlines()
            page = server.get(at("/users", *options))
            self.assertSame(page["users"], [parse(line) for line in lines], options)
            self.assertEqual(page["cursor"], server.get("/about")["cursor"])
            self.assertNotIn("count", page)

    @served()
    def test_a_condition_need_not_be_percent_encoded(self, server):
        fill(server)
        self.assertSame(server.get("/users?where=age>=18&sort=name"), server.get("/users?where=age%3E%3D18&sort=name"))

    @served()
    def test_the_pages_of_a_list_have_each_user_once_in_order(self, server):
        lines = "".join(json.dumps({"name": f"u{n % 7}", "age": n % 5, **({"x": 1} if n % 3 else {})}) + "\n" for n in range(100))
        usertool("import", "-", database=server.database, input=lines)
        for order in ([], [("sort", "age")], [("sort", "age:desc"), ("sort", "name")], [("sort", "x"), ("sort", "age:desc")]):
            whole = server.get(at("/users", *order, limit=1000))
            self.assertEqual((len(whole["users"]), whole["next"]), (100, None))
            found, place, pages, places = [], None, 0, [None, None]
            while True:
                page = server.get(at("/users", *order, limit=7, count="true", previous="true", **({"after": place} if place else {})))
                self.assertEqual((page["count"], page["before"], page["previous"]), (100, len(found), places[-2]))
                found += page["users"]
                places.append(page["next"])
                pages += 1
                place = page["next"]
                if place is None:
                    break
                self.assertEqual(len(page["users"]), 7)
            self.assertSame(found, whole["users"], order)
            self.assertEqual(pages, 15)

    @served()
    def test_a_page_knows_what_is_before_it_whatever_the_values_are(self, server):
        values = [None, 1, 1.0, 2, -1.5, 1e999, "", "1", "a", "é", {"base64": ""}, {"base64": "AP8="}]
        for number in range(60):
            server.write("POST", "/users", {"name": "abc"[number % 3], "x": values[number % len(values)], "y": values[number % 5]})
        for order in ([], ["x"], ["x:desc"], ["y:desc", "x"], ["name", "x:desc", "y"], ["id:desc"], ["name:desc", "id"]):
            options = [("where", "name>=b"), *(("sort", key) for key in order)]
            whole, place, before = server.get(at("/users", *options, limit=1000))["users"], None, 0
            while before < 40:
                page = server.get(at("/users", *options, limit=1, count="true", **({"after": place} if place else {})))
                self.assertSame((page["before"], page["count"], page["users"]), (before, 40, whole[before:before + 1]), (order, before))
                place, before = page["next"], before + 1

    @served()
    def test_the_previous_page_ends_where_a_page_starts(self, server):
        for name in "abcdefgh":
            server.add(name)
        names = lambda page: "".join(user["name"] for user in page["users"])
        third = server.get("/users?limit=3&after=6&count=true&previous=true")
        self.assertEqual((names(third), third["before"], third["previous"]), ("gh", 6, "3"))
        server.write("PUT", "/users/-1", {"name": "z"}, headers={"If-None-Match": "*"})
        server.write("DELETE", "/users/6", headers={"If-Match": "*"})
        server.write("DELETE", "/users/7", headers={"If-Match": "*"})
        third = server.get("/users?limit=3&after=6&count=true&previous=true")
        self.assertEqual((names(third), third["before"], third["count"]), ("h", 6, 7))
        second = server.get(f"/users?limit=3&after={third['previous']}&previous=true")
        self.assertEqual((names(second), second["previous"]), ("cde", None), "before them is only the first page")
        self.assertNotIn("before", second)
        first = server.get("/users?limit=3&previous=true&count=true")
        self.assertEqual((names(first), first["before"], first["previous"]), ("zab", 0, None))

    @served()
    def test_a_text_is_found_in_upper_and_lower_case(self, server):
        for name in ("Zoë", "ZOË", "zoe", "Straße", "Özgür", "İı", "50%_"):
            server.add(name)
        names = lambda part: [user["name"] for user in server.get(at("/users", where=f"name~={part}"))["users"]]
        for part, found in (("zoë", ["Zoë", "ZOË"]), ("OE", ["zoe"]), ("SS", []), ("ßE", ["Straße"]), ("öZGÜ", ["Özgür"]), ("i", ["İı"]), ("%_", ["50%_"])):
            self.assertEqual(names(part), found, part)
        self.assertProblem(server.request("GET", at("/users", where="name~=" + "x" * 201)), 400)

    @served()
    def test_a_page_continues_after_a_user_that_was_removed_meanwhile(self, server):
        for name in "abcd":
            server.add(name)
        page = server.get(at("/users", sort="name", limit=2))
        server.write("DELETE", "/users/2", headers={"If-Match": "*"})
        rest = server.get(at("/users", sort="name", limit=2, after=page["next"]))
        self.assertEqual([user["name"] for user in rest["users"]], ["c", "d"])
        self.assertIsNone(rest["next"])

    @served()
    def test_a_list_has_100_users_unless_the_limit_says_otherwise(self, server):
        lines = "".join(f'{{"name":"u{n}"}}\n' for n in range(1001))
        usertool("import", "-", database=server.database, input=lines)
        self.assertEqual(len(server.get("/users")["users"]), 100)
        page = server.get("/users?limit=1000")
        self.assertEqual(len(page["users"]), 1000)
        self.assertEqual(len(server.get(at("/users", limit=1000, after=page["next"]))["users"]), 1)

    @served()
    def test_a_page_ends_early_at_16_mib_and_continues(self, server):
        for number in range(4):
            server.add(f"u{number}")
        sql(server.database, "INSERT INTO attributes SELECT id, 'text', hex(zeroblob(3 << 20)) FROM users",
            postgres="INSERT INTO attributes (user_id, name, text) SELECT id, 'text', repeat('00', 3 << 20) FROM users")
        found, place = [], {}
        while place is not None:
            page = server.get(at("/users", **place), within=60)
            self.assertLess(len(page["users"]), 4)
            self.assertTrue(page["users"])
            found += [user["name"] for user in page["users"]]
            place = {"after": page["next"]} if page["next"] is not None else None
        self.assertEqual(found, ["u0", "u1", "u2", "u3"])

    @served()
    def test_pages_sorted_by_long_values_continue_or_are_refused(self, server):
        # The place of the next page has the value, and must fit into the address of a request.
        for length in (1000, 15_000, 60_000):
            for number in range(3):
                server.add(f"u{number}", **{f"bio{length}": f"{number}" + "é" * length})
            order = {"with": f"bio{length}", "sort": f"bio{length}"}
            response = server.request("GET", at("/users", limit=1, **order))
            with self.subTest(length=length):
                if response.status != 200:
                    self.assertProblem(response, 400, parameter="sort")
                    continue
                self.assertIsNotNone(response.json()["next"], "the first of three pages looks like the last one")
                rest = server.request("GET", at("/users", limit=2, after=response.json()["next"], **order))
                self.assertEqual(rest.status, 200, rest.body[:200])
                self.assertEqual([user["name"] for user in rest.json()["users"]], ["u1", "u2"])


class Mistakes(TestCase):
    @served()
    def test_a_mistake_in_a_condition_has_a_position_and_a_hint(self, server):
        for text, start, length, hint in (
            ("age>>18", 3, 2, "age>18"), ("age==18", 3, 2, "age=18"), ("größe=>18", 5, 2, "größe>=18"), ("😀>>1", 1, 2, "😀>1"),
            ("e\u0301>>1", 2, 2, "e\u0301>1"), ("age ≥ 18", 4, 1, "age>=18"), ("age >> 18", 4, 2, "age>18"), ("18<age<30", 6, 1, "age<30"),
            ("age!>1", 3, 2, "age<=1"), (">=18", 0, None, None),
        ):
            problem = self.assertProblem(server.request("GET", at("/users", where=text)), 400, parameter="where")
            self.assertEqual((problem["text"], problem["start"]), (text, start))
            self.assertIsInstance(problem["length"], int)
            if length:
                self.assertEqual(problem["length"], length, problem)
            self.assertTrue(problem["hint"])
            if hint:
                self.assertIn(hint, problem["hint"])
            self.assertNotIn("--where", problem["detail"] + problem["hint"])

    @served()
    def test_a_mistake_in_the_second_condition_is_found(self, server):
        problem = self.assertProblem(
            server.request("GET", at("/users", ("where", "age>=18"), ("where", "age>>18"))), 400, parameter="where")
        self.assertEqual(problem["text"], "age>>18")

    def refusal(self, server, *pairs, hint):
        """The mistake of a query, which a list that is followed has too."""
        problem = self.assertProblem(server.request("GET", at("/users", *pairs)), 400, parameter=pairs[-1][0])
        self.assertIn(hint, problem["hint"])
        self.assertNotIn("--", problem["hint"])
        response = server.request("GET", at("/lists", *pairs), headers={"Accept": "text/event-stream"})
        self.assertEqual(self.assertProblem(response, 400), problem)
        return problem

    @served()
    def test_a_comparison_without_a_value_is_refused(self, server):
        fill(server)
        for text in ("age>", "age<=", "name<", "age> "):
            problem = self.refusal(server, ("where", text), hint="where=age" if "age" in text else "where=name")
            self.assertEqual((problem["detail"], problem["start"], problem["length"]), ("the value is missing", len(text), 0))
        # Text is empty only if that is said, and users can have it.
        for text in ("team:>=", "team=", "name*="):
            self.assertTrue(server.get(at("/users", where=text))["users"], text)

    @served()
    def test_quotes_and_parentheses_of_other_languages_are_refused(self, server):
        fill(server)
        for text, hint in (
            ('name="Zoë"', '"where=name=Zoë"? (a colon makes the value text: "where=name:="Zoë"")'), ("name='Zoë'", "name=Zoë"),
            ('name!="Zoë"', "name!=Zoë"), ('name^="Zo"', "name^=Zo"), ('team="x"', "team=x"), ('age>"18"', "age>18"),
            ("age>='18'", "age>=18"), ("(age>5", "age>5"), ("(age>5)", "age>5"), ("age>5)", "age>5"), ("age>(5)", "age>5"),
            ("(name=Zoë)", "name=Zoë"), ('"age">5', "age>5"), ("`age`=5", "age=5"),
        ):
            with self.subTest(text=text):
                self.refusal(server, ("where", text), hint=hint)

    @served()
    def test_a_value_or_a_name_that_has_quotes_is_found(self, server):
        server.write("POST", "/users", {"name": '"Zoë"', "title": "'x'", "(age": 6, '"age"': 6, "f(x)": 1, "note": "5)"})
        server.add("Max")
        for text in ('name="Zoë"', 'name:="Zoë"', "title='x'", 'name^="Z', 'name*=ë"', "(age>5", '"age">5', "f(x)=1",
                     "note=5)", "note:>=5)", "note:>=(5)"):
            self.assertIn(1, [user["id"] for user in server.get(at("/users", where=text))["users"]], text)
        self.assertEqual([user["id"] for user in server.get(at("/users", where='name!="Zoë"'))["users"]], [2])
        self.assertEqual(server.get(at("/users", where='name:="Max"'))["users"], [])

    @served()
    def test_a_direction_that_is_nearly_one_is_refused_unless_it_is_a_name(self, server):
        fill(server)
        for text, meant in (("age:descc", "age:desc"), ("age:dsec", "age:desc"), ("age:ascc", "age:asc"),
                            ("größe:descendign", "größe:desc")):
            problem = self.refusal(server, ("sort", text), hint=f'did you mean "sort={meant}"?')
            self.assertEqual((problem["start"], problem["length"]), (text.index(":") + 1, len(text.split(":")[1])))
        server.patch(1, **{"age:descc": 1})
        self.assertEqual(server.get("/users?sort=age:descc&limit=1")["users"][0]["id"], 1)
        self.assertEqual(len(server.get("/users?sort=urn:x")["users"]), len(USERS))

    @served()
    def test_an_attribute_that_no_user_has_yet_is_no_mistake(self, server):
        fill(server)
        self.assertEqual(server.get("/users?where=agee>=18&count=true")["count"], 0)
        with server.stream("/lists?where=agee>=18") as stream:
            stream.wait("progress")
            server.patch(1, agee=18)
            self.assertEqual(stream.wait("steps").data["steps"][0]["op"], "insert")

    @served()
    def test_an_unknown_color_in_a_condition_is_refused_with_a_suggestion(self, server):
        problem = self.assertProblem(server.request("GET", at("/users", where="hair_color=aubrn")), 400, parameter="where")
        self.assertIn("auburn", problem["detail"] + problem.get("hint", ""))

    @served()
    def test_a_number_that_does_not_fit_is_refused(self, server):
        problem = self.assertProblem(server.request("GET", at("/users", where="age>9223372036854775808")), 400, parameter="where")
        self.assertIn("64 bits", problem["detail"])

    @served()
    def test_a_bad_parameter_is_named(self, server):
        server.add(age=1)
        for name, value in (
            ("limit", "0"), ("limit", "1001"), ("limit", "-1"), ("limit", "abc"), ("limit", "1.0"), ("limit", ""),
            ("limit", "99999999999999999999"), ("sort", "age:down"), ("sort", ""), ("sort", "-age"), ("after", "nonsense"),
            ("after", "{}"),
            ("after", '{"age:asc":1,"id":1}'), ("count", "maybe"), ("with", ""), ("without", ""), ("where", ""),
            ("where", "age"),
        ):
            with self.subTest(name=name, value=value):
                self.assertProblem(server.request("GET", at("/users", (name, value))), 400, parameter=name)
        self.assertProblem(server.request("GET", at("/users", ("sort", "age"), ("sort", "age:desc"))), 400, parameter="sort")
        for name in ("with", "without", "sort"):
            self.assertProblem(server.request("GET", at("/users", (name, "x" * 201))), 400, "badValue")

    @served()
    def test_a_mistyped_or_repeated_parameter_is_not_ignored(self, server):
        self.assertProblem(server.request("GET", "/users?wher=age>=18"), 400, parameter="wher")
        self.assertProblem(server.request("GET", "/users?limit=1&limit=2"), 400, parameter="limit")
        self.assertProblem(server.request("GET", "/users?where=%FF"), 400)

    @served()
    def test_a_query_of_the_largest_size_is_answered(self, server):
        server.add(age=1)
        conditions = [("where", "age>0")] * 500
        self.assertEqual(len(server.get(at("/users", *conditions))["users"]), 1)
        self.assertProblem(server.request("GET", at("/users", *conditions, ("where", "age>0"))), 400)
        self.assertEqual(len(server.get(at("/users", *(("sort", f"a{n}") for n in range(20))))["users"]), 1)
        self.assertProblem(server.request("GET", at("/users", *(("sort", f"a{n}") for n in range(21)))), 400)
