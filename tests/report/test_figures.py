import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sharpstream.errors import ConfigError, RunError
from sharpstream.evaluate.pairs import Estimate, mean_interval
from sharpstream.evaluate.retention import RetentionMatrix, Segment
from sharpstream.report.curves import learning_curve, prequential_curves
from sharpstream.report.panels import probe_bars, retention_figure, retention_heat_map
from sharpstream.report.scatter import bits_against_seconds
from sharpstream.report.style import ARMS, arm_style, save_figure

REQUIRED = [
    "sharp",
    "no-sleep",
    "dead_upper_levels",
    "L=1",
    "rnn",
    "lstm",
    "gru",
    "clockwork",
    "transformer-5m",
    "transformer-10m",
    "counts",
    "ppmd",
    "zpaq",
    "uniform",
    "unigram",
]


def test_every_arm_has_a_look_of_its_own() -> None:
    assert set(REQUIRED) <= set(ARMS)
    assert len({(style.colour, style.line) for style in ARMS.values()}) == len(ARMS)
    assert len({style.label for style in ARMS.values()}) == len(ARMS)


def test_an_arm_of_ones_own_looks_the_same_in_every_process() -> None:
    code = "from sharpstream.report.style import arm_style; print(arm_style('my block'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert told == str(arm_style("my block"))
    assert arm_style("my block").label == "my block"


def test_importing_the_report_does_not_import_what_draws() -> None:
    modules = "curves, grid, panels, scatter, style"
    heavy = "{'matplotlib', 'rich', 'torch'}"
    code = f"from sharpstream.report import {modules}; import sys; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_figure_is_saved_twice_with_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        figure = learning_curve([1000, 2000, 3000], [0.6, 0.4, 0.3], sleeps=[1500], window=1000)
        png, pdf = save_figure(figure, tmp_path / name / "curve.png")
        written.append((png.read_bytes(), pdf.read_bytes()))
        assert (png.name, pdf.name) == ("curve.png", "curve.pdf")
    assert written[0] == written[1]
    assert written[0][0].startswith(b"\x89PNG")
    assert written[0][1].startswith(b"%PDF")


def test_a_name_with_dots_keeps_them(tmp_path: Path) -> None:
    png, _ = save_figure(learning_curve([1], [0.5]), tmp_path / "alpha0.1")
    assert png.name == "alpha0.1.png"


def test_a_figure_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        save_figure(learning_curve([1], [0.5]), tmp_path / "file" / "curve")


def test_drawing_leaves_matplotlibs_settings_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    learning_curve([1, 2], [0.5, 0.4])
    assert dict(matplotlib.rcParams) == before


def test_learning_curve_draws_the_error_the_levels_and_each_sleep() -> None:
    axes = learning_curve([1000, 2000], [0.6, 0.4], sleeps=[500, 1500]).axes[0]
    assert axes.lines[0].get_ydata().tolist() == [0.6, 0.4]
    drawn = {round(float(np.asarray(line.get_ydata())[0]), 4) for line in axes.lines[1:]}
    assert {0.3333, 0.2083} <= drawn
    assert len(axes.collections[0].get_segments()) == 2
    assert [text.get_text().split("\n")[0] for text in axes.texts] == ["best possible", "without context"]


def test_names_of_close_levels_do_not_cover_each_other() -> None:
    levels = [(1.747, "PPMd 6"), (1.713, "PPMd 16"), (1.72, "other")]
    axes = prequential_curves({"sharp": ([1, 2], [3.0, 2.5])}, levels=levels).axes[0]
    heights = sorted(text.get_position()[1] for text in axes.texts)
    span = np.ptp(axes.get_ylim())
    assert np.diff(heights).min() > 0.05 * span
    assert [text.get_text() for text in axes.texts] == ["PPMd 16", "other", "PPMd 6"]


def test_bursts_of_one_arm_do_not_hide_the_others() -> None:
    x = np.arange(60)
    steady, bursting = 2.5 + 0.1 * np.sin(x), 2.6 + 0.1 * np.cos(x)
    bursting[[20, 40]] = 9.0, 6.0
    axes = prequential_curves({"sharp": (x, steady), "no-sleep": (x, bursting)}).axes[0]
    assert axes.get_ylim()[1] < 3.0
    assert axes.get_xlabel() == "tokens seen  (▲ beyond this picture, up to 9.00)"
    assert [len(line.get_xdata()) for line in axes.lines if line.get_marker() == "^"] == [2]
    falling = prequential_curves({"sharp": (x, 5.0 - 0.05 * x)}).axes[0]
    assert falling.get_ylim()[1] > 5.0
    assert falling.get_xlabel() == "tokens seen"


def test_prequential_curves_name_arms_in_the_order_in_which_they_end() -> None:
    figure = prequential_curves({"sharp": ([1, 2], [3.0, 2.0]), "counts": ([1], [2.5]), "rnn": ([1, 2], [2.9, 2.8])})
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["RNN  2.80", "Counts  2.50", "SHARP  2.00"]


def test_retention_figure_shows_every_measured_cell_and_bolds_the_learned() -> None:
    matrix = RetentionMatrix([Segment("a", 0, 10), Segment("b", 10, 20)])
    matrix.add(10, [2.0, np.nan])
    matrix.add(20, [2.5, 1.5])
    figure = retention_figure(matrix, "lstm")
    assert figure.get_suptitle().startswith("What LSTM keeps")
    texts = figure.axes[0].texts
    assert [(text.get_text(), text.get_fontweight()) for text in texts] == [
        ("2.00", "bold"),
        ("2.50", "bold"),
        ("1.50", "bold"),
    ]


