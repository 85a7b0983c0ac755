"""A redacted pack names nobody, and says the same: nothing that was planted is left, and the verdict stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl
import pytest
from msgspec import structs
from support.evidence.sample_dumps import REDUCE, job
from support.selected import in_lab

from rankandfile.evidence.load import load
from rankandfile.evidence.pack.opening import unpack
from rankandfile.evidence.pack.writing import write
from rankandfile.evidence.redact.names import Names
from rankandfile.evidence.redact.pseudonyms import Pseudonyms
from rankandfile.evidence.redact.review import unknown_words
from rankandfile.evidence.redact.tables import _OWN, _RULES, redact
from rankandfile.evidence.redact.text import Redactor
from rankandfile.evidence.tables import case_dir
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import Frame
from rankandfile.lab.sim.run import simulate
from rankandfile.model.case import Case
from rankandfile.model.tables import TABLES
from rankandfile.reason import diagnose

pytestmark = pytest.mark.slow

HOST, USER, PROJECT = "frodo-h100-017.acme-corp.internal", "bilbobaggins", "mount-doom-70b"
HOME = f"/home/{USER}/{PROJECT}/train"
SECRETS = {
    "aws": "AKIAQ3EGPVK5DO7XNJ2Q",
    "aws secret": "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",
    "hugging face": "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",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "wandb": "5a8f1c0b9e7d6a5f4c3b2a1908f7e6d5c4b3a291",
    "url": "sauron:0neRing2RuleThem",
    "password": "mellon and enter",
    "bearer": "abc123def456ghi789jkl",
    "openai": "sk-proj-T3BlbkFJabcdefghij0123456789",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmcm9kbyJ9.c2lnbmF0dXJl",
    "locals": "the quest stands upon the edge of a knife",
}
PLANTED = [HOST, HOST.split(".")[0], "acme-corp", USER, PROJECT, "10.77.3.14", "fe80::a00:27ff:fe4e:66a1",
           "gandalf@acme-corp.io", "gandalf", "palantir", *SECRETS.values()]  # fmt: skip

C10 = "[rank{r}]:[E207 08:41:09.512004418 ProcessGroupNCCL.cpp:607] "
LOG = f"""\
2026-02-07 08:31:09,512 starting on {HOST} as {USER}
{C10}[Rank {{r}}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE, NumelIn=32, NumelOut=32, Timeout(ms)=600000) ran for 600043 milliseconds before timing out.
{C10}[PG ID 0 PG GUID 0(default_pg) Rank {{r}}]  failure detected by watchdog at work sequence id: 4 PG status: last enqueued work: 4, last completed work: 3
{C10}Stack trace of the failed collective:
#0 all_reduce from /opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py:3145
#1 step from {HOME}/loop.py:31

