"""Source documents: where they come from, and everything that is refused on the way."""

import errno
import io
import os
import urllib.request
import urllib.response
from email.message import Message

import pytest

from policyproof_assets.corpus import sources
from policyproof_assets.corpus.sources import Source, locate
from policyproof_assets.errors import SourceError
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError

BODY = b"%PDF-1.7 the document\n" * 9000  # more than one chunk
URL = "https://official.example/doc.pdf"


class Body(io.BytesIO):
    """A response body that can break off with an error."""

    def __init__(self, data, error=None):
        super().__init__(data)
        self.error = error

    def read1(self, size=-1):
        chunk = super().read1(size)
        if not chunk and self.error:
            raise self.error
        return chunk


class Site(urllib.request.HTTPSHandler):
    """Answers https requests from a table: address -> (code, headers, body) or an exception."""

    def __init__(self, **answers):
        super().__init__()
        self.answers = {URL: answers.pop("answer")} if "answer" in answers else {}
        self.asked = []

    def https_open(self, request):
        self.asked.append(request.full_url)
        answer = self.answers[request.full_url]
        if isinstance(answer, Exception):
            raise answer
        code, fields, body = answer
        headers = Message()
        for name, value in fields.items():
            headers[name] = value
        body = body if isinstance(body, Body) else Body(body)
        response = urllib.response.addinfourl(body, headers, request.full_url, code)
        response.msg = "reason"
        return response


def ok(body=BODY, **fields):
    return 200, {"Content-Length": str(len(body)), **fields}, body


def moved(to, code=302):
    return code, {"Location": to}, b""


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "store" / "sources"


def pinned(body=BODY, **changes):
    settings = {"url": URL, "allowed_hosts": ("official.example", "files.example"), **changes}
    return Source("doc", Digest.of(body), **settings)


def refused(cache, site, source=None, match="", directory=None):
    """Expect a SourceError and that nothing is left in the cache; return the error."""
    with pytest.raises(SourceError, match=match) as caught:
        locate(source or pinned(), cache, directory, site)
    assert not cache.exists() or list(cache.iterdir()) == []
    return caught.value


# Where documents come from


def test_a_download_is_kept_under_its_digest_and_read_only(cache):
    site = Site(answer=ok())
    path = locate(pinned(), cache, transport=site)
    assert path == cache / Digest.of(BODY).hex
    assert path.read_bytes() == BODY
    assert path.stat().st_mode & 0o222 == 0
    assert [entry.name for entry in cache.iterdir()] == [path.name]


def test_what_the_cache_holds_is_not_fetched_again(cache):
    site = Site(answer=ok())
    locate(pinned(), cache, transport=site)
    locate(pinned(), cache, transport=site)
    assert site.asked == [URL]


@pytest.mark.parametrize("suffix", [".pdf", ".md", ".html"])
def test_a_file_at_hand_is_taken_before_the_address(cache, tmp_path, suffix):
    (tmp_path / f"doc{suffix}").write_bytes(BODY)
    site = Site()
    path = locate(pinned(), cache, tmp_path, site)
    assert path.read_bytes() == BODY
    assert path.parent == cache
    assert site.asked == []


def test_the_cache_comes_before_the_file_at_hand(cache, tmp_path):
    (tmp_path / "doc.pdf").write_bytes(BODY)
    locate(pinned(), cache, tmp_path)
    (tmp_path / "doc.pdf").write_bytes(b"edited since")
    assert locate(pinned(), cache, tmp_path).read_bytes() == BODY


def test_a_file_beside_the_manifest_needs_no_address(cache, tmp_path):
    beside = tmp_path / "policy-2024.md"
    beside.write_bytes(BODY)
    source = Source("doc", Digest.of(BODY), beside=beside)
    assert locate(source, cache).read_bytes() == BODY


def test_of_several_files_at_hand_the_pinned_one_is_taken(cache, tmp_path):
    (tmp_path / "doc.pdf").write_bytes(b"an older rendering")
    (tmp_path / "doc.html").write_bytes(BODY)
    assert locate(pinned(), cache, tmp_path).read_bytes() == BODY


def test_a_folder_without_the_document_leads_to_the_address(cache, tmp_path):
    site = Site(answer=ok())
    assert locate(pinned(), cache, tmp_path, site).read_bytes() == BODY


# What is refused


def test_another_document_than_the_pinned_one_is_refused(cache):
    error = refused(cache, Site(answer=ok(b"a sign-in page")), match="not the document")
    assert (error.expected, error.found) == (Digest.of(BODY), Digest.of(b"a sign-in page"))


def test_another_file_at_hand_is_refused_and_the_address_not_asked(cache, tmp_path):
    (tmp_path / "doc.pdf").write_bytes(b"another version")
    site = Site(answer=ok())
    refused(cache, site, match=r"doc\.pdf is not the document", directory=tmp_path)
    assert site.asked == []


def test_a_corrupt_file_of_the_cache_is_reported_and_stays(cache):
    path = locate(pinned(), cache, transport=Site(answer=ok()))
    path.chmod(0o644)
    path.write_bytes(b"corrupt")
    with pytest.raises(SourceError, match="kept file") as caught:
        locate(pinned(), cache, transport=Site(answer=ok()))
    assert caught.value.action == "remove it"
    assert path.read_bytes() == b"corrupt"


