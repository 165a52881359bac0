"""Machines on this one (`Proof/Postgres/network`), and programs that run on them: what `chaos` and `workload` share."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NETWORK = str(ROOT / "Proof/Postgres/network")
# Against hanging only: nothing here promises a time, but a replica waits for a minute after it has failed often.
LIMIT = 180
SERVER = "10.77.0.1"


class Problem(Exception):
    """What is wrong; the run ends."""


def check(condition, message):
    if not condition: raise Problem(message)


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, timeout=LIMIT, **options)
    check(done.returncode == 0, f"{words} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout.decode(errors="replace")


def wait_until(condition, what, limit=LIMIT):
    end = time.monotonic() + limit
    while not condition():
        check(time.monotonic() < end, f"{what() if callable(what) else what}: not within {limit} s")
        time.sleep(.03)


# ------------------------------------------------------------------------------------------------------------- processes

class Process:
    """A program on a machine, started again and again."""

    def __init__(self, name, machine, words, folder):
        self.name, self.machine, self.words, self.folder = name, machine, [str(word) for word in words], folder
        self.process, self.starts = None, 0

    @property
    def output(self): return f"{self.folder}/{self.name}.{self.starts}.out"

    def start(self):
        self.starts += 1
        with open(self.output, "wb") as out, open(self.output.replace(".out", ".err"), "wb") as err:
            self.process = subprocess.Popen(["ip", "netns", "exec", f"userstore{self.machine}", *self.words],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process is None or self.process.poll() is not None: return
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try: self.process.wait(30)
        except subprocess.TimeoutExpired: self.kill()

    def stop(self): self.process.send_signal(signal.SIGSTOP)
    def go_on(self): self.process.send_signal(signal.SIGCONT)

    def processor_time(self):
        with open(f"/proc/{self.process.pid}/stat") as file: fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def errors(self):
        with open(self.output.replace(".out", ".err"), errors="replace") as file: return file.read().strip()[-500:]

    def look(self):
        check(self.process is None or self.process.poll() is None,
              f"{self.name} ended by itself with {self.process and self.process.returncode}: {self.errors()}")


def nginx(folder):
    """nginx before the server, on its machine, with the sample of Server/README.md."""
    [sample] = re.findall(r"```nginx\n(.*?)```", (ROOT / "Server/README.md").read_text(), re.DOTALL)
    for text, other in (("listen 443 ssl", "listen 80"), ("server_name users.example.com", f"server_name {SERVER}")):
        check(text in sample, f"Server/README.md has no {text}")
        sample = sample.replace(text, other)
    paths = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    path = pathlib.Path(folder) / "nginx.conf"
    path.write_text(f"daemon off; master_process off; user root; pid {folder}/pid; error_log {folder}/errors;\nevents {{}}\n"
                    f"http {{\naccess_log off;\n{paths}{sample}}}\n")
    return Process("nginx", 1, ["/usr/sbin/nginx", "-p", folder, "-c", path], folder)


# --------------------------------------------------------------------------------------------------------------- network

def nft(machine, *rules, table="faults"):
    """The rules for what arrives at a machine; none removes them."""
    text = f"table inet {table}\ndelete table inet {table}\n"
    if rules: text += f"table inet {table} {{\n chain in {{\n  type filter hook input priority 0;\n" + "\n".join(rules) + "\n }\n}\n"
    run("ip", "netns", "exec", f"userstore{machine}", "nft", "-f", "-", input=text.encode())


def cut(machine): run(NETWORK, "cut", f"userstore{machine}")
def mend(machine): run(NETWORK, "mend", f"userstore{machine}")


def forget(*filter):
    """The server's machine forgets connections, and resets them if it can."""
    run("ip", "netns", "exec", "userstore1", "ss", "-K", *filter)


def start_over(packages):
    """Runs the program again with networks, mounts and processes that end with it, and that nobody else sees; returns the folders of the tools and
    of the servers there, and None where this cannot be done.
    """
    if "REPLICAS_MACHINES" in os.environ: return [pathlib.Path(line) for line in os.environ["REPLICAS_PROGRAMS"].split()]
    if os.geteuid() or subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode:
        print(f"{os.path.basename(sys.argv[0])}: skipped: network namespaces cannot be made here (they need root)")
        return None
    run(ROOT / "scripts/setup", "sqlite3", "iproute2", "nftables", "nginx", "util-linux", *packages)
    if "REPLICAS_PROGRAMS" not in os.environ:
        built = subprocess.run([ROOT / "scripts/build-programs"], check=True, stdout=subprocess.PIPE, text=True)
        os.environ["REPLICAS_PROGRAMS"] = built.stdout
    os.environ["REPLICAS_MACHINES"] = "1"
    os.makedirs("/run/netns", exist_ok=True)
    script = 'mount -t tmpfs none /run/netns && ip link set lo up && exec "$@"'
    os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script, "sh",
                          sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:]])
