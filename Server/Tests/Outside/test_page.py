"""The page in a browser: windows, edits, the log, the screens, the keyboard, and the accessibility tree."""

import json
import os
import time
import unittest

from browser import BrowserTestCase, Keys
from support import DEADLINE, Server, Writer, eventually, long, served, sql

THREE = (("NIX", "auburn", 41), ("Zoë", "black", 36), ("Tim", "blond", 17))


def fill(server):
    """Adds three users; returns the revision."""
    return [server.add(name, hair_color=color, age=age) for name, color, age in THREE][-1]["revision"]


class Windows(BrowserTestCase):
    @served()
    def test_an_edit_in_the_eighth_window_shows_in_all_within_a_second(self, server):
        fill(server)
        pages = [self.open(server) for _ in range(8)]
        for page in pages:
            page.wait_text(1, "name", "NIX")
            page.run("""
                const cell = document.querySelector('tr[data-user="1"] [data-attribute="name"]');
                new MutationObserver(() => { if (cell.innerText.startsWith('Chloe')) window.shownAt ??= Date.now(); })
                  .observe(cell, {childList: true, subtree: true, characterData: true});""")
        pages[0].wait("document.getElementById('state').innerText.includes('8 windows')")
        self.assertEqual(server.get("/about")["streams"], 2, "the windows share one stream of changes and one list")
        pages[7].edit(1, "name", "Chloe")
        start = pages[7].time()
        pages[7].keys(Keys.ENTER)
        times = [page.wait("window.shownAt") / 1000 - start for page in pages]
        self.assertLess(max(times), 1, times)
        pages[7].wait_saved(1, "name")
        self.assertQuiet()

    @served()
    def test_a_window_that_closes_is_no_longer_counted(self, server):
        fill(server)
        first, second = self.open(server), self.open(server)
        first.wait("document.getElementById('state').innerText.includes('2 windows')")
        second.close()
        first.wait("document.getElementById('state').innerText.includes('1 window')")

    @served()
    def test_a_page_that_was_left_is_live_when_it_comes_back(self, server):
        fill(server)
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        page.go("about:blank")
        server.patch(1, name="Chloe")
        page.back()
        page.wait_live()
        page.wait_text(1, "name", "Chloe")
        revision = server.patch(1, name="Ann")["revision"]
        page.wait_text(1, "name", "Ann")
        page.wait(f"document.querySelector('.log-row[data-revision=\"{revision}\"]')")
        page.wait("document.getElementById('state').innerText.includes('1 window')")

    @served()
    def test_a_second_window_has_the_token_of_the_first(self, server):
        fill(server)
        first = self.open(server)
        self.assertEqual(first.run("return location.href"), server.url + "/")
        second = self.open(server, token=False)
        second.wait_text(2, "name", "Zoë")
        self.assertNotIn(server.token, second.run("return document.documentElement.outerHTML"))

    @long
    @served()
    def test_windows_with_many_different_lists_leave_room_for_edits(self, server):
        fill(server)
        pages = [self.open(server, f"/?where=age>={age}") for age in range(10, 17)]
        self.assertLessEqual(server.get("/about")["streams"], 4)
        pages[6].save(1, "name", "Chloe")
        for page in pages:
            page.wait_text(1, "name", "Chloe")
        revision = server.patch(3, name="Tom")["revision"]
        for page in pages:
            page.wait_list(revision)
            page.wait_text(3, "name", "Tom")

    @served()
    def test_a_window_that_joins_late_has_the_rows_and_the_log(self, server):
        fill(server)
        first = self.open(server)
        first.wait_list(server.patch(1, name="A")["revision"])
        server.write("POST", "/users", {"name": "Ada"})
        second = self.open(server)
        second.wait_text(4, "name", "Ada")
        self.assertEqual(second.users, ["1", "2", "3", "4"])
        revisions = "[...new Set([...document.querySelectorAll('.log-row')].map((row) => row.dataset.revision))].join()"
        self.assertEqual(first.wait(revisions), second.wait(revisions))


