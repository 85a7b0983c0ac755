"""What clouds, clusters and directories call things by: accounts, roles, namespaces, groups of resources, images.

A new kind is one line here. Of each match only the group ``name`` is replaced, where there is one.
"""

from __future__ import annotations

import re

#: An identifier as a whole.
IDS = (
    re.compile(r"\barn:aws[\w-]*:[\w-]*:[\w-]*:\d*:[^\s'\",;)\]}]{1,500}"),
    re.compile(
        r"(?i:\b(?:\w{0,40}_)?(?:account|subscription|tenant|project|organi[sz]ation|billing)[ _-]?(?:id|number)?)"
        r"[\"']?\s{0,4}(?:[=:]|\s(?:is\s|of\s|was\s|\()?)\s{0,4}[\"']?(?P<name>\d{12}\b|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    ),
    re.compile(r"\b(?i:cn|ou|uid|o|dc)=[^,\s=]{1,80}(?:,\s?(?i:cn|ou|uid|o|dc)=[^,\s=\"')]{1,80}){1,12}"),
    re.compile(
        r"(?<![\w-])(?:i|vol|eni|vpc|subnet|sg|ami|fs|snap)-(?=[0-9a-f]*\d)(?:[0-9a-f]{17}|[0-9a-f]{8})(?![\w-])"
    ),
    re.compile(
        r"(?i:\b(?:node_|port_|sys_|image_)?gu?id[\"']?[\s:=]{1,4})(?P<name>(?:0x)?[0-9a-fA-F]{16})\b"
    ),
)

#: A name that is given as one, and then stands elsewhere as well.
NAMES = (
    re.compile(
        r"(?i:\b(?:\w{0,40}_)?(?:namespace|resource_?group(?:_?name)?|vm_?name|project(?:_?id)?|account|partition"
        r"|job_?name|bucket(?:_?name)?|cluster_?name|tenant|workspace_?name|customer|reservation))[\"']?"
        r"\s{0,4}[=:]\s{0,4}[\"']?(?P<name>[A-Za-z][\w-]{2,62})(?![\w(.])"
    ),
    re.compile(
        r"(?:\b[Nn]amespaces? [\"']?|(?<![\w/.])(?:pods?|deployments?|statefulsets?)/)"
        r"(?P<name>[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8})(?![\w/])"
    ),
    re.compile(r"\blogged in as:? [\w.-]{1,60} \((?P<name>[A-Za-z][\w-]{2,62})\)"),  # W&B's team
    re.compile(r"\bsystem:serviceaccount:(?P<name>[a-z0-9][a-z0-9-]{1,62})"),
    re.compile(
        r"\b(?:kubectl|helm|oc)\b[^\n]{0,80}?\s(?:-n|--namespace)[ =](?P<name>[a-z0-9][a-z0-9-]{1,62})"
    ),
)

#: ``registry.example.quest/team/image:tag``, without the scheme of a URL.
IMAGE = re.compile(
    r"(?<![\w/.:@-])(?P<host>(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?::\d{1,5})?)"
    r"/(?P<name>[a-z0-9][\w./-]{0,200})(?P<tag>:[\w.-]{1,128}|@sha256:[0-9a-f]{64})(?![\w/])"
)

#: ``ip-10-0-3-14``, ``10-0-3-14.pod``, ``10_0_3_14``: an address as a name writes it.
DASHED = re.compile(
    r"(?<![\w-])(?:ip[-_])?(?P<address>\d{1,3}(?P<between>[-_])\d{1,3}(?:(?P=between)\d{1,3}){2})(?![\w-])"
)
