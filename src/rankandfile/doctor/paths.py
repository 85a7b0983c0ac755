"""Where a dump survives: storage, job ids, and the prefix to recommend."""

from __future__ import annotations

import re
from posixpath import basename, dirname

from rankandfile.model.settings import Volume

from .job_setup import JobSetup

FILE = "nccl_trace_rank_"

_TEMPORARY = (
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/run",
    "$TMPDIR",
    "${TMPDIR}",
    "$SLURM_TMPDIR",
    "${SLURM_TMPDIR}",
)
_LASTING = {"persistentVolumeClaim", "nfs", "cephfs", "glusterfs", "csi", "azureFile", "awsElasticBlockStore"}
_JOB_WORDS = re.compile(
    r"\$[({]*\w*(?:JOB|RUN|TASK_?ID|UID|UUID|STAMP|DATE|TIME|ATTEMPT|POD)|\$\(|`|\$\$", re.IGNORECASE
)
_LIKE_AN_ID = re.compile(r"\d{4,}|[0-9a-f]{8}-[0-9a-f]{4}")
_SAFE = re.compile(r"[A-Za-z0-9_./$(){}@%+=:,-]*\Z")


def is_temporary(path: str) -> bool:
    return any(path == root or path.startswith(root + "/") for root in _TEMPORARY)


def _volume(setup: JobSetup, path: str) -> Volume | None:
    """The mount that the path is under: the longest."""
    found = [
        volume
        for volume in setup.settings.volumes
        if volume.mount and (path + "/").startswith(volume.mount.rstrip("/") + "/")
    ]
    return max(found, key=lambda volume: len(volume.mount), default=None)


def storage(setup: JobSetup, path: str) -> str:
    """What is wrong with the storage under a path; empty if nothing is known to be."""
    launcher = setup.settings.launcher
    volume = _volume(setup, path)
    if volume is not None:
        if volume.kind == "emptyDir":
            return f" is on an emptyDir ({volume.mount}): gone with the pod"
        return ""
    if launcher == "kubernetes" and not setup.settings.environment_only:
        return " is on the container's own file system, under no volume: gone with the pod"
    if is_temporary(path):
        return {
            "kubernetes": " is inside the container: gone with the pod",
            "slurm": " is on each node's own disk, often cleared when the job ends",
        }.get(launcher, " is temporary storage: gone with the container, or at the next reboot")
    return ""


def names_the_job(setup: JobSetup, path: str) -> bool:
    """Something in the path differs between attempts."""
    known = [setup.given(name) for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "TORCHELASTIC_RUN_ID")]
    return bool(
        _JOB_WORDS.search(path) or _LIKE_AN_ID.search(path) or any(one and one in path for one in known)
    )


def job_id(setup: JobSetup) -> str:
    """What stands for the attempt where the job is launched from."""
    return {"slurm": "${SLURM_JOB_ID}", "kubernetes": "$(POD_UID)"}.get(
        setup.settings.launcher, "$(date +%Y%m%d-%H%M%S)"
    )


def with_job_id(setup: JobSetup, path: str) -> str | None:
    """The same prefix in a folder of its own for each attempt."""
    if not _SAFE.match(path):
        return advised_prefix(setup)
    folder, file = dirname(path.rstrip("/")), basename(path.rstrip("/"))
    return f"{folder.rstrip('/')}/{job_id(setup)}/{file}"


def advised_prefix(setup: JobSetup) -> str | None:
    """A prefix on storage that lasts; None where the manifest mounts none."""
    root = setup.options.dump_dir
    if root is None and setup.settings.launcher == "kubernetes":
        lasting = [volume.mount for volume in setup.settings.volumes if volume.kind in _LASTING]
        if not lasting:
            return None
        root = lasting[0].rstrip("/") + "/hangs"
    if root is None:
        root = "$SLURM_SUBMIT_DIR/hangs" if setup.settings.launcher == "slurm" else "$PWD/hangs"
    return f"{root.rstrip('/')}/{job_id(setup)}/{FILE}"
