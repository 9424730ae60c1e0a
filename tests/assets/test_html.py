"""HTML pages: what a reader sees of each line of the file."""

import pytest

from policyproof_assets.corpus.headings import find_headings
from policyproof_assets.corpus.html import read_html
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.profiles import Review, load_profile
from policyproof_assets.errors import ExtractError

PAGE = """<!doctype html>
<html><head><title>Not seen</title>
<style>p { color: red }</style></head>
<body>
<nav><a href="/">Home</a></nav>
<h1>Data <em>policy</em></h1>
<p>Readings are kept for <b>two</b> years &amp;
a day<sup>1</sup>.</p>
<script>var a = "<p>not seen</p>";</script>
<h2>
  Who may
  read
</h2>
<ul><li>staff</li><li>auditors</li></ul>
<table>
<tr><th>Class</th><th>Years</th></tr>
<tr><td>A</td><td>2</td></tr>
</table>
<!-- not seen -->
<footer>Page foot</footer>
</body></html>
"""


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return Lines.from_pages(read_html(path, "doc"))


def test_a_line_says_what_is_seen_of_it(lines):
    seen = {n: text for n, text in zip(lines.line, lines.text, strict=True) if text}
    assert seen == {
        5: "Home",
        6: "Data policy",
        7: "Readings are kept for two years &",
        8: "a day1.",
        11: "Who may",
        12: "read",
        14: "staff auditors",
        16: "Class | Years",
        17: "A | 2",
        20: "Page foot",
    }


def test_navigation_and_tables_are_known(lines):
    roles = {
        lines.line[i]: layout["role"] for i, layout in enumerate(lines.layout) if lines.text[i]
    }
    assert {n for n, role in roles.items() if role == "furniture"} == {5, 20}
    assert {n for n, role in roles.items() if role == "table"} == {16, 17}


def test_headings_are_h1_to_h6(lines, manifests):
    profile = load_profile(manifests / "profiles" / "html.toml")
    frame = find_headings(lines, profile, Review(document_id="doc"))
    assert list(frame.select("start_line", "end_line", "type", "text").iter_rows()) == [
        (6, 6, "level-1", "Data policy"),
        (11, 13, "level-2", "Who may read"),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<p></p><script>x</script>", "no text"),
        (b"<p>\xff</p>", "line 1 is not UTF-8"),
        (b"<p>a" * 600_000, "over the limit"),
    ],
)
def test_unreadable_pages_are_refused_by_name(tmp_path, data, reason):
    path = tmp_path / "page.html"
    path.write_bytes(data)
    with pytest.raises(ExtractError, match=rf"page\.html: .*{reason}"):
        read_html(path, "doc")


@pytest.mark.parametrize(
    "text", ["<h1>a", "</h1>a</p>", "<h1><h2>a</h1>", "<td>a<td>b", "<" * 5000 + "a"]
)
def test_broken_markup_is_read_as_far_as_it_goes(tmp_path, text):
    path = tmp_path / "page.html"
    path.write_text(text)
    assert "a" in read_html(path, "doc")["text"][0]


def read(tmp_path, body):
    path = tmp_path / "one.html"
    path.write_text(f"<html><body>\n{body}\n</body></html>", encoding="utf-8")
    return read_html(path, "doc")


@pytest.mark.parametrize(
    "body",
    [
        "<nav>Menu</nav><p>Badges are red.</p><footer>Foot</footer>",
        "<header>Top</header><main><p>Badges are red.</p></main>",
    ],
)
def test_what_surrounds_a_text_on_its_line_is_left_out_and_not_the_text(tmp_path, body):
    page = read(tmp_path, body)
    assert page["text"][0].strip() == "Badges are red."
    assert {line["role"] for line in page["layout"][0]} == {"text"}


def test_a_heading_that_shares_its_line_is_text_and_loses_nothing(tmp_path):
    after, before = "<h2>Colours</h2><p>Badges are red.</p>", "<p>So it is.</p><h2>Colours</h2>"
    for body, text in ((after, "Colours Badges are red."), (before, "So it is. Colours")):
        page = read(tmp_path, body)
        assert page["text"][0].strip() == text
        assert not any(line["outline"] for line in page["layout"][0])


def test_a_heading_beside_navigation_stays_one(tmp_path):
    page = read(tmp_path, "<nav>Menu</nav><h1>Badges</h1>\n<p>They are red.</p>")
    assert page["text"][0].split("\n")[-2:] == ["Badges", "They are red."]
    assert [line["outline"] for line in page["layout"][0]][-2:] == [1, None]
