"""Values in the page: exact ones stay exact, and no text does anything but show itself."""

import json
import os

from browser import BrowserTestCase, Keys
from support import long, served, sql

# Python refuses text that is not UTF-8, thus the hex.
QUOTED = "SELECT user_id, name, typeof(value), hex(quote(value)) FROM attributes WHERE name <> 'n' ORDER BY user_id, name"
# Set as SQL, because no parameter of Python's module has such bytes as text.
EXACT = {
    "over double": ("9007199254740993", "9007199254740993"),
    "largest": ("9223372036854775807", "9223372036854775807"),
    "smallest": ("-9223372036854775808", "-9223372036854775808"),
    "real": ("1.0", "1.0"),
    "small real": ("5e-324", None),
    "large real": ("1e300", None),
    "infinity": ("9e999", None),
    "tenth": ("0.1", "0.1"),
    "invalid": ("CAST(x'5a6fff80fe21' AS TEXT)", "Zo\\xff\\x80\\xfe!"),
    "nul": ("CAST(x'610062' AS TEXT)", "aNULb"),
    "data": ("x'00ff10'", "data, 3 bytes"),
    "lines": ("CAST(x'610d0a62' AS TEXT)", "aCRLFb"),
    "number as text": ("'0123'", "0123"),
}


def nasty():
    """About sixty names that have broken programs, and those of the file $NAUGHTY, such as github.com/minimaxir's blns.json."""
    if "NAUGHTY" in os.environ:
        with open(os.environ["NAUGHTY"]) as file:
            yield from filter(None, json.load(file))
    yield from (
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "'\"--></style></script><script>alert(1)</script>",
        "<b>bold</b>", "&lt;escaped&gt;", "&amp;&#x41;", "<!--", "]]>", "{{7*7}}", "${7*7}", "#{7*7}", "javascript:alert(1)", "<a href=javascript:alert(1)>x</a>",
        "<bdi>", "</td></tr></table>", "<iframe srcdoc='<script>parent.x=1</script>'>", "data:text/html,<script>alert(1)</script>",
        "'; DROP TABLE users; --", "' OR '1'='1", "\" OR \"\"=\"", "Robert'); DROP TABLE users;--", "1; SELECT 1", "%' ESCAPE '", "\\' OR 1=1",
        "O'Neill", "\"quoted\"", "back\\slash", "\\u{41}", "\\\\", "`id`", "$(id)", "%s%n%d", "../../etc/passwd", "C:\\Windows", "a,b;c\t",
        "null", "undefined", "NaN", "true", "0", "-1", "1e309", "1.0", "[object Object]", "__proto__", "constructor", "toString", "hasOwnProperty",
        " leading and trailing ", "\u00a0", "\u202eesrever\u202c", "\u2066isolate\u2069", "a\u200bb\u200dc", "\ufeffmark", "soft\u00adhyphen", "\u200f\u05d0\u05d1\u05d2",
        "line\nbreak", "\r\n", "nul\0byte", "\x1b[31mred\x1b[0m", "\x07\x08\x7f", "\u2028\u2029", "\ue000\uf8ff", "\ufffe\uffff",
        "Z\u0351\u0353a\u0300\u0301\u0302\u0303\u0304\u0305l\u0316\u0317\u0318\u0319go", "e\u0301", "\u00e9", "\u212a\u017f", "\ud55c\uad6d\uc5b4",
        "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u65e5\u672c\u8a9e\u540d\u524d", "\U0001f469\u200d\U0001f680", "\U0001f1e9\U0001f1ea", "\U0001f3f4\U000e0067\U000e0062\U000e007f",
        "\U0001f44d\U0001f3fd", "\U0010ffff", "\ufdfd" * 20, "W" * 1000, "no_space_" * 110, "\u0e01\u0e49\u0e49\u0e49\u0e49\u0e49\u0e49\u0e49",
    )


# Characters that must not stand in the page as they are.
HIDDEN = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)])) + "\u200b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029\ufeff\u00ad"


