"""A starter manifest says what the files say, and leaves to a person what only a person can say."""

import errno
import os
import tomllib
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from policyproof_assets.errors import ManifestError
from policyproof_assets.manifests import Corpus, Document
from policyproof_assets.project import Project
from policyproof_assets.starter import write_starter
from policyproof_runtime.digest import Digest
from policyproof_runtime.errors import StoreError

FRONT_MATTER = """\
---
doc_id: HR-1
title: Leave
classification: internal
acl: [staff]
version: 2
supersedes: 1
---
# Another title
"""


def starter(folder, **files):
    """Write files by name, ``__`` for the dot, and the starter; return its documents by path."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_text(text, encoding="utf-8")
    write_starter(folder)
    data = tomllib.loads((folder / "corpus.toml").read_text("utf-8"))
    return {document["path"]: document for document in data["documents"]}


def write_pdf(path, title=None):
    canvas = Canvas(str(path))
    if title:
        canvas.setTitle(title)
    canvas.drawString(72, 700, "Some words.")
    canvas.save()


def test_digest_format_profile_and_title_come_from_the_file(tmp_path):
    text = "Words before.\n\n# Remote *work* #\n"
    found = starter(tmp_path / "Our rules", a__md=text, b__html="<p>x<h1>On &amp; <b>off</b></h1>")
    assert found["a.md"]["sha256"] == Digest.of(text.encode()).hex
    assert (found["a.md"]["format"], found["a.md"]["profile"]) == ("markdown", "markdown")
    assert (found["b.html"]["format"], found["b.html"]["profile"]) == ("html", "html")
    assert found["a.md"]["title"] == "Remote *work*"
    assert found["b.html"]["title"] == "On & off"


@pytest.mark.parametrize(
    ("given", "title"),
    [("Rules of the house", "Rules of the house"), (None, "site rules"), ("x.docx", "site rules")],
)
def test_the_title_of_a_pdf_is_its_own_unless_a_program_made_it_up(tmp_path, given, title):
    write_pdf(tmp_path / "site-rules.pdf", given)
    found = starter(tmp_path)["site-rules.pdf"]
    assert (found["title"], found["profile"]) == (title, "auto")


def test_a_file_that_is_no_pdf_is_left_to_the_build(tmp_path):
    assert starter(tmp_path, broken__pdf="no pdf")["broken.pdf"]["title"] == "broken"


def test_a_build_refuses_a_starter_nobody_has_decided_on(tmp_path):
    starter(tmp_path, a__md="# A\n\nText.\n")
    with pytest.raises(ManifestError, match=r"a\.acl still says TODO") as caught:
        Project().corpus(str(tmp_path))
    assert "a.classification still says TODO" in str(caught.value)
    assert "at least" not in str(caught.value)


def test_a_decided_starter_is_a_corpus(tmp_path):
    starter(tmp_path, a__md='# A "quoted" \\ title\n\nText.\n')
    path = tmp_path / "corpus.toml"
    decided = path.read_text("utf-8").replace('["TODO"]', '["staff"]').replace("TODO", "internal")
    path.write_text(decided, "utf-8")
    document = Project().corpus(str(tmp_path)).document("a")
    assert document.title == 'A "quoted" \\ title'
    assert (document.acl, document.classification) == (("staff",), "internal")


def test_a_document_that_says_who_may_read_it_is_taken_as_it_says(tmp_path):
    found = starter(tmp_path, leave__md=FRONT_MATTER + "\nText.\n")["leave.md"]
    assert (found["id"], found["title"], found["acl"]) == ("HR-1-v2", "Leave", ["staff"])
    assert Project().corpus(str(tmp_path)).document("HR-1-v2").supersedes == "HR-1-v1"


def test_ids_are_unique_where_names_are_not(tmp_path):
    (tmp_path / "pay").mkdir()
    (tmp_path / "pay" / "leave.md").write_text("# Pay\n")
    found = starter(tmp_path, leave__md="# Leave\n", leave__html="<h1>Leave</h1>")
    assert sorted(d["id"] for d in found.values()) == ["leave", "leave-2", "pay-leave"]


def test_a_manifest_is_never_overwritten(tmp_path):
    path = tmp_path / "corpus.toml"
    starter(tmp_path, a__md="# A\n")
    before = path.read_bytes()
    with pytest.raises(ManifestError, match="is not overwritten"):
        write_starter(tmp_path)
    assert path.read_bytes() == before


def test_a_full_disk_leaves_no_manifest_and_the_next_time_succeeds(tmp_path, monkeypatch):
    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a.md").write_text("# A\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="no room"):
            write_starter(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
    assert list(starter(tmp_path)) == ["a.md"]


@pytest.mark.parametrize("name", ["a.md", "a.html", "a.pdf"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch, name):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    (tmp_path / name).write_text("# A\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ManifestError, match=rf"{name} cannot be read: Permission denied"):
        write_starter(tmp_path)


def test_a_name_that_is_not_utf8_is_named_and_leaves_no_manifest(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.md")
    path.write_text("# A\n")
    with pytest.raises(ManifestError, match="is not UTF-8") as caught:
        starter(tmp_path)
    assert caught.value.found == b"caf\xe9.md"
    assert not (tmp_path / "corpus.toml").exists()
    path.rename(tmp_path / "café.md")
    assert list(starter(tmp_path)) == ["café.md"]


def test_a_folder_without_documents_gets_no_manifest(tmp_path):
    with pytest.raises(ManifestError, match="no document"):
        write_starter(tmp_path)
    assert not (tmp_path / "corpus.toml").exists()


@pytest.mark.parametrize("model", [Corpus, Document])
def test_every_key_is_described(model, manifests):
    text = (manifests.parent / "docs" / "your-documents.md").read_text("utf-8")
    keys = set(model.model_fields) - {"documents", "export", "folder"}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
