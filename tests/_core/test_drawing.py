"""The writer of pictures: places by hand, ticks that are round and apart, words that are text."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from veridical._core.drawing.look import picture_style
from veridical._core.drawing.picture import Panel, Picture, responsive
from veridical._core.drawing.scales import Scale, rounded_ends
from veridical._core.drawing.words import cut, number_text, width_of, wrap


def test_places_of_a_logit_scale_are_log_odds():
    scale = Scale(0.1, 0.9, "logit")
    # logit 0.9 = log 9 = -logit 0.1; logit 0.75 = log 3, half of it: three quarters of the way.
    assert scale.place([0.1, 0.25, 0.5, 0.75, 0.9]) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert scale.value(np.array([0.25, 0.75])) == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("kind", ["linear", "logit"])
@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (0.2, 0.7), (0, 0.05), (0.001, 0.004), (1e-5, 0.5), (0.9, 0.9999), (0.31, 0.32)],
)
@pytest.mark.parametrize("length", [110, 300, 420])
def test_ticks_are_inside_apart_and_at_least_two_at_any_zoom(kind, low, high, length):
    scale = Scale(max(low, 1e-6) if kind == "logit" else low, min(high, 1 - 1e-6), kind)
    ticks = scale.ticks(length)
    assert 2 <= len(ticks) <= 8
    values = [value for value, _ in ticks]
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in values)
    assert [float(text) for _, text in ticks] == pytest.approx(values)  # they say what they are
    at = scale.place(values) * length
    for (a, first), (b, second) in zip(
        zip(at, ticks, strict=True), list(zip(at, ticks, strict=True))[1:], strict=False
    ):
        assert b - a > (width_of(first[1]) + width_of(second[1])) / 2


def test_ticks_of_times_are_dates():
    day = 86400.0
    new_year = 1767225600.0  # 2026-01-01 00:00 UTC, `date -u -d 2026-01-01 +%s`
    scale = Scale(new_year, new_year + 28 * day, "time")
    texts = [text for _, text in scale.ticks(600)]
    assert texts[0] == "01 Jan 2026"
    assert len(texts) >= 3
    years = Scale(new_year, new_year + 5 * 365 * day, "time").ticks(600)
    assert [text for _, text in years] == ["2026", "2027", "2028", "2029", "2030"]


def test_words_at_the_ends_that_stay_inside_leave_room_for_their_neighbours():
    day, first = 86400.0, 1769904000.0  # 2026-02-01 00:00 UTC
    scale = Scale(first, first + 39 * day, "time")
    length = 285.0
    ticks = scale.ticks(length, beyond=(40, 2))
    half = [width_of(text) / 2 for _, text in ticks]
    at = [
        min(float(scale.place(value)) * length, length + 2 - wide)
        for (value, _), wide in zip(ticks, half, strict=True)
    ]
    for i in range(1, len(ticks)):
        assert at[i] - at[i - 1] > half[i] + half[i - 1]
    assert len(ticks) >= 2


@pytest.mark.parametrize(("low", "high"), [(0.013, 0.187), (-0.02, 0.31), (3, 17), (5, 5)])
def test_ends_hold_both_numbers(low, high):
    a, b = rounded_ends(low, high)
    assert a <= low
    assert b >= high
    assert b - a <= 2.1 * max(high - low, abs(high) / 2)


def test_words_fit_where_they_are_said_to():
    assert width_of("0.5", 100) == 64 + 32 + 64
    for room in (20, 60, 200):
        assert width_of(cut("a long name of a class", room)) <= room or room < 20
        assert all(width_of(line) <= room for line in wrap("a long name of a class", room, most=9))
    assert number_text(-0.25) == "\N{MINUS SIGN}0.25"
    assert number_text(-0.0) == "0"


def panel(width: float = 100, height: float = 100) -> Panel:
    picture = Picture(width + 40, height + 40, "title")
    return Panel(picture, 20, 20, width, height, Scale(0, 1), Scale(0, 1))


def test_lines_are_where_the_scales_say_and_break_at_what_is_unknown():
    plot = panel()
    plot.line([0, 0.5, np.nan, 1], [0, 1, 0.5, 0.5])
    assert 'd="M20 120L70 20M120 70"' in plot.picture.to_svg()


def test_corners_that_cannot_be_seen_are_left_out():
    plot = panel()
    plot.line([0, 0.25, 0.5, 0.5, 0.5, 1], [0, 0, 0, 0.5, 1, 1])
    assert 'd="M20 120L70 120L70 20L120 20"' in plot.picture.to_svg()


def test_what_lies_beyond_the_axes_is_cut_off_or_put_on_their_edge():
    plot = panel()
    plot.dot(0.5, 2.0, 3)
    plot.whisker(0.5, -1, 0.5)
    svg = plot.picture.to_svg()
    assert 'cx="70" cy="20"' in svg
    assert 'd="M70 120V70"' in svg


def test_every_word_is_escaped_and_nothing_has_an_id():
    hostile = "</svg><script>alert(1)</script>\"'&"
    picture = Picture(200, 100, hostile, hostile)
    picture.text(0, 20, hostile)
    picture.add("circle", "dot", tip=hostile, cx=1.0, cy=2.0, r=3.0)
    for text in (picture.to_svg(), picture.to_svg(styled=False)):
        root = ElementTree.fromstring(text)
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
            "svg", "title", "desc", "style", "text", "circle",
        }  # fmt: skip
        assert " id=" not in text
    assert ElementTree.fromstring(picture.to_svg(styled=False)).get("aria-label") == hostile


def test_words_are_written_where_nothing_else_is():
    picture = Picture(200, 100, "title")
    picture.text(0, 20, "taken")
    assert picture.text_where_free([(5, 20, "start"), (100, 20, "start")], "free")
    assert 'x="100" y="20">free' in picture.to_svg()
    assert not picture.text_where_free([(5, 20, "start"), (190, 20, "start")], "nowhere")


def test_a_page_gets_a_wide_and_a_narrow_picture_without_their_style():
    markup = responsive(lambda width: Picture(width, 10, "t"), wide=460)
    assert markup.count("<svg") == 2
    assert 'width="460"' in markup
    assert 'width="340"' in markup
    assert "<style" not in markup


def _contrast(first: str, second: str) -> float:
    """Ratio of WCAG 2, section 1.4.11."""

    def luminance(colour: str) -> float:
        digits = colour if len(colour) == 6 else "".join(2 * c for c in colour)
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)


def test_every_colour_can_be_told_from_its_ground():
    import re

    light, dark = picture_style().split("@media screen and")
    for part, ground in ((light, "ffffff"), (dark, "161616")):
        colours = re.findall(r"--vd-(\w+):#([0-9a-f]{3,6})", part)
        assert len(dict(colours)) == 12
        for name, colour in colours:
            if name != "ground":
                assert _contrast(colour, ground) >= 3, (name, colour)
