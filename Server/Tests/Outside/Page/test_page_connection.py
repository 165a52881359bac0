"""The page when the server stops, is killed, or comes back, without its token, and under attack from other sites."""

import http.server
import pathlib
import signal
import tempfile
import threading

from browser import BrowserTestCase, Keys
from support import Server, Writer, long, served, sql

REVISIONS = "[...document.querySelectorAll('.log-row.first-of-set')].map((row) => Number(row.dataset.revision))"


class Interruptions(BrowserTestCase):
    def setUp(self):
        super().setUp()
        # The token of a file stays the same after a restart.
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        file = self.folder / "token"
        file.write_text("the-token-of-these-tests-0123456789\n")
        file.chmod(0o600)
        self.token = ["--token-file", str(file)]

    def serve(self, *options):
        return self.enterContext(Server("--heartbeat", "1s", *self.token, *options, token="the-token-of-these-tests-0123456789"))

    def logged(self, database):
        """The revisions of all sets in the database: the rows that end a write, or else the writes of other programs."""
        return [row[0] for row in sql(database, "SELECT seq FROM changes WHERE op = 0 ORDER BY seq",
                                      postgres="SELECT last FROM commits ORDER BY last")]

    def test_a_server_that_stands_still_is_noticed_within_two_and_a_half_heartbeats(self):
        server = self.serve()
        server.add("NIX")
        page = self.open(server, "/")
        page.wait_text(1, "name", "NIX")
        page.edit(1, "name", "Typed")
        page.run("window.lostAt = null; new MutationObserver(() => { if (document.documentElement.dataset.connection === 'lost') window.lostAt ??= Date.now(); })"
                 ".observe(document.documentElement, {attributes: true})")
        server.process.send_signal(signal.SIGSTOP)
        try:
            stopped = page.time()
            page.wait_lost()
            self.assertLess(page.run("return window.lostAt") / 1000 - stopped, 2.5 + 1)
            self.assertIn("not connected", page.state)
            with Writer(server.database) as writer:
                for number in range(20):
                    writer.run("INSERT INTO users (name) VALUES (?)", (f"user {number}",))
        finally:
            server.process.send_signal(signal.SIGCONT)
        page.wait_live(within=20)
        page.wait("document.querySelectorAll('.log-row').length >= 42", "no change is missing", within=20)
        names = page.run("return [...document.querySelectorAll('.log-row.op-insert')].filter((row) => row.querySelector('.log-attribute').innerText === 'name').map((row) => row.querySelector('.log-values').innerText)")
        self.assertEqual(names, ["NIX"] + [f"user {number}" for number in range(20)])
        self.assertEqual(page.run("return document.querySelector('.editor textarea').value"), "Typed")
        page.keys(Keys.ENTER)
        page.wait_saved(1, "name")
        self.assertEqual(server.get("/users/1")["name"], "Typed")

    def test_a_killed_server_leaves_no_gap(self):
        server = self.serve()
        server.add("NIX", n=0)
        page = self.open(server, "/")
        page.wait_text(1, "name", "NIX")
        page.edit(1, "name", "Half a na")
        number = 0
        for round in range(5):
            for _ in range(8):
                number += 1
                server.patch(1, n=number)
            server.kill()
            page.wait_lost()
            server.start(listen=f"127.0.0.1:{server.port}")
            page.wait_live(within=30)
        revision = server.patch(1, n=number + 1)["revision"]
        page.wait_log(revision)
        page.wait_list(revision)
        page.wait(f"{REVISIONS}.length >= {number + 2}")
        self.assertEqual(page.run(f"return {REVISIONS}"), self.logged(server.database))
        self.assertEqual(page.text(1, "n"), str(number + 1))
        self.assertEqual(page.run("return document.querySelector('.editor textarea').value"), "Half a na")

    def test_a_save_without_a_server_keeps_the_text(self):
        server = self.serve()
        server.add("NIX")
        page = self.open(server)
        page.edit(1, "name", "Chloe")
        server.kill()
        page.keys(Keys.ENTER)
        page.wait("document.querySelector('[data-testid=editor-problem]').innerText.includes('cannot be reached')")
        server.start(listen=f"127.0.0.1:{server.port}")
        page.wait_live(within=30)
        self.assertEqual(page.run("return document.querySelector('.editor textarea').value"), "Chloe")
        page.run("document.querySelector('.editor textarea').focus()")
        page.keys(Keys.ENTER)
        page.wait_saved(1, "name")
        self.assertEqual(server.get("/users/1")["name"], "Chloe")

    @long
    def test_streams_that_end_by_age_are_continued(self):
        server = self.serve("--stream-age", "2s")
        server.add("NIX", n=0)
        page = self.open(server)
        page.run("window.lost = 0; new MutationObserver(() => { if (document.documentElement.dataset.connection === 'lost') window.lost += 1 }).observe(document.documentElement, {attributes: true});"
                 "window.opened = 0; window.states = []; new MutationObserver(() => { const state = document.documentElement.dataset.connection; "
                 "if (window.states.at(-1) !== state) window.states.push(state) }).observe(document.documentElement, {attributes: true})")
        for number in range(1, 4):
            page.wait(f"window.states.filter((state) => state === 'connecting').length >= {number}", within=20)
            page.wait_log(server.patch(1, n=number)["revision"])
        self.assertEqual(page.run("return window.lost"), 0, "an orderly end is no loss")
        page.wait(f"{REVISIONS}.length >= 4")
        self.assertEqual(page.run(f"return {REVISIONS}"), self.logged(server.database))


