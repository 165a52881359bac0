"""The page without a pointer, its accessibility tree, its looks, and every view and dialog by the rules of axe.

$AXE names the file axe.min.js; Server/prove gets it.
"""

import os
import pathlib

from browser import BrowserTestCase, Keys, fill
from support import eventually, long, served, sql

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


class KeyboardOnly(BrowserTestCase):
    @served()
    def test_a_value_is_changed_without_a_pointer(self, server):
        fill(server)
        page = self.open(server)
        page.wait_text(3, "name", "Tim")
        seen = set()
        while page.run("return document.activeElement.closest('[role=grid]') === null"):
            page.keys(Keys.TAB)
            place = page.run("const element = document.activeElement; return [element.localName, element.id, element.innerText]")
            self.assertNotIn(str(place), seen, "the grid cannot be reached by Tab")
            seen.add(str(place))
        self.assertEqual(page.run("return document.querySelectorAll('[role=grid] [tabindex=\"0\"]').length"), 1, "one tab stop")
        page.chord(Keys.CONTROL, Keys.HOME)
        page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        self.assertEqual(page.active, ("2", "name"))
        page.keys(Keys.END)
        self.assertEqual(page.active[0], "2")
        page.keys(Keys.HOME)
        self.assertEqual(page.active, ("2", "id"))
        page.keys(Keys.ARROW_RIGHT, Keys.F2)
        self.assertEqual(page.active, "textarea")
        page.keys("Wrong", Keys.ESCAPE)
        self.assertEqual(page.active, ("2", "name"))
        self.assertEqual(page.text(2, "name"), "Zoë")
        page.keys(Keys.ENTER, "Chloe", Keys.ENTER)
        page.wait_saved(2, "name")
        self.assertEqual(page.active, ("2", "name"))
        self.assertEqual(server.get("/users/2")["name"], "Chloe")
        page.keys(Keys.TAB)
        self.assertTrue(page.run("return document.activeElement.closest('[role=grid]') === null"), "Tab leaves the grid")
        page.chord(Keys.SHIFT, Keys.TAB)
        self.assertEqual(page.active, ("2", "name"))
        page.chord(Keys.CONTROL, "z")
        eventually(lambda: server.get("/users/2")["name"] == "Zoë", "Control-Z undoes")
        page.chord(Keys.CONTROL, Keys.HOME)
        page.keys(Keys.ARROW_RIGHT, Keys.ENTER)
        page.wait("location.search.includes('sort=name')")

    @served()
    def test_the_log_is_used_without_a_pointer(self, server):
        fill(server)
        revision = server.patch(1, name="Chloe")["revision"]
        page = self.open(server, "/log")
        page.wait_log(revision)
        page.run("document.getElementById('log-user').focus()")
        while page.run("return document.activeElement.closest('.log-rows') === null"):
            self.assertNotEqual(page.active, "body")
            page.keys(Keys.TAB)
        self.assertEqual(page.run("return document.activeElement.dataset.revision"), str(revision))
        page.keys(Keys.ARROW_UP)
        self.assertNotEqual(page.run("return document.activeElement.dataset.revision"), str(revision))
        page.keys(Keys.END, Keys.ENTER)
        page.wait("document.querySelector('dialog[open]')")
        page.keys(Keys.ESCAPE)
        page.wait("document.activeElement.dataset.revision")

    @served()
    def test_the_tab_stop_of_the_log_is_the_newest_row_until_another_was_chosen(self, server):
        revision = fill(server)
        page = self.open(server, "/log")
        stop = "return document.querySelector('.log-row[tabindex=\"0\"]').dataset.revision"
        page.wait_log(revision)
        for name in ("Chloe", "Zoe"):
            revision = server.patch(1, name=name)["revision"]
            page.wait_log(revision)
            self.assertEqual(page.run(stop), str(revision))
        page.run("document.querySelector('.log-row[tabindex=\"0\"]').focus()")
        page.keys(Keys.ARROW_UP)
        chosen = page.run(stop)
        self.assertNotEqual(chosen, str(revision))
        page.run("document.activeElement.blur()")
        page.wait_log(server.patch(1, name="Chloe")["revision"])
        self.assertEqual(page.run(stop), chosen)


