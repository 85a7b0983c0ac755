"""The tables, in the SQL that SQLite and Postgres share.

`posts` is the history: a row is what one sender said at one moment, whole, so that a moment of the past is each
sender's last row before it and nothing needs to be replayed. `senders` is the newest of each, for lists.
"""

from __future__ import annotations

#: What the two databases name differently.
WORDS = {
    "sqlite": {"SERIAL": "integer primary key autoincrement", "BYTES": "blob", "NUMBER": "real"},
    "postgres": {
        "SERIAL": "bigint generated always as identity primary key",
        "BYTES": "bytea",
        "NUMBER": "double precision",
    },
}

TABLES = (
    "create table if not exists meta (name text primary key, value text not null)",
    "create table if not exists jobs (job text primary key, title text not null, first_at NUMBER not null,"
    " last_at NUMBER not null)",
    "create index if not exists jobs_by_last on jobs (last_at)",
    "create table if not exists posts (id SERIAL, job text not null, sender text not null, at NUMBER not null,"
    " step bigint, behind bigint, open_s NUMBER, body BYTES not null)",
    "create index if not exists posts_by_sender on posts (job, sender, at)",
    "create index if not exists posts_by_job on posts (job, at)",
    "create index if not exists posts_by_time on posts (at)",
    "create table if not exists senders (job text not null, sender text not null, at NUMBER not null,"
    " ranks integer not null, world integer, low_step bigint, high_step bigint, open_s NUMBER,"
    " behind bigint, gone integer not null, moved_at NUMBER, ended integer, primary key (job, sender))",
    "create table if not exists words (job text not null, kind text not null, id text not null,"
    " body BYTES not null, primary key (job, kind, id))",
    "create table if not exists findings (id SERIAL, job text not null, name text not null, at NUMBER not null,"
    " kind text not null, body BYTES not null, unique (job, name))",
    "create table if not exists cases (id text primary key, job text not null, at NUMBER not null,"
    " name text not null, state text not null, claimed_at NUMBER, told text not null)",
    "create index if not exists cases_by_job on cases (job, at)",
    "create table if not exists files (owner text not null, name text not null, body BYTES not null,"
    " primary key (owner, name))",
)


def statements(kind: str) -> list[str]:
    found = []
    for sql in TABLES:
        for word, here in WORDS[kind].items():
            sql = sql.replace(word, here)
        found.append(sql)
    return found