{HOST}:4242:4310 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.77.3.14<41872> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_3
[rank{{r}}]: Traceback (most recent call last):
[rank{{r}}]:   File "{HOME}/data.py", line 17, in fetch
[rank{{r}}]:     read(url)
[rank{{r}}]: RuntimeError: GET https://{SECRETS["url"]}@store.palantir.com/{USER}/x?token=zzz failed, HF_TOKEN={SECRETS["hugging face"]} user gandalf@acme-corp.io
srun: error: {HOST}: task 1: Killed
"""  # noqa: E501
#: A case keeps the last line of each log, whatever it is.
LAST_LINES = (
    f"AWS_ACCESS_KEY_ID={SECRETS['aws']} AWS_SECRET_ACCESS_KEY={SECRETS['aws secret']}",
    f"Authorization: Bearer {SECRETS['bearer']} wandb login {SECRETS['wandb']}",
    f'{{"password": "{SECRETS["password"]}"}} {SECRETS["github"]} {SECRETS["openai"]}',
    f"jwt {SECRETS['jwt']} peer fe80::a00:27ff:fe4e:66a1 cwd {HOME} on {HOST.split('.')[0]} for {PROJECT}",
)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evidence of a hang, of every kind, with names and secrets wherever words can stand."""
    folder: Path = tmp_path_factory.mktemp("evidence") / USER / PROJECT / HOST.split(".")[0]
    for part in ("dumps", "logs", "stacks"):
        (folder / part).mkdir(parents=True)
    kind = REDUCE._replace(frames=(*REDUCE.frames[:1], Frame(f"step_of_{USER}", f"{HOME}/loop.py", 31)))
    for rank, dump in job(8).items():
        data = write_pickle(replace(dump, kinds=(kind, *dump.kinds[1:])))
        (folder / "dumps" / f"nccl_trace_rank_{rank}").write_bytes(data)
        (folder / "logs" / f"rank_{rank}.log").write_text(LOG.format(r=rank))
    for number, line in enumerate(LAST_LINES):
        (folder / "logs" / f"job_{number}.out").write_text(f"starting\n{line}\n")
    stack = {
        "pid": 77, "thread_id": 1, "thread_name": f"loader of {USER}", "os_thread_id": 1, "active": False,
        "owns_gil": False, "frames": [{
            "name": "get", "filename": f"{HOME}/data.py", "short_filename": "data.py", "module": None, "line": 8,
            "locals": [{"name": "prompt", "addr": 1, "arg": True, "repr": f"'{SECRETS['locals']}'"}],
        }],
    }  # fmt: skip
    (folder / "stacks" / "pyspy_rank_1.json").write_text(json.dumps([stack]))
    exits = [{"rank": rank, "pid": 70 + rank, "host": HOST, "state": "running"} for rank in range(4)]
    (folder / "exits.json").write_text(json.dumps(exits))
    (folder / "attempt_0").mkdir()
    error = {
        "message": {
            "message": f"KeyError: {SECRETS['github']} in {HOME}",
            "extraInfo": {"py_callstack": HOME},
        }
    }
    (folder / "attempt_0" / "error.json").write_text(json.dumps(error))
    (folder / "dumps" / f"{USER}.pkl").write_bytes(b"\x80\x04}broken")
    return folder


def read(folder: Path, spool: Path) -> Case:
    spool.mkdir()
    return load([folder], spool, jobs=1)


def words(case: Case) -> Iterator[str]:
    """All that can be read in a case."""
    for table in case.tables().values():
        for column in table.iter_columns():
            values = column.explode() if isinstance(column.dtype, pl.List) else column
            yield from (str(value) for value in values.drop_nulls().unique().to_list())
    yield from (f"{note.file} {note.where} {note.what}" for note in case.notes)


def test_nothing_planted_is_left(planted: Path, tmp_path: Path) -> None:
    case = read(planted, tmp_path / "spool")
    before = "\n".join(words(case))
    # Otherwise the test would pass on a loader that reads nothing.
    assert [word for word in PLANTED if word not in before] == []
    redacted, pseudonyms = redact(case)
    write(redacted, tmp_path / "ticket.zip", redacted={})
    (tmp_path / "members").mkdir()
    unpack(tmp_path / "ticket.zip", tmp_path / "members", tmp_path / "open")
    opened = case_dir.read(tmp_path / "open")
    after = "\n".join(words(opened)).lower()
    assert [word for word in PLANTED if word.lower() in after] == []
    # What the tables hold without any row that says it would be there, uncompressed.
    for name, table in opened.tables().items():
        table.write_parquet(tmp_path / f"{name}.parquet", compression="uncompressed")
        data = (tmp_path / f"{name}.parquet").read_bytes().lower()
        assert [word for word in PLANTED if word.lower().encode() in data] == []
    documents = b"".join(path.read_bytes() for path in (tmp_path / "open").glob("*.json")).lower()
    assert [word for word in PLANTED if word.lower().encode() in documents] == []
    assert {"host", "user", "dir", "ip", "secret", "mail", "text"} <= pseudonyms.given().keys()


