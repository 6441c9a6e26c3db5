"""When a line is an alert: warm-up, quantile and margin, a burst as a whole, and exact continuation."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from sharpstream.errors import ConfigError
from sharpstream.watching.alarm import Alarm
from sharpstream.watching.settings import WatchConfig, load_settings, save_settings


def judged(alarm: Alarm, values: list[float]) -> list[bool]:
    return [alarm.judge(value) for value in values]


def normal(count: int, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(2.0, 0.1) for _ in range(count)]


def test_nothing_is_an_alert_before_the_warm_up() -> None:
    alarm = Alarm(WatchConfig(alert_warmup=50))
    assert not any(judged(alarm, [100.0 * i for i in range(50)]))
    assert alarm.threshold is not None


def test_an_odd_line_stands_out_and_ordinary_ones_do_not() -> None:
    alarm = Alarm(WatchConfig(alert=0.5, alert_warmup=100))
    found = judged(alarm, [*normal(500), 4.0, *normal(500, seed=2)])
    assert [i for i, alert in enumerate(found) if alert] == [500]


def test_the_surprise_of_a_newborn_does_not_hide_the_first_anomaly() -> None:
    alarm = Alarm(WatchConfig(alert=0.5, alert_warmup=100))
    assert judged(alarm, [8.0] * 40 + normal(60) + [3.5])[-1]


def test_a_burst_stays_marked_until_it_is_over() -> None:
    alarm = Alarm(WatchConfig(alert=1.0, alert_warmup=100))
    assert judged(alarm, [*normal(200), 5.0, 3.0, 3.0, 1.9, 3.0])[-5:] == [True, True, True, False, False]


def test_the_quantile_is_that_of_the_recent_lines() -> None:
    alarm, values = Alarm(WatchConfig(alert=0.0, alert_quantile=0.9, alert_window=50, alert_warmup=1)), normal(300)
    judged(alarm, values)
    assert alarm.threshold == np.quantile(values[-50:], 0.9, method="inverted_cdf")


def test_it_gets_used_to_a_new_normal() -> None:
    alarm = Alarm(WatchConfig(alert=1.0, alert_window=200, alert_warmup=100))
    found = judged(alarm, [*normal(300), *(value + 3 for value in normal(300))])
    assert found[300]
    assert not any(found[-100:])


def test_a_state_through_json_continues_exactly() -> None:
    config, values = WatchConfig(alert=0.1, alert_window=64, alert_warmup=30), normal(400)
    whole, first, second = Alarm(config), Alarm(config), Alarm(config)
    expected = judged(whole, values)
    before = judged(first, values[:171])
    second.restore(json.loads(json.dumps(first.state())))
    assert before + judged(second, values[171:]) == expected
    assert second.state() == whole.state()


def test_a_state_that_is_not_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Alarm(WatchConfig()).restore({"seen": 3, "on": False, "recent": [1.0, float("nan")]})


@pytest.mark.parametrize(
    "bad",
    [
        {"alert_quantile": 1.0},
        {"alert": -1.0},
        {"per": "word"},
        {"line_limit": 0},
        {"only_alerts": True, "per": "token"},
    ],
)
def test_bad_settings_are_refused_by_name(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="WatchConfig"):
        WatchConfig(**bad)  # type: ignore[arg-type]


def test_settings_survive_in_the_directory(tmp_path: Path) -> None:
    config = WatchConfig(per="token", unknown="skip", alert=0.7)
    save_settings(tmp_path, config)
    assert load_settings(tmp_path) == config
    (tmp_path / "watch.toml").write_text("per = 3 =")
    with pytest.raises(ConfigError, match=r"watch\.toml cannot be read"):
        load_settings(tmp_path)
