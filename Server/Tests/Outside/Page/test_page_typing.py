"""What is typed in the page: its type, what happens to it when it is not saved, and how mistakes are explained."""

import sqlite3

from browser import BrowserTestCase, Keys
from support import long, served, sql

ASKS = ("const event = new Event('beforeunload', {cancelable: true}); dispatchEvent(event); return event.defaultPrevented")


@long
class Typing(BrowserTestCase):
    def fill(self, server):
        """Two users; the second has no age, and no color."""
        server.add("NIX", hair_color="auburn", age=41)
        server.add("Zoë")

    def choice(self, page):
        return page.run("return document.querySelector('.editor select').value")

    @served()
    def test_a_value_is_typed_where_none_was(self, server):
        self.fill(server)
        page = self.open(server)
        for typed, kind, stored in (("Rome", "text", "'Rome'"), ("Tom", "text", "'Tom'"), ("Nina", "text", "'Nina'"), ("41", "number", "41"),
                                    ("-1.50", "number", "-1.5"), ("007", "text", "'007'")):
            page.edit(2, "age")
            self.assertEqual(page.active, "textarea", "the field has the focus")
            self.assertEqual(self.choice(page), "unset")
            page.keys(typed)
            self.assertEqual(self.choice(page), kind, typed)
            page.keys(Keys.ENTER)
            page.wait_saved(2, "age")
            self.assertEqual(sql(server.database, "SELECT quote(value) FROM attributes WHERE user_id = 2"), [(stored,)])
            page.save(2, "age", None, kind="unset")
        page.edit(2, "hair_color")
        page.keys("auburn", Keys.ENTER)
        page.wait_saved(2, "hair_color")
        self.assertEqual(server.get("/users/2")["hair_color"], "#a52a2a")
        self.assertQuiet()

    @served()
    def test_the_type_that_is_guessed_can_be_changed(self, server):
        self.fill(server)
        page = self.open(server)
        page.edit(2, "age")
        page.keys("0", Keys.BACKSPACE)
        self.assertEqual(self.choice(page), "unset", "nothing is typed")
        page.keys("17")
        self.assertIn("as a number", page.run("return document.querySelector('.editor-hint').innerText"))
        page.run("const select = document.querySelector('.editor select'); select.value = 'text'; select.dispatchEvent(new Event('change'));"
                 "document.querySelector('.editor-field').focus()")
        page.keys(Keys.END, "5")
        self.assertEqual(self.choice(page), "text", "what was chosen remains")
        page.keys(Keys.ENTER)
        page.wait_saved(2, "age")
        self.assertEqual(server.get("/users/2")["age"], "175")

    @served()
    def test_an_attribute_is_added_by_typing(self, server):
        self.fill(server)
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        page.press('tr[data-user="1"] [data-attribute="id"] button')
        page.run("document.querySelector('dialog .new-attribute input').focus()")
        page.keys("id", Keys.ENTER)
        page.wait("document.querySelector('dialog .new-attribute .form-problem').innerText.includes('cannot be an attribute')")
        page.type("dialog .new-attribute input", "")
        page.keys("nickname", Keys.ENTER)
        page.wait("document.querySelector('dialog .editor-field') === document.activeElement")
        page.keys(Keys.ENTER)
        page.wait("!document.querySelector('dialog .editor')")
        self.assertEqual(page.run("return document.activeElement.getAttribute('aria-label')"), "Name of a new attribute")
        page.keys("nickname", Keys.ENTER)
        page.wait("document.querySelector('dialog .editor-field') === document.activeElement")
        page.keys("Bob", Keys.ENTER)
        page.wait("document.querySelector('dialog .values').innerText.includes('Bob') && !document.querySelector('dialog .editor')")
        self.assertEqual(server.get("/users/1")["nickname"], "Bob")
        page.wait("document.getElementById('announcements').textContent.includes('Saved nickname of user 1.')")

    @served()
    def test_an_editor_that_changes_nothing_says_nothing(self, server):
        self.fill(server)
        page = self.open(server)
        page.run("window.said = ''; new MutationObserver(() => { said += document.getElementById('announcements').textContent })"
                 ".observe(document.getElementById('announcements'), {childList: true})")
        page.edit(2, "age")
        page.keys(Keys.ENTER)
        page.wait_saved(2, "age")
        page.save(1, "name", "Ann")
        page.wait("window.said.includes('Saved name of user 1.')")
        self.assertNotIn("age", page.run("return said"))

    @served()
    def test_an_empty_text_is_no_removed_value(self, server):
        self.fill(server)
        page = self.open(server)
        server.patch(1, city="Ulm")
        page.wait_text(1, "city", "Ulm")
        page.edit(1, "city", "")
        hint = "document.querySelector('.editor-hint').innerText"
        page.wait(f"{hint}.includes('empty text') && {hint}.includes('Not set')")
        page.keys(Keys.ENTER)
        page.wait_saved(1, "city")
        self.assertEqual(server.get("/users/1")["city"], "")

    @served()
    def test_leaving_asks_if_something_is_typed(self, server):
        self.fill(server)
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        self.assertFalse(page.run(ASKS))
        page.edit(2, "age")
        self.assertFalse(page.run(ASKS), "nothing is typed yet")
        page.keys("Rome")
        self.assertTrue(page.run(ASKS))
        page.keys(Keys.ESCAPE)
        self.assertFalse(page.run(ASKS))
        page.press("#add-user")
        self.assertFalse(page.run(ASKS))
        page.type("dialog [name=name]", "Ada")
        self.assertTrue(page.run(ASKS), "the form for a user is not lost either")

    @served()
    def test_a_color_that_is_none_is_explained(self, server):
        self.fill(server)
        page = self.open(server)
        page.edit(1, "hair_color", "zebra")
        page.keys(Keys.ENTER)
        problem = page.wait("document.querySelector('[data-testid=editor-problem]').innerText")
        self.assertEqual(problem, '"zebra" is not a color. Write #rrggbb, or a name such as auburn or black.')
        offered = page.run("return [...document.querySelector('.editor-field').list.options].map(({value}) => value)")
        hint = server.request("PATCH", "/users/1", {"set": {"hair_color": "zebra"}}).json()["hint"]
        self.assertEqual(offered, hint.split(": ")[1].split(), "the page offers the names that the store knows")

    @served()
    def test_what_was_said_of_one_dialog_is_not_in_the_next(self, server):
        self.fill(server)
        page = self.open(server)
        page.press("#add-user")
        page.type("dialog [name=name]", "x" * 2_000)
        page.press("dialog button[type=submit]")
        page.wait("document.getElementById('announcements').textContent !== ''")
        page.close_dialog()
        page.press("#add-user")
        page.wait("document.querySelectorAll('dialog').length === 1")
        self.assertEqual(page.run("return document.getElementById('announcements').textContent"), "")