class Editing(BrowserTestCase):
    @served()
    def test_values_get_the_type_that_is_chosen(self, server):
        fill(server)
        page = self.open(server)
        page.save(1, "age", "42")
        page.save(2, "age", "1.0")
        page.save(3, "age", "17", kind="text")
        stored = "SELECT typeof(value), quote(value) FROM attributes WHERE name = 'age' ORDER BY user_id"
        self.assertEqual(sql(server.database, stored), [("integer", "42"), ("real", "1.0"), ("text", "'17'")])
        self.assertEqual(page.column("age"), ["42", "1.0", "17"])
        self.assertEqual(page.run("return document.querySelector('tr[data-user=\"3\"] [data-attribute=age] .quoted') !== null"), True)
        page.save(3, "age", None, kind="unset")
        self.assertEqual(len(sql(server.database, stored)), 2)
        page.save(1, "hair_color", "chestnut")
        page.wait_text(1, "hair_color", "#954535")
        self.assertQuiet()

    @served()
    def test_a_value_that_cannot_be_saved_stays_in_the_editor(self, server):
        fill(server)
        page = self.open(server)
        page.edit(1, "age", "12x")
        page.keys(Keys.ENTER)
        page.wait("document.querySelector('[data-testid=editor-problem]').innerText.includes('Write a number')")
        self.assertEqual(page.run("return document.activeElement.value"), "12x")
        page.type("textarea", "9223372036854775808")
        page.keys(Keys.ENTER)
        page.wait("document.querySelector('[data-testid=editor-problem]').innerText.includes('64 bits')")
        page.keys(Keys.ESCAPE)
        page.wait_text(1, "age", "41")
        page.edit(1, "name", "")
        page.keys(Keys.ENTER)
        page.wait("document.querySelector('[data-testid=editor-problem]').innerText !== ''", "the server refuses an empty name")
        self.assertEqual(server.get("/users/1")["name"], "NIX")

    @served()
    def test_two_editors_on_one_cell(self, server):
        fill(server)
        first, second = self.open(server), self.open(server)
        first.edit(1, "name", "Mine")
        second.save(1, "name", "Theirs")
        first.wait("document.querySelector('[data-testid=theirs]')?.innerText.includes('Theirs')")
        self.assertEqual(first.run("return document.querySelector('textarea').value"), "Mine")
        first.keys(Keys.ENTER)
        first.wait("document.querySelector('[data-testid=editor-problem]').innerText.includes('Keep yours')")
        self.assertEqual(server.get("/users/1")["name"], "Theirs")
        first.press("[data-testid=theirs] button", "Keep mine")
        self.assertEqual(first.active, "textarea")
        first.keys(Keys.ENTER)
        first.wait_saved(1, "name")
        second.wait_text(1, "name", "Mine")
        first.edit(1, "name", "Mine again")
        second.save(1, "name", "Theirs again")
        first.wait("document.querySelector('[data-testid=theirs]')?.innerText.includes('Theirs again')")
        first.press("[data-testid=theirs] button", "Take theirs")
        first.wait_text(1, "name", "Theirs again")
        self.assertEqual(server.get("/users/1")["name"], "Theirs again")

    @served()
    def test_a_conflict_that_the_page_cannot_know_is_found_by_the_server(self, server):
        fill(server)
        page = self.open(server)
        page.edit(1, "name", "Mine")
        # The other write and the save are under way at the same time.
        page.run("""
            const token = sessionStorage.getItem('userserver-token');
            const request = new XMLHttpRequest();
            request.open('PATCH', '/users/1', false);
            request.setRequestHeader('Authorization', 'Bearer ' + token);
            request.setRequestHeader('Content-Type', 'application/json');
            request.send('{"set":{"name":"Theirs"}}');
            document.querySelector('.editor button.primary').click();""")
        page.wait("document.querySelector('[data-testid=theirs]')?.innerText.includes('Theirs')")
        self.assertEqual(page.run("return document.querySelector('textarea').value"), "Mine")
        page.press("[data-testid=theirs] button", "Keep mine")
        page.wait_saved(1, "name")
        self.assertEqual(server.get("/users/1")["name"], "Mine")

    @served()
    def test_two_editors_on_two_cells(self, server):
        fill(server)
        first, second = self.open(server), self.open(server)
        first.edit(1, "name", "Chloe")
        second.edit(1, "hair_color", "silver")
        second.keys(Keys.ENTER)
        second.wait_saved(1, "hair_color")
        first.keys(Keys.ENTER)
        first.wait_saved(1, "name")
        self.assertEqual(server.get("/users/1"), {"id": 1, "name": "Chloe", "hair_color": "#c0c0c0", "age": 41})

    @served()
    def test_an_editor_on_a_removed_row(self, server):
        fill(server)
        page = self.open(server)
        page.edit(2, "name", "Typed with care")
        revision = server.write("DELETE", "/users/2", headers={"If-Match": "*"})["revision"]
        page.wait_log(revision)
        page.wait("document.querySelector('[data-testid=theirs]').innerText.includes('removed')")
        page.keys(Keys.ENTER)
        page.wait("!document.querySelector('.editor textarea').readOnly")
        self.assertEqual(page.run("return document.querySelector('.editor textarea').value"), "Typed with care")
        self.assertEqual(page.users, ["1", "2", "3"], "the row stays")
        server.write("POST", f"/changes/{revision}/undo")
        page.wait("document.querySelector('[data-testid=theirs]').innerText === ''", "the user is there again")
        page.keys(Keys.ENTER)
        page.wait_saved(2, "name")
        self.assertEqual(server.get("/users/2")["name"], "Typed with care")

    @served()
    def test_add_remove_and_undo(self, server):
        page = self.open(server)
        page.press("#add-samples")
        page.wait("document.querySelectorAll('tr[data-user]').length === 3")
        page.press("#add-user")
        page.type("dialog [name=name]", "Ada")
        page.press("dialog button[type=submit]")
        page.wait_text(4, "name", "Ada")
        eventually(lambda: page.active == ("4", "name"), "the new row has the focus")
        page.press('tr[data-user="1"] button[aria-label="Remove user 1"]')
        page.wait("document.getElementById('notice').innerText.includes('Removed user 1')")
        page.press("#notice button", "Undo")
        eventually(lambda: server.request("GET", "/users/1").status == 200, "the user is restored")
        page.blur()
        page.wait("document.querySelectorAll('tr[data-user]').length === 4")
        page.press("#undo")
        eventually(lambda: server.request("GET", "/users/4").status == 404, "the first write is undone, too")
        self.assertQuiet()

    @served()
    def test_a_new_attribute_is_added_in_the_dialog_of_a_user(self, server):
        fill(server)
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        page.press('tr[data-user="1"] [data-attribute="id"] button')
        page.type("dialog .new-attribute input", "shoe size")
        page.press("dialog .new-attribute button")
        page.wait("document.querySelector('dialog .editor')?.contains(document.activeElement)")
        self.assertEqual(page.run("return document.querySelector('dialog .editor select').value"), "unset")
        page.run("const select = document.querySelector('dialog .editor select'); select.value = 'number'; select.dispatchEvent(new Event('change'))")
        page.type("dialog .editor textarea", "36.5")
        page.keys(Keys.ENTER)
        page.wait("[...document.querySelectorAll('dialog .value-row')].some((row) => row.innerText.includes('shoe size') && row.innerText.includes('36.5'))")
        page.close_dialog()
        page.wait_text(1, "shoe size", "36.5")
        self.assertEqual(server.get("/users/1")["shoe size"], 36.5)
        self.assertQuiet()

    @served()
    def test_rows_do_not_move_under_the_focus_or_the_pointer(self, server):
        fill(server)
        page = self.open(server, "/?sort=name")
        page.wait("document.querySelectorAll('tr[data-user]').length === 3")
        self.assertEqual(page.users, ["1", "3", "2"])
        page.select_cell(1, "name")
        page.wait_list(server.patch(2, name="Ann")["revision"])
        page.wait_text(2, "name", "Ann")
        self.assertEqual(page.users, ["1", "3", "2"])
        page.wait("document.getElementById('apply-order').innerText === 'order changed · apply'")
        page.press("#apply-order")
        self.assertEqual(page.users, ["2", "1", "3"])
        self.assertEqual(page.active, ("1", "name"), "the focus follows the row")
        page.blur()
        page.point('tr[data-user="1"]')
        page.wait_list(server.add("Abe")["revision"])
        page.wait("document.getElementById('apply-order').innerText === '1 new · apply'")
        self.assertEqual(page.users, ["2", "1", "3"])
        page.unpoint()
        page.wait("document.querySelectorAll('tr[data-user]').length === 4")
        self.assertEqual(page.users, ["4", "2", "1", "3"])

    @served()
    def test_a_draft_survives_another_view(self, server):
        fill(server)
        page = self.open(server)
        page.edit(1, "name", "Half a na")
        page.press("nav a[href='/log']")
        page.wait("document.querySelector('.consumers-card')")
        page.press("nav a[href='/']")
        page.wait("document.querySelector('.editor textarea')?.value === 'Half a na'")


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


