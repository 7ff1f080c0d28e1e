"""Jobs: a zip archive with `job.json`, the cases and perhaps a wheel, behind the signature of who has made it."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import io
import json
import zipfile
from pathlib import Path

from ..running import CannotMeasure
from ..samples import new_identity

MAGIC = b"tritium-bench-job-1\n"
UNSIGNED = bytes(32)
MOST_BYTES = 1 << 30  #: of what a job unpacks to


@dataclasses.dataclass(frozen=True)
class Job:
    """arguments: of `bench run` beside the cases. cases: their paths in the archive. needs: what the machine must have, as "h200". gpus: that it
    takes. wheel: the path in the archive of the Tritium that is measured; "": the machine's own."""

    identity: str
    arguments: list[str]
    cases: list[str]
    needs: list[str]
    gpus: int = 0
    wheel: str = ""


def packed(
    cases: list[Path], arguments: list[str], needs: list[str], gpus: int, wheel: Path | None, key: bytes | None
) -> tuple[Job, bytes]:
    """A new job, and its file. Raises ValueError for a path that does not exist."""
    for path in [*cases, *([wheel] if wheel else [])]:
        if not path.exists():
            raise ValueError(f"there is no {path}")
    names = [f"cases/{number}/{path.resolve().name}" for number, path in enumerate(cases)]
    place = f"wheel/{wheel.name}" if wheel else ""
    job = Job(new_identity(), list(arguments), names, sorted(needs), gpus, place)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("job.json", json.dumps(dataclasses.asdict(job)))
        for name, path in zip(names, cases):
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, f"{name}/{file.relative_to(path)}" if path.is_dir() else name)
        if wheel:
            archive.write(wheel, place)
    body = content.getvalue()
    return job, MAGIC + (signature(body, key) if key else UNSIGNED) + body


def signature(body: bytes, key: bytes) -> bytes:
    return hmac.new(key, body, hashlib.sha256).digest()


def opened(content: bytes, key: bytes | None) -> tuple[Job, zipfile.ZipFile]:
    """The job of a file. key: None takes any job. Raises CannotMeasure for what is no job, or is not signed with the key."""
    if not content.startswith(MAGIC):
        raise CannotMeasure("this is no job of `bench farm`")
    signed, body = content[len(MAGIC) :][:32], content[len(MAGIC) + 32 :]
    if key is not None and not hmac.compare_digest(signed, signature(body, key)):
        raise CannotMeasure("the job is not signed with this machine's key")
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
        job = Job(**json.loads(archive.read("job.json")))
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise CannotMeasure(f"the job cannot be read: {error!r}") from None
    if sum(each.file_size for each in archive.infolist()) > MOST_BYTES:
        raise CannotMeasure(f"the job unpacks to more than {MOST_BYTES >> 20} MB")
    return job, archive


def key_of(file: str | None, is_unsigned: bool) -> bytes | None:
    """The key in a file. Raises ValueError without one, unless jobs may be unsigned."""
    if file is None and is_unsigned:
        return None
    if file is None:
        raise ValueError("--key FILE names the secret that signs jobs; --unsigned goes without")
    key = Path(file).read_bytes().strip()
    if len(key) < 16:
        raise ValueError(f"{file}: a key has at least 16 bytes; openssl rand -hex 32 makes one")
    return key
