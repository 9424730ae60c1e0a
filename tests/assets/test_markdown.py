"""Markdown files: lines, headings, roles, front matter."""

import pytest

from policyproof_assets.corpus import markdown
from policyproof_assets.corpus.exclusions import exclude_lines
from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.markdown import front_matter, read_markdown
from policyproof_assets.corpus.profiles import Review, load_profile
from policyproof_assets.corpus.recitals import Recitals
from policyproof_assets.errors import ExtractError, ManifestError

POLICY = """---
doc_id: DAT-001
acl: [staff]
classification: internal
---
# Data **policy** of `us`

Opening words.

Retention
of readings
---

- One
  - Two

## A [link](https://example.org) here ##

```
# not a heading
---
```

    # nor this

| Class | Years |
|:------|------:|
| A     | 2     |

***

> ## Quoted heading
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="policy.md"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def profile(manifests):
    return load_profile(manifests / "profiles" / "markdown.toml")


def headings(path, profile):
    lines = Lines.from_pages(read_markdown(path, "doc"))
    frame = find_headings(lines, profile, Review(document_id="doc"))
    return list(frame.select("start_line", "end_line", "type", "text").iter_rows())


def test_lines_of_the_page_are_lines_of_the_file(write):
    frame = read_markdown(write(POLICY), "doc")
    assert frame.select("document_id", "page").row(0) == ("doc", 1)
    assert frame["text"][0].splitlines() == POLICY.splitlines()


def test_headings_are_those_of_commonmark(write, profile):
    assert headings(write(POLICY), profile) == [
        (6, 6, "level-1", "Data policy of us"),
        (10, 12, "level-2", "Retention of readings"),
        (17, 17, "level-2", "A link here"),
        (32, 32, "level-2", "Quoted heading"),
    ]


def test_roles_say_what_is_no_content(write):
    lines = Lines.from_pages(read_markdown(write(POLICY), "doc"))
    roles = {
        n: layout["role"] for n, layout in enumerate(lines.layout, 1) if layout["role"] != "text"
    }
    assert roles == {
        **dict.fromkeys(range(1, 6), "metadata"),
        26: "table",
        27: "separator",
        28: "table",
        30: "separator",
    }


def test_the_ledger_leaves_out_metadata_and_separators(write, profile):
    lines = Lines.from_pages(read_markdown(write(POLICY), "doc"))
    nothing = Recitals(starts=(), end=0, notes=frozenset())
    excluded = exclude_lines(lines, [], nothing, 0, profile.ledger)
    reasons = {lines.line[i]: row.reason for i, row in excluded.items() if lines.text[i].strip()}
    assert reasons == {
        **dict.fromkeys(range(1, 6), "document_metadata"),
        27: "separator",
        30: "separator",
    }


def test_a_rule_at_the_top_is_no_front_matter_without_its_end(write, profile):
    assert headings(write("---\n# Policy\n\nText.\n"), profile) == [(2, 2, "level-1", "Policy")]


def test_a_file_without_headings_is_text(write, profile):
    assert headings(write("Only a sentence.\n"), profile) == []


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_of_every_system_count_the_same(write, end):
    frame = read_markdown(write("# A\n\nb\n".replace("\n", end)), "doc")
    assert frame["text"][0] == "# A\n\nb"


def test_signs_that_are_not_seen_are_left_out_and_split_no_line(write):
    text = "\ufeff# A\u202epolicy\u2066\n\nb\x0bc\u2028d\x00\u200b\n"
    frame = read_markdown(write(text), "doc")
    assert frame["text"][0] == "# Apolicy\n\nb c d"
    assert len(frame["layout"][0]) == 3


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no text"),
        (b"---\na: 1\n---\n\n", "no text"),
        ("# Ä\n".encode("latin-1"), "line 1 is not UTF-8"),
        (b"# A\n\n\xff\xfe", "line 3 is not UTF-8"),
        (b"a" * 200_000, "line 1 is over the limit"),
    ],
)
def test_unreadable_files_are_refused_by_name_and_reason(write, data, reason):
    with pytest.raises(ExtractError, match=rf"policy\.md: {reason}"):
        read_markdown(write(data), "doc")


def test_a_file_over_the_limit_or_absent_is_refused(write, tmp_path, monkeypatch):
    monkeypatch.setattr(markdown, "MAX_BYTES", 2)
    with pytest.raises(ExtractError, match="over the limit"):
        read_markdown(write("# A"), "doc")
    with pytest.raises(ExtractError, match=r"absent\.md: cannot be read"):
        read_markdown(tmp_path / "absent.md", "doc")


def test_deep_nesting_is_read_in_bounded_time(write):
    path = write("# A\n\n" + "> " * 20_000 + "deep\n" + "- " * 20_000 + "x\n")
    assert read_markdown(path, "doc").height == 1


def test_front_matter_is_plain_data(write):
    assert front_matter(write(POLICY)) == {
        "doc_id": "DAT-001",
        "acl": ["staff"],
        "classification": "internal",
    }


GOOD = "acl: [staff]\nclassification: internal\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# A\n", "no front matter"),
        ("---\nacl: [staff]\n---\n", "classification must be stated"),
        ("---\nclassification: public\n---\n", "acl must be stated"),
        ("---\nacl: []\nclassification: public\n---\n", "acl must be stated"),
        ("---\ntitle: x\n---\n", "acl and classification must be stated"),
        (f"---\n{GOOD}acl: [all]\n---\n", "line 4: duplicate key 'acl'"),
        (f"---\n{GOOD}title: a: b\n---\n", "not valid YAML, line 4"),
        (f"---\n{GOOD}a: &x [1]\nb: *x\n---\n", "aliases are not allowed"),
        (f"---\n{GOOD}a: !!python/name:os.system x\n---\n", "could not determine a constructor"),
        (f"---\n{GOOD}a: {'[' * 5000}\n---\n", "not valid YAML"),
        (f"---\n{GOOD}a: {'x' * 70_000}\n---\n", "front matter over"),
        (f"---\n{GOOD}date: 2026-13-45\n---\n", "month must be in"),
        ("---\n- acl\n---\n", "no mapping"),
    ],
)
def test_faulty_front_matter_is_refused_by_file_and_reason(write, text, reason):
    with pytest.raises(ManifestError, match=reason) as error:
        front_matter(write(text))
    assert "policy.md" in str(error.value)
