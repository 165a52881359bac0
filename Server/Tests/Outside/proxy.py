"""A network between userserver and PostgreSQL that can acknowledge everything and deliver nothing."""

import os
import select
import socket
import threading


class Proxy:
    """Forwards connections to the server of the tests; a context manager."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        self.is_silent = threading.Event()
        self.links = []

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # Wakes the thread that accepts.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for link in self.links:
            link.end()

    def address(self, database):
        return f"postgres://{os.environ['PGUSER']}@127.0.0.1:{self.port}/{database}?sslmode=disable&gssencmode=disable"

    def silence(self):
        """Delivers nothing any more on the connections so far, for good, and on new ones until `answer`."""
        self.is_silent.set()
        for link in self.links:
            link.is_silent.set()

    def answer(self):
        self.is_silent.clear()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            link = Link(client)
            self.links.append(link)
            if self.is_silent.is_set():
                link.is_silent.set()
            threading.Thread(target=link.run, daemon=True).start()


class Link:
    def __init__(self, client):
        self.client, self.is_silent = client, threading.Event()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.connect(f"{os.environ['PGHOST']}/.s.PGSQL.{os.environ['PGPORT']}")

    def run(self):
        other = {self.client: self.server, self.server: self.client}
        try:
            while True:
                for end in select.select(list(other), [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data and (end is self.client or not self.is_silent.is_set()):
                        return
                    if not data:
                        # The end of a connection is not delivered either.
                        del other[end]
                    elif not self.is_silent.is_set():
                        other[end].sendall(data)
        except OSError:
            pass
        finally:
            self.end()
            self.client.close()
            self.server.close()

    def end(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
