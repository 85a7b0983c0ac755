"""Names that tell nothing of whose job it is: they stay as they are."""

from __future__ import annotations

import re
import sys

from rankandfile.model.known.packages import PACKAGES

_FOLDERS = """
    usr lib lib32 lib64 bin sbin opt etc var tmp run proc sys dev mnt media srv root home Users users local
    share include x86_64-linux-gnu aarch64-linux-gnu site-packages dist-packages venv .venv env envs conda
    miniconda3 anaconda3 mambaforge miniforge3 pyenv versions workspace workdir app code src source scratch data
    datasets dataset models model checkpoints checkpoint ckpt logs log dumps dump stacks traces trace evidence
    case cases ticket out output outputs results runs jobs job train training trainer trainers eval evaluate
    evaluation test tests tools utils util common core scripts script configs config examples modules layers nn
    distributed parallel data_loader loaders pipeline pipelines engine launcher launch main cache .cache torch
    nccl cuda cudnn gpu cpu kernels ops csrc transport net shm pytorch c10 c10d aten gloo elastic attempt
    attempts none pod pods nodes node workers worker kubepods cgroup memory slurm ray kernel dmesg journal ras
    env exits errors error pyspy faulthandler nccl_trace stdout stderr raf rank ranks later archive extra misc
    lustre nfs gpfs efs fsx shared storage volume volumes private
"""
FOLDERS = frozenset(_FOLDERS.split())

_STDLIB = sys.stdlib_module_names

#: Whose name is the file's name on the reader's disk too, so that `--src` finds it.
SOURCES = (
    ".py", ".pyx", ".pyi", ".pyc", ".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".S", ".rs", ".go",
    ".toml", ".yaml", ".yml", ".sh", ".ipynb",
)  # fmt: skip

_VERSIONED = re.compile(
    r"(?:lib)?python[\d.]*t?$|cuda-?[\d.]*$|py[\d.]+$|v?\d{1,4}(?:\.\d{1,4})*$|.+\.so(?:\.\d+)*$"
)

#: Words of the names of evidence. A number beside them is a rank, an attempt or the like.
_EVIDENCE_WORDS = """
    nccl comm trace dump dumps log logs rank ranks stack stacks pyspy faulthandler later exits exit env stderr
    stdout err out attempt restart local global fr record recorder flight torchcomms tc json txt pkl pickle gz
    bz2 xz zst zip tar tgz raf case ticket dmesg journal kernel ras srun sbatch slurm worker lib debug server
    traces info error parquet events calls pack process proc r
"""
_EVIDENCE = frozenset(_EVIDENCE_WORDS.split())
_WORDS = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]+")

#: Hosts that are everybody's.
_HOSTS = """
    localhost localhost.localdomain github.com pytorch.org docs.pytorch.org huggingface.co developer.nvidia.com
    docs.nvidia.com nvidia.com python.org docs.python.org kernel.org none null unknown
"""
HOSTS = frozenset(_HOSTS.split())
_ACCOUNTS = """
    pytorch nvidia microsoft deepspeedai huggingface ray-project lightning-ai vllm-project python google amd rocm docs
"""
_OF_ACCOUNTS = ("github.com", "huggingface.co")


def is_public(host: str, path: str) -> bool:
    """Whether everybody may know of this page: of hosts with accounts, those of public projects alone."""
    first = path.lstrip("/").partition("/")[0].lower()
    return host in HOSTS and (host not in _OF_ACCOUNTS or not first or first in _ACCOUNTS.split())


_SAID = """
    the a an this that its it all any each other another some and or of to in on at for from with is are was be
    peer peers rank ranks remote server servers client clients host hosts store node nodes worker workers device
    devices memory master address table tables dependency name names module service endpoint database socket port
    key step epoch iteration iter batch index idx line seq time size count offset byte bytes pos position sample
    token shard id version level stage chunk error failure failed gaierror info warning warn debug fatal critical
    trace notice
"""
WORDS = frozenset(_SAID.split())
"""What sentences say where others name a machine."""
NUMBERED = re.compile(r"(?:rank|default|proc|process|thread|pid|gpu|cuda|step|epoch|tag)[-_]?\d*$")
_OTHERS = """
    default kube-system none null unknown true false gpu cpu batch debug normal main train training job world
"""
OTHERS = frozenset(_OTHERS.split())
_USERS = "root user ubuntu nobody admin runner jovyan default app none null unknown"
USERS = frozenset(_USERS.split())


def is_library(steps: list[str]) -> int:
    """How many steps of a path, from its end, lie in a public library."""
    for index, step in enumerate(steps):
        following = steps[index + 1] if index + 1 < len(steps) else ""
        if step in ("site-packages", "dist-packages"):
            return len(steps) - index if _is_package(following) else 0
        is_python = re.match(r"python3[\d.]*t?$", step) and index and steps[index - 1] in ("lib", "lib64")
        if is_python and following.removesuffix(".py") in _STDLIB:
            return len(steps) - index
    # As py-spy has them: relative to where Python found them.
    first = steps[0] if steps else ""
    if steps[-1:] and steps[-1].endswith((".py", ".pyx", ".pyc")):
        return len(steps) if _is_package(first) or first.removesuffix(".py") in _STDLIB else 0
    return 0


def _is_package(step: str) -> bool:
    return step.removesuffix(".py").partition("-")[0] in PACKAGES


def is_folder(step: str) -> bool:
    return (
        step in FOLDERS
        or step in ("", ".", "..", "~")
        or _VERSIONED.match(step) is not None
        or _is_kept(step)
    )


def _is_kept(step: str) -> bool:
    """The name of a file of evidence, or of a folder of such: `nccl_trace_rank_3`, `attempt_0`, `rank_1.log.gz`."""
    words = [word for word in _WORDS.findall(step) if word[0].isalnum()]
    return any(word[0].isalpha() for word in words) and all(
        word.lower() in _EVIDENCE if word[0].isalpha() else len(word) <= 7 for word in words
    )  # fmt: skip


def is_file(name: str) -> bool:
    """A name that may stay: a source's, a library's, or that of usual evidence."""
    return name.endswith(SOURCES) or is_folder(name) or name.startswith("<")


def may_be_searched(word: str) -> bool:
    """A folder's name that is so peculiar that it is replaced wherever it stands, not only in paths."""
    return len(word) >= 4 and re.search(r"[\d_-]|[a-z][A-Z]", word) is not None and not word.isdigit()
