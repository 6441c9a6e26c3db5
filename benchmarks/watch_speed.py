"""How fast `sharp watch` is: the real command on a pipe, lines of syslog of about 100 bytes.

    python benchmarks/watch_speed.py

Lines a CPU second of the whole process (reading, masking, learning, judging, writing; its start taken off), the wait
from a whole line to its row when lines come one by one, and the time from the start to the first row. The first run
after an installation compiles before it reads; it is said how long that took.
"""

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

WATCH = [sys.executable, "-c", "from sharpstream.cli import entry; entry()", "watch"]
KINDS = (
    "sshd[{a}]: Failed password for invalid user {w} from 10.{b}.{c}.7 port {a} ssh2, pam said no",
    "sshd[{a}]: Accepted publickey for {w} from 10.1.{b}.{c} port {a} ssh2: RSA SHA256:{x}",
    "kernel: [{a}.{b}] eth0: link is up, 1000 Mbps, full duplex, flow control rx/tx, id {x}",
    "systemd[1]: Started Session {a} of user {w}. It has {b} processes and {c} tasks in all",
    "cron[{a}]: ({w}) CMD (run-parts --report /etc/cron.hourly && logger done {b} of {c})",
)
WORDS = ("root", "alice", "bob", "backup", "deploy", "postgres")


def lines(count: int) -> list[bytes]:
    """Syslog, the same every time."""
    rng = random.Random(7)
    found = []
    for i in range(count):
        values = {"a": rng.randrange(60_000), "b": rng.randrange(255), "c": rng.randrange(255)}
        text = rng.choice(KINDS).format(**values, w=rng.choice(WORDS), x=f"{rng.randrange(16**8):08x}")
        found.append(f"Jun {1 + i // 3600 % 28:2} {i // 60 % 24:02}:{i % 60:02}:00 host {text}\n".encode())
    return found


def cpu(directory: str, content: list[bytes], flags: list[str]) -> float:
    """CPU seconds of a watch over these lines."""
    before = os.times()
    subprocess.run([*WATCH, directory, *flags], input=b"".join(content), stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def waits(directory: str, content: list[bytes], flags: list[str]) -> tuple[float, list[float]]:
    """Seconds to the first row, and seconds from each line to its row."""
    found = []
    with subprocess.Popen([*WATCH, directory, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for line in content:
            sent = time.monotonic()
            child.stdin.write(line)
            child.stdin.flush()
            child.stdout.readline()
            found.append(time.monotonic() - sent)
        child.stdin.close()
    return found[0], found[1:]


def main() -> None:
    """Measure the default and the fast learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000)
    options = parser.parse_args()
    content = lines(options.lines)
    print(f"{options.lines:,} lines of {sum(map(len, content)) / len(content):.0f} bytes")
    print(
        f"{'':>8} {'lines per CPU second':>20} {'wait, median':>12} {'99 %':>8} {'first row':>10} {'start, CPU':>10}"
        f" {'memory':>11}"
    )
    for name, flags in (("default", []), ("--fast", ["--fast"])):
        with tempfile.TemporaryDirectory() as directory:
            first_ever, _ = waits(f"{directory}/a", content[:1], flags)
            first, later = waits(f"{directory}/b", content[:400], flags)
            start = cpu(f"{directory}/c", content[:1], flags)
            work = cpu(f"{directory}/d", content, flags) - start
        late, middle = statistics.quantiles(later, n=100)[-1], statistics.median(later)
        numbers = f"{options.lines / work:>20,.0f} {1000 * middle:>9.1f} ms {1000 * late:>5.1f} ms {first:>8.1f} s"
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10  # of the largest so far
        print(f"{name:>8} {numbers} {start:>8.1f} s {memory:>8,} MB", flush=True)
        if first_ever - first > 5:
            print(f"{'':>8} compiled in {first_ever - first:.0f} s before that")


if __name__ == "__main__":
    main()
