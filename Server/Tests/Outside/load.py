#!/usr/bin/python3
"""Many clients and many kills, by hand: `load.py clients 1000 kills 200 [writes 400] [seed N]`.

Event-stream clients follow two writers of other programs and one of the API, while random connections break after random
bytes, and the server is killed now and then. Each client resumes with its Last-Event-ID, and must receive each change once and
in order.
"""

import asyncio
import collections
import http.client
import json
import os
import pathlib
import random
import resource
import sys
import tempfile
import threading
import time

from support import Server, Writer

TOKEN = "a-token-that-survives-the-server-0123456789"


class Client:
    """A client that reads the stream until its connection breaks, and then resumes."""

    def __init__(self, number, load):
        self.number = number
        self.load = load
        self.source = random.Random(load.seed + number)
        self.last_id = None
        self.expected = collections.Counter()
        self.revision = 0
        self.received = 0
        self.connections = 0
        self.writer = None
        # The connection breaks after this many bytes.
        self.budget = None

    async def run(self):
        while not self.is_done():
            try:
                await self.follow()
            except (ConnectionError, asyncio.IncompleteReadError, OSError):
                pass
            if not self.is_done():
                # Clients do not all come back in the same moment, as EventSource's do not.
                await asyncio.sleep(self.source.random() * 0.3)

    def is_done(self):
        return self.load.failure or (self.load.total is not None and self.received >= self.load.total)

    async def follow(self):
        server = self.load.server
        reader, self.writer = await asyncio.open_connection(server.host, server.port)
        self.connections += 1
        try:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": self.last_id or self.load.start}
            self.writer.write(server.head("GET", "/changes?heartbeat=2", headers))
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            status = int(head.split()[1])
            if status == 503:
                raise ConnectionError
            if status != 200:
                raise AssertionError(f"client {self.number}: {head}")
            buffer = b""
            while not self.is_done():
                size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
                chunk = (await reader.readexactly(size + 2))[:-2]
                if self.budget is not None:
                    chunk = chunk[:self.budget]
                    self.budget -= len(chunk)
                buffer += chunk
                while (end := buffer.find(b"\n\n")) >= 0:
                    self.take(buffer[:end].decode())
                    buffer = buffer[end + 2:]
                if self.budget == 0:
                    self.load.broken += 1
                    self.budget = None
                    raise ConnectionError
                if size == 0:
                    return
        finally:
            self.writer.transport.abort()
            self.writer = None

    def take(self, block):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        kind = fields.get("event")
        if kind == "changes":
            self.check(json.loads(fields["data"]))
        elif kind == "reset":
            raise AssertionError(f"client {self.number}: {block}")
        if "id" in fields:
            self.last_id = fields["id"]

    def check(self, event):
        """A set: each writer counts up in an attribute of its own."""
        if event["revision"] <= self.revision or not event.get("last"):
            raise AssertionError(f"client {self.number}: revision {event['revision']} after {self.revision}")
        self.revision = event["revision"]
        for change in event["changes"]:
            name = change["attribute"]
            if (change["old"], change["new"]) != (self.expected[name], self.expected[name] + 1):
                raise AssertionError(f"client {self.number}: {change} when {name} was {self.expected[name]}")
            self.expected[name] += 1
            self.received += 1


class Load:
    def __init__(self, server, clients, kills, writes, seed):
        self.server = server
        self.seed = seed
        self.source = random.Random(seed)
        self.writes = writes
        self.kills = kills
        self.total = None
        self.broken = 0
        self.server_kills = 0
        self.failure = None
        server.add("counter", a=0, b=0, api=0)
        self.start = server.get("/about")["cursor"]
        self.clients = [Client(number, self) for number in range(clients)]
        self.slowest = 0

    def write_foreign(self, name):
        with Writer(self.server.database) as writer:
            for number in range(1, self.writes + 1):
                self.keep_pace(2 * number)
                writer.run("UPDATE attributes SET value = ? WHERE name = ?", (number, name))

    def write_api(self):
        """A write whose answer is lost is repeated with what it expects, so that it is made once."""
        number = 0
        while number < self.writes // 4:
            self.keep_pace(8 * number)
            try:
                response = self.server.request(
                    "PATCH", "/users/1", {"set": {"api": number + 1}, "expect": {"api": number}}, within=30)
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
                continue
            if response.status == 409 and response.json()["current"]["api"] != number + 1:
                raise AssertionError(response)
            if response.status in (200, 409):
                number += 1

    def keep_pace(self, number):
        """Writers do not run far ahead of the clients, so that kills meet every part of the run."""
        while self.slowest + 400 < number and not self.failure:
            time.sleep(0.01)

    async def run(self):
        threads = [threading.Thread(target=self.guarded, args=work, daemon=True)
                   for work in ((self.write_foreign, "a"), (self.write_foreign, "b"), (self.write_api,))]
        for thread in threads:
            thread.start()
        tasks = [asyncio.create_task(self.watched(client)) for client in self.clients]
        killer = asyncio.create_task(self.kill())
        while not all(task.done() for task in tasks) and not self.failure:
            self.slowest = min(client.received for client in self.clients)
            if not any(thread.is_alive() for thread in threads):
                self.total = 2 * self.writes + self.writes // 4
            await asyncio.sleep(0.05)
        killer.cancel()
        for task in tasks:
            task.cancel()
        if self.failure:
            raise self.failure

    def guarded(self, work, *arguments):
        try:
            work(*arguments)
        except BaseException as error:
            self.failure = error

    async def watched(self, client):
        try:
            await client.run()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.failure = error

    async def kill(self):
        """Every tenth kill is of the server."""
        for number in range(self.kills):
            while self.slowest < number * 2 * self.writes // self.kills:
                await asyncio.sleep(0.02)
            if number % 10 == 9:
                self.server_kills += 1
                port = self.server.port
                await asyncio.to_thread(self.server.kill)
                await asyncio.to_thread(self.server.start, f"127.0.0.1:{port}")
            else:
                self.source.choice(self.clients).budget = self.source.randrange(1, 5000)


def main():
    words = sys.argv[1:]
    settings = dict(zip(words[::2], map(int, words[1::2])))
    if len(words) % 2 or not settings or settings.keys() - {"clients", "kills", "writes", "seed"}:
        sys.exit(__doc__)
    clients, kills = settings.get("clients", 1000), settings.get("kills", 200)
    writes, seed = settings.get("writes", 400), settings.get("seed", random.randrange(1 << 32))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "token"
        file.write_text(TOKEN)
        os.chmod(file, 0o600)
        with Server("--token-file", str(file), "--max-streams", str(clients + 200), token=TOKEN) as server:
            print(f"{clients} clients, {kills} kills, {writes} writes each of two programs, {writes // 4} of the API, seed {seed}")
            start = time.monotonic()
            load = Load(server, clients, kills, writes, seed)
            asyncio.run(load.run())
            seconds = time.monotonic() - start
            connections = sum(client.connections for client in load.clients)
            print(f"each of {clients} clients received {load.total} changes, each once and in order, in {seconds:.1f} s: "
                  f"{connections} connections, {load.broken} broken by clients, {load.server_kills} kills of the server, "
                  f"at most {server.peak_memory >> 20} MiB of the last server")


if __name__ == "__main__":
    main()
