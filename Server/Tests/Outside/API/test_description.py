"""The description of the API says every status that the server answers."""

import itertools

from support import LONG, TestCase, served

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
HEADERS = ({}, {"Accept": "image/png"}, {"Content-Type": "text/plain"}, {"Content-Encoding": "gzip", "Content-Type": "application/json"},
           {"Host": "evil.test"}, {"Origin": "https://evil.test"}, {"Authorization": "Bearer wrong"}, {"If-Match": "*"},
           {"If-None-Match": "*"}, {"If-Match": '"other"'}, {"Last-Event-ID": "nonsense"}, {"Change-Origin": "x" * 101},
           {"Content-Length": str(1 << 40), "Content-Type": "application/json"}, {"X-Long": "x" * (90 << 10)})


class Description(TestCase):
    @served("--replicas", "--max-streams", "100")
    def test_every_status_is_described(self, server):
        server.add()
        paths = {path: {method: operation for method, operation in item.items() if method != "parameters"}
                 for path, item in server.request("GET", "/openapi.json").json()["paths"].items()}
        seen = set()
        for path, item in paths.items():
            address = path.replace("{id}", "1").replace("{revision}", "1")
            for method, (headers, query) in itertools.product(METHODS, [({}, "?nonsense=1"), *((headers, "") for headers in HEADERS)]):
                operation = item.get("get" if method == "HEAD" else method.lower())
                if not operation and headers and not LONG:
                    continue
                # A method that a path does not have is described by those that it has.
                described = set(operation["responses"]) if operation else set.union(*(set(one["responses"]) for one in item.values()))
                status = self.status(server, method, address + query, headers)
                seen.add(status)
                self.assertIn(str(status), described, f"{method} {path} {query} {str(headers)[:80]}")
                if not operation and not headers and not query:
                    self.assertEqual(status, 405, f"{method} {path}")
        self.assertLessEqual({200, 304, 400, 401, 403, 404, 405, 406, 413, 415, 421, 428, 431}, seen, "what is tested")

    def status(self, server, method, path, headers):
        with server.connect() as raw:
            raw.send(server.head(method, path, headers))
            return raw.head().status
