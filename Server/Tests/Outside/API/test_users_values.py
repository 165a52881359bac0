"""Values are exact: what comes in is stored as it is, and what is stored comes out as it is."""

import base64

from support import TestCase, at, long, on_files, served, sql

MIB = 1 << 20


@on_files
class Exact(TestCase):
    def stored(self, server, attribute="x", user=1):
        [row] = sql(server.database, "SELECT typeof(value), quote(value) FROM attributes WHERE user_id = ? AND name = ?",
                    (user, attribute))
        return row

    @served()
    def test_numbers_keep_their_type_and_their_value(self, server):
        server.add()
        for sent, answered, kind, quoted in (
            ("1", "1", "integer", "1"), ("1.0", "1.0", "real", "1.0"), ("-0", "0", "integer", "0"), ("0.1", "0.1", "real", "0.1"),
            ("9223372036854775807", None, "integer", "9223372036854775807"), ("-9223372036854775808", None, "integer", None),
            ("9007199254740993", None, "integer", "9007199254740993"), ("9007199254740993.0", "9007199254740992.0", "real", None),
            ("1e999", "1e999", "real", None), ("-1e999", "-1e999", "real", None), ("-0.0", "0.0", "real", "0.0"),
            ("1e0", "1.0", "real", "1.0"), ("1E5", "100000.0", "real", "100000.0"), ("5e-324", "5e-324", "real", None),
            ("1.7976931348623157e308", "1.7976931348623157e+308", "real", None), ("true", "1", "integer", "1"),
        ):
            response = server.request("PATCH", "/users/1", f'{{"set":{{"x":{sent}}}}}')
            self.assertEqual(response.status, 200, (sent, response))
            self.assertIn(f'"x":{answered or sent}}}', response.text, sent)
            self.assertIn(f'"x":{answered or sent}}}', server.request("GET", "/users/1").text, sent)
            row = self.stored(server)
            self.assertEqual(row[0], kind, sent)
            if quoted:
                self.assertEqual(row[1], quoted, sent)

    @served()
    def test_an_integer_that_does_not_fit_is_refused_with_a_clear_message(self, server):
        server.add()
        for number in ("9223372036854775808", "-9223372036854775809", "1" * 1000, "100000000000000000000"):
            for method, path, body in (("PATCH", "/users/1", f'{{"set":{{"x":{number}}}}}'),
                                       ("POST", "/users", f'{{"name":"Zoë","x":{number}}}')):
                problem = self.assertProblem(server.request(method, path, body), 400)
                self.assertIn("64 bits", problem["detail"])
        self.assertEqual(server.get("/about")["revision"], 3)

    @served()
    def test_a_real_number_that_is_too_large_is_refused_and_infinity_has_one_spelling(self, server):
        server.add()
        for number in ("1e400", "-1e400", "1e309", "1e9999999999", "1E999", "1e+999", "9e999", "1" + "0" * 400 + ".0"):
            problem = self.assertProblem(server.request("PATCH", "/users/1", f'{{"set":{{"x":{number}}}}}'), 400)
            self.assertIn("too large", problem["detail"])
            condition = server.request("GET", at("/users", where=f"x<{number}"))
            self.assertIn("too large", self.assertProblem(condition, 400, parameter="where")["detail"])
        self.assertEqual(server.get("/about")["revision"], 3)
        server.patch(1, x=float("inf"), y=1.0)
        self.assertEqual([user["id"] for user in server.get("/users?where=x=1e999&where=y<1e999&where=y>-1e999")["users"]], [1])

    @served()
    def test_bytes_are_base64(self, server):
        server.add()
        self.assertIn('"x":{"base64":"AP8="}}', server.request("PATCH", "/users/1", '{"set":{"x":{"base64":"AP8="}}}').text)
        self.assertEqual(self.stored(server), ("blob", "X'00FF'"))
        server.patch(1, x={"base64": ""})
        self.assertEqual(self.stored(server), ("blob", "X''"))
        for value in ('{"base64":"A"}', '{"base64":"????"}', '{"base64":1}', '{"base64":"AA==","more":1}', '{}', '[1]',
                      '{"other":1}', '{"base64":"AA==","base64":"AA=="}'):
            self.assertProblem(server.request("PATCH", "/users/1", f'{{"set":{{"x":{value}}}}}'), 400)

    @served()
    def test_text_with_a_nul_is_not_cut(self, server):
        server.add(x="a\0b")
        self.assertIn('"x":"a\\u0000b"', server.request("GET", "/users/1").text)
        [row] = sql(server.database, "SELECT hex(value) FROM attributes")
        self.assertEqual(row, ("610062",))
        self.assertEqual(len(server.get(at("/users", where="x=a\0b"))["users"]), 1)
        self.assertEqual(len(server.get(at("/users", where="x=a"))["users"]), 0)

    @served()
    def test_characters_that_disguise_text_are_escaped(self, server):
        server.add(x="\u202e\u2066\u200f\u061c\u0085\u001b\u007f", y="é😀 ")
        text = server.request("GET", "/users/1").text
        self.assertIn('"x":"\\u202e\\u2066\\u200f\\u061c\\u0085\\u001b\\u007f"', text)
        self.assertIn('"y":"é😀 "', text)

    @served()
    def test_invalid_utf8_of_another_program_comes_out_exactly(self, server):
        sql(server.database, "INSERT INTO users (name, hair_color) VALUES (CAST(x'4EFF' AS TEXT), 'url(//evil.test)')")
        sql(server.database, "INSERT INTO attributes VALUES (1, 'x', CAST(x'80' AS TEXT)), (1, 'y', CAST(x'' AS TEXT))")
        user = '{"id":1,"name":{"text_base64":"Tv8="},"hair_color":"url(//evil.test)","x":{"text_base64":"gA=="},"y":""}'
        self.assertEqual(server.request("GET", "/users/1").text, user)
        self.assertIn(user, server.request("GET", "/users").text)

    @served()
    def test_editing_one_attribute_leaves_the_others_unchanged(self, server):
        sql(server.database, "INSERT INTO users (name) VALUES (CAST(x'4EFF' AS TEXT))")
        sql(server.database, """
            INSERT INTO attributes VALUES
              (1, 'big', 9223372036854775807), (1, 'safe', 9007199254740993), (1, 'one', 1.0), (1, 'nul', 'a' || char(0) || 'b'),
              (1, 'bad', CAST(x'80' AS TEXT)), (1, 'data', x'00FF'), (1, 'long', zeroblob(2097152))""")
        query = """
            SELECT name, typeof(value), hex(value), CASE WHEN typeof(value) IN ('integer', 'real') THEN quote(value) END
            FROM attributes WHERE name <> 'x'"""
        before = sql(server.database, query), sql(server.database, "SELECT quote(CAST(name AS BLOB)) FROM users")
        server.write("PATCH", "/users/1", {"set": {"x": 1}, "expect": {"x": None}}, within=60)
        server.write("PATCH", "/users/1", '{"set":{"x":2},"expect":{"bad":{"text_base64":"gA=="},"name":{"text_base64":"Tv8="}}}',
                     within=60)
        self.assertEqual((sql(server.database, query), sql(server.database, "SELECT quote(CAST(name AS BLOB)) FROM users")), before)

    @served()
    def test_every_value_that_another_program_stores_can_be_expected(self, server):
        sql(server.database, """
            INSERT INTO users (name, hair_color)
            VALUES ('', 'url(//evil.test)'), ('a' || char(0), CAST(x'80' AS TEXT)), ('NIX', 'AUBURN')""")
        for user in server.get("/users")["users"]:
            expected = {name: value for name, value in user.items() if name != "id"}
            answer = server.write("PATCH", f"/users/{user['id']}", {"set": {"hair_color": "red"}, "expect": expected})
            self.assertEqual(answer["user"]["hair_color"], "#ff0000")

    @served()
    def test_names_are_compared_by_their_bytes(self, server):
        server.add("NIX", **{"é": 1, "e\u0301": 2})
        self.assertSame(server.get("/users/1"), {"id": 1, "name": "NIX", "hair_color": None, "e\u0301": 2, "é": 1})
        answer = server.patch(1, **{"é": None})
        self.assertSame(answer["user"], {"id": 1, "name": "NIX", "hair_color": None, "e\u0301": 2})


