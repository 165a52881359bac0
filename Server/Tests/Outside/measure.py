#!/usr/bin/python3
"""Measures a server, by hand: `measure.py [latency] [memory] [requests]` prints Markdown; all of them without an argument.

Use a release build: `swift build -c release --package-path Server`, and USERSERVER=Server/.build/release/userserver. `requests`
needs wrk (apt-get install wrk), and `latency` Chromium.
"""

import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time

from support import Server, Writer, eventually, sql

CLIENTS = 1_000
COMMITS = 1_000


def machine():
    with open("/proc/cpuinfo") as file:
        name = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def rows(title, table):
    print(f"\n{title}\n\n| | |\n| --- | ---: |")
    for name, value in table:
        print(f"| {name} | {value} |")


def latency():
    """From a commit of another program until the page has painted the row."""
    from browser import Browser

    with Server() as server, Browser() as browser:
        server.add("NIX")
        page = browser.open(server)
        page.wait_text(1, "name", "NIX")
        page.run("""
          window.seen = {};
          const look = () => {
            for (const cell of document.querySelectorAll('tr[data-user="1"] [data-attribute="name"]')) {
              // The frame with the text is painted when the next one begins.
              const text = cell.textContent;
              requestAnimationFrame(() => { window.seen[text.match(/n[0-9]+/)?.[0]] ??= performance.timeOrigin + performance.now(); });
            }
          };
          new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});""")
        committed = {}
        with Writer(server.database) as writer:
            for number in range(COMMITS):
                name = f"n{number}"
                writer.run("UPDATE users SET name = ? WHERE id = 1", (name,))
                committed[name] = time.time() * 1_000
                # As a person would write: not faster than the screen.
                time.sleep(0.03)
        page.wait_text(1, "name", f"n{COMMITS - 1}")
        seen = page.run("return window.seen")
        times = [seen[name] - time for name, time in committed.items() if name in seen]
    sent = stream_latency()
    rows(f"From a commit of another program, {len(times)} commits one by one", [
        ("until an event-stream client has it, p50", f"{percentile(sent, 0.5):.2f} ms"),
        ("the same, p99", f"{percentile(sent, 0.99):.2f} ms"),
        ("until the page has painted it (60 frames a second), p50", f"{percentile(times, 0.5):.1f} ms"),
        ("the same, p99", f"{percentile(times, 0.99):.1f} ms"),
    ])


def stream_latency():
    times = []
    with Server() as server:
        server.add("NIX")
        with server.stream("/changes") as stream, Writer(server.database) as writer:
            stream.wait("progress")
            for number in range(COMMITS):
                writer.run("UPDATE users SET name = ? WHERE id = 1", (f"n{number}",))
                begun = time.perf_counter()
                stream.wait("changes")
                times.append((time.perf_counter() - begun) * 1_000)
                time.sleep(0.003)
    return times


def resident(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))


def memory():
    with Server("--max-streams", str(CLIENTS), descriptors=4 * CLIENTS) as server:
        server.add("NIX")
        before = resident(server)
        sockets = []
        for _ in range(CLIENTS):
            client = socket.create_connection((server.host, server.port))
            client.sendall((
                f"GET /changes HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
                "Accept: text/event-stream\r\n\r\n").encode())
            sockets.append(client)
        eventually(lambda: server.get("/about")["streams"] == CLIENTS, "all streams are open", within=60)
        after = resident(server)
        begun = time.perf_counter()
        sql(server.database, "UPDATE users SET name = 'Zoë'")
        for client in sockets:
            text = b""
            while "Zoë".encode() not in text:
                text += client.recv(65_536)
        told = (time.perf_counter() - begun) * 1_000
        rows(f"{CLIENTS:,} idle event-stream clients", [
            ("memory of the server without clients", f"{before / 1e6:.0f} MB"),
            ("memory of a client", f"{(after - before) / CLIENTS / 1e3:.0f} kB"),
            ("from a commit until all have it", f"{told:.0f} ms"),
        ])
        for client in sockets:
            client.close()


SCRIPTS = {
    "GET /users/1": 'wrk.path = "/users/1"',
    "GET /users?where=age>=18&limit=100 (100 of 1,000 users)": 'wrk.path = "/users?where=age%3E%3D18&limit=100"',
    "PATCH /users/1 (FULL)": """
      wrk.method = "PATCH" wrk.path = "/users/1" wrk.headers["Content-Type"] = "application/json"
      local count = 0
      request = function()
        count = count + 1
        return wrk.format(nil, nil, nil, '{"set":{"age":' .. count .. '}}')
      end""",
}


def requests():
    table = []
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        server.add("NIX", age=1)
        with Writer(server.database) as writer:
            writer.run("BEGIN")
            for number in range(999):
                writer.run("INSERT INTO users (name) VALUES (?)", (f"user {number}",))
                writer.run("INSERT INTO attributes (user_id, name, value) VALUES (last_insert_rowid(), 'age', ?)", (number % 80,))
            writer.run("COMMIT")
        for name, script in SCRIPTS.items():
            path = os.path.join(folder, "script.lua")
            with open(path, "w") as file:
                file.write(f'wrk.headers["Authorization"] = "Bearer {server.token}"\n{script}\n')
            for connections in (1, 64):
                result = subprocess.run(
                    ["wrk", "-t", "1", "-c", str(connections), "-d", "8", "--latency", "-s", path, server.url],
                    capture_output=True, text=True, check=True).stdout
                assert "Non-2xx" not in result, result
                rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", result)[1])
                half, most = (re.search(rf"^\s+{share}%\s+(\S+)", result, re.MULTILINE)[1] for share in (50, 99))
                table.append((f"{name}, {connections} connection{'s' * (connections > 1)}", f"{rate:,.0f}/s, p50 {half}, p99 {most}"))
    rows("Requests (wrk on the same machine)", table)


if __name__ == "__main__":
    print(f"Measured on: {machine()}, {time.strftime('%Y-%m-%d')}.")
    for name in sys.argv[1:] or ["latency", "memory", "requests"]:
        {"latency": latency, "memory": memory, "requests": requests}[name]()
