"""The past of the log in the page: older changes, filters that search them, and values that were purged."""

import unittest

from browser import BrowserTestCase
from support import long, served, usertool


@long
class Past(BrowserTestCase):
    def fill(self, server):
        """Changes of user 1, and after them more of user 2 than the stream begins with; returns the last revision."""
        server.add("NIX", age=41)
        server.patch(1, name="Chloe", city="Ulm")
        server.add("Zoë")
        for number in range(130):
            revision = server.patch(2, n=number)["revision"]
        return revision

    def filter(self, page, name, text):
        page.run("const field = document.getElementById(arguments[0]); field.value = arguments[1]; field.dispatchEvent(new Event('change'))", f"log-{name}", text)

    @served()
    def test_a_filter_by_user_searches_the_whole_log(self, server):
        revision = self.fill(server)
        rows = "[...document.querySelectorAll('.log-row')].map(({row}) => row.attribute).join()"
        past = "name,hair_color,age,name,city"
        filtered, other = self.open(server, "/log?user=1"), self.open(server, "/log")
        filtered.wait("document.getElementById('log-past').innerText === 'the whole log was searched'")
        filtered.wait(f"{rows} === '{past}'")
        other.wait_log(revision)
        self.filter(other, "user", "1")
        for page in (filtered, other):
            page.wait(f"{rows} === '{past}'")
        server.patch(1, age=42)
        server.patch(2, n=0)
        for page in (filtered, other):
            page.wait(f"{rows} === '{past},age'", "older and newer rows")
        self.assertQuiet()

    @served()
    def test_the_user_of_an_old_change_is_shown_before_and_after(self, server):
        self.fill(server)
        page = self.open(server, "/log?user=1")
        page.wait("document.querySelectorAll('.log-row').length === 5")
        page.run("[...document.querySelectorAll('.log-row')].at(-1).click()")
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 4")
        rows = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText.trim()))")
        self.assertEqual(rows, [["name", "NIX", "Chloe", "changed"], ["hair_color", "not set", "not set", ""], ["age", "41", "41", ""], ["city", "not set", "Ulm", "set"]])

    @served()
    def test_a_filter_says_what_it_has_searched(self, server):
        self.fill(server)
        page = self.open(server, "/log?attribute=shoe")
        page.wait("document.querySelector('.log-card .empty').innerText === 'No change in the last 1,000 rows of the log meets this filter.'")
        self.filter(page, "attribute", "city")
        page.wait("document.querySelectorAll('.log-row').length === 1")
        page.wait("document.getElementById('log-past').innerText.includes('last 1,000 rows')")
        self.filter(page, "user", "Zoë")
        page.wait("document.getElementById('log-problem').innerText === 'The id of a user is a whole number.'")
        self.assertEqual(page.run("return [document.getElementById('log-user').getAttribute('aria-invalid'), location.search]"), ["true", "?attribute=city"])
        self.filter(page, "user", "77")
        page.wait("document.querySelector('.log-card .empty').innerText === 'No change in the log meets this filter.'")
        self.assertEqual(page.run("return document.getElementById('log-problem').innerText"), "")

    @served()
    def test_older_changes_are_read(self, server):
        revision = self.fill(server)
        page = self.open(server, "/log")
        page.wait_log(revision)
        page.wait("!document.getElementById('older').hidden")
        page.press("#older")
        page.wait("document.querySelectorAll('.log-row').length === 137")
        revisions = page.run("return [...document.querySelectorAll('.log-row')].map((row) => Number(row.dataset.revision))")
        self.assertEqual(revisions, sorted(revisions))
        page.wait("document.getElementById('older').hidden")
        self.assertQuiet()

    @served()
    def test_purged_values_are_shown_as_such(self, server):
        self.fill(server)
        revision = server.write("DELETE", "/users/1", headers={"If-Match": "*"})["revision"]
        usertool("purge", "1", "--yes", database=server.database)
        page = self.open(server, "/log?user=1")
        page.wait("document.querySelectorAll('.log-row').length === 9")
        page.press(f'.log-row[data-revision="{revision}"]')
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 4")
        cells = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => [row.dataset.attribute, row.children[1].innerText])")
        self.assertEqual(cells, [["name", "purged"], ["hair_color", "purged"], ["age", "purged"], ["city", "purged"]])
        self.assertTrue(page.run("return document.getElementById('undo-this').disabled"))
        self.assertIn("purged", page.run("return document.querySelector('dialog .hint').innerText"))


if __name__ == "__main__":
    unittest.main()