@on_files
class Large(TestCase):
    @served()
    def test_a_value_can_have_16_mib_and_no_byte_more(self, server):
        server.add()
        self.check(server, "x" * (16 * MIB))
        revision = server.get("/about")["revision"]
        self.assertProblem(
            server.request("PATCH", "/users/1", {"set": {"x": "x" * (16 * MIB + 1)}}, within=60), 400, "badValue")
        self.assertEqual(server.get("/about")["revision"], revision)

    @long
    @served()
    def test_16_mib_are_bytes_and_not_characters(self, server):
        server.add()
        self.check(server, "é" * (8 * MIB))
        self.check(server, {"base64": base64.b64encode(bytes(16 * MIB)).decode()})

    def check(self, server, value):
        """Sets a value, which must come back and be stored whole."""
        response = server.request("PATCH", "/users/1", {"set": {"x": value}}, within=60)
        self.assertEqual(response.status, 200, response)
        self.assertSame(response.json()["user"]["x"], value)
        [(size,)] = sql(server.database, "SELECT length(CAST(value AS BLOB)) FROM attributes")
        self.assertEqual(size, 16 * MIB)


class Bodies(TestCase):
    @served()
    def test_a_body_that_is_not_json_is_refused(self, server):
        for body in (b"", b" ", b"{", b'{"name":"NIX",}', b"{'name':'NIX'}", b'{"name":"NIX"} x', b'{"name":"NIX"}{}',
                     b'{"name":"NIX","x":01}',
                     b'{"name":"NIX","x":+1}', b'{"name":"NIX","x":1.}', b'{"name":"NIX","x":.5}', b'{"name":"NIX","x":NaN}',
                     b'{"name":"NIX","x":Infinity}', b'{"name":"NIX","x":0x10}', b'{"name":"NIX" /* x */}',
                     b'{"name":"N\xffX"}', b'{"name":"a\nb"}', b'{"name":"\\ud800"}', b'{"name":"\\udc00\\ud800"}',
                     b'{"name":"\\x41"}',
                     b'["NIX"]', b'"NIX"', b"null", b'{name:"NIX"}', b'{"name":"NIX"', b'\xff\xfe{\0}\0', b'{"name":"\xc0\x80"}',
                     b'{"name":"\xed\xa0\x80"}'):
            problem = self.assertProblem(server.request("POST", "/users", body), 400)
            self.assertLess(len(problem["detail"]), 500)
        self.assertEqual(server.get("/about")["revision"], 0)

    @served()
    def test_a_member_that_comes_twice_is_refused(self, server):
        server.add()
        for body in ('{"name":"NIX","name":"Zoë"}', '{"name":"NIX","age":1,"age":1}', '{"name":"NIX","n\\u0061me":"Zoë"}'):
            self.assertProblem(server.request("POST", "/users", body), 400)
            self.assertProblem(server.request("PATCH", "/users/1", f'{{"set":{body}}}'), 400)
            self.assertProblem(server.request("PUT", "/users/1", body, {"If-Match": "*"}), 400)
        self.assertProblem(server.request("PATCH", "/users/1", '{"set":{"age":1},"set":{"age":2}}'), 400)
        self.assertProblem(server.request("PATCH", "/users/1", '{"set":{"age":1},"expect":{"age":1,"age":null}}'), 400)

    @served()
    def test_escapes_and_spaces_are_read_as_json_has_them(self, server):
        answer = server.write("POST", "/users",
                              ' { "name" : "\\u004e\\t\\/"\r\n, "x":"\\ud83d\\ude00\\"\\\\" } '.replace("\\t", "I"))
        self.assertSame(answer["user"], {"id": 1, "name": "NI/", "hair_color": None, "x": '😀"\\'})

    @served()
    def test_a_deep_body_does_not_stop_the_server(self, server):
        for depth in (1000, 1_000_000):
            for opening, closing in (("[", "]"), ('{"a":', "}")):
                body = f'{{"name":"NIX","x":{opening * depth}1{closing * depth}}}'
                self.assertProblem(server.request("POST", "/users", body), 400)
        self.assertEqual(server.get("/about")["users"], 0)

    @served()
    def test_a_record_with_many_attributes_is_stored_whole(self, server):
        attributes = {f"a{number}": number for number in range(3000)}
        user = server.write("POST", "/users", {"name": "NIX", **attributes}, within=60)["user"]
        self.assertEqual({name: value for name, value in user.items() if name in attributes}, attributes)
        self.assertSame(server.get("/users/1"), user)
