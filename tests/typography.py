"""Words of pictures as a browser draws them: none over another, none too small, none cut off."""

from __future__ import annotations

from typing import Any

SMALLEST = 12  # pixels

# Faults of all pictures that are seen, as sentences. A pixel more or less is rounding.
_FAULTS = """(smallest) => {
  const faults = [];
  for (const svg of document.querySelectorAll("svg.vd")) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const about = svg.closest("[id]")?.id || svg.getAttribute("aria-label");
    const texts = [...svg.querySelectorAll("text")].map((text) =>
      ({ words: text.textContent, box: text.getBoundingClientRect(),
         size: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a }));
    texts.forEach(({ words, box, size }, i) => {
      if (size < smallest) faults.push(`${about}: ${words} has ${size.toFixed(1)} px`);
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
        || box.bottom > frame.bottom + 1) faults.push(`${about}: ${words} is cut off`);
      for (const other of texts.slice(i + 1)) {
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (across > 1 && down > 1.5) faults.push(`${about}: ${words} | ${other.words}`);
      }
    });
  }
  return faults;
}"""


def faults_of(page: Any) -> list[str]:
    """What is wrong with the words of the pictures of a page."""
    return page.evaluate(_FAULTS, SMALLEST)