def test_what_reasoning_needs_is_still_there(planted: Path, tmp_path: Path) -> None:
    case = read(planted, tmp_path / "spool")
    redacted, _ = redact(case)
    files = redacted.frames["file"].to_list()
    assert "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py" in files
    # Sources keep their names, so that --src finds them, and two folders stay two.
    assert {file.rpartition("/")[2] for file in files} == {f.rpartition("/")[2] for f in case.frames["file"]}
    assert redacted.frames["file"].n_unique() == case.frames["file"].n_unique()
    assert redacted.exits["host"].n_unique() == case.exits["host"].n_unique()
    for table, columns in TABLES.items():
        for column in columns:
            if column.dtype.is_numeric() or column.dtype == pl.Boolean:
                assert redacted.tables()[table][column.name].equals(case.tables()[table][column.name])


def verdicts(case: Case) -> list[object]:
    """What a diagnosis says, without the words that a pseudonym may stand in."""
    return [
        (
            v.cause, v.confidence, [c.rank for c in v.culprits], v.victims, v.evidence,
            v.divergence and (
                v.divergence.seq, v.divergence.kind,
                [(c.ranks, c.call and (c.call.op, c.call.line, c.call.function)) for c in v.divergence.cohorts],
            ),
        )
        for v in diagnose(case).verdicts
    ]  # fmt: skip


SCENARIOS = (
    "skip-nonfinite-ddp",
    "blocked-loader-fsdp",
    "raised-logs-only",
    "peers-four-group-cycle",
    "swallowed-ddp",
)


@pytest.mark.parametrize("scenario", in_lab([*SCENARIOS], SCENARIOS[:2]))
def test_the_verdict_is_the_same(scenario: str, tmp_path: Path) -> None:
    simulate(scenario, tmp_path / "incident")
    case = read(tmp_path / "incident" / "evidence", tmp_path / "spool")
    redacted, pseudonyms = redact(case)
    assert pseudonyms.given()
    assert verdicts(redacted) == verdicts(case)


def test_two_packs_cannot_be_compared() -> None:
    one, other = Pseudonyms(), Pseudonyms()
    assert one.of("host", "node07") == one.of("host", "node07")
    assert one.of("host", "node07") != other.of("host", "node07")
    assert one.of("host", "node07") != one.of("user", "node07")


def redacted(text: str, **known: set[str]) -> str:
    names = Names(**known)
    names.learn(text)
    return Redactor(names, Pseudonyms()).text(text)


@pytest.mark.parametrize(
    "text",
    [
        "18.0 steps/s, tokens: 5120, 08:41:09.512, loss 1.37",
        "[PG ID 2 PG GUID 9(dp) Rank 0]  failure detected by watchdog at work sequence id: 512",
        "NVRM: Xid (PCI:0000:9d:00): 79, pid=4242, name=python3, GPU has fallen off the bus.",
        "ProcessGroupNCCL.cpp:2271 c10::DistBackendError torch.distributed.DistStoreError",
        "Connection closed by peer, localhost 127.0.0.1 0.0.0.0",
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f8a in libc10.so)",
        "tokenizer: bpe, max_tokens=4096, step 40211",
        "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py",
        "torch/distributed/elastic/multiprocessing/api.py",
    ],
)
def test_what_names_nobody_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("mount /data/customers/wonka/x.bin", "wonka"),
        (r"File C:\Users\wonka\train.py", "wonka"),
        ("~wonka/job.sh failed", "wonka"),
        ("uid=1000(wonka) gid=1000(wonka)", "wonka"),
        ("ssh wonka@login3", "wonka"),
        ("the client socket has timed out while trying to connect to (wonkahead, 29500)", "wonkahead"),
        ("slurmstepd: error: *** STEP 8.0 ON wonka01 CANCELLED AT 2026-02-07T11:22:33", "wonka01"),
        ("s3://wonka-bucket/ckpt/x.pt", "wonka-bucket"),
        ("postgres://u:hunter2hunter2@db/x", "hunter2"),
        ("--api-key wonkawonka1 --lr 3", "wonkawonka1"),
        ("password: 12345678", "12345678"),
        ("MASTER_ADDR=wonka-head", "wonka-head"),
        ("node[01-16,20] allocated", "01-16"),
        ("node wonka-gpu-3-17 is down", "wonka-gpu"),
        ("xoxb-123456789012-abcdefghijkl", "123456789012"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("link 0c:42:a1:dd:ee:0f down", "a1:dd"),
    ],
)
def test_what_names_somebody_goes(text: str, gone: str) -> None:
    assert gone not in redacted(text)


