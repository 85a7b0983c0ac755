"""Where in free text hosts, users, addresses and paths stand."""

from __future__ import annotations

import ipaddress
import re

MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,80}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}\b")
ACCOUNT = re.compile(r"(?<![\w.@-])(?P<user>[A-Za-z_][\w.-]{0,60})@(?P<host>[A-Za-z][\w.-]{0,200})")
"""``alice@node07``: a shell's prompt, a destination of ssh."""

URL = re.compile(
    r"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20})://(?:(?P<login>[^\s/@'\"]{1,400})@)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s/:?#'\"<>,;)\]}@]{1,250})"
    r"(?P<port>:\d{1,5})?(?P<path>/[^\s?#'\"<>,;)\]}]{0,2000})?(?P<query>[?#][^\s'\"<>)\]}]{0,4000})?"
)

IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)")
IPV6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?:%[\w.-]{1,16}\w)?(?![\w:]|\.\d)")
MAC = re.compile(
    r"(?<![\w:])(?:[0-9a-fA-F]{2}[:-]){5,7}[0-9a-fA-F]{2}(?![\w:])"
    r"|(?<![\w.])[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}(?![\w.])"
)

#: An absolute path, one of Windows, one below a home, or a relative one that ends in a file or has three steps.
PATH = re.compile(
    r"(?<![\w/.~-])(?:~[\w.-]*)?/(?:[^\s/:'\"`,;()<>|*?\[\]{}=\\]+/?)+"
    r"|(?<![\w/])[A-Za-z]:\\[^\s:'\"`,;()<>|*?\[\]{}=]+"
    r"|(?<![\w\\])\\{2,4}[A-Za-z][\w.-]{1,62}\\[^\s:'\"`,;()<>|*?\[\]{}=]+"
    r"|(?<![\w/.-])(?:[\w.+-]+/){1,40}[\w+-][\w.+-]*\.[A-Za-z]\w{0,7}\b"
    r"|(?<![\w/.-])(?:[\w.+-]+/){2,40}[\w.+-]*"
)

