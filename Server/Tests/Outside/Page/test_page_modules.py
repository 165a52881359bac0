"""Modules of the page on their own, in the browser that runs them."""

import json

from browser import BrowserTestCase
from support import ROOT, Server, TestCase, served

FILES = ROOT / "Server/Sources/userserver/Page/Files"


class Files(TestCase):
    @served()
    def test_every_file_of_the_page_is_in_the_server(self, server):
        files = sorted(path for path in FILES.rglob("*") if path.is_file())
        self.assertGreater(len(files), 50)
        for file in files:
            name = file.relative_to(FILES)
            response = server.request("GET", f"/{name}", token=False)
            self.assertEqual(response.status, 200, f"{name}: is it listed in Server/Sources/CFiles/files.c?")
            self.assertEqual(response.body, file.read_bytes(), f"{name}: was the server built after the last change?")


class Modules(BrowserTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(Server())

    def setUp(self):
        super().setUp()
        self.page = self.open(self.server, "/pulse")

    def evaluate(self, modules, body):
        """Runs the body of a function with the exports of modules in scope; returns its value."""
        names = json.dumps(modules)
        self.page.focus()
        found = self.page.driver.execute_async_script(f"""
            const done = arguments[0];
            (async () => {{
              const all = Object.assign({{}}, ...await Promise.all({names}.map((name) => import(`/${{name}}.js`))));
              const {{ {", ".join(self.exports(modules))} }} = all;
              {body}
            }})().then(done, (error) => done({{error: String(error.stack ?? error)}}));""")
        if isinstance(found, dict) and "error" in found:
            self.fail(found["error"])
        return found

    def exports(self, modules):
        return self.page.driver.execute_async_script(f"""
            const done = arguments[0];
            Promise.all({json.dumps(modules)}.map((name) => import(`/${{name}}.js`))).then((all) => done([...new Set(all.flatMap(Object.keys))]));""")

    def test_numbers_keep_their_text(self):
        texts = ["1", "1.0", "-0", "9007199254740993", "9223372036854775807", "1e999", "[1,1.00,{\"a\":5e-324}]", "{}", "[]",
                 '{"__proto__":1,"2":0,"1":0}', '"\\u202e\\"\\\\\\ud83d\\ude00"', '["\\\\","\\\\\\"",""]', "null", "[true,false]"]
        back = self.evaluate(["shared/json"], f"return {json.dumps(texts)}.map((text) => stringify(parse(text)))")
        for text, one in zip(texts, back):
            self.assertEqual(one if "\\u" not in text else json.dumps(json.loads(one)), text if "\\u" not in text else json.dumps(json.loads(text)))

    def test_what_is_no_json_is_refused(self):
        wrong = ["", "01", "1.", ".5", "+1", "NaN", "[1,]", "[1 2]", "{a:1}", '{"a" 1}', '"', '"\\x"', "tru", "1 1", "[" * 70 + "]" * 70, "'a'"]
        results = self.evaluate(["shared/json"], f"return {json.dumps(wrong)}.map((text) => {{ try {{ parse(text); return 'accepted'; }} catch (error) {{ return error.name; }} }})")
        self.assertEqual(results, ["SyntaxError"] * len(wrong))

    def test_events_come_in_any_pieces(self):
        stream = "retry: 1\n\n: comment\nevent: a\ndata: 1\r\ndata:2\rid: x\n\nid: y\n\ndata\n\nevent: b\ndata: ü😀\nid\n\ndata: never"
        expected = [{"event": "a", "data": "1\n2", "id": "x"}, {"event": "message", "data": ""}, {"event": "b", "data": "ü😀", "id": ""}]
        results = self.evaluate(["connection/event-stream"], f"""
            const text = {json.dumps(stream)}, results = new Set();
            for (let size = 1; size <= text.length; size += 1) {{
              const parser = new EventStreamParser(), events = [];
              for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
              results.add(JSON.stringify(events));
            }}
            return [...results].map(JSON.parse);""")
        self.assertEqual(results, [expected])

    def test_rows_keep_their_places_while_they_are_held(self):
        steps = [
            (["1", "2", "3"], False, [], ["1", "2", "3"], None),
            (["3", "1", "2"], True, [], ["1", "2", "3"], {"added": 0, "removed": 0, "isReordered": True}),
            (["3", "1"], True, [], ["1", "2", "3"], {"added": 0, "removed": 1, "isReordered": True}),
            (["1", "2", "3", "4"], True, [], ["1", "2", "3", "4"], None),
            (["0", "1", "2", "3", "4"], True, [], ["1", "2", "3", "4"], {"added": 1, "removed": 0, "isReordered": False}),
            (["0", "1", "3", "4"], False, ["2"], ["0", "1", "2", "3", "4"], None),
            (["4"], False, [], ["4"], None),
        ]
        results = self.evaluate(["table/row-order"], f"""
            const order = new RowOrder();
            return {json.dumps(steps)}.map(([wanted, isHeld, pinned]) => {{
              order.update(wanted, {{isHeld, pinned: new Set(pinned)}});
              return [order.shown, order.waiting];
            }});""")
        self.assertEqual(results, [[shown, waiting] for _, _, _, shown, waiting in steps])

    def test_listeners_with_a_name_are_replaced(self):
        results = self.evaluate(["screens/listeners"], """
            const listeners = new Listeners(), calls = [];
            listeners.bindAndFire('a', 'name', 'NIX', (value) => calls.push('first ' + value));
            listeners.bindAndFire('a', 'name', 'NIX', (value) => {
              calls.push('second ' + value);
              if (value === 'Zoë') listeners.bind('late', 'name', () => calls.push('late'));
            });
            listeners.bind('a', 'hair_color', (value) => calls.push('color ' + value));
            const remove = listeners.add('name', (value) => calls.push('unnamed ' + value));
            listeners.notify('name', 'Zoë');
            remove();
            remove();
            return [calls, listeners.count];""")
        self.assertEqual(results, [["first NIX", "second NIX", "second Zoë", "unnamed Zoë"], 3])

    def test_the_line_for_a_shell(self):
        self.assertEqual(
            self.evaluate(["shell-line"], "return shellLine(\"/tmp/it's $HOME/`x`\\\\users.db\")"),
            "sqlite3 '/tmp/it'\\''s $HOME/`x`\\users.db' \"UPDATE users SET name = 'Zoë' WHERE id = 1\"")

    def test_numbers_that_are_typed(self):
        typed = ["41", " -3 ", "1.0", "2e9", "9223372036854775807", "9223372036854775808", "1.", "0x10", "", "1,5", "٣", "Infinity", "007"]
        results = self.evaluate(["shared/values"], f"return {json.dumps(typed)}.map((text) => {{ const {{value}} = readNumber(text); return value ? value.kind + ' ' + value.source : null; }})")
        self.assertEqual(results, ["integer 41", "integer -3", "real 1.0", "real 2e9", "integer 9223372036854775807"] + [None] * 8)

    def test_only_exact_colors_are_colors(self):
        texts = ["#a52a2a", "#A52A2A", "red", "#a52a2a;", "url(x)", "#a52a2", "#a52a2a\n", ""]
        results = self.evaluate(["shared/values"], f"return {json.dumps(texts)}.map((text) => colorOf({{kind: 'text', text}}))")
        self.assertEqual(results, ["#a52a2a"] + [None] * 7)

    def test_escapes_of_characters_that_cannot_be_seen(self):
        texts = ["a\0b", "\u202e\\", "e\u0301", "\U0001f469\u200d\U0001f680", "a\u200db", "\r\n", "\U000e0041"]
        results = self.evaluate(["shared/characters"], f"return {json.dumps(texts)}.map((text) => [needsEscapes(text), unescapeText(escapeText(text)).text === text, visibleText(text).textContent])")
        self.assertEqual([one[1] for one in results], [True] * len(texts))
        self.assertEqual([one[0] for one in results], [True, True, False, False, True, True, True])
        self.assertEqual([one[2] for one in results], ["aNULb", "U+202E\\", "e\u0301", "\U0001f469\u200d\U0001f680", "aZWJb", "CRLF", "U+E0041"])

    def test_the_log_counts_what_it_does_not_hold(self):
        results = self.evaluate(["log/log-model"], """
            const log = new LogModel(), events = [];
            const set = (revision, count, last = true) => ({event: 'changes', id: last ? 'c' + revision : undefined, data: JSON.stringify({
              revision, at: '2026-01-01T00:00:00Z', origin: 'x', foreign: false, lag_ms: 0, last,
              changes: Array.from({length: count}, (_, index) => ({op: 'update', user: index, attribute: 'n', old: null, new: revision}))})});
            log.apply({event: 'opened', data: 'anew'});
            for (let revision = 1; revision <= 2000; revision += 1) log.apply(set(revision, 3));
            events.push([log.count, log.rows.length >= 500, log.rows.length <= 1000, log.rows.at(-1).set.revision]);
            log.pause();
            log.apply(set(2001, 700));
            events.push([log.waiting, log.rows.at(-1).set.revision]);
            log.apply(set(2002, 5, false));
            events.push([log.count, log.revision]);
            log.apply({event: 'opened', data: 'resumed'});
            events.push([log.count, log.waiting]);
            log.apply(set(2002, 5, false));
            log.apply(set(2002, 5));
            log.resume();
            events.push([log.count, log.revision, log.waiting, log.rows.filter(({set}) => set?.revision === 2002).length]);
            return events;""")
        self.assertEqual(results, [[6000, True, True, 2000], [700, 2000], [6705, 2001], [6700, 700], [6710, 2002, 0, 10]])

    def test_heartbeats_do_not_fill_the_journal_of_the_log(self):
        """Only the newest counts: a window that joins after weeks receives all that the journal holds."""
        self.assertEqual(self.evaluate(["connection/journals"], """
            const journal = new LogJournal();
            journal.add([{event: 'changes', data: 'a'.repeat(1000)}, {event: 'changes', data: 'b'}]);
            for (let count = 0; count < 100; count += 1) journal.add([{event: 'progress', data: 'p'.repeat(100_000)}]);
            return journal.replay().map(({event}) => event);"""), ["opened", "changes", "changes", "progress"])

    def test_the_hash_of_a_list(self):
        hash = 2166136261
        for byte in b"1,2,-3":
            hash = (hash ^ byte) * 16777619 & 0xFFFFFFFF
        self.assertEqual(self.evaluate(["table/list-model"], "return hashOf([{id: '1'}, {id: '2'}, {id: '-3'}])"), f"{hash:08x}")
