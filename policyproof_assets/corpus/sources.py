"""Source documents: found, downloaded and verified before anything reads them.

A document is the file with the digest that its manifest pins. It comes from the cache if it is
there, else from a file at hand, else from its official address. It gets its name in the cache, the
digest, only when all its bytes are written and digested; so nothing half written is left.
"""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from policyproof_assets.errors import SourceError
from policyproof_runtime.digest import Digest
from policyproof_runtime.storage import READ_ONLY, durable

# As large as the PDF reader accepts; the four public documents have at most 2.6 MB.
MAX_BYTES = 256 * 1024 * 1024
# Official sites move a file once or twice (language, then version); more is a loop or a detour.
MAX_REDIRECTS = 5
# For one read of the connection, and for a whole download, in seconds: a server that sends a byte
# now and then keeps each read short but must not keep a build waiting for ever.
READ_TIMEOUT = 30.0
TOTAL_TIMEOUT = 600.0
SUFFIXES = (".pdf", ".md", ".html")
_CHUNK = 64 * 1024


@dataclass(frozen=True)
class Source:
    """What a manifest says of where a document comes from.

    ``beside`` is a file next to the manifest; ``url`` an https address whose host, and the host of
    every redirect, is one of ``allowed_hosts``.
    """

    document_id: str
    digest: Digest
    url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    beside: Path | None = None
    max_bytes: int = MAX_BYTES


def locate(
    source: Source,
    cache: Path,
    directory: Path | None = None,
    transport: urllib.request.HTTPSHandler | None = None,
) -> Path:
    """Return the file of ``source`` in the folder ``cache``, named by its digest in hex.

    Looks in ``cache``, then at ``source.beside`` or for ``<document id>.pdf`` (.md, .html) in
    ``directory``, then at ``source.url``; ``transport`` opens https addresses in place of the
    network. Raises SourceError if the document cannot be had, or if the first place that has one
    has another than the pinned one: the places after it are then not asked. Raises StoreError if
    the cache cannot be written.
    """
    kept = cache / source.digest.hex
    if kept.exists():
        _check_digest(source, _digest_of(source, kept), f"the kept file {kept}", "remove it")
        return kept
    file = _at_hand(source, directory)
    if file is not None:
        origin, chunks = str(file), _chunks_of_file(source, file)
    elif source.url is not None:
        origin, chunks = source.url, _chunks_of_address(source, source.url, transport)
    else:
        raise _not_had(source, f"no file {source.beside or 'at hand'} and no address")
    sha256, size = hashlib.sha256(), 0
    with durable(kept, mode=READ_ONLY) as out:
        for chunk in chunks:
            size += len(chunk)
            _check_size(source, size)
            sha256.update(chunk)
            out.write(chunk)
        action = "get the version that the manifest names, or review it"
        _check_digest(source, Digest(sha256.hexdigest()), origin, action)
    return kept


def check_beside(source: Source) -> None:
    """Raise SourceError if the file beside the manifest is there and no longer the pinned one."""
    path = source.beside
    if path is not None and path.is_file():
        action = "if the change is meant, put what was found, without sha256:, into the manifest"
        _check_digest(source, _digest_of(source, path), str(path), action)


def _at_hand(source: Source, directory: Path | None) -> Path | None:
    """Return the file to read in place of a download; of several, the one with the right digest."""
    places = [] if source.beside is None else [source.beside]
    if directory is not None:
        places += [directory / f"{source.document_id}{suffix}" for suffix in SUFFIXES]
    files = [path for path in places if path.is_file()]
    if len(files) > 1:
        files.sort(key=lambda path: _digest_of(source, path) != source.digest)
    return files[0] if files else None


def _chunks_of_file(source: Source, path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise SourceError(f"{source.document_id}: {path} cannot be read: {error}") from error


def _digest_of(source: Source, path: Path) -> Digest:
    sha256 = hashlib.sha256()
    for chunk in _chunks_of_file(source, path):
        sha256.update(chunk)
    return Digest(sha256.hexdigest())


def _chunks_of_address(
    source: Source, url: str, transport: urllib.request.HTTPSHandler | None
) -> Iterator[bytes]:
    """Yield the bytes of an address; SourceError unless all of them come, in time."""
    deadline = time.monotonic() + TOTAL_TIMEOUT
    handlers = [_CheckedRedirects(source), *([transport] if transport else [])]
    opener = urllib.request.build_opener(*handlers)
    opener.addheaders = [("User-Agent", "policyproof")]
    try:
        _check_address(source, url)
        with opener.open(url, timeout=READ_TIMEOUT) as response:
            missing = int(response.headers.get("Content-Length") or 0)
            while chunk := response.read1(_CHUNK):  # what has come, so that the deadline is seen
                if time.monotonic() > deadline:
                    raise _not_had(source, f"no end of {url} within {TOTAL_TIMEOUT:.0f} s")
                missing -= len(chunk)
                yield chunk
    except urllib.error.HTTPError as error:
        error.close()
        raise _not_had(source, f"HTTP {error.code} {error.reason} from {error.url}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _not_had(source, f"{type(error).__name__}: {error}") from error
    if missing > 0:
        raise _not_had(source, f"{url} broke off {missing} bytes before its end")


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects whose every hop is https on an allowed host."""

    max_redirections = MAX_REDIRECTS

    def __init__(self, source: Source) -> None:
        self._source = source

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the request for the next hop; SourceError if it leads elsewhere."""
        try:
            _check_address(self._source, newurl)
        except SourceError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_address(source: Source, url: str) -> None:
    """Refuse an address that is not https on the standard port of an allowed host."""
    authorities = {*source.allowed_hosts, *(f"{host}:443" for host in source.allowed_hosts)}
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.netloc.lower() not in authorities:
        raise SourceError(
            f"{source.document_id}: the address is not allowed",
            expected=f"https:// on one of {', '.join(source.allowed_hosts) or 'no host'}",
            found=url,
            action="if the publisher has moved the file, add the host to the manifest",
        )


def _check_size(source: Source, size: int) -> None:
    if size > source.max_bytes:
        raise SourceError(
            f"{source.document_id}: the file is larger than the limit",
            expected=f"at most {source.max_bytes} bytes",
            found=f"{size} bytes or more",
            action="check the address; raise the limit if the document is meant to be this large",
        )


def _check_digest(source: Source, found: Digest, origin: str, action: str) -> None:
    if found != source.digest:
        raise SourceError(
            f"{source.document_id}: {origin} is not the document the manifest pins",
            expected=source.digest,
            found=found,
            action=action,
        )


def _not_had(source: Source, found: str) -> SourceError:
    return SourceError(
        f"{source.document_id}: the document cannot be had",
        expected=source.url or f"a file {source.document_id}{SUFFIXES[0]}",
        found=found,
        action=f"put {source.document_id}{SUFFIXES[0]} (or {', '.join(SUFFIXES[1:])}) into a folder"
        " and name the folder in POLICYPROOF_SOURCES",
    )