class Log(BrowserTestCase):
    @served()
    def test_a_row_shows_the_user_before_and_after(self, server):
        fill(server)
        first = server.patch(1, name="Chloe", age=None)["revision"]
        server.patch(1, name="Ann", city="Ulm")
        page = self.open(server, "/log")
        page.wait_log(first)
        page.press(f'.log-row[data-revision="{first}"]')
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 3")
        rows = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText.trim().split('\\n')[0]))")
        self.assertEqual(rows, [["name", "NIX", "Chloe", "changed"], ["hair_color", "#a52a2a", "#a52a2a", ""], ["age", "41", "not set", "unset"]])
        page.press("#undo-this")
        page.wait("document.getElementById('notice').innerText.startsWith('Not done.')", "the name was changed since")
        second = server.patch(2, name="Eve")["revision"]
        page.wait_log(second)
        page.press(f'.log-row[data-revision="{second}"]')
        page.press("#undo-this")
        eventually(lambda: server.get("/users/2")["name"] == "Zoë", "the write is undone")

    @served()
    def test_a_removed_user_is_shown_as_it_was(self, server):
        fill(server)
        revision = server.write("DELETE", "/users/3", headers={"If-Match": "*"})["revision"]
        page = self.open(server, "/log")
        page.wait_log(revision)
        page.press(f'.log-row[data-revision="{revision}"]')
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 3")
        rows = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => row.children[1].innerText.trim())")
        self.assertEqual(rows, ["Tim", "#faf0be", "17"])

    @served()
    def test_scrolling_up_pauses_and_counts_what_waits(self, server):
        fill(server)
        for number in range(60):
            server.patch(1, n=number)
        page = self.open(server, "/log")
        page.wait("document.querySelectorAll('.log-row').length >= 40")
        page.run("document.querySelector('.log-scroll').scrollTop = 0")
        page.wait("document.getElementById('log-state').innerText === 'paused, 0 waiting'")
        shown = "document.querySelectorAll('.log-row').length"
        count = page.run(f"return {shown}")
        for number in range(7):
            revision = server.patch(2, n=number)["revision"]
        page.wait_log(revision)
        page.wait("document.getElementById('log-state').innerText === 'paused, 7 waiting'")
        self.assertEqual(page.run(f"return {shown}"), count)
        page.press("#newest")
        page.wait(f"document.querySelector('.log-row[data-revision=\"{revision}\"]')")
        page.wait("document.getElementById('log-state').innerText === ''")

    @served()
    def test_pausing_and_filtering(self, server):
        fill(server)
        page = self.open(server, "/log")
        page.press("#pause-log")
        revision = server.patch(1, age=50, name="Ann")["revision"]
        page.wait("document.getElementById('log-state').innerText === 'paused, 2 waiting'")
        page.press("#pause-log")
        page.wait(f"document.querySelector('.log-row[data-revision=\"{revision}\"]')")
        page.run("document.getElementById('log-attribute').value = 'age'; document.getElementById('log-attribute').dispatchEvent(new Event('change'))")
        page.wait("location.search === '?attribute=age'")
        # The page empties its log before the filtered rows arrive.
        page.wait("document.querySelectorAll('.log-row').length === 4")
        self.assertEqual(page.run("return [...document.querySelectorAll('.log-attribute')].map((cell) => cell.innerText)"), ["age"] * 4)

    @served()
    def test_other_programs_writes_are_in_the_log(self, server):
        fill(server)
        page = self.open(server, "/log")
        sql(server.database, "UPDATE users SET name = 'Zoe' WHERE id = 2")
        page.wait("[...document.querySelectorAll('.log-row')].at(-1).innerText.includes('another program')")
        page.run("[...document.querySelectorAll('.log-row')].at(-1).click()")
        page.wait("document.querySelector('dialog').innerText.includes('cannot be undone')")

    @long
    @served()
    def test_a_storm_leaves_the_page_responsive_and_counts_everything(self, server):
        """10,000 changes each second for $STORM seconds."""
        fill(server)
        page = self.open(server)
        before = page.wait("Number(document.getElementById('log-count').dataset.count)")
        page.press("th[data-column=id]")
        page.run("""
            window.delays = [];
            document.addEventListener('keydown', ({timeStamp}) => requestAnimationFrame(() => setTimeout(() => delays.push(performance.now() - timeStamp))), true);
            document.querySelector('th[data-column=id]').focus();""")
        written, end = 0, time.monotonic() + float(os.environ.get("STORM", "5"))
        start = time.monotonic()
        with Writer(server.database) as writer:
            while time.monotonic() < end:
                writer.run("BEGIN IMMEDIATE")
                for number in range(500):
                    writer.run("UPDATE users SET name = ? WHERE id = ?", (f"user {written + number}", number % 3 + 1))
                writer.run("COMMIT")
                written += 500
                page.keys(Keys.ARROW_RIGHT if written % 1000 else Keys.ARROW_LEFT)
                eventually(lambda: time.monotonic() - start >= written / 10_000, "the next transaction is due")
            name = writer.run("SELECT name FROM users WHERE id = 1")[0][0]
        page.wait(f"Number(document.getElementById('log-count').dataset.count) === {before + written}", f"{written} changes are counted", within=60)
        page.wait_text(1, "name", name)
        self.assertLessEqual(page.run("return document.querySelectorAll('.log-rows > *').length"), 500)
        delays = sorted(page.run("return window.delays"))
        self.assertTrue(delays)
        self.assertLess(delays[len(delays) // 2], 100, f"the time from a key to the next frame: {delays}")
        page.wait("document.getElementById('verified').innerText.startsWith('✓')", within=30)


class Screens(BrowserTestCase):
    @served()
    def test_listeners_with_names_do_not_pile_up(self, server):
        fill(server)
        page = self.open(server, "/screens?user=2")
        page.wait("document.querySelectorAll('.stack').length === 2")
        for stack in ("#with-names", "#without-names"):
            page.press(f"{stack} [data-testid=push]")
            page.press(f"{stack} [data-testid=push]")
            self.assertEqual(page.run("return document.querySelector(arguments[0]).innerText", f"{stack} [data-testid=listener-count]"), "6")
            page.press(f"{stack} [data-testid=enter-twice]")
        count = "return document.querySelector(arguments[0]).innerText"
        self.assertEqual(page.run(count, "#with-names [data-testid=listener-count]"), "6")
        self.assertEqual(page.run(count, "#without-names [data-testid=listener-count]"), "12")
        page.press("#with-names [data-screen=ThirdScreen] [data-testid=name-button]")
        self.assertEqual(page.run("return document.querySelector('dialog [name=name]').placeholder"), "Zoë", "the form shows the present value")
        page.type("dialog [name=name]", "Chloe")
        page.press("dialog button[type=submit]")
        names = "[...document.querySelectorAll('[data-testid=name-button]')].map((button) => button.innerText).join()"
        page.wait(f"{names} === 'Chloe,Chloe,Chloe,Chloe,Chloe,Chloe'")
        self.assertEqual(page.run("return document.querySelectorAll('#with-names .times').length"), 0)
        page.wait("[...document.querySelectorAll('#without-names .times')].some((times) => times.innerText.includes('called 2 times'))")
        sql(server.database, "UPDATE users SET hair_color = '#c0c0c0' WHERE id = 2")
        page.wait("[...document.querySelectorAll('.screen-body')].every((body) => body.style.backgroundColor === 'rgb(192, 192, 192)')")
        self.assertQuiet()

    @served()
    def test_push_and_pop(self, server):
        fill(server)
        page = self.open(server, "/screens")
        page.wait("document.querySelectorAll('.stack').length === 2")
        opened = "return [...document.querySelectorAll('#with-names .screen')].map((screen) => screen.dataset.open).join()"
        self.assertEqual(page.run(opened), "true,false,false")
        page.press("#with-names [data-testid=push]")
        self.assertEqual(page.run(opened), "true,true,false")
        page.press("#with-names [data-testid=pop]")
        self.assertEqual(page.run(opened), "true,false,false")
        page.press("#with-names [data-testid=push]")
        self.assertEqual(page.run("return document.querySelector('#with-names [data-testid=listener-count]').innerText"), "4")


@long
class Pulse(BrowserTestCase):
    @served()
    def test_the_figures_come(self, server):
        fill(server)
        page = self.open(server, "/pulse")
        page.wait("document.getElementById('server-to-window').innerText.endsWith(' ms')")
        server.patch(1, name="Chloe")
        page.wait("document.getElementById('commit-to-sent').innerText.endsWith(' ms')")
        page.wait("[...document.querySelectorAll('.bar')].some((bar) => Number(bar.getAttribute('height')) > 0)")


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


if __name__ == "__main__":
    unittest.main()