def test_words_of_the_users_own() -> None:
    out = redacted("epoch of Wonka_v2 by wonka", words={"wonka"})
    assert "wonka" not in out.lower() and out.startswith("epoch of word-")


def test_the_same_name_is_the_same_everywhere() -> None:
    redactor = Redactor(Names(hosts={"wonka01", "wonka01.acme.com"}), Pseudonyms())
    short, full = redactor.host("wonka01"), redactor.host("wonka01.acme.com")
    assert full.startswith(f"{short}.net-")
    assert redactor.text("lost wonka01.") == f"lost {short}."
    fields = redactor.document(json.dumps({"frames": [["get", "/home/wonka/a/b.py", 3]], "host": "wonka01"}))
    decoded = msgspec.json.decode(fields)
    assert decoded["host"] == short
    assert decoded["frames"][0] == ["get", redactor.path("/home/wonka/a/b.py"), 3]


def test_every_rule_is_of_a_column() -> None:
    columns = {f"{table}.{column.name}" for table, listed in TABLES.items() for column in listed}
    assert set(_OWN) | _RULES.keys() <= columns
    assert not set(_OWN) & _RULES.keys()


#: How clouds, clusters, tools and people write who and where they are, and what of it must not be left.
IDENTITIES = {
    "unusual top-level domain": ("starting on mordor.black-gate.quest now", "black-gate"),
    "unusual domain with a port": ("peer trn7.mirkwood.training:29500 closed", "mirkwood"),
    "unresolved": ("could not resolve rivendell.zone: timeout", "rivendell"),
    "unresolved by ssh": ("ssh: Could not resolve hostname bagend: Name or service not known", "bagend"),
    "UNC host": (r"open \\isengard\share$\orthanc\x.bin failed", "isengard"),
    "UNC folder": (r"open \\isengard\share$\orthanc\x.bin failed", "orthanc"),
    "Azure storage": ("GET https://mirkstore.blob.core.windows.net/cont/x", "mirkstore"),
    "Azure container": ("abfss://shireco@mirkstore.dfs.core.windows.net/a", "shireco"),
    "Azure subscription": (
        "/subscriptions/8d1c2f4e-11aa-4bbb-9ccc-0123456789ab/resourceGroups/shire-rg/x/y",
        "8d1c2f4e",
    ),
    "Azure group": ('{"resourceGroupName":"shire-rg"}', "shire-rg"),
    "Azure machine": ('{"vmName": "helmvm"}', "helmvm"),
    "ARN": ("assume arn:aws:iam::123456789012:role/smaug-trainer failed", "smaug-trainer"),
    "ARN account": ("assume arn:aws:iam::123456789012:role/smaug-trainer failed", "123456789012"),
    "ARN bucket": ("get arn:aws:s3:::gondor-bucket/key", "gondor-bucket"),
    "account id": ("aws_account_id=123456789012", "123456789012"),
    "registry": ("image 123456789012.dkr.ecr.us-east-1.amazonaws.com/gondor-img:1.2", "123456789012"),
    "image": ("image registry.shire.quest/ringproj:latest", "ringproj"),
    "account id in a sentence": ("not allowed in account id 210987654321 yet", "210987654321"),
    "account in a sentence": ("the billing account is 210987654321", "210987654321"),
    "address with underscores": ("pod 10_77_3_14 gone", "10_77_3_14"),
    "node as a field": ("rank 3 lost node=bucklandford after 3 s", "bucklandford"),
    "dashed address": ("on ip-10-77-3-14 now", "10-77-3-14"),
    "dashed address of a pod": ("node 10-77-3-14.pod gone", "10-77-3-14"),
    "address of a cloud": ("ec2-54-12-13-14.compute-1.amazonaws.com", "54-12-13-14"),
    "scope of an interface": ("bind fe80::a00:27ff:fe4e:66a1%bilbonet0", "bilbonet0"),
    "password in a sentence": ("the password is melon4friend ok", "melon4friend"),
    "quoted password in a sentence": ("password was 'melon4friend'", "melon4friend"),
    "namespace": ("namespace=erebor-prod pod=x", "erebor-prod"),
    "namespace in a sentence": ('pods is forbidden in the namespace "erebor-prod"', "erebor-prod"),
    "pod as kubectl has it": ("pod/erebor-train-0 was evicted", "erebor-train"),
    "host under a domain with a hyphen": ("ValueError: gpu17.cluster.erebor-lab", "erebor-lab"),
    "namespace of a command": ("kubectl -n erebor-prod get pods", "erebor-prod"),
    "namespace of a document": ('{"pod_namespace": "erebor-prod"}', "erebor-prod"),
    "service": ("dial trainer-0.erebor-prod: no such host", "erebor-prod"),
    "closed connection": ("Connection to bagend closed by remote host", "bagend"),
    "unreachable host": ("host bagend is unreachable", "bagend"),
    "ras": ("Missing process (rank 1, GPU 0) managed by process 4712 on node buckland7", "buckland7"),
    "ssh": ("ssh: connect to host bagend port 22: Connection refused", "bagend"),
    "lost contact": ("lost contact with bagend", "bagend"),
    "Open MPI": ("[bagend:1234] mca_base_component failed", "bagend"),
    "syslog": ("Feb  7 08:31:09 bagend kernel: Out of memory", "bagend"),
    "store": ("The client socket has failed to connect to [bagend]:29500", "bagend"),
    "host and port": ("server at bagend:29500 timed out", "bagend"),
    "Google project": ("projects/gondor-123/zones/us-c1/instances/helmvm", "gondor-123"),
    "service account": ("svc@gondor-123.iam.gserviceaccount.com", "gondor-123"),
    "bucket": ("s3://gondor-bucket/minas/ckpt.pt", "gondor-bucket"),
    "Slurm account": ("account=fellowship partition=moria", "fellowship"),
    "Slurm partition": ("account=fellowship partition=moria", "moria"),
    "job name": ("SLURM_JOB_NAME=ringquest", "ringquest"),
    "hardware address with dots": ("hwaddr a00b.27cd.4e66", "a00b.27cd"),
    "GUID of a fabric": ("GUID 0x506b4b0300ca7d8e", "506b4b0300ca7d8e"),
    "folder of Windows": (r"C:\Users\bilbob\proj\x.py", "bilbob"),
    "nodes of an allocation": ("SLURM_JOB_NODELIST=rohanrack[001-128,140]", "rohanrack"),
    "host in a variable": ("SLURM_SUBMIT_HOST=edoraslogin", "edoraslogin"),
    "user in a variable": ("PBS_O_LOGNAME=peregrintook", "peregrintook"),
    "endpoint": ("--rdzv-endpoint helmsdeep:29400", "helmsdeep"),
    "endpoint of two labels": ("rdzv_endpoint=helmsdeep.rohan:29400", "helmsdeep"),
    "node with a number": ("srun: error: Node edoras7 is down", "edoras7"),
    "node as kubectl has it": ("Node/edoras-node-x NotReady", "edoras-node"),
    "server of files": ("nfs: server snowbournnas not responding, still trying", "snowbournnas"),
    "name within a longer one": ("Connection to rohan-OST0001 lost: rohan-OST0001-osc waits", "rohan"),
    "user of a service": ("wandb: Currently logged in as: eowynoftherohirrim (ridermark-team).", "eowyn"),
    "team of a service": ("wandb: Currently logged in as: eowynoftherohirrim (ridermark-team).", "ridermark"),
    "user let in": ("Accepted publickey for peregrintook from 10.9.8.7 port 22", "peregrintook"),
    "user in brackets": ("Job <77> is submitted to queue <q> by user <peregrintook>", "peregrintook"),
    "key beside its name": ("WANDB_API_KEY shadowfax0123456789ab", "shadowfax"),
    "signature of an URL": ("sv=2020&sig=sh4dowfax%2Bsig%3D", "sh4dowfax"),
    "password of somebody": ("the password for pippin is sh4dowfax", "sh4dowfax"),
    "password of a command": ("sshpass -p sh4dowfax ssh -v", "sh4dowfax"),
    "key of a licence": ("license_key=RIDE-RSOF-ROHA-NNNN", "ride-rsof"),
    "account of a hub": ("GET https://huggingface.co/ridermarkai/Horse-7B/resolve/main/x", "ridermarkai"),
    "instance of a cloud": ("instance i-0abc123def4567890 terminated", "0abc123def"),
    "who submitted": ("job submitted by samwiseg at 3", "samwiseg"),
    "who became root": ("sudo: samwiseg : TTY=pts/0", "samwiseg"),
    "user of a domain": (r"NT-AREA\samwiseg logged on", "samwiseg"),
    "mounted folder": ("mount nfs4 mirkfiler:/export/proj", "mirkfiler"),
    "module of rsync": ("rsync mirkfiler::modname/x", "mirkfiler"),
    "share": ("mount.cifs //mirkfiler/share/x", "mirkfiler"),
    "service account of a cluster": ("system:serviceaccount:erebor-prod:trainer", "erebor-prod"),
    "server of licences": ("LM_LICENSE_FILE=27000@mirklic", "mirklic"),
    "directory": ("cn=Bilbo,ou=Burglars,dc=shire,dc=quest", "burglars"),
}


