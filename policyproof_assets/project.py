"""Where manifests lie: beside a corpus, or in the folder that comes with PolicyProof."""

import os
from pathlib import Path

from policyproof_assets.corpus.sources import Source, check_beside, locate
from policyproof_assets.discover import CORPUS_FILE, discover
from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import Corpus, Document, load_corpus
from policyproof_assets.store import Store
from policyproof_runtime.digest import Digest
from policyproof_runtime.objects import SOURCES
from policyproof_runtime.storage import durable

#: The manifests that come with PolicyProof.
MANIFESTS = Path(__file__).resolve().parents[1] / "manifests"


class Project:
    """Finds manifests: those beside a corpus manifest win over those that come with PolicyProof."""

    def __init__(self, manifests: Path = MANIFESTS) -> None:
        self.manifests = manifests

    def corpora(self) -> list[Corpus]:
        """Return every corpus that comes with PolicyProof, by name."""
        return [_load(path) for _, path in sorted(self._corpora().items())]

    def corpus(self, name: str) -> Corpus:
        """Return a corpus by its name here, the path of a manifest, or a folder of documents.

        A folder whose path is the name of a corpus is meant with ``./`` before it. Raises
        ManifestError that lists the names there are.
        """
        known, path = self._corpora(), Path(name)
        if name in known:
            return _load(known[name])
        if path.is_dir() or path.suffix == ".toml":
            return _load(path)
        raise ManifestError(
            f"no corpus {name}",
            expected=f"one of {', '.join(sorted(known))}, the path of a manifest, or a folder",
            found=name,
            action="write a starter manifest with: policyproof new DIR",
        )

    def _corpora(self) -> dict[str, Path]:
        """Return the manifest, or the folder of documents, of every corpus here."""
        folders = {p.parent.name: p.parent for p in self.manifests.glob(f"*/{CORPUS_FILE}")}
        return folders | {p.stem: p for p in (self.manifests / "corpora").glob("*.toml")}

    def find(self, corpus: Corpus, kind: str, name: str) -> Path:
        """Return the manifest ``<kind>/<name>.toml`` of a corpus; raises ManifestError."""
        return self._existing(self._place(corpus, kind, f"{name}.toml"))

    def review(self, corpus: Corpus, document_id: str) -> Path:
        """Return where the review of a document lies; it need not exist."""
        return self._place(corpus, "reviews", f"{document_id}.toml")

    def data(self, corpus: Corpus, kind: str, suffix: str) -> Path | None:
        """Return the corpus's own file ``<kind>/<corpus><suffix>``; None if it has none."""
        path = self._place(corpus, kind, f"{corpus.id}{suffix}")
        return path if path.is_file() else None

    def finding_aids(self, corpus: Corpus) -> list[Path]:
        """Return where the finding aids of a corpus lie."""
        return [self._place(corpus, "finding_aids", f"{name}.yaml") for name in corpus.finding_aids]

    def model(self, model_id: str) -> Path:
        """Return the manifest of a model; raises ManifestError if there is none."""
        return self._existing(self.manifests / "models" / f"{model_id}.toml")

    def _place(self, corpus: Corpus, kind: str, file: str) -> Path:
        beside = corpus.folder / kind / file
        return beside if beside.is_file() else self.manifests / kind / file

    def _existing(self, path: Path) -> Path:
        if not path.is_file():
            known = ", ".join(sorted(other.stem for other in path.parent.glob("*.toml")))
            raise ManifestError(
                f"{path.parent.name} {path.stem}, which does not exist",
                expected=path,
                action=f"write the file, or name one of: {known}",
            )
        return path

    def source(self, corpus: Corpus, document: Document, store: Store, folder: Path | None) -> Path:
        """Return a verified local file of a document, which the store keeps.

        ``folder`` takes it where the store is in a bucket, and is None where it is not. Raises
        SourceError, and StoreError where the file cannot be written.
        """
        digest = Digest(document.sha256)
        cache = folder or Path(store.storage.path(SOURCES))
        if folder and store.has_source(digest):
            data = store.source(digest)
            with durable(folder / digest.hex, need=len(data)) as file:
                file.write(data)
        sources = os.environ.get("POLICYPROOF_SOURCES")
        path = locate(_source(corpus, document), cache, Path(sources) if sources else None)
        if folder:
            store.put_source(path.read_bytes(), digest)
        return path

    def check_source(self, corpus: Corpus, document: Document) -> None:
        """Raise SourceError if the document's file beside the manifest has changed since."""
        check_beside(_source(corpus, document))


def _source(corpus: Corpus, document: Document) -> Source:
    return Source(
        document.id,
        Digest(document.sha256),
        document.url,
        document.allowed_hosts,
        corpus.folder / document.path if document.path else None,
    )


def _load(path: Path) -> Corpus:
    return discover(path) if path.is_dir() else load_corpus(path)
