"""A folder of documents as a corpus."""

import hashlib
import os
from pathlib import Path

import pytest

from policyproof_assets.discover import discover
from policyproof_assets.errors import ManifestError

HEADER = (
    "doc_id: {id}\ntitle: {id} policy\nversion: {version}\n"
    "acl: [staff, audit]\nclassification: internal\n"
)


@pytest.fixture
def write(tmp_path):
    def write(name, text="# A\n\nText.\n", header=None):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{header}---\n{text}" if header else text)
        return path

    return write


@pytest.fixture
def folder(write, tmp_path):
    write("b/HR-1-v2.md", header=HEADER.format(id="HR-1", version=2) + "supersedes: HR-1 v1\n")
    write(
        "a.md", header=HEADER.format(id="HR-1", version=1) + "status: superseded\ntopic: [x, y]\n"
    )
    write("c.pdf", "a pdf")
    write("c.toml", 'acl = ["all"]\nclassification = "public"\neffective_date = 2026-02-01\n')
    write("page.html", "<p>a</p>")
    write("page.toml", 'doc_id = "WEB"\nacl = ["all"]\nclassification = "public"\nversion = 3\n')
    write("README.md")
    write(".hidden/x.md")
    write("notes.txt")
    return tmp_path / "docs"


def test_documents_are_found_in_the_order_of_their_paths(folder):
    corpus = discover(folder)
    assert corpus.id == "docs"
    assert corpus.folder == folder
    found = [(d.id, d.family, d.path, d.format, d.profile) for d in corpus.documents]
    assert found == [
        ("HR-1-v1", "HR-1", "a.md", "markdown", "markdown"),
        ("HR-1-v2", "HR-1", "b/HR-1-v2.md", "markdown", "markdown"),
        ("c-v1", "c", "c.pdf", "pdf", "auto"),
        ("WEB-v3", "WEB", "page.html", "html", "html"),
    ]


def test_what_documents_say_is_taken_over(folder):
    corpus = discover(folder)
    first, second, pdf = corpus.documents[:3]
    assert (first.status, first.acl, first.classification) == (
        "superseded",
        ("staff", "audit"),
        "internal",
    )
    assert first.facts == {"topic": "x, y"}
    assert first.sha256 == hashlib.sha256((folder / "a.md").read_bytes()).hexdigest()
    assert (second.supersedes, second.version) == ("HR-1-v1", "2")
    assert (pdf.effective_date, pdf.title, pdf.licence) == ("2026-02-01", "c", "not stated")


def test_corpus_toml_names_the_corpus_and_its_licence(folder, write):
    write("corpus.toml", 'id = "rules"\ntitle = "Our rules"\nlicence = "ours"\npublisher = "Us"\n')
    corpus = discover(folder)
    assert (corpus.id, corpus.title) == ("rules", "Our rules")
    assert {(d.licence, d.publisher) for d in corpus.documents} == {("ours", "Us")}


def test_corpus_toml_with_documents_is_the_manifest(folder, write):
    sha256 = hashlib.sha256((folder / "a.md").read_bytes()).hexdigest()
    write(
        "corpus.toml",
        f"""[corpus]
id = "one"
title = "One"
[[documents]]
id = "only"
title = "A"
publisher = "Us"
licence = "ours"
version = "1"
status = "active"
classification = "public"
acl = ["all"]
profile = "markdown"
format = "markdown"
path = "a.md"
sha256 = "{sha256}"
""",
    )
    assert [d.id for d in discover(folder).documents] == ["only"]


@pytest.mark.parametrize(
    ("name", "text", "header", "reason"),
    [
        ("x.md", "# A", None, "no front matter"),
        ("x.md", "# A", "acl: [a]\n", "classification must be stated"),
        ("x.md", "# A", "classification: public\n", "acl must be stated"),
        ("x.md", "# A", "acl: staff\nclassification: public\n", "acl Input should be"),
        ("x.md", "# A", "acl: [a]\nclassification: secret\n", "classification Input should be"),
        ("x.md", "# A", "acl: [a]\nclassification: public\ndoc_id: ../x\n", "id String should"),
        ("x.pdf", "%PDF", None, "has no description"),
        ("x.md", "# A", "acl: [a]\nclassification: public\n[a]: b\n", "line 4: a key that is no"),
        ("x.md", "# A", "acl: [a]\nclassification: public\n{a: 1}: b\n", "a key that is no"),
        ("corpus.toml", 'name = "x"', None, "unknown key name"),
        ("corpus.toml", "corpus = 3", None, "must be a table"),
        ("corpus.toml", f"id = {'[' * 3000}{']' * 3000}", None, "nests too deep"),
    ],
)
def test_faults_name_the_file_and_the_reason(folder, write, name, text, header, reason):
    write(name, text, header)
    with pytest.raises(ManifestError, match=reason) as error:
        discover(folder)
    assert name in str(error.value)


def test_every_fault_is_said_at_once(folder, write):
    write("x.md")
    write("y.pdf")
    with pytest.raises(ManifestError, match=r"(?s)2 documents.*x\.md.*y\.pdf"):
        discover(folder)


def test_one_id_twice_is_refused(folder, write):
    write("z.md", header=HEADER.format(id="HR-1", version=1))
    with pytest.raises(ManifestError, match="duplicate document id: HR-1-v1"):
        discover(folder)


def test_a_folder_without_documents_is_refused(tmp_path):
    with pytest.raises(ManifestError, match="holds no document"):
        discover(tmp_path)


def test_links_out_of_the_folder_are_refused(folder, tmp_path):
    (tmp_path / "secret.md").write_text("# A")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ManifestError, match="leads out of"):
        discover(folder)


@pytest.fixture
def deny(monkeypatch):
    """Return a function that makes the system refuse one path, to root as well."""

    def deny(module, name, denied):
        real = getattr(module, name)

        def refusing(path, *arguments, **named):
            if Path(path) == denied:
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *arguments, **named)

        monkeypatch.setattr(module, name, refusing)

    return deny


def test_a_folder_that_cannot_be_read_is_named_and_not_dropped(folder, deny):
    deny(os, "scandir", folder / "b")
    with pytest.raises(ManifestError, match=f"{folder}/b cannot be read: Permission denied"):
        discover(folder)


def test_a_hidden_folder_need_not_be_readable(folder, deny):
    deny(os, "scandir", folder / ".hidden")
    assert len(discover(folder).documents) == 4


@pytest.mark.parametrize("target", ["absent.md", "link.md"])
def test_a_link_to_no_document_is_named_and_not_dropped(folder, target):
    (folder / "link.md").symlink_to(target)
    with pytest.raises(ManifestError, match=r"link\.md cannot be read"):
        discover(folder)


@pytest.mark.parametrize(
    ("method", "name"), [("stat", "a.md"), ("open", "c.pdf"), ("open", "c.toml")]
)
def test_a_file_that_cannot_be_read_is_named(folder, deny, method, name):
    deny(Path, method, folder / name)
    with pytest.raises(ManifestError, match=f"{name} cannot be read: Permission denied"):
        discover(folder)


def test_the_bundled_documents_are_described(manifests):
    corpus = discover(manifests / "handbook")
    ids = {document.id for document in corpus.documents}
    assert len(ids) >= 70
    assert all(d.supersedes is None or d.supersedes in ids for d in corpus.documents)


def test_documents_of_a_peer_are_taken_as_they_are(shared):
    corpus = discover(shared / "peer" / "documents")
    assert len(corpus.documents) == 70
    assert {d.format for d in corpus.documents} == {"markdown"}
