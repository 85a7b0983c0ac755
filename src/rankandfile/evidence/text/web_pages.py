"""A page of a debug server as the text that it shows, line for line: its headings are those of the server's files."""

from __future__ import annotations

import html
import re

_RANK = re.compile(r"<h2[^<>]*>\s*Rank (\d{1,7}): ?(\S*?)\s*</h2>")
_FAILED = re.compile(r"Failed to fetch: ")
#: `<module>` and `<no Python frame>` are no tags.
_TAGS = re.compile(
    r"</?(?:!doctype|html|head|body|title|link|meta|script|style|nav|section|div|span|p|pre|code|a|b|i|em|strong|br|hr"
    r"|h[1-6]|ul|ol|li|table|thead|tbody|tr|t[dh]|form|input|label|button|details|summary)\b[^<>]{0,2000}>",
    re.IGNORECASE,
)


def shown(page: str) -> str:
    """What a person sees of it."""
    page = _RANK.sub(lambda match: f"=== Rank {match[1]}: {match[2]} ===", page)
    page = _FAILED.sub("Error: ", page)
    return html.unescape(_TAGS.sub("", page))