def test_an_identity_of_any_kind_is_left_in_no_kind_of_evidence(tmp_path: Path) -> None:
    """Each stands in the last line of a log, in a traceback and in an error file."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    for number, (text, _) in enumerate(IDENTITIES.values()):
        (folder / f"job_{number}.out").write_text(f"starting\n{text}\n")
        error = {"message": {"message": f"RuntimeError: {text}", "extraInfo": {"py_callstack": text}}}
        (folder / f"attempt_{number}").mkdir()
        (folder / f"attempt_{number}" / "error.json").write_text(json.dumps(error))
        (folder / f"rank_{number}.log").write_text(
            f'[rank{number}]: Traceback (most recent call last):\n[rank{number}]:   File "/x/a.py", line 1, in f\n'
            f"[rank{number}]: RuntimeError: {text}\n"
        )
    case = read(folder, tmp_path / "spool")
    before = "\n".join(words(case)).lower().replace("\\\\", "\\")
    assert {kind for kind, (_, secret) in IDENTITIES.items() if secret not in before} == set()
    after = "\n".join(words(redact(case)[0])).lower()
    assert {kind: after.count(secret) for kind, (_, secret) in IDENTITIES.items() if secret in after} == {}


PLAIN = (
    "ProcessGroupNCCL.cpp:607 torch.distributed.all_reduce os.environ x.item() self.model.layers.0.weight",
    "loss.backward() trainer.fit(model) libc.so.6 v2.10.0 config.yaml torch.cuda.OutOfMemoryError a.b",
    "2026-02-07T08:31:09Z INFO trainer: step 10 of epoch 3 to host memory, lookup table at step:10000",
    "Connection to the peer lost; password is required; token is invalid; wait at iteration:12000",
    "torch-2.10.0-cp312-manylinux.whl module.layer1.conv2.weight model-00001-of-00004 [rank3:4242] done",
)


@pytest.mark.parametrize("text", PLAIN)
def test_a_line_that_names_nobody_stays_as_it_is(text: str) -> None:
    names = Names()
    names.learn(text)
    assert Redactor(names, Pseudonyms()).text(text) == text


#: What stands in a column that holds one thing: a path, a host, a name. Of others, the whole line.
_AS = {"path": "/data/{}/x.bin", "host": "{}", "name": "loader of {}", "variables": "[b'{}']"}
#: Identifiers are replaced where a line gives them, and are no names that stand elsewhere alone.
_LINES_ONLY = frozenset(
    (
        "ARN", "ARN account", "ARN bucket", "account id", "registry", "Azure subscription", "Azure container",
        "account id in a sentence", "account in a sentence", "address with underscores",
        "dashed address", "dashed address of a pod", "address of a cloud", "scope of an interface",
        "password in a sentence", "quoted password in a sentence", "hardware address with dots", "GUID of a fabric",
        "instance of a cloud", "directory", "service", "image", "Google project", "service account",
    )
)  # fmt: skip


def _told(table: str, column: str, text: str, secret: str, kind: str) -> str:
    rule = _RULES.get(f"{table}.{column}")
    if rule is None:
        return text
    name = rule(Redactor(Names(), Pseudonyms())).__name__
    if name == "document":
        return json.dumps({"message": text})
    return _AS[name].format("x" if kind in _LINES_ONLY and name in ("name", "host") else secret)


# Each ninth here; all of them at once, in files of each kind, above.
@pytest.mark.parametrize("kind", in_lab([*IDENTITIES], tuple(IDENTITIES)[::9]))
def test_an_identity_is_left_in_no_field_of_any_table(kind: str) -> None:
    """One line gives it in the form of its kind; it then stands in every column of every table that holds words."""
    text, secret = IDENTITIES[kind]
    tables = {}
    for name, columns in TABLES.items():
        row = {}
        for column in columns:
            key = f"{name}.{column.name}"
            if column.dtype in (pl.String, pl.Categorical) and key not in _OWN:
                row[column.name] = [_told(name, column.name, text, secret, kind)]
            elif column.dtype == pl.List(pl.String) and key not in _OWN:
                row[column.name] = [[text]]
        empty = getattr(Case(), name).clear(1)
        tables[name] = empty.with_columns(
            pl.Series(column, values, dtype=empty.schema[column]) for column, values in row.items()
        )
    case = structs.replace(Case(), **tables)
    before = "\n".join(words(case)).lower().replace("\\\\", "\\")
    assert before.count(secret) > 10, "not planted"
    after = "\n".join(words(redact(case)[0])).lower()
    assert secret not in after, [line for line in after.splitlines() if secret in line]


def test_words_that_no_pattern_knows_are_listed() -> None:
    """A customer, a code name, a host in passing: whoever packs reads them, and gives them back."""
    line = "starting on bagend for Wonka GmbH: the all_reduce of the optimizer state timed out at step 12"
    events = Case().events.clear(1).with_columns(text=pl.lit(line))
    case = structs.replace(Case(), events=events)
    found = {one.word for one in unknown_words(redact(case)[0])}
    assert {"bagend", "Wonka"} <= found
    assert not found & {"starting", "all_reduce", "optimizer", "timed", "step", "the"}
    hidden = Names(words={word.lower() for word in found})
    after = "\n".join(words(redact(case, hidden)[0])).lower()
    assert "bagend" not in after and "wonka" not in after and "all_reduce" in after
