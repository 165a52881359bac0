#!/usr/bin/env python3
"""Breaks the library in many small ways, and looks whether the tests notice. See `scripts/mutants`.

All mutants are in one build; $USERSTORE_MUTANT switches one on. Each test runs once by itself, and a file that its processes
share tells which mutants it reaches. A mutant then meets the tests that reach it, the quickest first, until one fails. That
test must fail a second time, alone, because a busy machine can make a test fail, too.

Everything is kept in .build/mutants, so that a run can be cut off: the same command continues it.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The mutants of --changed have a build of their own, so that the next one is quick, and a long run can be continued.
CHANGED = any(argument.split("=")[0] == "--changed" for argument in sys.argv)
STATE = ROOT / ".build" / ("mutants-changed" if CHANGED else "mutants")
TREE = STATE / "tree"
TESTS = STATE / "build/debug/UserStorePackageTests.xctest"
# The keys of mutants that do not compile, so that the next run does not find out again.
UNCOMPILABLE = STATE / "uncompilable.txt"
LIBRARIES = ["UserStore", "UserStoreFoundation", "UserStorePostgres", "UserStoreText", "UserToolCommands"]
# The tests of a library, unless they are UserStoreTests.
TESTS_OF = {"UserStorePostgres": "UserStorePostgresTests", "UserToolCommands": "usertoolTests"}
# The suites that run on PostgreSQL, too, are listed there.
BOTH = re.findall(r"^both\+?='\|?(.*)'$", (ROOT / "scripts/test").read_text(), re.M)
# --changed takes no longer, and reports what it did not run by then.
CHANGED_SECONDS, CHANGED_COUNT = 570, 100
DEADLINE = float("inf")
# How long the tests' own watch waits for progress, and how much longer than normal a run may take that it does not end.
WATCH, PATIENCE = 30, 60
# In the first run of a mutant: the likeliest and quickest tests. Most mutants end there.
FIRST_TESTS, FIRST_SECONDS = 60, 20


def say(text):
    print(text, flush=True)


class OutOfTime(Exception):
    """--changed has no time left."""


# The places

def sources():
    files = [path for library in LIBRARIES for path in sorted((ROOT / "Sources" / library).rglob("*.swift"))]
    return [str(path.relative_to(ROOT)) for path in files]


def folder(mutant):
    """The folder of the library, or the library if it has none."""
    parts = mutant["file"].split("/")
    return "/".join(parts[1:3]) if len(parts) > 3 else parts[1]


def find(mutate, files):
    """All mutations of files; each has a key that remains when lines move."""
    output = subprocess.run([mutate, "find", ROOT, *files], check=True, capture_output=True, text=True).stdout
    seen = collections.Counter()
    mutants = []
    for line in output.splitlines():
        mutant = json.loads(line)
        if mutant["before"] == mutant["after"]:
            continue
        name = f'{mutant["file"]}: {short(mutant["before"])} -> {short(mutant["after"])}'
        seen[name] += 1
        mutant["key"] = name if seen[name] == 1 else f"{name} #{seen[name]}"
        mutants.append(mutant)
    return mutants


def short(text):
    text = " ".join(text.split())
    return text or "(nothing)"


def sample(mutants, count, chance):
    """A random choice with at least ten of each folder, and otherwise in proportion to what the folder has."""
    folders = collections.defaultdict(list)
    for mutant in mutants:
        folders[folder(mutant)].append(mutant)
    chosen = []
    for name in sorted(folders):
        share = max(10, round(count * len(folders[name]) / len(mutants)))
        chosen += chance.sample(folders[name], min(share, len(folders[name])))
    return chosen


def changed_lines(base):
    """The lines that differ from a commit, by file."""
    lines = collections.defaultdict(set)
    output = subprocess.run(["git", "diff", "-U0", base, "--", "Sources"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    name = None
    for line in output.splitlines():
        if line.startswith("+++ "):
            name = line[6:]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(match[1]), int(match[2] or 1)
            lines[name].update(range(first, first + count))
    untracked = subprocess.run(["git", "ls-files", "-o", "--exclude-standard", "Sources"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in untracked.splitlines():
        lines[name].update(range(1, 100_000))
    return lines


def reasons():
    """The mutants of Known.txt with the reasons why no test has to notice them."""
    known = {}
    for line in (ROOT / "Proof/Mutants/Known.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.rpartition(" :: ")
            known[key] = reason
    return known


# The build

def lay(mutate, mutants):
    """Lays the tree with the mutants in it; a file whose text remains keeps its time, so that it is not compiled again."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = {name for name in listed.splitlines() if (ROOT / name).exists() or (ROOT / name).is_symlink()}
    fresh = STATE / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    for name in files:
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, fresh / name, follow_symlinks=False)
    shutil.copy(ROOT / "Proof/Mutants/Runtime/mutants.c", fresh / "Sources/CSystem/mutants.c")
    shutil.copy(ROOT / "Proof/Mutants/Runtime/mutants.h", fresh / "Sources/CSystem/include/mutants.h")
    modules = fresh / "Sources/CSystem/include/module.modulemap"
    modules.write_text(modules.read_text().replace('header "CSystem.h"', 'header "CSystem.h"\n  header "mutants.h"'))
    manifest = fresh / "Package.swift"
    text = manifest.read_text().replace(".treatAllWarnings(as: .error),", ".unsafeFlags([\"-suppress-warnings\"]),")
    if CHANGED:
        # Only the tests that are near.
        needed = {TESTS_OF.get(folder(mutant).split("/")[0], "UserStoreTests") for mutant in mutants}
        for name in re.findall(r'\.testTarget\(\n *name: "(\w+)"', text):
            if name not in needed:
                text = re.sub(r' *\.testTarget\(\n *name: "%s".*?\n    \),\n' % name, "", text, flags=re.DOTALL)
    manifest.write_text(text)
    lines = "".join(json.dumps(mutant) + "\n" for mutant in mutants)
    subprocess.run([mutate, "write", fresh], input=lines, check=True, text=True)
    subprocess.run(["rsync", "-rlc", "--delete", "--exclude=/.build", f"{fresh}/", f"{TREE}/"], check=True)
    shutil.rmtree(fresh)


