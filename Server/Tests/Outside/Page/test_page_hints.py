"""What the page says of itself: searches, the menu of users, and the line for a shell."""

from browser import BrowserTestCase
from support import long, served


@long
class Searching(BrowserTestCase):
    def fill(self, server):
        for name, age in (("NIX", 41), ("Zoë", 36), ("Tim", 17)):
            server.add(name, age=age)

    def search(self, page, text):
        page.type("#filter", text)
        page.run("document.querySelector('.filter').requestSubmit()")

    @served()
    def test_a_condition_with_a_mistake_stays_in_the_field(self, server):
        self.fill(server)
        page = self.open(server)
        page.wait_text(3, "name", "Tim")
        self.search(page, "age>20")
        page.wait("document.getElementById('row-count').innerText === '2 users'")
        self.search(page, "age=>40")
        page.wait("document.querySelector('.filter-problem mark')")
        self.assertEqual(page.run("return [document.getElementById('filter').value, document.getElementById('filter').getAttribute('aria-invalid')]"), ["age=>40", "true"])
        self.assertNotIn("where=", page.run("return document.querySelector('.filter-problem').innerText"))
        self.assertEqual(page.run("return new URLSearchParams(location.search).getAll('where')"), ["age>20"])
        self.assertEqual(page.run("return document.getElementById('row-count').innerText"), "2 users", "the table is as it was")
        page.press(".suggestion", "Use age>=40")
        page.wait("document.getElementById('row-count').innerText === '1 user'")
        self.assertEqual(page.run("return [document.getElementById('filter').value, document.querySelector('.filter-problem').innerText]"), ["", ""])

    @served()
    def test_suggestions_are_in_the_syntax_of_the_field(self, server):
        self.fill(server)
        page = self.open(server)
        page.wait_text(3, "name", "Tim")
        for typed, suggestions in (
                ("age>20 and age<40", ["Use age>20 and age<40"]), ("20<age<40", ["Use age>20 and age<40"]), ("name=\"Zoë\"", ["Use name=Zoë", "Use name:=\"Zoë\""])):
            self.search(page, typed)
            page.wait("document.querySelector('.suggestion')", typed)
            self.assertEqual(page.run("return [...document.querySelectorAll('.suggestion')].map((one) => one.innerText)"), suggestions, typed)
            page.press(".suggestion")
            page.wait("document.getElementById('row-count').innerText === '1 user'")
            self.assertEqual(page.users, ["2"])
            page.back()
            page.wait("document.getElementById('row-count').innerText === '3 users'")
        self.search(page, "age>=")
        page.wait("document.querySelector('.filter-problem').innerText.includes('As in “age>=18”')")
        self.assertNotIn("where", page.run("return document.querySelector('.filter-problem').innerText"))
        self.assertQuiet()

    @served()
    def test_a_mistake_in_the_address_is_mended_by_a_click(self, server):
        self.fill(server)
        page = self.open(server, "/?where=age=>18", ready=False)
        page.wait("document.querySelector('.suggestion')")
        page.wait("document.getElementById('row-count').innerText === 'no rows: the server refused the query'")
        page.press(".suggestion", "Use age>=18")
        page.wait("document.getElementById('row-count').innerText === '2 users'")
        page.back()
        page.wait("document.getElementById('row-count').innerText === 'rows of the query before, which the server accepted'")

    @served()
    def test_a_search_of_names_says_what_it_searches(self, server):
        self.fill(server)
        page = self.open(server)
        for typed in ("name~x", "age is null"):
            self.search(page, typed)
            page.wait(f"[...document.querySelectorAll('.chip bdi')].at(-1)?.innerText === 'names that contain “{typed}”'")
            self.assertIn("is no condition", page.run("return document.querySelector('.filter-problem').innerText"))
            page.press(".chip-remove")
            page.wait("document.getElementById('row-count').innerText === '3 users'")
        self.search(page, "WITH age")
        page.wait("new URLSearchParams(location.search).get('with') === 'age'")


@long
class Words(BrowserTestCase):
    @served()
    def test_the_line_for_a_shell_is_about_a_user_that_is_shown(self, server):
        for name in ("NIX", "Zoë", "Tim"):
            server.add(name)
        server.write("DELETE", "/users/1", headers={"If-Match": "*"})
        line = "document.getElementById('shell-line').innerText"
        page = self.open(server)
        page.wait(f"{line}.endsWith('WHERE id = 2\"')")
        page.press("nav a[href='/pulse']")
        self.assertTrue(page.run(f"return {line}.endsWith('WHERE id = 2\"')"))
        page = self.open(server, "/?where=name=Tim")
        page.wait(f"{line}.endsWith('WHERE id = 3\"')")

    @served()
    def test_the_menu_of_users_is_live(self, server):
        for name in ("NIX", "Zoë", "Tim"):
            server.add(name)
        page = self.open(server, "/screens?user=1")
        menu = "[...document.getElementById('screens-user').options].map((option) => option.innerText.replace(/\\s+/, ' ')).join()"
        page.wait(f"{menu} === '1 NIX,2 Zoë,3 Tim'")
        server.patch(2, name="Chloe")
        server.write("DELETE", "/users/3", headers={"If-Match": "*"})
        server.add("Ada")
        page.wait(f"{menu} === '1 NIX,2 Chloe,4 Ada'")
        self.assertEqual(page.run("return document.getElementById('screens-user').value"), "1")
        server.write("DELETE", "/users/1", headers={"If-Match": "*"})
        page.wait(f"{menu} === '2 Chloe,4 Ada,1 removed'")

    @served()
    def test_what_buttons_do_is_in_their_titles(self, server):
        server.add("NIX")
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        self.assertIn("since the page was loaded", page.run("return document.getElementById('undo').title"))
        page.save(1, "name", "Ann")
        page.wait("document.getElementById('undo').title.startsWith('Undo (Ctrl+Z): name of user 1')")
        self.assertIn("compared", page.run("return document.getElementById('verified').title"))

    @served()
    def test_long_names_and_names_from_right_to_left(self, server):
        server.add("no_space_" * 90)
        server.add("\u0645\u0631\u062d\u0628\u0627 " * 40)
        page = self.open(server, "/screens")
        page.size(390, 844)
        page.wait("document.querySelectorAll('.stack').length === 2")
        wide = page.run("return [document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(wide[0], wide[1])
        page.picture("screens-long-390")
        page = self.open(server)
        page.wait("document.querySelectorAll('tr[data-user]').length === 2")
        # The first letters are at the right edge of what is written from right to left.
        for bdi in ('tr[data-user="2"] [data-attribute=name] bdi', '.log-row[data-user="2"] .log-values bdi'):
            page.wait(f"document.querySelector({bdi!r})")
            self.assertTrue(page.run("""
                const bdi = document.querySelector(arguments[0]), range = document.createRange();
                range.setStart(bdi.firstChild, 0);
                range.setEnd(bdi.firstChild, 3);
                const letters = range.getBoundingClientRect(), cell = bdi.closest('td, .log-values').getBoundingClientRect();
                return letters.left >= cell.left && letters.right <= cell.right""", bdi), bdi)
        copy = page.run("""
            const [line, copy] = ['.shell-line .hint', '.shell-line button'].map((one) => document.querySelector(one).getBoundingClientRect());
            return [copy.top < line.bottom, copy.right <= innerWidth]""")
        self.assertEqual(copy, [True, True], "the button is beside the line")
        page.picture("users-long-1280")