@pytest.mark.parametrize(
    "url",
    [
        "http://official.example/doc.pdf",
        "https://elsewhere.example/doc.pdf",
        "https://official.example.evil.example/doc.pdf",
        "https://official.example@evil.example/doc.pdf",
        "https://user:secret@official.example/doc.pdf",
        "https://official.example:8443/doc.pdf",
        "https://official.example:port/doc.pdf",
        "file:///etc/hostname",
        "ftp://official.example/doc.pdf",
        "data:application/pdf,%25PDF",
        "//official.example/doc.pdf",
        "",
    ],
)
def test_addresses_other_than_https_on_an_allowed_host_are_never_opened(cache, url):
    site = Site()
    error = refused(cache, site, pinned(url=url), match="address is not allowed")
    assert "official.example" in error.expected
    assert site.asked == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_within_the_allowed_hosts_are_followed(cache, code):
    site = Site(answer=moved("https://files.example/a", code))
    site.answers["https://files.example/a"] = moved("/b")
    site.answers["https://files.example/b"] = ok()
    assert locate(pinned(), cache, transport=site).read_bytes() == BODY
    assert site.asked == [URL, "https://files.example/a", "https://files.example/b"]


@pytest.mark.parametrize(
    "target",
    [
        "http://files.example/doc.pdf",
        "https://evil.example/doc.pdf",
        "https://files.example@evil.example/",
        "//evil.example/doc.pdf",
        "ftp://files.example/doc.pdf",
    ],
)
def test_a_redirect_that_leads_elsewhere_is_not_followed(cache, target):
    site = Site(answer=moved("https://files.example/a"))
    site.answers["https://files.example/a"] = moved(target)
    refused(cache, site, match="address is not allowed")
    assert site.asked == [URL, "https://files.example/a"]


def test_a_redirect_to_a_local_file_is_not_followed(cache):
    error = refused(cache, Site(answer=moved("file:///etc/hostname")), match="cannot be had")
    assert "HTTP 302" in error.found


def hops(count):
    site = Site(answer=moved("https://files.example/1"))
    for hop in range(1, count):
        site.answers[f"https://files.example/{hop}"] = moved(f"/{hop + 1}")
    site.answers[f"https://files.example/{count}"] = ok()
    return site


def test_five_redirects_are_followed_and_six_are_not(cache, tmp_path):
    assert locate(pinned(), cache, transport=hops(5)).read_bytes() == BODY
    other = tmp_path / "other"
    error = refused(other, hops(6), match="cannot be had")
    assert "HTTP 302" in error.found


def test_a_redirect_to_itself_ends(cache):
    refused(cache, Site(answer=moved(URL)), match="cannot be had")


def test_a_size_over_the_limit_that_was_not_announced_is_refused(cache):
    site = Site(answer=(200, {}, BODY))
    refused(cache, site, pinned(max_bytes=len(BODY) - 1), match="larger than the limit")


def test_a_file_at_hand_over_the_limit_is_refused(cache, tmp_path):
    (tmp_path / "doc.pdf").write_bytes(BODY)
    refused(cache, None, pinned(max_bytes=10), "larger than the limit", tmp_path)


def test_a_transfer_that_ends_early_says_how_much_is_missing(cache):
    site = Site(answer=(200, {"Content-Length": str(len(BODY))}, BODY[:70_000]))
    error = refused(cache, site, match="cannot be had")
    assert f"broke off {len(BODY) - 70_000} bytes before its end" in error.found


@pytest.mark.parametrize(
    "error", [ConnectionResetError("reset"), TimeoutError("timed out")], ids=["reset", "timeout"]
)
def test_a_transfer_that_fails_midway_leaves_nothing(cache, error):
    answer = (200, {"Content-Length": str(len(BODY))}, Body(BODY[:70_000], error))
    assert type(error).__name__ in refused(cache, Site(answer=answer), match="cannot be had").found


def test_a_server_that_drips_is_given_up(cache, monkeypatch):
    monkeypatch.setattr(sources, "TOTAL_TIMEOUT", -1.0)
    assert "no end of" in refused(cache, Site(answer=ok()), match="cannot be had").found


@pytest.mark.parametrize("code", [403, 404, 500])
def test_an_answer_that_is_an_error_is_told(cache, code):
    error = refused(cache, Site(answer=(code, {}, b"<html>")), match="cannot be had")
    assert f"HTTP {code}" in error.found
    assert "POLICYPROOF_SOURCES" in error.action


def test_without_network_the_message_says_what_to_do(cache):
    site = Site(answer=urllib.error.URLError("Name or service not known"))
    error = refused(cache, site, match="doc: the document cannot be had")
    assert error.expected == URL
    assert "put doc.pdf" in error.action


def test_a_document_without_file_and_address_cannot_be_had(cache, tmp_path):
    source = Source("doc", Digest.of(BODY), beside=tmp_path / "absent.md")
    error = refused(cache, None, source, match="cannot be had")
    assert error.found == f"no file {tmp_path}/absent.md and no address"


def test_a_full_disk_leaves_nothing(cache, monkeypatch):
    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    cache.mkdir(parents=True)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="no room"):
        locate(pinned(), cache, transport=Site(answer=ok()))
    assert list(cache.iterdir()) == []


def test_an_interrupt_leaves_nothing(cache):
    answer = (200, {}, Body(BODY, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        locate(pinned(), cache, transport=Site(answer=answer))
    assert list(cache.iterdir()) == []


def test_the_accepted_documents_are_found_by_their_digests(cache, shared):
    for path in sorted((shared / "sources").glob("[!l]*.pdf"))[:1]:
        source = Source(path.stem, Digest.of(path.read_bytes()))
        assert locate(source, cache, shared / "sources").read_bytes() == path.read_bytes()
