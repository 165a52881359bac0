"""Every view and dialog of the page, by the rules of axe, and by a rule of its own for definition lists.

$AXE names the file axe.min.js; Server/prove gets it.
"""

import os
import pathlib
import unittest

from browser import BrowserTestCase
from support import long, served, sql

AXE = os.environ.get("AXE")
# What a definition list may contain (HTML, 4.4.9): groups of terms and their details, each perhaps in a div.
LISTS = """
    const names = (element) => [...element.children].map((one) => one.localName);
    const isGroups = (found) => /^((dt )+(dd )+)*$/.test(found.map((name) => name + ' ').join(''));
    return [...document.querySelectorAll('dl')].filter((list) => {
      const groups = names(list).every((name) => name === 'div') ? [...list.children].map(names) : [names(list)];
      return !groups.every(isGroups);
    }).map((list) => list.outerHTML);"""


@long
class Rules(BrowserTestCase):
    def check(self, page, what):
        """Checks the present state of a page in both color schemes."""
        self.assertEqual(page.run(LISTS), [], what)
        if not AXE:
            return
        page.run(pathlib.Path(AXE).read_text() + "; window.axe = axe")
        # The schemes differ in colors only.
        for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast", "link-in-text-block"]})):
            page.scheme(scheme)
            page.focus()
            violations = page.driver.execute_async_script(
                "const [options, done] = arguments; axe.run({...options, resultTypes: ['violations']}).then(({violations}) => "
                "done(violations.map(({id, help, nodes}) => [id, help, nodes.map(({html}) => html.slice(0, 300))])), "
                "(error) => done([String(error)]));", options)
            self.assertEqual(violations, [], f"{what}, {scheme}")

    @served()
    def test_every_view_and_dialog_of_a_wide_window_keeps_the_rules(self, server):
        self.check_all(server, 1280)
        asked = self.open(server, token=False, ready=False)
        self.check(asked, "the dialog of the token")

    @served()
    def test_every_view_and_dialog_of_a_narrow_window_keeps_the_rules(self, server):
        self.check_all(server, 390)
        asked = self.open(server, token=False, ready=False)
        asked.size(390, 800)
        self.check(asked, "the dialog of the token")

    def check_all(self, server, width):
        for name, color, age in (("NIX", "auburn", 41), ("Zoë", "black", 36), ("Tim", "blond", 17)):
            server.add(name, hair_color=color, age=age, note=None)
        sql(server.database, "UPDATE users SET name = 'Zoe' WHERE id = 2")
        page = self.open(server)
        page.size(width, 800)
        for view in ("/", "/screens?user=2", "/log", "/pulse", "/?where=age>>1", "/?limit=2&after=1&log=hidden"):
            page.go(server.url + view)
            page.wait_live()
            page.wait("document.querySelector('main').children.length > 0")
            self.check(page, f"{view} at {width}")
        for name, view, action in (
                ("a user", "/", lambda: page.press('tr[data-user="1"] [data-attribute="id"] button')),
                ("an edited user", "/", lambda: (page.press('tr[data-user="1"] [data-attribute="id"] button'),
                                                  page.press("dialog .value-edit button"))),
                ("adding", "/", lambda: page.press("#add-user")),
                ("a change", "/log", lambda: page.run("[...document.querySelectorAll('.log-row')].at(-1).click()")),
                ("a name", "/screens?user=2", lambda: page.press("#with-names [data-testid=name-button]"))):
            page.go(server.url + view)
            page.wait_live()
            page.wait("document.querySelector('main').children.length > 0")
            page.wait("document.querySelector('tr[data-user], .log-row, [data-testid=name-button]')")
            action()
            page.wait("document.querySelector('dialog[open]')")
            self.check(page, f"the dialog of {name} at {width}")


if __name__ == "__main__":
    unittest.main()