@long
class Waiting(BrowserTestCase):
    @served()
    def test_a_save_that_waits_says_so_and_can_be_tried_again(self, server):
        server.add("NIX")
        page = self.open(server)
        other = sqlite3.connect(server.database, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        page.edit(1, "name", "Ann")
        page.keys(Keys.ENTER)
        page.wait("document.querySelector('.editor-hint').innerText === 'Saving…'")
        page.wait("document.querySelector('[data-testid=editor-problem]').innerText !== ''", "the save fails", within=40)
        page.wait("document.querySelector('.editor .primary').innerText === 'Try again'")
        other.execute("ROLLBACK")
        page.press(".editor .primary")
        page.wait_saved(1, "name")
        self.assertEqual(server.get("/users/1")["name"], "Ann")


@long
class InSight(BrowserTestCase):
    IN_SIGHT = ("(selector) => { const box = document.querySelector(selector).getBoundingClientRect(); "
                "const scroller = document.querySelector('.grid-scroll').getBoundingClientRect(); "
                "return box.top >= scroller.top && box.bottom <= Math.min(scroller.bottom, innerHeight) && box.left >= scroller.left "
                "&& box.right <= Math.min(scroller.right, innerWidth) }")

    @served()
    def test_the_buttons_of_a_low_row_are_in_sight(self, server):
        for number in range(60):
            server.add(f"user {number}")
        for width, height in ((1280, 800), (390, 844)):
            with self.subTest(width=width):
                page = self.open(server)
                page.size(width, height)
                page.wait("document.querySelectorAll('tr[data-user]').length === 60")
                page.edit(60, "name")
                page.wait(f"({self.IN_SIGHT})('.editor .primary')")
                server.patch(60, name=f"Theirs {width}")
                page.wait("document.querySelector('.editor-news button')")
                page.wait(f"({self.IN_SIGHT})('.editor-news button')", "the buttons of a conflict")
                page.keys(Keys.ESCAPE)
