"""What keys, tokens and passwords look like. A new kind is one line here.

Of each match only the group ``secret`` is replaced, where there is one.
"""

from __future__ import annotations

import re

#: Tokens that their makers' own prefixes give away.
_PREFIXED = (
    r"\b(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,20}\b",  # AWS
    r"\bhf_[A-Za-z0-9]{16,}",  # Hugging Face
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})",
    r"\bglpat-[\w-]{16,}",
    r"\bsk-(?:ant-|proj-|live-)?[\w-]{16,}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"\bxox[abeoprs]-[\w-]{10,}",
    r"\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}",
    r"\bnvapi-[\w-]{20,}",
    r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{30,}",
    r"\bdapi[0-9a-f]{32}\b",
    r"\blocal-[0-9a-f]{40}\b",  # a W&B server of one's own
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",  # JWT
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.{0,8000}?-----END [A-Z ]*PRIVATE KEY-----|.{0,8000})",
)

_NAMED = (
    r"secret|token(?!iz|s\b|s?_(?:per|count|seen))|passw(?:or)?d|passphrase|passwd|\bpwd\b|api[_-]?key|apikey"
    r"|access[_-]?key|account[_-]?key|private[_-]?key|licen[sc]e[_-]?key|signing[_-]?key|credential|authorization|\bauth\b"
    r"|auth[_-](?:token|key)|cookie|session[_-]?id|webhook"
)

#: ``HF_TOKEN=...``, ``"password": "..."``, ``--api-key ...``: it is the name that gives them away. A bare number is
#: a count of tokens more often than a secret, and stays unless it is a password.
_ASSIGNED = (
    rf"(?i:[\w.-]{{0,60}}(?:{_NAMED})[\w.-]{{0,40}})[\"']?\s{{0,4}}(?:=>?|:)\s{{0,4}}"
    r"(?:(?i:bearer|basic|token)\s{1,4})?"
    r"(?:\"(?P<quoted>[^\"\n]{1,4000})\"|'(?P<single>[^'\n]{1,4000})'|(?P<bare>[^\s\"',;&)}\]]{1,4000}))",
    rf"(?i:--[\w-]{{0,60}}(?:{_NAMED}|-key)[\w-]{{0,40}})[\s=]{{1,4}}(?P<flag>(?!-)[^\s\"',;]{{1,4000}})",
    r"(?i:\b(?:passw(?:or)?d|passphrase|passcode|pwd)\s{1,4}(?:(?:for|of)\s\S{1,60}\s{1,4})?)"
    r"(?i:(?:is|was|of|set to)\s{1,4})[\"']?"
    r"(?P<said>(?!(?i:invalid|required|incorrect|expired|wrong|missing|not|none|null|empty|set|too|no|an?|the|now|still)\b)"
    r"[^\s\"',;]{3,4000})",
    # A variable and its value as `export` and tables of settings have them.
    r"\b[A-Z0-9_]{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\s{1,20}(?P<beside>(?=[\w./+=-]*\d)(?=[\w./+=-]*[A-Za-z])[\w./+=-]{12,400})",
    r"\b(?:sshpass|mysql\w{0,10}|mariadb)\b[^\n]{0,200}?\s-p\s?(?P<typed>(?!-)[^\s\"']{3,400})",
    r"(?i:\bsig(?:nature)?)=(?P<signed>[\w%+/=-]{8,400})",  # of an URL that lets its holder in
    r"(?i:\bbearer)\s{1,4}(?P<bearer>[\w.~+/=-]{8,})",
)

#: 40 hexadecimal digits are a key of W&B or a git commit. Long words of capitals, small letters and digits are keys
#: too, unless a C++ compiler made them.
_SHAPED = (
    r"(?<![\w/-])[0-9a-f]{40}(?![\w-])",
    r"(?<![\w/+.:-])(?!_Z)(?=[\w+/-]{0,80}[0-9])(?=[\w+/-]{0,80}[A-Z])(?=[\w+/-]{0,80}[a-z])"
    r"(?=[\w+-]{20})[\w+/-]{32,}={0,2}(?![\w:(])",
)

PREFIXED = tuple(re.compile(pattern, re.DOTALL) for pattern in _PREFIXED)
ASSIGNED = tuple(re.compile(pattern) for pattern in _ASSIGNED)
SHAPED = tuple(re.compile(pattern) for pattern in _SHAPED)

_NUMBER = re.compile(r"-?[\d.,_]+%?$|(?i:none|null|true|false)$")
_PASSWORD = re.compile(r"(?i:passw|passphrase|pwd)")


def span(match: re.Match[str]) -> tuple[int, int] | None:
    """What of a match is secret; None if nothing is."""
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    if not groups:
        return match.span()
    name, value = next(iter(groups.items()))
    before = match.string[match.start() : match.start(name)]
    if _NUMBER.match(value) and not _PASSWORD.search(before):
        return None
    return match.span(name)
