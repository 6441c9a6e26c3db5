"""Memory stays flat however long the stream: measured on the child process while tokens flow through a real pipe."""

import subprocess
from pathlib import Path

import pytest
from watch_child import COMMAND

LINES = "".join(
    f"2031-03-04T09:{i % 60:02d} INFO api-{i % 3} GET /v1/users/{i * 7919 % 5000} 200\n" for i in range(997)
)
TINY = [
    "--learner=sharp",
    "--sharp.levels=2",
    "--sharp.width=4",
    "--sharp.embedding=2",
    "--sharp.depth=1",
    "--sharp.sleep.every=2000",
]
LIMIT = 4_000  # KB of growth after the warm-up


def resident(pid: int) -> int:
    """KB of memory a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def growth(directory: Path, flags: list[str], tokens: int) -> int:
    """KB by which `sharp watch` grows between the first quarter of so many tokens and their end.

    The first checkpoint takes its memory once, so it has to fall into the first quarter on a fast machine, too.
    """
    words = [*COMMAND, str(directory), "--checkpoint-seconds", "0.1", *flags]
    block, sizes = LINES.encode(), []
    blocks = tokens // len(block) + 1
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        for i in range(blocks):
            child.stdin.write(block)
            child.stdin.flush()
            if i >= blocks // 4:
                sizes.append(resident(child.pid))
        child.stdin.close()
        assert child.wait() == 0
    return max(sizes[len(sizes) // 2 :]) - sizes[0]


def test_memory_is_flat_over_two_million_tokens(tmp_path: Path) -> None:
    assert growth(tmp_path / "w", ["--learner", "counts", "--counts.table-bits", "14"], 2_000_000) < LIMIT


def test_memory_is_flat_while_sharp_wakes_and_sleeps(tmp_path: Path) -> None:
    assert growth(tmp_path / "w", TINY, 250_000) < LIMIT


def test_memory_is_flat_while_the_default_learner_fills_its_tables(tmp_path: Path) -> None:
    assert growth(tmp_path / "w", ["--episodic.memory", "1MB", "--episodic.network", "4"], 600_000) < LIMIT


def test_memory_is_flat_in_a_line_without_end(tmp_path: Path) -> None:
    words = [*COMMAND, str(tmp_path / "w"), "--learner", "unigram"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        sizes = []
        for _ in range(40):
            child.stdin.write(b"no newline " * 4_000)
            sizes.append(resident(child.pid))
        child.stdin.close()
        assert child.wait() == 0
    assert max(sizes[20:]) - sizes[10] < LIMIT


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("flags", [["--learner", "counts", "--counts.table-bits", "14"], TINY], ids=["counts", "sharp"])
def test_memory_is_flat_over_ten_million_tokens(tmp_path: Path, flags: list[str]) -> None:
    assert growth(tmp_path / "w", flags, 10_000_000) < LIMIT