class Exactness(BrowserTestCase):
    def fill(self, server):
        server.add("NIX", n=1)
        for name, (expression, _) in EXACT.items():
            sql(server.database, f"INSERT INTO attributes (user_id, name, value) VALUES (1, ?, {expression})", (name,))
        sql(server.database, "INSERT INTO attributes (user_id, name, value) VALUES (1, 'mebibyte', replace(hex(zeroblob(524288)), '00', 'ab'))")

    @served()
    def test_values_are_shown_exactly(self, server):
        self.fill(server)
        page = self.open(server)
        page.wait(f"document.querySelectorAll('tr[data-user=\"1\"] > td').length >= {len(EXACT) + 4}")
        for name, (_, shown) in EXACT.items():
            if shown is not None:
                self.assertEqual(page.run("return document.querySelector(arguments[0]).textContent", f"{page.selector(1, name)} > *").removesuffix("not UTF-8"), shown, name)
        self.assertLess(page.run("return document.querySelector(arguments[0]).textContent.length", page.selector(1, "mebibyte")), 400)
        page.press('tr[data-user="1"] [data-attribute="id"] button')
        page.wait("document.querySelectorAll('dialog .value-row').length > 10")
        self.assertIn("Show all 1,048,576 characters", page.run("return document.querySelector('dialog').innerText"))
        page.press("dialog .full-value button")
        self.assertEqual(page.run("return Math.max(...[...document.querySelectorAll('dialog .full-text')].map((text) => text.textContent.length))"), 1 << 20)
        self.assertQuiet()

    @served()
    def test_editing_another_cell_leaves_values_as_they_are(self, server):
        self.fill(server)
        before = sql(server.database, QUOTED)
        page = self.open(server)
        page.save(1, "n", "2")
        page.save(1, "name", "Chloe")
        page.save(1, "hair_color", "auburn", kind="text")
        self.assertEqual(sql(server.database, QUOTED), before)
        self.assertEqual(server.get("/users/1")["n"], 2)

    @served()
    def test_opening_an_editor_and_saving_writes_nothing(self, server):
        self.fill(server)
        before = sql(server.database, QUOTED), server.get("/about")["revision"]
        page = self.open(server)
        for name in [*EXACT, "mebibyte", "name"]:
            page.save(1, name, None)
        self.assertEqual((sql(server.database, QUOTED), server.get("/about")["revision"]), before)

    @served()
    def test_an_edit_keeps_characters_that_a_field_would_lose(self, server):
        self.fill(server)
        page = self.open(server)
        page.edit(1, "lines")
        self.assertEqual(page.run("return document.activeElement.value"), "a\\u{d}\nb")
        page.type(".editor textarea", "a\\u{d}\nb\\u{0}\\\\")
        page.keys(Keys.ENTER)
        page.wait_saved(1, "lines")
        self.assertEqual(server.get("/users/1")["lines"], "a\r\nb\0\\")
        page.edit(1, "nul", "a\\b")
        page.keys(Keys.ENTER)
        page.wait("document.querySelector('[data-testid=editor-problem]').innerText.includes('backslash')")

    @served()
    def test_what_is_not_text_is_replaced_only_on_purpose(self, server):
        self.fill(server)
        page = self.open(server)
        page.save(1, "invalid", "Zoë", kind="text")
        page.save(1, "data", "9223372036854775807", kind="number")
        self.assertEqual(
            sql(server.database, "SELECT name, quote(value) FROM attributes WHERE name IN ('invalid', 'data') ORDER BY name"),
            [("data", "9223372036854775807"), ("invalid", "'Zoë'")])

    @served()
    def test_numbers_are_saved_as_they_are_typed(self, server):
        self.fill(server)
        page = self.open(server)
        for typed, stored in (("9007199254740993", "9007199254740993"), ("-9223372036854775808", "-9223372036854775808"), ("2.0", "2.0"), ("1e3", "1000.0"), ("0", "0")):
            page.save(1, "n", typed)
            self.assertEqual(sql(server.database, "SELECT quote(value) FROM attributes WHERE name = 'n'"), [(stored,)])


