"""What varies by nature is masked, what does not is left, and every word is found again in the raw line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharpstream.errors import ConfigError
from sharpstream.watching.masks import Mask

AUTO = Mask(["auto"])


@pytest.mark.parametrize(
    ("raw", "masked"),
    [
        ("2015-10-18 18:01:47,978 INFO [main] a.b.C: ok", "* INFO [main] a.b.C: ok"),
        ("2031-03-04T09:14:05.454Z INFO ok", "* INFO ok"),
        ("Jun 14 15:16:01 combo sshd(pam_unix)[19939]: failed", "* combo sshd(pam_unix)[*]: failed"),
        ("Jul  7 08:06:12 combo gpm", "* combo gpm"),
        ("at Wed Jun 29 14:44:35 2005", "at *"),
        ("[Sun Dec 04 04:47:44 2005] [error]", "[*] [error]"),
        ('10.0.0.1 - - [04/Mar/2031:09:14:05 +0000] "GET /"', '* - - [*] "GET /"'),
        ("03-17 16:13:38.811  1702  2395 D WindowManager", "*  *  * D WindowManager"),
        ("id 8f14e45f-ceea-467f-a9d1-1f0a5b3c9d2e end", "id * end"),
        ("from 218.188.2.4:22 and fe80::1ff:fe23:4567:890a", "from * and *"),
        ("mac 00:1B:44:11:3A:B7 up", "mac * up"),
        ("at 0x7ffee4 req=36f8fb", "at * req=*"),
        ("blk_-1608999687919862906 blk_7503483334202473044", "blk_* blk_*"),
        ("took 12ms, 3.5% of 1,024 kB in thread-7", "took *ms, *% of * kB in thread-*"),
        ("FATAL deadbeef cafe facade", "FATAL deadbeef cafe facade"),
        ("Mayhem in March on Sunday", "Mayhem in March on Sunday"),
    ],
)
def test_what_varies_by_nature_is_masked(raw: str, masked: str) -> None:
    assert AUTO.apply(raw).text == masked


@given(st.text(alphabet="ab0159 .:-\té\udc80", max_size=40))
def test_every_word_is_found_in_the_raw_line(raw: str) -> None:
    line = AUTO.apply(raw)
    for word, (start, end) in zip(line.words, line.word_ranges(), strict=True):
        assert AUTO.apply(raw[start:end]).text.count("*") >= ("*" in word)
        assert word.replace("*", "") == "".join(
            char for place, char in enumerate(raw[start:end], start) if not _inside(place, line.spans)
        )


def _inside(place: int, spans: tuple[tuple[str, int, int], ...]) -> bool:
    return any(start <= place < end for _, start, end in spans)


def test_rules_of_ones_own_stand_beside_the_others_or_alone() -> None:
    line = "user alice logged in 7 times"
    assert Mask(["auto", r"(?<=user )\w+"]).apply(line).text == "user * logged in * times"
    assert Mask([r"(?<=user )\w+"]).apply(line).kinds() == {"custom": 1}
    assert Mask(["none"]).apply(line).text == line


@pytest.mark.parametrize("rules", [["none", "auto"], ["("]])
def test_rules_that_cannot_be_are_refused(rules: list[str]) -> None:
    with pytest.raises(ConfigError, match="mask = "):
        Mask(rules)


def test_a_digest_behind_a_name_with_digits_is_masked_whole() -> None:
    masked = Mask(["auto"]).apply("RSA SHA256:2cf5ec78 ok")
    assert masked.text == "RSA SHA*:* ok"
    assert masked.kinds() == {"number": 1, "hex": 1}