def build(mutate, mutants):
    """Builds the tree. Mutants that do not compile are taken out, until it builds; returns the others."""
    if UNCOMPILABLE.exists():
        known = set(UNCOMPILABLE.read_text().splitlines())
        mutants = [mutant for mutant in mutants if mutant["key"] not in known]
    while mutants:
        lay(mutate, mutants)
        if compile_tree() == 0:
            return mutants
        bad = {number for path, line in re.findall(r"^(/\S+\.swift):(\d+):\d+: error:", (STATE / "build.log").read_text(), re.M)
               for number in numbers_at(pathlib.Path(path), int(line))}
        if not bad:
            sys.exit(f"mutants: error: the tree does not build; see {STATE}/build.log")
        say(f"{len(bad)} do not compile")
        with open(UNCOMPILABLE, "a") as file:
            file.writelines(mutant["key"] + "\n" for mutant in mutants if mutant["id"] in bad)
        mutants = [mutant for mutant in mutants if mutant["id"] not in bad]
    return mutants


def compile_tree():
    """Builds what was laid, and returns the exit status."""
    with open(STATE / "build.log", "w") as log:
        process = subprocess.Popen(
            ["swift", "build", "--build-tests", "--package-path", TREE, "--scratch-path", STATE / "build", "-Xswiftc", "-continue-building-after-errors"],
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(None if DEADLINE == float("inf") else max(0, DEADLINE - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise OutOfTime
        finally:
            # The compilers have process groups of their own, but they are in the session.
            subprocess.run(["pkill", "-KILL", "--session", str(process.pid)])
            process.wait()


def numbers_at(path, line):
    """The mutants of the line that is nearest to a line of the tree."""
    lines = path.read_text().splitlines()
    places = {number: re.findall(r"\bmutant\((\d+)\)", text) for number, text in enumerate(lines, 1)}
    nearest = min((number for number in places if places[number]), key=lambda number: abs(number - line), default=None)
    return [int(number) for number in places.get(nearest, [])]


# The tests

# Tests on PostgreSQL share a template database, which has one user at a time.
ON_SERVER = threading.Lock()


class Run:
    """A run of tests in a process group of its own."""

    FAILED = re.compile(r"✘ Test (?:case .* to )?(?P<name>.*?)(?: with \d+ test cases?)? (?:recorded an issue|failed after)")
    STARTED = re.compile(r"◇ Test (?!run|case)(.*) started\.$")
    ENDED = re.compile(r"[✔✘] Test (?!run|case)(.*?)(?: with \d+ test cases?)? (?:passed|failed) after")

    def __init__(self, tests, engine, seconds, mutant=None, reached=None):
        """`seconds`: how long the tests normally take, each by itself."""
        self.failure = None
        self.running = []
        environment = {name: value for name, value in os.environ.items() if engine == "postgres" or not name.startswith("USERSTORE_")}
        environment["USERSTORE_ENGINE"] = engine
        environment["USERSTORE_PATIENCE"] = str(int(WATCH + 2 * max(seconds)))
        # What also names the processes of the run: no two runs at the same time have the same.
        if mutant is not None:
            self.mark = ("USERSTORE_MUTANT", str(mutant))
        else:
            self.mark = ("USERSTORE_REACHED", str(reached))
        environment[self.mark[0]] = self.mark[1]
        environment["NO_COLOR"] = "1"
        command = [str(TESTS), "--testing-library", "swift-testing"]
        for test in tests:
            command += ["--filter", "^" + re.escape(test).replace("/", r"\/") + "(/|$)"]
        with ON_SERVER if engine == "postgres" else contextlib.nullcontext():
            self.run(command, environment, PATIENCE + sum(seconds))

    def run(self, command, environment, limit):
        self.started = time.monotonic()
        if self.started >= DEADLINE:
            raise OutOfTime
        self.process = subprocess.Popen(
            command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, text=True, errors="replace")
        self.was_ended = False
        timer = threading.Timer(min(limit, DEADLINE - self.started), self.end)
        timer.start()
        last = ""
        for line in self.process.stdout:
            line = re.sub(r"\x1b\[[0-9;]*m", "", line.rstrip())
            if line:
                last = line
            if match := self.STARTED.search(line):
                self.running.append(match[1])
            elif match := self.ENDED.search(line):
                if match[1] in self.running:
                    self.running.remove(match[1])
            if match := self.FAILED.search(line):
                if match["name"].startswith("run with"):
                    continue
                self.failure = line
                break
        timer.cancel()
        self.kill()
        self.status = self.process.wait()
        if self.was_ended and time.monotonic() >= DEADLINE:
            raise OutOfTime
        self.seconds = time.monotonic() - self.started
        if not self.failure and not self.was_ended and self.status != 0:
            self.failure = f"ended with {self.status}: {last}"

    def end(self):
        self.was_ended = True
        self.kill()

    def kill(self):
        """Ends the tests and the programs that they have started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        # Those in sessions of their own: without the test that reads from their terminals, they might never end.
        line = "=".join(self.mark).encode()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if line in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
        # Servers that the tests have started.
        for cluster in pathlib.Path(os.environ["USERSTORE_POSTGRES_FOLDER"]).glob(f"cluster{self.process.pid}-*"):
            subprocess.run([ROOT / "scripts/postgres", "remove", cluster], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def outcome(self):
        if self.was_ended:
            return "hung"
        return "seen" if self.failure else "survived"


def tests():
    """All tests as (engine, name)."""
    listed = subprocess.run([str(TESTS), "--testing-library", "swift-testing", "--list-tests"], cwd=TREE, check=True, capture_output=True, text=True).stdout
    both = re.compile(r"UserStoreTests\.(" + "|".join(BOTH) + r")/")
    for name in listed.splitlines():
        if name.startswith("UserStorePostgresTests."):
            yield "postgres", name
        elif not name.startswith("DocumentationTests.ArticleTests"):
            yield "sqlite", name
            if both.match(name):
                yield "postgres", name


def folders_of_suites():
    """The folder of the library that a suite tests, by the suite's name, as far as the folders of the tests tell it."""
    libraries = {"UserStoreTests": "UserStore", **{tests: library for library, tests in TESTS_OF.items()}}
    found = {}
    for path in (ROOT / "Tests").rglob("*Tests/**/*.swift"):
        module, *rest = path.relative_to(ROOT / "Tests").parts
        if module == "UserStoreTests" and rest[0] == "Text":
            place = "UserStoreText"
        else:
            place = libraries.get(module, module) + (f"/{rest[0]}" if module == "UserStoreTests" else "")
        for name in re.findall(r"struct (`[^`]+`|\w+)", path.read_text()):
            found[name.strip("`")] = place
    return found


FOLDERS = folders_of_suites()


def is_near(test, mutant):
    """Whether a test is in the folder that belongs to a mutant's."""
    places = {FOLDERS.get(part.strip("`")) for part in re.split(r"[./]", test)[1:-1]}
    return any(place and (folder(mutant) + "/").startswith(place + "/") for place in places)


def workers(work, jobs, count):
    """Does jobs in threads; ends with the first error."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        try:
            for future in concurrent.futures.as_completed([pool.submit(work, job) for job in jobs]):
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


class Journal:
    """Lines of JSON in a file, of which the last may have been cut off."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.lines = []
        if path.exists():
            text = path.read_text()
            whole = text[:text.rfind("\n") + 1]
            path.write_text(whole)
            self.lines = [json.loads(line) for line in whole.splitlines()]

    def add(self, **line):
        with self.lock:
            self.lines.append(line)
            with open(self.path, "a") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def cover(mutants, chosen, jobs):
    """Runs each test by itself, and notes which mutants it reaches and how long it takes."""
    journal = Journal(STATE / "coverage.jsonl")
    known = {(line["engine"], line["test"]) for line in journal.lines}
    length = max(mutant["id"] for mutant in mutants) + 1
    missing = [test for test in chosen if test not in known]
    say(f"{len(chosen)} tests, {len(missing)} of them to run alone")

    failures = []

    def work(test):
        engine, name = test
        path = STATE / f"reached-{threading.get_ident()}"
        path.write_bytes(bytes(length))
        try:
            run = Run([name], engine, [600], reached=path)
        except OutOfTime:
            return
        if run.outcome != "survived":
            say(f"{name} fails without a mutant: {run.failure or 'it hangs'}"[:300])
            failures.append(name)
            if len(failures) > 20:
                raise SystemExit("mutants: error: too many tests fail without a mutant")
            journal.add(engine=engine, test=name, seconds=run.seconds, reached=[])
            return
        journal.add(engine=engine, test=name, seconds=round(run.seconds, 2), reached=[i for i, byte in enumerate(path.read_bytes()) if byte])

    workers(work, missing, jobs)
    return journal.lines


class Judge:
    """Runs the tests that reach a mutant."""

    def __init__(self, coverage):
        self.tests = collections.defaultdict(list)
        for line in sorted(coverage, key=lambda line: line["seconds"]):
            for number in line["reached"]:
                self.tests[number].append((line["engine"], line["test"], line["seconds"]))

    def judge(self, mutant):
        number = mutant["id"]
        # A test of the same folder is the likeliest to notice it.
        found = sorted(self.tests[number], key=lambda test: not is_near(test[1], mutant))
        if not found:
            return {"outcome": "unreached"}
        began = time.monotonic()
        for engine in ("sqlite", "postgres"):
            rest = [(name, seconds) for kind, name, seconds in found if kind == engine]
            first, total = [], 0
            while rest and len(first) < FIRST_TESTS and (not first or total + rest[0][1] < FIRST_SECONDS):
                first.append(rest.pop(0))
                total += first[-1][1]
            for part in (first, rest):
                if part and (result := self.run(number, engine, part)):
                    return {**result, "seconds": round(time.monotonic() - began, 1), "tests": len(found)}
        return {"outcome": "survived", "seconds": round(time.monotonic() - began, 1), "tests": len(found)}

    def run(self, number, engine, part):
        names, seconds = zip(*part)
        for _ in range(3):
            run = Run(names, engine, seconds, number)
            if run.outcome == "hung":
                return {"outcome": "hung", "test": ", ".join(run.running[:5])}
            if run.outcome == "survived":
                return None
            # Once more, and only the test that failed, if it has told its name.
            again = Run(self.alone(run.failure, names), engine, seconds, number)
            if again.outcome != "survived":
                return {"outcome": again.outcome, "test": run.failure[:300]}
        return None

    @staticmethod
    def alone(failure, names):
        match = Run.FAILED.search(failure)
        title = match["name"].strip('"') if match else None
        return [name for name in names if title and (f"`{title}`" in name or f"/{title}" in name)] or names


# The report

def report(mutants, results, unbuilt):
    known = reasons()
    by_number = {mutant["id"]: mutant for mutant in mutants}
    table = collections.defaultdict(collections.Counter)
    survivors = []
    for line in results:
        mutant = by_number.get(line["id"])
        if not mutant:
            continue
        outcome = line["outcome"]
        if outcome in ("survived", "unreached"):
            outcome = "known" if mutant["key"] in known else outcome
            survivors.append((mutant, line, known.get(mutant["key"])))
        table[folder(mutant)][outcome] += 1
    columns = ["seen", "hung", "survived", "unreached", "known"]
    say("")
    say(f'{"folder":36}' + "".join(f"{column:>10}" for column in columns))
    total = collections.Counter()
    for name in sorted(table):
        say(f"{name:36}" + "".join(f"{table[name][column]:10}" for column in columns))
        total += table[name]
    say(f'{"all":36}' + "".join(f"{total[column]:10}" for column in columns))
    noticed = total["seen"] + total["hung"]
    missed = total["survived"] + total["unreached"]
    if noticed + missed:
        say(f"{noticed + missed + total['known']} mutants; of the {noticed + missed} that have no known reason, {100 * noticed / (noticed + missed):.1f} % were noticed; {unbuilt} more did not compile")
    for mutant, line, reason in sorted(survivors, key=lambda one: (one[2] is not None, one[0]["file"], one[0]["line"])):
        say(f'{mutant["key"]} :: {reason or "?"}  (line {mutant["line"]}, {line["outcome"]})')
    return missed


def again(mutate, previous, wanted):
    """Builds the mutants of the last run anew, and forgets the results of those that were not noticed."""
    places = {mutant["key"]: mutant for mutant in find(mutate, sources())}
    mutants = [{**places[mutant["key"]], "id": mutant["id"]} for mutant in previous["mutants"] if mutant["key"] in places]
    numbers = {mutant["id"] for mutant in mutants}
    results = [line for line in Journal(STATE / "results.jsonl").lines if line["id"] in numbers and line["outcome"] in ("seen", "hung")]
    # If the build is cut off, only --again can go on.
    (STATE / "plan.json").write_text(json.dumps({**previous, "inputs": None}))
    (STATE / "coverage.jsonl").unlink(missing_ok=True)
    (STATE / "results.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in results))
    built = build(mutate, mutants)
    plan = {**previous, "inputs": wanted["inputs"], "mutants": built, "unbuilt": previous["unbuilt"] + len(mutants) - len(built)}
    (STATE / "plan.json").write_text(json.dumps(plan))
    say(f"{len(built)} mutants of the run with seed {plan['seed']}, {len(results)} of them noticed already")
    return plan


def main():
    parser = argparse.ArgumentParser(prog="scripts/mutants", allow_abbrev=False, description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=700, help="how many mutants (700)")
    parser.add_argument("--seed", type=int, help="makes the same choice as the run that printed it")
    parser.add_argument("--changed", nargs="?", const="main", metavar="COMMIT", help="only mutants in lines that differ from a commit (main), within ten minutes")
    parser.add_argument("--again", action="store_true", help="the mutants of the last run that were not noticed, with the present sources and tests")
    parser.add_argument("--report", action="store_true", help="only prints the results so far")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many tests run at the same time")
    parser.add_argument("--mutate", required=True, help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="*", help="only the files and folders below these")
    run(parser.parse_args())


def inputs():
    """A hash of all that decides what a run finds."""
    digest = hashlib.sha256()
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Sources", "Tests", "Package.swift", "Proof/Mutants/Sources", "migrations"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            digest.update(name.encode() + (ROOT / name).read_bytes())
    return digest.hexdigest()


def choose(options, seed):
    """The mutants of a new run, with their numbers."""
    paths = [path.rstrip("/") for path in options.paths]
    files = [name for name in sources() if not paths or any(name == path or name.startswith(path + "/") for path in paths)]
    mutants = find(options.mutate, files)
    count = options.count
    if options.changed:
        lines = changed_lines(options.changed)
        mutants = [mutant for mutant in mutants if mutant["line"] in lines.get(mutant["file"], ())]
        count = CHANGED_COUNT
    say(f"{len(mutants)} places")
    if len(mutants) > count:
        mutants = sample(mutants, count, random.Random(seed))
    return [{**mutant, "id": number} for number, mutant in enumerate(mutants)]


def prepare(options):
    """Continues the last run, or builds a new one; returns its plan, or None if there is nothing to break."""
    path, begun = STATE / "plan.json", STATE / "begun.json"
    last = json.loads(path.read_text()) if path.exists() else None
    wanted = {"count": options.count, "changed": options.changed, "paths": options.paths, "inputs": inputs()}
    if options.again:
        return again(options.mutate, last, wanted)
    if last and all(last[name] == wanted[name] for name in wanted) and options.seed in (None, last["seed"]):
        say(f"continues the run with seed {last['seed']}")
        return last
    if last and not options.changed and options.seed is None:
        sys.exit("mutants: error: sources, tests or options differ from those of the last run: --again runs what it left, --seed N begins another")
    # A build that was cut off is continued: its files were laid for the same choice.
    left = json.loads(begun.read_text()) if begun.exists() else None
    if options.seed is not None:
        seed = options.seed
    elif left and all(left[name] == wanted[name] for name in wanted):
        seed = left["seed"]
    else:
        seed = random.SystemRandom().randrange(1 << 32)
    begun.write_text(json.dumps({**wanted, "seed": seed}))
    say(f"seed {seed}")
    mutants = choose(options, seed)
    if not mutants:
        say("nothing to break")
        return None
    for name in ("plan.json", "coverage.jsonl", "results.jsonl"):
        (STATE / name).unlink(missing_ok=True)
    built = build(options.mutate, mutants)
    plan = {**wanted, "seed": seed, "mutants": built, "unbuilt": len(mutants) - len(built)}
    path.write_text(json.dumps(plan))
    begun.unlink()
    return plan


def run(options):
    global DEADLINE
    began = time.monotonic()
    if options.changed:
        DEADLINE = began + CHANGED_SECONDS - int(os.environ.get("MUTANTS_SPENT", 0))
    STATE.mkdir(parents=True, exist_ok=True)
    if (options.report or options.again) and not (STATE / "plan.json").exists():
        sys.exit("mutants: error: there was no run yet")
    if options.report:
        results = Journal(STATE / "results.jsonl")
        plan = json.loads((STATE / "plan.json").read_text())
        report(plan["mutants"], results.lines, plan["unbuilt"])
        return
    try:
        plan = prepare(options)
    except OutOfTime:
        sys.exit("mutants: the build used all the time; run the same command to continue")
    if not plan:
        return
    if not plan["mutants"]:
        sys.exit("mutants: error: no mutant compiled")
    mutants = plan["mutants"]
    say(f"{len(mutants)} mutants, {plan['unbuilt']} that did not compile; built after {time.monotonic() - began:.0f} s")
    chosen = list(tests())
    if options.changed:
        chosen = [test for test in chosen if any(is_near(test[1], mutant) for mutant in mutants)]
    coverage = cover(mutants, chosen, options.jobs)
    if len(coverage) < len(chosen):
        sys.exit(f"mutants: {len(chosen) - len(coverage)} tests have not run alone yet; run the same command to continue")
    judge = Judge(coverage)
    results = Journal(STATE / "results.jsonl")
    done = {line["id"] for line in results.lines}
    left = [mutant for mutant in mutants if mutant["id"] not in done]
    random.Random(plan["seed"]).shuffle(left)

    def work(mutant):
        try:
            result = judge.judge(mutant)
        except OutOfTime:
            return
        results.add(id=mutant["id"], **result)
        change = f'{short(mutant["before"])[:60]} -> {short(mutant["after"])[:60]}'
        spent = f'{result.get("seconds", 0)} s of {result.get("tests", 0)} tests'
        say(f'[{len(results.lines)}/{len(mutants)}] {result["outcome"]} {mutant["file"]}:{mutant["line"]}: {change} ({spent})')

    workers(work, left, options.jobs)
    if len(results.lines) < len(mutants):
        say(f"{len(mutants) - len(results.lines)} were not run; the same command goes on")
    if report(mutants, results.lines, plan["unbuilt"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
