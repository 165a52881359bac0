"""The streams of the page: shared by windows, broken off anywhere, tampered with, and without a SharedWorker."""

import random
import re
import socket
import threading

from browser import BrowserTestCase, Keys, fill
from support import Server, Writer, eventually, long, served, sql

SETS = "[...document.querySelectorAll('.log-row.first-of-set')].map((row) => Number(row.dataset.revision))"


class Between:
    """A proxy between the browser and the server that can change bytes, or break a stream off; one request for each connection."""

    def __init__(self, *options):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.server = Server("--host", f"127.0.0.1:{self.port}", *options)
        # Takes the path of a request and returns a function, which takes a part of the answer and returns what to send;
        # None breaks off.
        self.tamper = lambda path: lambda part: part
        self.sockets = set()

    def __enter__(self):
        self.server.__enter__()
        self.address = (self.server.host, self.server.port)
        self.server.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        for one in list(self.sockets):
            self.end(one)
        self.listener.close()
        return self.server.__exit__(*error)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def end(self, one):
        self.sockets.discard(one)
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        one.close()

    def serve(self, client):
        self.sockets.add(client)
        head = b""
        try:
            while b"\r\n\r\n" not in head:
                part = client.recv(65536)
                if not part:
                    return self.end(client)
                head += part
        except OSError:
            return self.end(client)
        path = head.split(b" ")[1].decode()
        fields, _, body = head.partition(b"\r\n\r\n")
        fields = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", fields) + b"\r\nConnection: close"
        server = socket.create_connection(self.address)
        self.sockets.add(server)
        server.sendall(fields + b"\r\n\r\n" + body)
        threading.Thread(target=self.pump, args=(client, server, lambda part: part), daemon=True).start()
        self.pump(server, client, self.tamper(path))

    def pump(self, source, sink, change):
        try:
            while part := source.recv(65536):
                part = change(part)
                if part is None:
                    break
                sink.sendall(part)
        except OSError:
            pass
        self.end(source)
        self.end(sink)


class Streams(BrowserTestCase):
    def test_a_list_that_differs_is_loaded_again(self):
        with Between("--heartbeat", "1s") as between:
            between.server.add("NIX")
            page = self.open(between.server)
            page.wait("document.getElementById('verified').innerText.startsWith('✓ verified at revision')")
            changed = threading.Event()

            def tamper(path):
                def change(part):
                    if path.startswith("/lists") and not changed.is_set() and b'"hash":"' in part:
                        changed.set()
                        return re.sub(rb'"hash":"[0-9a-f]{8}"', b'"hash":"00000000"', part)
                    return part
                return change

            between.tamper = tamper
            page.go(between.server.url + "/")
            page.wait("document.getElementById('notice').innerText.includes('differed from the server')", within=20)
            page.wait("document.getElementById('verified').innerText.startsWith('✓ verified at revision')", within=20)
            page.wait_text(1, "name", "NIX")
            page.wait_list(between.server.patch(1, name="Chloe")["revision"])
            page.wait_text(1, "name", "Chloe")

    @long
    def test_the_page_becomes_live_again_whatever_a_proxy_has_answered(self):
        with Between("--heartbeat", "1s") as between:
            server = between.server
            server.add("NIX")
            page = self.open(server)
            for status in (301, 400, 403, 404, 405, 406, 413, 421, 502):
                answered, lock = set(), threading.Lock()

                def tamper(path):
                    """Answers once in place of the server."""
                    with lock:
                        isFirst = path.startswith(("/changes", "/lists")) and path not in answered
                        answered.add(path)
                    answer = f"HTTP/1.1 {status} Proxy\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno".encode()
                    parts = [answer, None]
                    return (lambda part: parts.pop(0)) if isFirst else (lambda part: part)

                between.tamper = tamper
                page.go(f"{server.url}/?limit={status}")
                page.wait_live()
                page.wait_text(1, "name", "NIX")
                self.assertTrue(any(path.startswith("/lists") for path in answered), status)
                between.tamper = lambda path: lambda part: part
                revision = server.patch(1, age=status)["revision"]
                page.wait_log(revision)
                page.wait_list(revision)

    @long
    def test_streams_that_break_off_anywhere_leave_no_gap(self):
        """Some sets come in parts; a part that came before the break comes again, and is shown once."""
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        with self.subTest(seed=seed), Between("--heartbeat", "1s") as between:
            server = between.server
            with Writer(server.database) as writer:
                writer.run("BEGIN")
                for number in range(1, 1_501):
                    writer.run("INSERT INTO users (id, name) VALUES (?, ?)", (number, f"user {number}"))
                writer.run("COMMIT")
            page = self.open(server, "/?limit=25")
            page.wait_live()
            count = "Number(document.getElementById('log-count').dataset.count)"
            page.wait_log(server.get("/about")["revision"])
            breaks = []

            def tamper(path):
                """Breaks the first ten streams off after some bytes of an answer."""
                left = chance.randrange(1_500, 200_000)

                def change(part):
                    nonlocal left
                    left -= len(part)
                    if left > 0 or len(breaks) >= 10 or not path.startswith(("/changes", "/lists")):
                        return part
                    breaks.append(path)
                    return None
                return change

            between.tamper = tamper
            page.go(server.url + "/?limit=25")
            page.wait_live(within=60)
            page.wait(f"{count} > 0")
            before = page.run(f"return {count}")
            changes = 0
            for round in range(12):
                sql(server.database, "UPDATE users SET name = name || ?", (chr(97 + round),))
                changes += 1_500
                revision = server.patch(1, n=round)["revision"]
                changes += 1
            page.wait_log(revision, within=60)
            page.wait_list(revision, within=60)
            page.wait(f"{count} === {before + changes}", f"{before + changes} changes are counted once", within=60)
            self.assertTrue(breaks, "no stream was broken off")
            self.assertEqual(page.text(1, "name"), "user 1abcdefghijkl")
            shown = page.run(f"return {SETS}")
            self.assertEqual(shown, sorted(set(shown)), "no set is shown twice")
            page.wait("document.getElementById('verified').innerText.startsWith('✓')", within=20)

    @served()
    def test_without_a_shared_worker_a_hidden_tab_closes_its_streams(self, server):
        server.add("NIX")
        page = self.open(server, "/pulse")
        streams = lambda: server.get("/about")["streams"]
        # Half a minute passes at once.
        page.protocol("Page.addScriptToEvaluateOnNewDocument", source="""
            delete window.SharedWorker;
            let hidden = false;
            const wait = window.setTimeout;
            window.setTimeout = (call, time, ...rest) => wait(call, time === 30000 ? 0 : time, ...rest);
            Object.defineProperty(document, 'hidden', {get: () => hidden});
            window.setHidden = (value) => { hidden = value; document.dispatchEvent(new Event('visibilitychange')); };""")
        page.go(server.url + "/")
        page.wait_live()
        page.wait_text(1, "name", "NIX")
        self.assertNotIn("window", page.state)
        eventually(lambda: streams() == 2, "the tab has its own streams")
        page.run("setHidden(true)")
        eventually(lambda: streams() == 0, "the hidden tab has closed them")
        server.patch(1, name="Chloe")
        page.run("setHidden(false)")
        page.wait_text(1, "name", "Chloe")
        page.wait("[...document.querySelectorAll('.log-row')].at(-1).innerText.includes('Chloe')")
        eventually(lambda: streams() == 2, "the streams are open again")
        page.wait_live()


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
