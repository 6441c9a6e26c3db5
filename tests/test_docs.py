"""The documentation: its commands run as they stand, its links lead somewhere, and it builds without a warning."""

import importlib.util
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
SHARP = f'sharp() {{ {shlex.quote(sys.executable)} -m sharpstream "$@"; }}'


def in_shell(lines, directory):
    """All lines in one shell; the first that fails ends it."""
    program = "\n".join(["set -e", SHARP, *lines])
    return subprocess.run(["bash", "-c", program], cwd=directory, capture_output=True, text=True, timeout=500)


def test_the_tour_runs_as_it_is_typed(tmp_path):
    done = in_shell(re.findall(r"```sh\n(.*?)```", TOUR, flags=re.S), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").exists()
    assert (tmp_path / "again.txt").exists()


def test_the_commands_of_the_readme_run_line_by_line(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```\n(sharp run out .*?)```", text, flags=re.S)
    commands = [re.split(r"\s{3,}", line)[0] for line in block.splitlines()]
    assert len(commands) >= 10
    shutil.copy(ROOT / "README.md", tmp_path)
    done = in_shell(commands, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target


def test_the_drawing_is_what_its_script_draws():
    drawn = runpy.run_path(str(ROOT / "docs" / "drawings.py"))["drawing"]()
    assert drawn == (ROOT / "docs" / "hierarchies.svg").read_text(encoding="utf-8")


def test_the_steps_of_the_algorithm_are_functions_of_that_name():
    page = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
    code = (ROOT / "src" / "sharpstream" / "learners" / "sharp_wake.py").read_text(encoding="utf-8")
    for row in re.findall(r"^\| \d \|.*\| (.*) \|$", page, flags=re.M):
        for name in re.findall(r"`(\w+)`", row):
            assert f"def {name}(" in code, name


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="no mkdocs here (extra `docs`)")
def test_the_pages_build_offline_without_a_warning(tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr.replace("NO_MKDOCS_2_WARNING", "")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["']https?://(?!github)[^"']*\.(js|css|woff2?)""", page), "it asks the network"


def test_the_array_of_the_cluster_page_names_jobs_that_there_are():
    from sharpstream.experiments.harness import experiment_named

    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (names,) = re.findall(r"KEYS=\((.*?)\)", page)
    keys = subprocess.run(["bash", "-c", f"printf '%s\\n' {names}"], capture_output=True, text=True).stdout.split()
    there = {job.key for job in experiment_named("acceleration").jobs("laptop", "fair")}
    assert len(keys) == 10
    assert set(keys) <= there
