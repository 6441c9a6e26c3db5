"""The page: it says what was run, escapes what comes from data, and works in a real browser without a network."""

import json
import re
import shutil
import subprocess

import pytest

from sharpstream.cli import main
from sharpstream.evaluate.reading import Read
from sharpstream.showing.page import Section, figure, page, paragraph, table
from sharpstream.showing.reader import passage

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">"
CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (Debian's package has it)")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page of one SHARP run that slept and was probed, and of one small experiment."""
    root = tmp_path_factory.mktemp("report")
    words = "--tokens 6000 --log-every 500 --probe-every 2000 --probe-length 200 --sharp.width 16"
    assert main(["run", str(root / "run"), *words.split(), "--sharp.sleep.every", "1000"]) == 0
    drawn = ["reproduce", "frontier-texts", "--scale", "quick", "--only", "help-counts-5", "--out", str(root / "study")]
    assert main(drawn) == 0
    out = root / "page.html"
    made = [str(root / "run"), str(root / "study"), "--out", str(out), "--title", HOSTILE, "--passage", "50"]
    assert main(["report", *made]) == 0
    return out


def in_browser(path, tmp_path, script=""):
    """The page's DOM after `script` ran in it, and what the console said."""
    probe = tmp_path / "probe.html"
    ending = f"<script>window.addEventListener('load', () => {{ {script} }});</script></body>"
    probe.write_text(path.read_text(encoding="utf-8").replace("</body>", ending), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    more = ("--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}")
    asked = ("--enable-logging=stderr", "--virtual-time-budget=4000", "--dump-dom", probe.as_uri())
    done = subprocess.run([CHROMIUM, *flags.split(), *more, *asked], capture_output=True, text=True, timeout=120)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_everything_from_data_is_text():
    made = page(HOSTILE, [Section(HOSTILE, (paragraph(HOSTILE), table((HOSTILE,), [(HOSTILE,)])))])
    assert "<img" not in made
    assert made.count("&lt;img src=x") >= 5
    drawing = figure("f", {"data": [{"name": HOSTILE, "y": [float("nan"), 1.0]}]}, HOSTILE)
    assert "<img" not in drawing
    inside = re.search(r"<script[^>]*>(.*)</script>", drawing, flags=re.S).group(1)
    assert json.loads(inside)["data"][0] == {"name": HOSTILE, "y": [None, 1.0]}


def test_the_reader_shades_by_bits_and_tells_what_was_expected():
    html = passage([Read(0, 0.0, ((0, 0.9),)), Read(1, 99.0, ((0, 0.9), (1, 0.1)))], ("<", " "))
    assert '--s:0.00" data-told="&lt;: 0.00 bits; expected &lt; 90.0%">&lt;</span>' in html
    assert '--s:1.00" data-told="space: 99.00 bits; expected &lt; 90.0%, space 10.0%"> </span>' in html


def test_the_page_says_what_was_run_and_needs_no_network(written):
    text = written.read_text(encoding="utf-8")
    ours = text.split("<main>")[1].split("</main>")[0]
    for words in ("Run run: sharp on nonlinear", "tokens replayed", "frontier-texts", "not run", "data-told="):
        assert words in ours
    assert not re.search(r"""(src|href)=["']?https?:""", ours)


@needs_browser
def test_a_browser_draws_it_without_a_word_of_complaint(written, tmp_path):
    dom, console = in_browser(written, tmp_path)
    assert console == []
    assert dom.count('class="main-svg"') >= 4
    assert "<title>&lt;/script&gt;&lt;img" in dom  # the hostile title stayed a title


@needs_browser
def test_themes_toggle_and_the_reader_is_walked_by_keys_and_by_pointing(written, tmp_path):
    script = """
      const before = document.documentElement.dataset.theme;
      document.getElementById('theme').click();
      const reader = document.querySelector('.reader'), told = reader.nextElementSibling;
      reader.focus();
      reader.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
      const byKey = told.textContent === reader.children[1].dataset.told;
      reader.children[7].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
      const byMouse = told.textContent === reader.children[7].dataset.told;
      const hidden = document.querySelector('.plot');
      Plotly.restyle(hidden, {visible: 'legendonly'}, [0]).then(() => {
        const facts = [before !== document.documentElement.dataset.theme, byKey, byMouse,
          hidden.data[0].visible === 'legendonly'];
        document.body.dataset.facts = facts.join();
      });
    """
    dom, console = in_browser(written, tmp_path, script)
    assert console == []
    assert 'data-facts="true,true,true,true"' in dom


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name at least one directory"),
        (["nowhere"], "holds neither a run"),
        (["nowhere", "--passage", "-1"], "--passage -1: it must be in 0..20,000"),
    ],
)
def test_what_cannot_be_shown_is_told_and_nothing_is_written(words, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *words]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
