"""Finding users in the table: conditions, a search in any case, order, pages, room for the table, and names that stay in sight."""

import json

from browser import BrowserTestCase, Keys, fill
from support import LONG, at, long, served, usertool

PLACE = "document.getElementById('row-count').innerText"
WIDTHS = (360, 768, 1440) if LONG else (360,)


def fill_many(server, count):
    """Adds users, the first of them `user 000`."""
    lines = "".join(f'{{"name":"user {number:03}","age":{number % 7},"city":"Ulm","room":{number}}}\n' for number in range(count))
    usertool("import", "-", database=server.database, input=lines)


class Searching(BrowserTestCase):
    @served()
    def test_a_search_ignores_case_and_stays_live(self, server):
        for name in ("NIX", "Zoë", "ZOË", "Zoe"):
            server.add(name)
        page = self.open(server)
        page.wait_text(4, "name", "Zoe")
        page.find("#filter").click()
        page.keys("zoë", Keys.ENTER)
        page.wait(f"{PLACE} === '2 users'")
        self.assertEqual(page.column("name"), ["Zoë", "ZOË"])
        self.assertEqual(page.run("return document.querySelector('.chip bdi').innerText"), "names that contain “zoë”")
        server.patch(1, name="xzOËx")
        page.wait_text(1, "name", "xzOËx")
        server.patch(2, name="Zoe")
        page.wait(f"{PLACE} === '2 users'")
        page.blur()
        page.wait("document.querySelectorAll('tr[data-user]').length === 2")
        self.assertEqual(page.column("name"), ["xzOËx", "ZOË"])
        page.wait("document.getElementById('verified').innerText.startsWith('✓')", within=30)
        self.assertQuiet()


class Pages(BrowserTestCase):
    @served()
    def test_the_previous_page_and_the_place(self, server):
        fill_many(server, 60)
        page = self.open(server, "/?limit=25&sort=name:desc")
        page.wait(f"{PLACE} === '1–25 of 60 users'")
        self.assertEqual(page.run("return document.getElementById('previous-page').hidden"), True)
        # By the keyboard, which stays at the pages when a button goes.
        page.run("document.getElementById('next-page').focus()")
        page.keys(Keys.ENTER)
        page.wait(f"{PLACE} === '26–50 of 60 users'")
        page.keys(Keys.ENTER)
        page.wait(f"{PLACE} === '51–60 of 60 users'")
        self.assertEqual(page.run("return [document.getElementById('next-page').hidden, document.activeElement.localName]"), [True, "select"])
        self.assertEqual(page.column("name"), [f"user {number:03}" for number in range(9, -1, -1)])
        grid = "return [...document.querySelectorAll('tr[data-user]')].map((row) => Number(row.getAttribute('aria-rowindex')))"
        self.assertEqual(page.run(grid), list(range(52, 62)), "the head is row 1")
        self.assertEqual(page.run("return document.querySelector('[role=grid]').getAttribute('aria-rowcount')"), "61")
        page.chord(Keys.SHIFT, Keys.TAB)
        self.assertEqual(page.run("return document.activeElement.id"), "previous-page")
        page.keys(Keys.ENTER)
        page.wait(f"{PLACE} === '26–50 of 60 users'")
        self.assertEqual(page.column("name")[0], "user 034")
        page.wait("document.getElementById('announcements').textContent.includes('Users 26–50 of 60 users.')", within=15)
        page.keys(Keys.ENTER)
        page.wait(f"{PLACE} === '1–25 of 60 users'")
        self.assertEqual(page.run("return document.activeElement.localName"), "select")
        self.assertEqual(page.run("return location.search"), "?limit=25&sort=name%3Adesc")
        page.back()
        page.wait(f"{PLACE} === '26–50 of 60 users'")
        self.assertQuiet()

    @long
    @served()
    def test_the_place_stays_true_when_others_write(self, server):
        fill_many(server, 60)
        page = self.open(server, "/?limit=25&after=25")
        page.wait(f"{PLACE} === '26–50 of 60 users'")
        first = page.users[0]
        # Nothing on the page changes.
        for number in range(1, 6):
            server.write("DELETE", f"/users/{number}", headers={"If-Match": "*"})
        page.wait(f"{PLACE} === '21–45 of 55 users'")
        server.add("the last")
        page.wait(f"{PLACE} === '21–45 of 56 users'")
        self.assertEqual(page.users[0], first)
        page.press("#previous-page")
        page.wait(f"{PLACE} === '1–25 of 56 users'")
        page = self.open(server, "/?limit=25&where=age=3")
        page.wait(f"{PLACE} === '8 users'")
        query = {"sort": "room:desc", "where": "room>=10"}
        page = self.open(server, at("/", limit=25, after=server.get(at("/users", limit=30, **query))["next"], **query))
        page.wait(f"{PLACE} === '31–50 of 50 users'")
        server.patch(60, room=5)
        page.wait(f"{PLACE} === '30–49 of 49 users'")
        self.assertQuiet()


