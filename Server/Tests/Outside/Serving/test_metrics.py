"""What the server measures, in Prometheus's text format."""

import re

from support import TestCase, at, eventually, served, sql

LINE = re.compile(r'(userstore_[a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
# What Prometheus sends.
ACCEPT = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"
FAMILIES = {
    "userstore_http_requests_total": "counter", "userstore_http_request_duration_seconds": "histogram",
    "userstore_sets_committed_total": "counter", "userstore_writes_refused_total": "counter", "userstore_streams_open": "gauge",
    "userstore_lists_live": "gauge", "userstore_database_readable": "gauge", "userstore_log_rows": "gauge",
    "userstore_log_oldest_revision": "gauge", "userstore_log_newest_revision": "gauge",
}
REPLICAS = {"userstore_replicas": "gauge", "userstore_replicas_largest_lag_rows": "gauge"}
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"}
ROUTES = {"/health", "/openapi.json", "/about", "/users", "/users/{id}", "/events", "/changes", "/changes/{revision}/undo", "/lists", "/sync",
          "/sync/users", "/sync/changes", "/replicas", "/consumers", "/metrics", "page", "other"}


class Metrics(TestCase):
    def scrape(self, server, families=FAMILIES):
        """The values by the name and the labels, as a strict reader finds them."""
        response = server.request("GET", "/metrics", headers={"Accept": ACCEPT})
        self.assertEqual((response.status, response.headers["content-type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        *lines, rest = response.text.split("\n")
        self.assertEqual(rest, "")
        values, types, helped = {}, {}, set()
        for line in lines:
            if line.startswith("#"):
                word, name, text = re.fullmatch(r"# (HELP|TYPE) (\S+) (.+)", line).groups()
                if word == "TYPE":
                    self.assertNotIn(name, types, "all series of a name are together")
                    types[name] = text
                else:
                    helped.add(name)
                continue
            match = LINE.fullmatch(line)
            self.assertTrue(match, line)
            labels = tuple(LABEL.findall(match[2] or ""))
            family = list(types)[-1]
            self.assertIn(match[1], (family, *[family + suffix for suffix in ("_bucket", "_sum", "_count") if types[family] == "histogram"]))
            self.assertNotIn((match[1], labels), values)
            values[match[1], labels] = float(match[3])
        # Those of requests and refusals are there once there was one.
        self.assertEqual(types, {name: kind for name, kind in families.items()
                                 if name in types or not name.startswith(("userstore_http", "userstore_writes"))})
        self.assertEqual(helped, set(types), "each has a help")
        self.check_histograms(values)
        return {(name, *(value for _, value in labels)): value for (name, labels), value in values.items()}

    def check_histograms(self, values):
        for (name, labels), count in values.items():
            if not name.endswith("_count"):
                continue
            buckets = [value for (other, all), value in values.items()
                       if other == name.replace("_count", "_bucket") and all[:-1] == labels]
            self.assertEqual((buckets, buckets[-1]), (sorted(buckets), count))

    @served()
    def test_requests_by_route_method_and_status(self, server):
        server.add()
        for _ in range(2):
            server.get("/users/1")
        server.request("GET", "/users/99")
        server.request("HEAD", "/users/1")
        server.request("GET", "/users?nonsense=1")
        server.request("GET", "/about", token=False)
        server.request("GET", "/")
        values = self.scrape(server)
        name = "userstore_http_requests_total"
        for route, method, status, count in (("/users", "POST", "2xx", 1), ("/users/{id}", "GET", "2xx", 2), ("/users/{id}", "GET", "4xx", 1),
                                             ("/users/{id}", "HEAD", "2xx", 1), ("/users", "GET", "4xx", 1), ("/about", "GET", "4xx", 1),
                                             ("page", "GET", "2xx", 1)):
            self.assertEqual(values[name, route, method, status], count, (route, method, status))
        self.assertEqual(values["userstore_http_request_duration_seconds_count", "/users/{id}"], 4)
        self.assertEqual(self.scrape(server)[name, "/metrics", "GET", "2xx"], 1)

    @served("--replicas")
    def test_what_clients_send_is_in_no_label(self, server):
        for number in range(50):
            for path in (f"/nowhere{number}", f"/users/{number}", f"/users/\"{number}", f"/changes/{number}/undo", f"/sync/{number}",
                         at("/users", where=f"a{number}=1"), f"/{number}/{number}/{number}", f"/users%0a{number}"):
                for method in ("GET", "POST", f"METHOD{number}"):
                    server.request(method, path, headers={"Userstore-Replica": str(1 + number), "Change-Origin": f"o{number}"})
        server.request("GET", "/metrics")
        response = server.request("GET", "/metrics")
        self.assertNotRegex(response.text, "METHOD|nowhere|o49")
        for name, value in LABEL.findall(response.text):
            match name:
                case "route":
                    self.assertIn(value, ROUTES)
                case "method":
                    self.assertIn(value, METHODS)
                case "status":
                    self.assertIn(value, {"2xx", "3xx", "4xx", "5xx", "none"})
                case "code":
                    self.assertRegex(value, "^[A-Za-z]+$")
                case "writer":
                    self.assertIn(value, {"server", "other"})
                case "state":
                    self.assertIn(value, {"copying", "following", "listening", "silent"})
                case _:
                    self.assertEqual(name, "le")
        count = len(response.text.split("\n"))
        for number in range(50, 100):
            server.request("GET", f"/users/{number}")
        self.assertEqual(len(server.request("GET", "/metrics").text.split("\n")), count)

    @served()
    def test_writes(self, server):
        before = self.scrape(server)
        sets, refused = "userstore_sets_committed_total", "userstore_writes_refused_total"
        self.assertEqual((before[sets, "server"], before[sets, "other"]), (0, 0))
        server.add()
        server.patch(1, n=1)
        # Nothing changes, so that no set is committed.
        server.patch(1, n=1)
        sql(server.database, "UPDATE users SET name = 'other'")
        server.request("PATCH", "/users/1", {"set": {"n": 3}, "expect": {"n": 2}})
        server.request("POST", "/users", {"name": 1})
        server.request("POST", "/users", {"name": "x"}, token=False)
        server.request("GET", "/users/99")
        server.request("DELETE", "/users")
        values = eventually(lambda: (found := self.scrape(server))[sets, "other"] == 1 and found, "the set of the other program")
        self.assertEqual(values[sets, "server"], 2)
        found = {key[1:]: value for key, value in values.items() if key[0] == refused}
        self.assertEqual(found, {("conflict",): 1, ("badValue",): 1, ("badToken",): 1})
        self.assertGreater(values["userstore_log_newest_revision",], values["userstore_log_oldest_revision",])
        self.assertEqual(values["userstore_log_rows",], values["userstore_log_newest_revision",] - values["userstore_log_oldest_revision",])
        self.assertEqual(values["userstore_log_newest_revision",], server.get("/about")["revision"])
        self.assertEqual(values["userstore_database_readable",], 1)

    @served()
    def test_streams_and_lists(self, server):
        server.add()
        with server.stream("/changes") as stream, server.stream("/lists?limit=1") as one, server.stream("/lists?limit=1") as same:
            for open_stream in (stream, one, same):
                open_stream.wait("progress")
            values = self.scrape(server)
            self.assertEqual((values["userstore_streams_open",], values["userstore_lists_live",]), (3, 1))
        eventually(lambda: [self.scrape(server)[name,] for name in ("userstore_streams_open", "userstore_lists_live")] == [0, 0], "all are closed")

    @served("--replicas")
    def test_replicas(self, server):
        families = {**FAMILIES, **REPLICAS}
        name = "userstore_replicas"

        def states():
            values = self.scrape(server, families)
            return [values[name, state] for state in ("copying", "following", "listening", "silent")], values["userstore_replicas_largest_lag_rows",]

        self.assertEqual(states(), ([0, 0, 0, 0], 0))
        start = server.add()["cursor"]
        end = server.patch(1, n=1)["cursor"]
        distance = int(end.split("-")[2], 16) - int(start.split("-")[2], 16)
        for producer, path in (("1", "/sync"), ("2", at("/sync/changes", after=start)), ("3", at("/sync/changes", after=end))):
            server.request("GET", path, headers={"Userstore-Replica": producer})
        self.assertEqual(states(), ([1, 2, 0, 0], distance))
        with server.connect() as raw:
            raw.send(server.head("GET", at("/sync/changes", after=end, wait=25), {"Userstore-Replica": "4"}))
            eventually(lambda: states()[0] == [1, 2, 1, 0], "it waits")

    @served()
    def test_it_needs_the_token(self, server):
        self.assertProblem(server.request("GET", "/metrics", token=False), 401, "badToken")
        self.assertProblem(server.request("GET", "/metrics", headers={"Accept": "text/html"}), 406)
        self.assertProblem(server.request("GET", "/metrics?x=1"), 400)
        self.assertProblem(server.request("POST", "/metrics", {}), 405)
        head = server.request("HEAD", "/metrics")
        self.assertEqual((head.status, head.body), (200, b""))