def test_a_large_or_empty_matrix_is_drawn_or_refused() -> None:
    big = retention_heat_map(np.ones((30, 20)), times=range(30), segments=[str(n) for n in range(20)])
    assert not big.axes[0].texts
    retention_heat_map([[np.nan]], times=[0], segments=["a"])
    with pytest.raises(ConfigError, match="shape"):
        retention_heat_map(np.ones((2, 2)), times=[1], segments=["a", "b"])


def test_bars_start_at_zero_and_one_seed_has_no_whisker() -> None:
    values = {"sharp": {"forward": mean_interval([2.3, 2.4])}, "rnn": {"forward": Estimate(2.5, np.nan, np.nan, 1)}}
    axes = probe_bars(values).axes[0]
    assert axes.get_ylim()[0] == 0.0
    assert [round(bar.get_height(), 2) for bar in axes.patches] == [2.35, 2.5]
    assert "95 %" in axes.get_xlabel()


def test_a_bar_that_would_flatten_the_others_is_cut_off_and_keeps_its_number() -> None:
    values = {arm: {"forward": mean_interval([2.0, 2.2])} for arm in ("sharp", "rnn")}
    axes = probe_bars(values).axes[0]
    assert axes.get_ylim()[1] > 2.2
    assert "cut off" not in axes.get_xlabel()
    axes = probe_bars({**values, "lstm": {"forward": mean_interval([2.0, 196.0])}}).axes[0]
    assert 4.0 < axes.get_ylim()[1] < 5.0
    assert "cut off" in axes.get_xlabel()
    number = next(text for text in axes.texts if text.get_text() == "99.00")
    assert number.xy[1] < axes.get_ylim()[1]


def test_scatter_names_never_cover_each_other_or_a_point(tmp_path: Path) -> None:
    points = {
        arm: (1.0 + 0.3 * n, 2.0 + 0.02 * n) for n, arm in enumerate(("sharp", "rnn", "lstm", "gru", "clockwork"))
    }
    figure = bits_against_seconds(points)
    figure.draw_without_rendering()
    axes, renderer = figure.axes[0], figure.canvas.get_renderer()
    from matplotlib.text import Text

    boxes = [Text.get_window_extent(text, renderer) for text in axes.texts]
    assert len(boxes) == 5
    for n, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[n + 1 :])
        assert not any(box.contains(*axes.transData.transform(point)) for point in points.values())


def test_scatter_keeps_the_line_of_a_distant_name_clear_of_the_others() -> None:
    from matplotlib.text import Text

    points = {"counts-4": (1.44e-3, 1.965), "counts-5": (1.73e-3, 1.809), "counts-6": (2.14e-3, 1.75)}
    points |= {"ppmd-4": (1.2e-4, 1.944), "ppmd-6": (3.4e-4, 1.753), "ppmd-16": (7e-4, 1.72), "zpaq-5": (3.6e-3, 1.6)}
    points |= {"unigram": (6e-4, 4.12), "sharp": (0.19, 2.979), "rnn": (0.17, 2.111), "sharp-tick": (3.6, 2.75)}
    figure = bits_against_seconds(points)
    figure.draw_without_rendering()
    axes, renderer = figure.axes[0], figure.canvas.get_renderer()
    boxes = {text.get_text(): Text.get_window_extent(text, renderer) for text in axes.texts}
    tied = [text for text in axes.texts if text.arrow_patch is not None]
    assert tied  # crowded enough that one name stands far off
    for text in tied:
        (x0, y0), (x1, y1) = text.arrow_patch.get_path().vertices[[0, -1]]
        on_the_line = [(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share) for share in np.linspace(0.05, 0.95, 19)]
        for name, box in boxes.items():
            assert name == text.get_text() or not any(box.contains(*at) for at in on_the_line)


def test_scatter_lets_a_name_that_finds_no_place_choose_first() -> None:
    from matplotlib.text import Text

    points = {"unigram": (0.0006, 4.123), "sharp": (0.1368, 2.476), "film-normed": (0.1885, 2.979)}
    points |= {"film-normed-between": (0.1884, 2.572), "rnn": (0.1313, 2.094), "lstm": (0.6308, 2.066)}
    points |= {"gru": (0.3506, 1.973), "clockwork": (0.1947, 2.422), "transformer-small": (0.1747, 2.437)}
    points |= {"transformer-5m": (0.7332, 2.228), "transformer-10m": (1.392, 2.333), "zpaq-5": (0.00355, 1.6)}
    points |= {"ppmd-4": (0.0001224, 1.944)}
    figure = bits_against_seconds(points)
    figure.draw_without_rendering()
    axes, renderer = figure.axes[0], figure.canvas.get_renderer()
    boxes = [Text.get_window_extent(text, renderer) for text in axes.texts]
    for n, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[n + 1 :])
        assert not any(box.contains(*axes.transData.transform(point)) for point in points.values())


def test_scatter_refuses_no_time_at_all() -> None:
    with pytest.raises(ConfigError, match="'counts'"):
        bits_against_seconds({"counts": (0.0, 2.0)})


def test_curves_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(ConfigError, match="as many x as y"):
        learning_curve([1, 2], [0.5])
    with pytest.raises(ConfigError, match="no curves"):
        prequential_curves({})