class HiddenLog(BrowserTestCase):
    @served()
    def test_the_log_is_hidden_and_stays_hidden(self, server):
        fill_many(server, 3)
        page = self.open(server, "/?sort=name")
        page.wait_text(1, "name", "user 000")
        log = "document.querySelector('.log-card').getClientRects().length"
        table = "document.querySelector('.users-card').getBoundingClientRect().width"
        width = page.run(f"return {table}")
        page.run("document.getElementById('toggle-log').focus()")
        page.keys(Keys.ENTER)
        page.wait(f"{log} === 0")
        self.assertEqual(page.run("return [location.search, document.activeElement.id, document.activeElement.innerText]"), ["?sort=name&log=hidden", "toggle-log", "Show log"])
        self.assertGreater(page.run(f"return {table}"), 1.5 * width, "the table has the room of the log")
        page.press("th[data-column=name]")
        page.wait("document.querySelector('th[data-column=name]').getAttribute('aria-sort') === 'descending'")
        self.assertEqual(page.run(f"return {log}"), 0)
        page.go(page.run("return location.href"))
        page.wait_text(1, "name", "user 000")
        self.assertEqual(page.run(f"return {log}"), 0, "the address remembers it")
        revision = server.add("Ada")["revision"]
        page.wait_log(revision)
        page.press("#toggle-log")
        page.wait(f"document.querySelector('.log-row[data-revision=\"{revision}\"]')?.getClientRects().length")
        self.assertEqual(page.run("const log = document.querySelector('.log-scroll'); return log.scrollHeight - log.clientHeight - log.scrollTop < 2"), True)
        self.assertNotIn("log", page.run("return location.search"))
        page = self.open(server, "/log?log=hidden")
        page.wait(f"{log} === 1", "the view of the log always shows it")
        self.assertQuiet()


