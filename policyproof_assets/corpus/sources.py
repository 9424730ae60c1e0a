"""Source documents: found, downloaded and verified before anything reads them.

A document is the file with the digest that its manifest pins. It comes from the cache if it is
there, else from a file at hand, else from its official address. Whatever the way, the bytes are
written to the cache under a temporary name while they are digested, and get their name, the digest,
only if it is the pinned one; so a file of the cache is whole, and nothing half written is left.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from policyproof_assets.errors import SourceError
from policyproof_runtime.digest import Digest

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
_AGENT = "policyproof"


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
    transport: urllib.request.BaseHandler | None = None,
) -> Path:
    """Return the file of ``source`` in the folder ``cache``, named by its digest in hex.

    Looks in ``cache``, then at ``source.beside`` or for ``<document id>.pdf`` (.md, .html) in
    ``directory``, then at ``source.url``; ``transport`` opens https addresses in place of the
    network. Raises SourceError if the document cannot be had, or if the first place that has one
    has another than the pinned one: the places after it are then not asked.
    """
    kept = cache / source.digest.hex
    if kept.exists():
        _check_digest(source, _digest_of(source, kept), f"the kept file {kept}", "remove it")
        return kept
    at_hand = _at_hand(source, directory)
    if at_hand is not None:
        return _keep(source, cache, lambda: _chunks_of_file(source, at_hand), str(at_hand))
    if source.url is None:
        raise _not_had(source, f"no file {source.beside or 'at hand'} and no address")
    url = source.url
    return _keep(source, cache, lambda: _chunks_of_address(source, url, transport), url)


def check_beside(source: Source) -> None:
    """Raise SourceError if the file beside the manifest is there and no longer the pinned one."""
    path = source.beside
    if path is not None and path.is_file():
        action = "if the change is meant, put the digest that was found into the manifest"
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


def _keep(source: Source, cache: Path, chunks: Callable[[], Iterable[bytes]], origin: str) -> Path:
    """Write the chunks into the cache under the digest they must have."""
    temporary: Path | None = None
    try:
        cache.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=cache, prefix=".tmp-")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            found = _write(source, file, chunks())
        _check_digest(
            source, found, origin, "get the version that the manifest names, or review it"
        )
        temporary.chmod(0o444)
        kept = temporary.replace(cache / source.digest.hex)
        _sync_folder(cache)
    except OSError as error:
        raise SourceError(
            f"{source.document_id}: the file cannot be kept in {cache}",
            found=f"{type(error).__name__}: {error}",
            action="free some space or choose another store",
        ) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    return kept


def _write(source: Source, file: IO[bytes], chunks: Iterable[bytes]) -> Digest:
    """Write chunks to disk, at most ``max_bytes``, and return the digest of what was written."""
    sha256, size = hashlib.sha256(), 0
    for chunk in chunks:
        size += len(chunk)
        _check_size(source, size)
        sha256.update(chunk)
        file.write(chunk)
    file.flush()
    os.fsync(file.fileno())
    return Digest(sha256.hexdigest())


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _chunks_of_file(source: Source, path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise SourceError(
            f"{source.document_id}: {path} cannot be read", found=error.strerror
        ) from error


def _digest_of(source: Source, path: Path) -> Digest:
    sha256 = hashlib.sha256()
    for chunk in _chunks_of_file(source, path):
        sha256.update(chunk)
    return Digest(sha256.hexdigest())


def _chunks_of_address(
    source: Source, url: str, transport: urllib.request.BaseHandler | None
) -> Iterator[bytes]:
    """Yield the bytes of an address; SourceError unless all of them come, in time."""
    deadline = time.monotonic() + TOTAL_TIMEOUT
    _check_address(source, url)
    try:
        with _opener(source, transport).open(_request(url), timeout=READ_TIMEOUT) as response:
            length = _length(source, response)
            received = 0
            while chunk := response.read1(_CHUNK):  # what has come, so that the deadline is seen
                received += len(chunk)
                if time.monotonic() > deadline:
                    raise _not_had(source, f"no end of {url} within {TOTAL_TIMEOUT:.0f} s")
                yield chunk
    except urllib.error.HTTPError as error:
        error.close()
        raise _not_had(source, f"HTTP {error.code} {error.reason} from {error.url}") from error
    except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
        raise _not_had(source, f"{type(error).__name__}: {error}") from error
    if length is not None and received != length:
        raise _not_had(source, f"{url} broke off after {received} of {length} bytes")


def _request(url: str) -> urllib.request.Request:
    return urllib.request.Request(url, headers={"User-Agent": _AGENT})  # noqa: S310 - checked


def _length(source: Source, response: Any) -> int | None:
    """Return the length a response announces, checked against the limit; None without one."""
    if response.status != 200:
        raise _not_had(source, f"HTTP {response.status} from {response.url}")
    announced = response.headers.get("Content-Length", "")
    if not announced.isdecimal():
        return None
    _check_size(source, int(announced))
    return int(announced)


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


def _opener(
    source: Source, transport: urllib.request.BaseHandler | None
) -> urllib.request.OpenerDirector:
    """Return an opener that knows https and nothing else: no http, ftp, file or data addresses."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        transport or urllib.request.HTTPSHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        _CheckedRedirects(source),
    ):
        opener.add_handler(handler)
    return opener


def _check_address(source: Source, url: str) -> None:
    """Refuse an address that is not https on the standard port of an allowed host."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    plain = parts.username is None and parts.password is None and port in (None, 443)
    if parts.scheme != "https" or parts.hostname not in source.allowed_hosts or not plain:
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
