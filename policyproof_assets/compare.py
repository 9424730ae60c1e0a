"""Documents that are in no release, built on the fly so that they can be compared."""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from policyproof_assets.build import Build
from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import Corpus, Document, document_format
from policyproof_assets.project import Project
from policyproof_assets.store import Store
from policyproof_runtime.digest import Digest

_NOT_STATED = dict.fromkeys(("publisher", "licence", "version"), "not stated")


def build_passages(path: Path, others: Sequence[str], profile: str | None = None) -> pa.Table:
    """Return the passages of the file at ``path``; nothing of it is kept.

    Without ``profile`` it is read as its manifest says, else as that of one of the ``others``
    (paths of files, or CORPUS:DOCUMENT_ID), else as any document of its format. Its review, if one
    has the name of the file, applies. Raises a PolicyProofError that says why it cannot be built.
    """
    kind = document_format(path)
    if kind is None:
        raise ManifestError(f"{path} is no document of a known format", found=path.suffix)
    project = Project()
    known = (_profile_of(project, target, kind) for target in (str(path), *others))
    document = Document(
        id=re.sub(r"[^A-Za-z0-9._-]", "-", path.stem).lstrip("-._")[:120] or "file",
        title=path.name,
        status="draft",
        classification="restricted",
        acl=("nobody",),
        profile=profile or next(filter(None, known), "auto" if kind == "pdf" else kind),
        sha256=Digest.of(path.read_bytes()).hex,
        format=kind,
        path=str(path.resolve()),
        **_NOT_STATED,
    )
    corpus = Corpus(id="diff", title="Compared documents", documents=(document,))
    with tempfile.TemporaryDirectory(prefix="policyproof-") as folder:
        store = Store(folder)
        with Build(project, corpus, store) as build:
            return store.phase(build.phases()["passages"].digest)


def _profile_of(project: Project, target: str, kind: str) -> str | None:
    path = Path(target)
    name = target.rpartition(":")[2]
    digest = Digest.of(path.read_bytes()).hex if path.is_file() else None
    documents = [d for corpus in project.corpora() for d in corpus.documents if d.format == kind]
    return next((d.profile for d in documents if d.sha256 == digest or d.id == name), None)