_TLD = (
    "com|net|org|io|ai|edu|gov|mil|local|internal|lan|corp|cloud|cluster|intra|intranet|home|dev|co|de|fr|uk|cn|jp|kr|"
    "eu|ch|nl|at|it|es|se|no|fi|dk|pl|ca|us|au|in|br|ru|il|sg|tw|hk|svc|arpa|tech|app|systems|compute"
)
_NUMBERED = (
    "node|host|worker|machine|server|compute|dgx|hgx|nid|cn|pod|vm|sled|blade|gpunode|gpu-node|gpu|login|head|master|"
    "rack|srv|ip|slurmd|h100|a100|h200|b200|gb200|v100"
)
HOSTS = (
    re.compile(rf"(?<![\w.@/-])(?:[A-Za-z0-9_-]{{1,63}}\.){{1,8}}(?:{_TLD})\b(?![\w(-]|\.\w)", re.IGNORECASE),
    re.compile(
        rf"(?<![\w.-])(?:[a-z][a-z0-9]{{1,20}}-){{0,3}}(?:{_NUMBERED})"
        r"(?:[-_][a-z]{0,6}-?\d[\w-]*|\d[\w-]*[-_]\w[\w-]*|(?<!gpu)(?<![abhv]\d\d\d)\d[\w-]*|-?\[[\d,-]{1,200}\])(?![\w(])",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:(?i:\b(?:host(?:name)?|nodename|node_name|master_addr|slurmd_nodename|slurm_nodelist|nodelist))[\"']?\s{0,20}[=:]\s{0,4}"
        r"[\"']?|\bON |connect to \(|\berror: (?=[\w.-]+: tasks? )|\bslurmstepd-|Node failure on )"
        r"(?P<host>[A-Za-z][\w.-]{0,200})"
    ),
    # A variable of the environment, whoever has named it.
    re.compile(
        r"\b[A-Z][A-Z0-9_]{0,60}(?:HOST|HOSTNAME|NODE|NODE_?NAME|NODE_?LIST|ADDR|ADDRESS|ENDPOINT)[\"']?[=:]\s?[\"']?"
        r"(?P<host>[A-Za-z][\w.-]{0,200})"
    ),
    re.compile(
        r"(?i:\b(?:[\w-]{0,40}[_-])?(?:endpoint|addr(?:ess)?|server|coordinator))[\"']?[ =:]{1,3}[\"']?"
        r"(?=[\w.-]+:\d{2,5}\b)(?P<host>[A-Za-z][\w.-]{0,200})"
    ),
    re.compile(r"^(?P<host>[A-Za-z][\w.-]{0,200}):\d{1,8}:\d{1,8} \["),  # NCCL's own prefix
    re.compile(r"\[(?P<host>[A-Za-z][\w.-]{0,200})\]:\d{2,5}\b"),
    # No list has all domains: names of several labels, one of them with a hyphen, or with a port behind; a name of
    # Python has neither.
    re.compile(
        r"(?<![\w.@/-])(?=[\w.]*[A-Za-z0-9]-)(?:(?=[\d-]*[A-Za-z])[A-Za-z0-9-]{1,63}\.){2,8}[A-Za-z][A-Za-z0-9-]{1,62}\b(?![\w(-]|\.\w)"
    ),
    re.compile(
        r"(?<![\w.@/-])(?:(?=[\d-]*[A-Za-z])[A-Za-z0-9-]{1,63}\.){2,8}[A-Za-z]{2,24}(?=:\d{4,5}(?![\w.]))"
    ),
    # Said to be one.
    re.compile(
        r"(?:\b[Cc]onnection to |\b(?:lost|no) contact with |\b(?:not|cannot|to) resolve (?:host(?:name)? )?"
        r"|\b(?:[Nn]ode|on host) (?=[\w.-]*\d)|\bconnect to host |\blookup (?=[\w.-]+ on )|\bdial (?:tcp )?"
        r"|\bpeer (?=[\w.-]+:\d)"
        r"|\b(?:at|to|from|server|with) (?=[\w.-]+:\d{4,5}\b))[\"']?(?P<host>[A-Za-z][\w.-]{0,200}[A-Za-z0-9])"
    ),
    re.compile(
        r"\b(?:host|[Nn]ode|server) [\"']?(?P<host>[A-Za-z][\w.-]{0,200})[\"']? "
        r"(?=is (?:un|down|not |dead|gone)|(?:un|not )reachable|not responding|port \d)"
    ),
    re.compile(r"(?<![\w/.])[Nn]odes?/(?P<host>[a-z0-9]{1,40}(?:[-.][a-z0-9]{1,40}){1,8})(?![\w/])"),
    # A field of a line, not an argument of a call.
    re.compile(r"(?:^|(?<=\s))node=[\"']?(?P<host>[A-Za-z][\w.-]{0,200})[\"']?(?=\s|;|$)"),
    re.compile(r"(?P<host>[A-Za-z][\w.-]{0,200}): (?=no such host\b|Name or service not known)"),
    re.compile(r"^\[(?P<host>[A-Za-z][\w.-]{0,200}):\d{2,8}\] "),  # Open MPI's own prefix
    # What is mounted or copied from another machine.
    re.compile(
        r"\b(?:mount[\w.]{0,20}|nfs4?|cifs|smb\w?|rsync)\b[^\n]{0,80}?(?:\s//|\s(?=[\w.-]+::?[/\w]))"
        r"(?P<host>[A-Za-z][\w.-]{2,200})(?=/|::\w|:/)"
    ),
    re.compile(r"(?<![\w.@])\d{4,5}@(?P<host>[A-Za-z][\w.-]{2,200})"),  # a server of licences
    re.compile(
        r"^(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.+Z-]{8,24}) "
        r"(?P<host>[A-Za-z][\w.-]{0,200}) (?=kernel: |[\w./-]{1,60}\[\d+\]: )"
    ),  # syslog's
)

USERS = (
    re.compile(r"(?:/home|/Users|/users|[A-Za-z]:\\Users)[/\\](?P<user>[A-Za-z_][\w.-]{0,60})"),
    re.compile(
        r"(?i:\b(?:user(?:_?name)?|logname|login|owner|submitted_by))[\"']?\s{0,4}[=:]\s{0,4}[\"']?"
        r"(?P<user>[A-Za-z_][\w.-]{1,60})"
    ),
    re.compile(
        r"\b[A-Z][A-Z0-9_]{0,60}(?:USER|USER_?NAME|LOGNAME|OWNER)[\"']?[=:]\s?[\"']?"
        r"(?P<user>[A-Za-z_][\w.-]{1,60})"
    ),
    re.compile(
        r"(?:\b(?:logged in|running) as:? "
        r"|\b(?:publickey|password|failure|session (?:opened|closed)) for (?:invalid )?(?:user )?"
        r"|\b(?:submitted|owned) by (?=[a-z][\w-]{3,60}(?: (?:at|on|in)\b|[.,;]?$))"
        r"|^(?:\S{1,40} ){0,4}sudo(?:\[\d+\])?: {1,8}"
        r"|(?<![\w\\])[A-Z][A-Z0-9-]{1,14}\\(?=[a-z][a-z0-9._-]{2,60}\b(?!\\))"
        r"|\b[Uu]ser [\"'<])(?P<user>[A-Za-z_][\w.-]{1,60})"
    ),
    re.compile(r"\b[ug]id=\d{1,9}\((?P<user>[A-Za-z_][\w.-]{1,60})\)"),
    re.compile(r"(?<![\w.@-])(?P<user>[A-Za-z_][\w.-]{1,60})@[A-Za-z]"),
    re.compile(r"(?<![\w/])~(?P<user>[A-Za-z_][\w.-]{1,60})/"),
)

QUOTED = re.compile(r"b?\"(?:[^\"\\]|\\.){1,4000}\"?|b?'(?:[^'\\]|\\.){1,4000}'?")
"""A string among a snapshot's variables. One that was cut short has no end."""

WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def is_address(text: str) -> bool:
    """An IP address that tells of a machine: not the own one, nor any."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