class Tokens(BrowserTestCase):
    @served()
    def test_a_page_that_did_not_arrive_whole_loads_again_with_its_token(self, server):
        for file in ("main.js", "users-row.js", "page.css"):
            page = self.browser.open(server, ready=False)
            page.protocol("Network.enable")
            page.protocol("Network.setBlockedURLs", urls=[f"*/{file}"])
            page.go(f"{server.url}/log#token={server.token}")
            # Without its style, the page runs, and says other things.
            if file != "page.css":
                page.wait("document.getElementById('state-reason').textContent.includes('loads again')")
            page.wait("performance.getEntriesByType('navigation')[0].type === 'reload'", "the page loads again")
            page.protocol("Network.setBlockedURLs", urls=[])
            page.wait_live()
            self.assertEqual(page.run("return location.pathname"), "/log")
            page.close()

    @served()
    def test_without_a_token_the_page_asks(self, server):
        server.add("NIX")
        page = self.open(server, token=False, ready=False)
        page.wait("document.querySelector('dialog #token')")
        page.type("#token", "wrong")
        page.press("dialog button[type=submit]")
        page.wait("document.querySelector('dialog #token')?.value === ''", "the page asks again")
        page.wait("document.getElementById('token-problem').innerText === 'This token is wrong.'")
        page.keys(Keys.ESCAPE)
        page.wait("!document.querySelector('dialog')")
        self.assertEqual(page.state.split("\n")[0].strip(), "a token is needed")
        page.press("#enter-token")
        page.type("#token", f"{server.url}/#token={server.token}")
        page.press("dialog button[type=submit]")
        page.wait_text(1, "name", "NIX")
        self.assertEqual(page.run("return location.href"), server.url + "/")

    @served()
    def test_a_token_that_is_refused_before_the_form_has_gone_is_asked_for_again(self, server):
        page = self.open(server, token=False, ready=False)
        page.wait("document.querySelector('dialog #token')")
        page.type("#token", "wrong")
        page.run("document.querySelector('dialog form').requestSubmit(); document.dispatchEvent(new Event('token-needed'))")
        page.wait("document.querySelectorAll('dialog #token').length === 1 && document.querySelector('#token').value === ''", "the page asks again")
        self.assertTrue(page.run("return document.querySelector('dialog').contains(document.getElementById('announcements'))"))

    @served()
    def test_the_token_is_in_no_address(self, server):
        server.add("NIX")
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        for view in ("/screens", "/log", "/pulse", "/"):
            page.press(f"nav a[href='{view}']")
            page.wait(f"location.pathname === '{view}'")
        page.press("th[data-column=name]")
        page.wait("location.search !== ''")
        found = page.run("return [location.href, document.documentElement.outerHTML, document.cookie, JSON.stringify(localStorage), ...performance.getEntriesByType('resource').map(({name}) => name)].join(' ')")
        self.assertNotIn(server.token, found)
        self.assertNotIn(server.token, server.log)

    def test_another_token_after_a_restart(self):
        with Server("--heartbeat", "1s") as server:
            server.add("NIX")
            first, second = self.open(server), self.open(server)
            first.edit(1, "name", "Typed")
            server.stop()
            server.start(listen=f"127.0.0.1:{server.port}")
            second.wait("document.querySelector('dialog #token')", within=30)
            self.assertIn("no longer accepts", second.run("return document.getElementById('token-problem').innerText"))
            second.type("#token", server.token)
            second.press("dialog button[type=submit]")
            second.wait_live()
            first.wait_live()
            self.assertEqual(first.run("return document.querySelectorAll('dialog').length"), 0, "the other window has the token, too")
            first.run("document.querySelector('.editor textarea').focus()")
            first.keys(Keys.ENTER)
            first.wait_saved(1, "name")
            self.assertEqual(server.get("/users/1")["name"], "Typed")

    def test_a_read_only_server(self):
        with Server() as server:
            server.add("NIX")
            with Server("--read-only", database=server.database) as reader:
                page = self.open(reader)
                page.wait_text(1, "name", "NIX")
                self.assertIn("read-only", page.state)
                self.assertEqual(page.find_all("#add-user, #undo, tr[data-user] td[data-attribute=''] button"), [])
                page.select_cell(1, "name")
                page.keys(Keys.ENTER)
                page.wait("document.querySelector('dialog')")
                self.assertEqual(page.find_all("dialog form, dialog .value-edit"), [])
                page.close_dialog()
                page.wait_list(server.patch(1, name="Chloe")["revision"])
                page.wait_text(1, "name", "Chloe")


