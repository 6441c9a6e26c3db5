"""What stands out: rarity, the tail of the scores, the rate of alerts, their kinds; and exact continuation."""

import random
from pathlib import Path

import numpy as np
import pytest

from sharpstream.errors import ConfigError
from sharpstream.watching.groups import Groups
from sharpstream.watching.judge import Judge, Verdict
from sharpstream.watching.masks import Mask
from sharpstream.watching.rarity import Rarity
from sharpstream.watching.settings import WatchConfig, load_settings, save_settings
from sharpstream.watching.silence import Silence
from sharpstream.watching.tail import Tail
from sharpstream.watching.usual import Usual

MASK = Mask(["auto"])


def see(judge: Judge, line: str) -> Verdict:
    return judge.see(MASK.apply(line), line, np.ones(len(MASK.apply(line).text) + 1))


def usual_lines(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    kinds = ("INFO api GET /users/{} 200", "INFO api POST /orders/{} 201", "WARN db slow query took {} ms")
    return [f"2031-03-04T09:00:00Z {rng.choice(kinds).format(rng.randrange(999))}" for _ in range(count)]


# ---- rarity ------------------------------------------------------------------------------------------------------


def test_a_pair_seen_twice_is_less_rare_than_a_new_one_and_rarer_than_a_common_one() -> None:
    rarity = Rarity()
    for _ in range(500):
        rarity.see(["all", "well"])
    rarity.see(["all", "lost"])
    common, second, new = (rarity.see(["all", word])[1] for word in ("well", "lost", "gone"))
    assert common < second < new


def test_a_pair_that_a_line_repeats_counts_once() -> None:
    rarity = Rarity()
    rarity.see(["a", "a", "a", "a"])
    assert rarity.counts.max() == 1


def test_a_full_table_forgets_what_came_once_and_keeps_what_is_common() -> None:
    rarity = Rarity(cells=256)
    for i in range(400):
        common = rarity.see(["common"])[0]
        rarity.see([f"once{i}"])
    assert common < 4
    assert np.count_nonzero(rarity.counts[0]) <= 128 + 2


def test_the_expected_word_is_the_one_that_leads() -> None:
    usual = Usual(contexts=50)
    for i in range(300):
        usual.see(["*", "INFO", f"noise{i}"])
    assert usual.expected(["*", "FATAL"], 1) == "INFO"
    assert usual.expected(["*", "INFO", "what"], 2) is None
    assert len(usual.state()) <= 51


# ---- tail --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_1000", [1.0, 5.0, 20.0])
def test_about_the_rate_that_was_asked_for_becomes_an_alert(per_1000: float) -> None:
    rng, tail = random.Random(3), Tail(per_1000)
    alerts = sum(tail.alert(tail.judge(rng.gauss(8, 1))) for _ in range(40_000))
    assert 0.5 * per_1000 * 40 < alerts < 1.5 * per_1000 * 40


def test_nothing_is_an_alert_before_there_are_enough_lines() -> None:
    tail = Tail(5.0)
    assert all(tail.judge(float(i)) is None for i in range(320))
    assert tail.judge(50.0) is not None


def test_a_new_normal_is_an_alert_some_tens_of_times_and_then_normal() -> None:
    rng, tail = random.Random(4), Tail(5.0)
    for _ in range(3_000):
        tail.judge(rng.gauss(5, 0.5))
    alerts = [tail.alert(tail.judge(rng.gauss(12, 0.5))) for _ in range(1_000)]
    assert 5 <= sum(alerts[:500]) <= 60
    assert sum(alerts[500:]) < 10


def test_the_surprise_of_a_newborn_does_not_hide_the_first_anomaly() -> None:
    tail = Tail(5.0)
    tails = [tail.judge(score) for score in [15.0] * 100 + [5.0] * 220 + [12.0]]
    assert tail.alert(tails[-1])


def test_the_weights_are_scaled_down_before_they_overflow() -> None:
    tail = Tail(500.0)
    values = [tail.judge(1.0) for _ in range(3_000)]
    assert np.isfinite(tail.histogram).all()
    assert values[-1] == 1.0


# ---- kinds -------------------------------------------------------------------------------------------------------


def test_alerts_of_one_kind_are_counted_and_announced_at_powers_of_ten() -> None:
    groups = Groups()
    counted = [groups.add(f"Failed password for {name} from * port *".split()) for name in ["root", *"abcdefghijkl"]]
    assert len({group.id for group in counted}) == 1
    again = Groups()
    announced = [i for i in range(1, 1_001) if again.add(["the", "same", "thing"]).announced]
    assert announced == [1, 10, 100, 1_000]


def test_different_alerts_are_different_kinds() -> None:
    groups = Groups()
    lines = ["disk * is full", "user * logged in", "kernel panic at *", "kernel panic at * again"]
    assert len({groups.add(line.split()).id for line in lines}) == 4


# ---- all together ------------------------------------------------------------------------------------------------


def test_an_odd_line_is_an_alert_and_says_what_was_expected_where() -> None:
    judge = Judge(alerts_per_1000=5)
    ordinary = [see(judge, line) for line in usual_lines(600)]
    line = "2031-03-04T09:00:00Z FATAL disk 7 is on fire"
    verdict = see(judge, line)
    assert not any(seen.alert for seen in ordinary[300:])
    assert verdict.alert
    assert line[slice(*verdict.scored.span)] == "FATAL disk 7 is on fire"
    assert (verdict.scored.expected, verdict.scored.got) == ("INFO", "FATAL")


def test_numbers_that_were_never_seen_surprise_nobody() -> None:
    judge = Judge(alerts_per_1000=5)
    for line in usual_lines(600):
        see(judge, line)
    assert not see(judge, "2031-12-31T23:59:59Z INFO api GET /users/123456789 200").alert


def test_a_state_continues_exactly() -> None:
    lines = [*usual_lines(300), "FATAL one", *usual_lines(80, seed=2), "FATAL two", "FATAL three"]
    whole, first, second = Judge(5), Judge(5), Judge(5)
    expected = [see(whole, line).scored for line in lines]
    before = [see(first, line).scored for line in lines[:301]]
    second.restore(first.state())
    assert before + [see(second, line).scored for line in lines[301:]] == expected
    assert {name: array.tobytes() for name, array in second.state().items()} == {
        name: array.tobytes() for name, array in whole.state().items()
    }


def test_silence_is_explained() -> None:
    told: list[str] = []
    judge = Judge(alerts_per_1000=50)
    silence = Silence(judge.tail, told.append)
    silence.begin()
    for line in ["all is well here"] * 1_000:
        silence.heard(see(judge, line))
    assert "no alerts in the first 32 lines" in told[0]
    assert "alerts from here on, about 50 in 1,000 lines" in told[1]
    assert "no alert in 320 lines: the highest score was" in told[2]
    assert len(told) == 4  # once more after 640 lines


@pytest.mark.parametrize(
    "bad",
    [
        {"alerts_per_1000": 0.0},
        {"alerts_per_1000": 501.0},
        {"per": "word"},
        {"format": "xml"},
        {"line_limit": 0},
        {"only_alerts": True, "per": "token"},
        {"mask": ("none", "auto")},
        {"on_alert": "mail 'ops"},
        {"metrics": "9109"},
    ],
)
def test_bad_settings_are_refused_by_name(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="per" if "only_alerts" in bad else next(iter(bad))):
        WatchConfig(**bad)  # type: ignore[arg-type]


def test_settings_survive_in_the_directory(tmp_path: Path) -> None:
    config = WatchConfig(per="token", unknown="skip", mask=("auto", "user \\w+"))
    save_settings(tmp_path, config)
    assert load_settings(tmp_path) == config
    (tmp_path / "watch.toml").write_text("per = 3 =")
    with pytest.raises(ConfigError, match=r"watch\.toml cannot be read"):
        load_settings(tmp_path)
