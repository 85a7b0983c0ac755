"""The tools that causes are found with. Their files take them from `toolbox`, which loads this when one is used."""

# ruff: noqa: F401

from __future__ import annotations

import polars as pl

from rankandfile.model.events import event_id
from rankandfile.reason import lookup
from rankandfile.reason.calls.exchanges.split_pairs import Pair, Pairs, disagreeing
from rankandfile.reason.calls.exchanges.split_sums import Exchange, exchange
from rankandfile.reason.calls.lost_history import missing_history
from rankandfile.reason.calls.requests import as_call, asked, claims_at, of_call, sides
from rankandfile.reason.divergence import in_all_records, in_document, threads
from rankandfile.reason.divergence.divergence_point import made_before as made_before
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.divergence.habits import (
    against_most,
    as_many_kept_it,
    changed_their_order,
    first_time,
    goes_without,
    goes_without_several,
    gone_by,
)
from rankandfile.reason.divergence.joined import Unanswered, unanswered
from rankandfile.reason.document import cited, cohort, diverged, not_come, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.all_joined import may_share_members, perhaps_members, unseen_member
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.finders.in_transfers.transfer_halves import other_amount
from rankandfile.reason.finders.other_arguments import other_arguments
from rankandfile.reason.finders.roots_differ import differently_named as differently_named
from rankandfile.reason.ranks.activity import activities
from rankandfile.reason.ranks.at_work import works
from rankandfile.reason.ranks.did_instead import AskedRank, Story, location_of, world_of
from rankandfile.reason.ranks.from_logs.accounts import Error, fields_of
from rankandfile.reason.ranks.from_logs.caught import survived
from rankandfile.reason.ranks.from_logs.counters import Counter, counters
from rankandfile.reason.ranks.from_logs.logged_divergences import place_in
from rankandfile.reason.ranks.from_logs.nccl_setups import Setup, setups
from rankandfile.reason.ranks.from_logs.no_longer_alike import named_by_logs
from rankandfile.reason.ranks.from_logs.over import anybody_waited
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.ranks.missing_dumps import absent_ranks
from rankandfile.reason.ranks.named_roots import named_roots as named_roots
from rankandfile.reason.ranks.named_roots import recorded_roots as recorded_roots
from rankandfile.reason.waits.backends import on_hosts_alone
from rankandfile.reason.waits.ended_ranks import died_first
from rankandfile.reason.waits.from_stacks.where_all_stand import WhereAllStand
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import (
    call_phrase,
    first_pending,
    in_calls,
    pending_row,
    waiting_sentence,
)
from rankandfile.reason.waits.patience import Patience, late_to_end, patience
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer

from .divergence.divergence_point import DivergencePoint as DivergencePoint
from .divergence.divergence_point import who_made_it as who_made_it