class NastyText(BrowserTestCase):
    def check_text(self, page, selector, what):
        """No element but those of the page is in the text, and no character that cannot be seen."""
        for html, text in page.run(
                "return [...document.querySelectorAll(arguments[0])].map((one) => [[...one.querySelectorAll('*')].map((e) => e.localName + '.' + e.className).join(), one.textContent])",
                selector):
            for element in filter(None, html.split(",")):
                self.assertRegex(element, r"^(span|bdi|del|button|div|strong)\.[a-z -]*$", f"{what}: {text!r}")
            found = set(text) & set(HIDDEN)
            self.assertLessEqual(found, {"\n"} if "full" in selector else set(), f"{what}: {text!r}")

    @served()
    def test_names_do_nothing_in_any_view(self, server):
        names = list(nasty())
        self.assertGreater(len(names), 60)
        for name in names:
            sql(server.database, "INSERT INTO users (name, hair_color) VALUES (?, ?)", (name, "url(https://example.com/x)"))
        sql(server.database, "INSERT INTO attributes (user_id, name, value) SELECT id, name, name FROM users WHERE length(name) < 200 AND id % 7 = 0")
        page = self.open(server, "/?limit=1000")
        page.run("window.alert = () => { window.attacked = true }")
        page.wait(f"document.querySelectorAll('tr[data-user]').length === {len(names)}")
        self.check_text(page, ".users td:not(.editing) > .text", "the table")
        page.wait("document.querySelectorAll('.log-row').length > 50")
        self.check_text(page, ".log-values", "the log")
        self.assertEqual(page.run("return document.querySelectorAll('.swatch').length"), 0, "no color is taken from other text")
        for user in range(1, len(names) + 1, 4):
            page.press(f'tr[data-user="{user}"] [data-attribute="id"] button')
            page.wait("document.querySelector('dialog .value-row')")
            self.check_text(page, "dialog .full-text", f"the dialog of {names[user - 1]!r}")
            page.close_dialog()
        page.press(".log-row:last-child")
        page.wait("document.querySelector('dialog .comparison')")
        self.check_text(page, "dialog .full-text", "the dialog of a change")
        page.close_dialog()
        page.press("nav a[href='/screens']")
        page.wait("document.querySelectorAll('.stack').length === 2")
        # The menu has the first users only.
        for user in range(1, min(len(names), 200) + 1, 8):
            page.run("const select = document.getElementById('screens-user'); select.value = arguments[0]; select.dispatchEvent(new Event('change'))", str(user))
            page.wait(f"location.search === '?user={user}' && document.querySelector('.screen-name-text')?.textContent")
            self.check_text(page, ".screen-name-text", "the screens")
        self.assertFalse(page.run("return window.attacked ?? false"))
        self.assertEqual(page.run("return document.querySelectorAll('script').length"), 2, "those of the document")
        self.assertEqual(page.run("return [document.documentElement.scrollWidth <= innerWidth]"), [True])
        self.assertQuiet()

    @long
    @served()
    def test_names_are_saved_exactly_as_typed(self, server):
        """Those that the library accepts: a name has no control characters, and at most 1,000 characters."""
        server.add("NIX")
        page = self.open(server)
        for name in dict.fromkeys(nasty()):
            if len(name) > 1_000 or any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 for one in name):
                continue
            self.assertEqual(server.get("/users/1")["name"] == name, False)
            page.edit(1, "name")
            escaped = page.run("return document.querySelector('.editor-hint').innerText !== ''")
            page.type(".editor textarea", name.replace("\\", "\\\\") if escaped else name)
            page.keys(Keys.ENTER)
            page.wait_saved(1, "name")
            self.assertEqual(server.get("/users/1")["name"], name)
        self.assertQuiet()

    @served()
    def test_attributes_can_have_any_name(self, server):
        names = ["__proto__", "constructor", "7", "", "a b", "\"", "]", "\\", "<b>", "id ", "\u202ex"]
        server.write("POST", "/users", {"name": "NIX", **{name: name for name in names if name}})
        page = self.open(server)
        page.wait(f"document.querySelectorAll('thead th').length >= {len(names) + 3}")
        for name in filter(None, names):
            cell = "[...document.querySelectorAll('tr[data-user] td')].find((cell) => cell.dataset.attribute === " + json.dumps(name) + ")"
            self.assertTrue(page.run(f"return {cell} !== undefined"), name)
        self.assertQuiet()
