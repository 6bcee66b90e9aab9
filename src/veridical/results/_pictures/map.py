"""What a map makes of predictions."""

from __future__ import annotations

from veridical._core.drawing.picture import Panel, Picture, room_left
from veridical._core.drawing.scales import Scale
from veridical._core.drawing.words import LINE, wrap
from veridical._core.typing import FloatArray


def calibration_map(
    before: FloatArray,
    after: FloatArray,
    *,
    width: float = 340,
    event: str = "",
    title: str = "The map",
    description: str = "",
) -> Picture:
    """Probability after a map against the one before; on the diagonal nothing changes.

    Parameters
    ----------
    before, after : arrays
        Probabilities, increasing, and what the map makes of them.
    width : float, default 340
        Pixels.
    event : str
        What they are the probability of.
    title, description : str
        For those who do not see it.
    """
    scale = Scale(0.0, 1.0)
    of_event = f" of {event}" if event else ""
    above, below = f"probability{of_event} after the map", "before the map"
    left, head = max(room_left(scale, 300), 34.0), LINE * len(wrap(above, width - 4)) + 12
    side = width - left - 12
    picture = Picture(width, head + side + 2 * LINE + 12, title, description)
    panel = Panel(picture, left, head, side, side, scale, scale)
    panel.axis_left(above)
    panel.line([0.0, 1.0], [0.0, 1.0], "reference")
    with panel.clipped(), picture.group("after"):
        panel.line(before, after)
    panel.axis_below(below)
    return picture