class Handler(http.server.BaseHTTPRequestHandler):
    """A site that tries everything a site can try."""

    PAGE = """<!DOCTYPE html><title>attacker</title><body><script>
      const target = decodeURIComponent(location.search.slice(1)), results = {};
      const attempt = async (name, make) => { try { results[name] = String(await make()); } catch (error) { results[name] = 'refused'; } };
      const read = async (options, path) => { const response = await fetch(target + path, options); return response.type + ' ' + (await response.text()); };
      const loaded = (element, name, value) => new Promise((resolve, reject) => {
        element.onload = () => resolve('loaded'); element.onerror = reject; element[name] = value; document.body.append(element); });
      const body = '{"name":"attacker"}';
      (async () => {
        for (const path of ['/health', '/about', '/users', '/', '/main.js', '/openapi.json']) {
          await attempt('get ' + path, () => read({}, path));
          await attempt('no-cors ' + path, () => read({mode: 'no-cors', credentials: 'include'}, path));
        }
        await attempt('script', () => loaded(document.createElement('script'), 'src', target + '/main.js'));
        await attempt('image', () => loaded(document.createElement('img'), 'src', target + '/icon.svg'));
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json'])
          for (const mode of ['cors', 'no-cors'])
            await attempt(`post ${type} ${mode}`, () => read({method: 'POST', mode, body, headers: {'Content-Type': type}}, '/users'));
        await attempt('delete', () => read({method: 'DELETE', headers: {'If-Match': '*'}}, '/users/1'));
        await attempt('beacon', () => navigator.sendBeacon(target + '/users', new Blob([body], {type: 'text/plain'})) && 'sent');
        await attempt('events', () => new Promise((resolve, reject) => { const source = new EventSource(target + '/changes?after=oldest'); source.onmessage = resolve; source.onopen = resolve; source.onerror = reject; }));
        const frame = document.createElement('iframe');
        await attempt('frame', async () => { await loaded(frame, 'src', target + '/'); return frame.contentDocument?.body?.innerText ?? 'opaque'; });
        await attempt('form', async () => {
          const form = Object.assign(document.createElement('form'), {method: 'post', action: target + '/users', enctype: 'text/plain', target: 'sink'});
          const sink = Object.assign(document.createElement('iframe'), {name: 'sink'});
          const field = Object.assign(document.createElement('input'), {name: '{"name":"attacker","x":"', value: '"}'});
          form.append(field); document.body.append(sink, form);
          const answered = new Promise((resolve) => { sink.onload = () => resolve('answered'); });
          form.submit();
          return answered;
        });
        await attempt('window', async () => { const opened = window.open(target + '/'); return opened === null ? 'refused' : String(opened.document); });
        window.results = results;
      })();
    </script>"""

    def do_GET(self):
        body = self.PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Attacks(BrowserTestCase):
    arguments = ("--host-resolver-rules=MAP rebind.test 127.0.0.1", "--disable-popup-blocking")

    def setUp(self):
        super().setUp()
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        self.addCleanup(lambda: (site.shutdown(), thread.join(), site.server_close()))
        self.port = site.server_port

    def attack(self, server, site, target):
        """Opens a page of the attacker, who attacks a target; returns what came out."""
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        attacker = self.open(server, "/pulse", ready=False)
        attacker.go(f"http://{site}:{self.port}/?{target}")
        attacker.wait("window.results", within=60)
        return attacker.run("return window.results")

    def check(self, server, results):
        for name, result in results.items():
            self.assertNotIn("NIX", result, name)
            self.assertNotIn("basic", result, name)
            self.assertNotIn("cors {", result, name)
            if name.startswith(("get ", "post ", "delete", "events", "script")) and "no-cors" not in name:
                self.assertEqual(result, "refused", name)
        self.assertIn(results["frame"], ("opaque", "refused"))
        self.assertEqual(sql(server.database, "SELECT id, name FROM users"), [(1, "NIX")])

    @served()
    def test_another_site_on_this_machine_reads_and_writes_nothing(self, server):
        server.add("NIX")
        for site in ("127.0.0.1", "localhost"):
            self.check(server, self.attack(server, site, server.url))
            self.browser.close_pages()

    @long
    def test_nor_without_a_token(self):
        with Server("--no-token") as server:
            server.add("NIX")
            self.check(server, self.attack(server, "127.0.0.1", server.url))

    @long
    def test_a_name_that_is_rebound_reaches_nothing(self):
        with Server("--no-token") as server:
            server.add("NIX")
            self.check(server, self.attack(server, "rebind.test", f"http://rebind.test:{server.port}"))
            page = self.open(server)
            for path in ("/", "/users", "/about", "/health"):
                page.go(f"http://rebind.test:{server.port}{path}")
                self.assertNotIn("NIX", page.run("return document.documentElement.outerHTML"))
                self.assertEqual(page.run("return performance.getEntriesByType('navigation')[0].responseStatus"), 421, path)
