"""Edits of values in the table and in dialogs, also of two writers at the same time."""

from browser import BrowserTestCase, Keys, fill
from support import eventually, served, sql


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
    def test_a_user_with_a_negative_id(self, server):
        # As users have that are added on a replica; it is not exact as a number of JavaScript.
        identifier = -2**62 + 1
        server.request("PUT", f"/users/{identifier}", {"name": "NIX"}, {"If-None-Match": "*"})
        page = self.open(server)
        self.assertEqual(page.users, [str(identifier)])
        page.save(identifier, "name", "Zoë")
        self.assertEqual(server.get(f"/users/{identifier}")["name"], "Zoë")
        page.go(f"{server.url}/log?user={identifier}#token={server.token}")
        page.wait(f"document.querySelectorAll('.log-row[data-user=\"{identifier}\"]').length > 1", "the log has the changes")
        page.go(f"{server.url}/#token={server.token}")
        page.press(f'tr[data-user="{identifier}"] button[aria-label="Remove user {identifier}"]')
        page.wait(f"document.getElementById('notice').innerText.includes('Removed user {identifier}')")
        self.assertProblem(server.request("GET", f"/users/{identifier}"), 404, "userNotFound")
        self.assertQuiet()

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