class Widths(BrowserTestCase):
    # What is seen at the left of the table's row, when it is scrolled to its end.
    SEEN = """
        const scroller = document.querySelector('.grid-scroll');
        scroller.scrollLeft = scroller.scrollWidth;
        const box = scroller.getBoundingClientRect(), cell = document.querySelector('tr[data-user="2"] [data-attribute=name]').getBoundingClientRect();
        const seen = (x) => document.elementFromPoint(x, cell.top + cell.height / 2)?.closest('td')?.dataset.attribute;
        const head = document.querySelector('th[data-column=name]').getBoundingClientRect();
        return [scroller.scrollLeft > 0, seen(cell.left + 5), seen(cell.right - 5), head.left === cell.left, box.right - cell.right];"""

    @served()
    def test_the_name_stays_in_sight(self, server):
        for name in ("NIX", "Zoë", "Tim"):
            server.add(name, **{f"attribute {letter}": letter for letter in "abcdefghijkl"})
        for width in WIDTHS:
            page = self.open(server)
            page.size(width, 800)
            page.wait_text(2, "name", "Zoë")
            is_scrolled, left, right, has_head, rest = page.run(self.SEEN)
            self.assertEqual((is_scrolled, left, right, has_head), (True, "name", "name", True), width)
            self.assertGreater(rest, 150, "there is room for another column")
            # A cell that gets the focus by the keyboard is not under the name.
            page.select_cell(2, "attribute l")
            for attribute in ["attribute " + letter for letter in "kjihgfedcba"] + ["hair_color"]:
                page.keys(Keys.ARROW_LEFT)
                self.assertEqual(page.active, ("2", attribute))
                seen = page.run("const box = document.activeElement.getBoundingClientRect(); return document.elementFromPoint(box.left + 3, box.top + 9).closest('td') === document.activeElement")
                self.assertTrue(seen, f"{attribute} at {width}")
            page.keys(Keys.ARROW_LEFT)
            self.assertEqual(page.active, ("2", "name"))
            page.keys(Keys.ARROW_LEFT)
            self.assertEqual(page.active, ("2", "id"))
            self.assertTrue(page.run("const box = document.activeElement.getBoundingClientRect(); return document.elementFromPoint(box.left + 3, box.top + 9).closest('td') === document.activeElement"))
            page.close()

    @served()
    def test_no_view_is_wider_than_its_window(self, server):
        fill_many(server, 60)
        for width in WIDTHS:
            for name, path in (("users", "/?limit=25&after=25&where=name~=USER"), ("no-log", "/?limit=25&after=25&log=hidden")):
                page = self.open(server, path)
                page.size(width, 900)
                page.wait(f"{PLACE} === '26–50 of 60 users'")
                page.picture(f"{name}-{width}")
                self.assertLessEqual(page.run("return document.documentElement.scrollWidth"), width, name)
                page.run("document.querySelector('.grid-scroll').scrollLeft = 200")
                page.picture(f"{name}-scrolled-{width}")
                page.close()


class Queries(BrowserTestCase):
    @served()
    def test_filter_sort_and_pages_are_in_the_address(self, server):
        for number in range(60):
            server.add(f"user {number:02}", age=number % 7)
        page = self.open(server, "/?limit=25")
        page.wait("document.querySelectorAll('tr[data-user]').length === 25")
        page.wait("document.getElementById('row-count').innerText === '1–25 of 60 users'")
        page.press("th[data-column=age]")
        page.wait("document.querySelector('th[data-column=age]').getAttribute('aria-sort') === 'ascending'")
        page.wait("document.querySelector('tbody [data-attribute=age]')?.innerText === '0'")
        page.press("th[data-column=age]")
        page.wait("document.querySelector('tbody [data-attribute=age]')?.innerText === '6'")
        page.press("#next-page")
        page.wait("new URLSearchParams(location.search).has('after')")
        page.wait("document.querySelector('tbody [data-attribute=age]')?.innerText === '3'", "users 26 to 50 by age")
        second = page.users
        page.back()
        page.wait("document.querySelector('tbody [data-attribute=age]')?.innerText === '6'")
        page.forward()
        page.wait(f"JSON.stringify([...document.querySelectorAll('tr[data-user]')].map((row) => row.dataset.user)) === {json.dumps(json.dumps(second, separators=(',', ':')))}")
        page.type("#filter", "age=3")
        page.run("document.querySelector('.filter').requestSubmit()")
        page.wait("document.getElementById('row-count').innerText === '9 users'")
        self.assertEqual(page.run("return new URLSearchParams(location.search).getAll('where')"), ["age=3"])
        page.type("#filter", "user 1")
        page.run("document.querySelector('.filter').requestSubmit()")
        page.wait("document.getElementById('row-count').innerText === '2 users'")
        self.assertQuiet()

    @served()
    def test_a_condition_with_a_mistake_is_explained(self, server):
        fill(server)
        page = self.open(server, "/?where=age=>18", ready=False)
        page.wait("document.querySelector('.filter-problem mark')")
        self.assertIn("=>", page.run("return document.querySelector('.filter-problem').innerText"))
        page.press(".chip-remove")
        page.wait_text(1, "name", "NIX")