class Accessibility(BrowserTestCase):
    def tree(self, page):
        """The nodes of the accessibility tree that are not ignored, as (role, name, properties)."""
        nodes = page.protocol("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""), {one["name"]: one["value"].get("value") for one in node.get("properties", [])})
            for node in nodes if not node.get("ignored")]

    @served()
    def test_the_tree_has_a_grid_with_names(self, server):
        fill(server)
        page = self.open(server, "/?sort=name:desc")
        page.wait_text(1, "name", "NIX")
        tree = self.tree(page)
        of = lambda role: [name for found, name, _ in tree if found == role]
        self.assertIn("Users", of("grid"))
        self.assertEqual([name for name in of("columnheader")][:4], ["id", "name", "hair_color", "age"])
        self.assertEqual(page.run("return document.querySelector('th[data-column=name]').getAttribute('aria-sort')"), "descending")
        self.assertEqual(len(of("row")), 4)
        self.assertTrue({"NIX", "Zoë", "Tim"} <= {name.strip() for name in of("gridcell")}, of("gridcell"))
        self.assertIn("main", [role for role, _, _ in tree])
        self.assertEqual(of("navigation"), ["Views"])
        for view in ("/", "/screens", "/log", "/pulse"):
            page.press(f"nav a[href='{view}']")
            page.wait(f"document.querySelector('nav a[aria-current]').getAttribute('href') === '{view}' && document.querySelector('main').children.length > 0")
            for role, name, _ in self.tree(page):
                if role in ("button", "link", "textbox", "searchbox", "combobox", "dialog", "img"):
                    self.assertTrue(name.strip(), f"a {role} of {view} has no name")
            self.assertEqual(page.run("return [...document.querySelectorAll('[aria-live], [role=status], [role=log]')].map((one) => one.id)"), ["announcements"])

    @served()
    def test_what_happens_is_announced(self, server):
        fill(server)
        page = self.open(server)
        page.edit(1, "name", "Mine")
        server.patch(1, name="Theirs")
        page.wait("document.getElementById('announcements').textContent.includes('changed to “Theirs” while you edit it')")

    @served()
    def test_paused_views_do_not_change(self, server):
        fill(server)
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        page.press("#pause-users")
        page.wait_list(server.patch(1, name="Chloe")["revision"])
        page.wait("document.querySelector('.users-card .waiting').innerText === 'paused, 1 waiting'")
        self.assertEqual(page.text(1, "name"), "NIX")
        page.press("#pause-users")
        page.wait_text(1, "name", "Chloe")


@long
class Pictures(BrowserTestCase):
    @served()
    def test_no_view_is_wider_than_its_window(self, server):
        fill(server)
        for number, name in enumerate(["Ada Lovelace", "Grace Hopper", "Margaret Hamilton", "Barbara Liskov", "Radia Perlman"]):
            server.add(name, hair_color="#%06x" % (number * 0x2F1B3D), city=["Ulm", "Oslo"][number % 2], shoe_size=36.5 + number)
        sql(server.database, "UPDATE users SET name = 'Zoe' WHERE id = 2")
        page = self.open(server)
        for view in ("/", "/screens", "/log", "/pulse"):
            page.go(server.url + view)
            page.wait_live()
            page.wait("document.querySelector('main').children.length > 0")
            for width, height in ((1280, 800), (390, 844)):
                page.size(width, height)
                for scheme in ("light", "dark"):
                    page.scheme(scheme)
                    wide = page.run("return [document.documentElement.scrollWidth, innerWidth]")
                    self.assertLessEqual(wide[0], wide[1], f"{view} at {width}")
                    page.picture(f"{view.strip('/') or 'users'}-{width}-{scheme}")
        self.assertQuiet()
