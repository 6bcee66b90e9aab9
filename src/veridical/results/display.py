"""Helpers for the display of records that other distributions define."""

from veridical.results._forms.html import html_fold, html_headline, html_list, html_text
from veridical.results._forms.names import find_name

__all__ = ["find_name", "html_fold", "html_headline", "html_list", "html_text"]
