"""What a question or a passage refers to by name: provisions, documents and defined terms.

Which names there are is read off the corpus: "Article 26" is a name because a label opens with it,
"GOVERN 1.1" and "3.2" likewise; a document is known by its title and the names its manifest gives,
a term by the sentence that defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.provisions import Grammar, provision_name
from policyproof_runtime.terms import STOP_WORDS, content_terms, contract_terms, stem

SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("passages", pa.list_(pa.int32()), nullable=False),
    ]
)
#: A passage's own label is a provision's, a heading above it a container's.
KINDS = ("provision", "container", "document", "definition", "citation", "code")

# A heading that is one word, or a number and one word: "GOVERN", "5.1 Govern".
_WORD = re.compile(r"(?:\d+(?:\.\d+)*\.? )?([A-Za-z]+)")
# What an entry of a list is known by: "GV-1.1-001".
_CODE = re.compile(r"\b[A-Z]{1,5}-\d[\d.]*(?:-\d+)+\b")
# "Article 26 of the GDPR", "Article 7 of the Data Act": so is a provision, called as in laws, of a
# source with a name, unless it is a document of the corpus. One word, such as Act, is no name.
_OF_NAMED = re.compile(
    r"\b((?:[Aa]rt(?:icle)?s?\.?|[Rr]ecitals?|[Aa]nnex)\s\(?(?:\d[\d.]*|[IVXLC]+)\)?(?:\s?\(\w+\))*)\s+of\s+(?:the\s+)?"
    r"((?:[A-Z][A-Z]+\b|[A-Z][\w’'-]*\s+(?:(?:on|of|for|and|the)\s+)*(?:\([A-Z]+\)\s+)?(?:[A-Z]|\d+/))"
    r"[\w/’'-]*(?:\s+(?:[A-Z]|\d+/)[\w/’'-]*)*)"
)
_LETTERS = re.compile(r"[^\W_]+")

_QUOTED = r"[‘“\"']([^‘’“”\"'\n]{2,60})[’”\"']"
_DEFINED = re.compile(
    rf"{_QUOTED}(?:\s+or\s+[‘“\"'][^’”\"']+[’”\"'])?\s+(?:means|refers to)\b"
    r"|(?:^|[.;:(]\s+|\bterm\s+)(?:an?\s|the\s)?((?:[\w-]+\s){1,5}?)"
    r"(?:refers? to|(?:is|are) defined as)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CUE = re.compile(
    r"\b(?:what(?:'s| is| are| does| makes| counts as| qualifies as)|means? by|meant by|defines?|"
    r"definitions? of|meanings? of|differ(?:s|ent)? from|difference between|and)\s+"
    r"(?=(?:an? |the |[‘“\"'])*(.{2,80}))",
    re.IGNORECASE,
)
_ASKS_MEANING = re.compile(
    r"\b(?:what(?:'s| is| are)|mean(?:s|t|ing)?|defin\w+|differ\w*|terms?)\b", re.IGNORECASE
)


def issuers(publishers: Iterable[str]) -> re.Pattern[str]:
    """Return what finds the name of a publisher: a capitalised word of it, or its initials.

    "European Union" is known by European, Europe and EU.
    """
    found: set[str] = set()
    for name in publishers:
        words = re.findall(r"\b[A-Z][\w-]+", name)
        found |= {word[:6] for word in words[:1] if len(word) > 4}
        found |= {"".join(w[0] for w in words[i:]) for i in range(len(words) - 1)}
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, found))) or '(?!)'})")


def find_references(
    documents: Sequence[str],
    labels: Sequence[str],
    paths: Sequence[Sequence[str]],
    texts: Sequence[str],
    names: Mapping[str, Iterable[str]],
) -> pa.Table:
    """Return the names of a corpus and the passages each stands for (SCHEMA), sorted.

    The sequences are parallel, one item a passage; ``names`` are those of documents, by id.
    """
    rows: dict[tuple[str, str, str], list[int]] = {}

    def add(kind: str, document: str, name: str | None, passage: int) -> None:
        passages = rows.setdefault((kind, document, name), []) if name else [passage]
        if passages[-1:] != [passage]:
            passages.append(passage)

    for i, (document, label, path) in enumerate(zip(documents, labels, paths, strict=True)):
        add("provision", document, provision_name(label), i)
        for heading in path:
            if heading != label:
                add("container", document, provision_name(heading), i)
            if word := _WORD.fullmatch(heading):
                add("container", document, word[1].lower(), i)
        for name in names.get(document, ()):
            add("document", document, " ".join(contract_terms(name)), i)
        for term in defined_terms(texts[i]):
            add("definition", document, term, i)
        for code in _CODE.findall(texts[i]):
            add("code", document, code, i)
    provisions: dict[str, list[str]] = {document: [] for document in documents}
    for kind, document, name in rows:
        if kind == "provision":
            provisions[document].append(name)
    own = {document: Grammar(found) for document, found in provisions.items()}
    for i, (document, label) in enumerate(zip(documents, labels, strict=True)):
        for mention in own[document].mentions(texts[i]):
            if mention.name != provision_name(label):
                add("citation", document, mention.name, i)
    table = [(*key, passages) for key, passages in sorted(rows.items())]
    return pa.table([list(c) for c in zip(*table, strict=True)] or [[]] * 4, SCHEMA)


def defined_terms(text: str) -> list[str]:
    """Return the terms that ``text`` defines, as stems."""
    found = [(match[1] or match[2]) for match in _DEFINED.finditer(text)]
    return [name for name in dict.fromkeys(map(_term, found)) if name]


def _term(text: str) -> str:
    terms = contract_terms(text)
    if not terms or terms[0] in STOP_WORDS:
        return ""
    return " ".join(map(stem, terms))


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names, as positions of passages.

    ``documents`` has the passages of each document, ``provisions`` those of each provision or coded
    entry with its points, ``containers`` all below a heading, ``definitions`` those that define a
    term.
    """

    documents: Mapping[str, Sequence[int]] = field(default_factory=dict)
    provisions: Sequence[tuple[Sequence[int], tuple[str, ...]]] = ()
    containers: Sequence[Sequence[int]] = ()
    definitions: Sequence[int] = ()


class References:
    """The names of a corpus, ready to be found in a question."""

    def __init__(self, table: pa.Table) -> None:
        """Read ``table`` (SCHEMA); raises ReleaseError on a kind this version does not know."""
        self._by: dict[str, dict[str, dict[str, list[int]]]] = {kind: {} for kind in KINDS}
        for row in table.to_pylist():
            if row["kind"] not in self._by:
                raise ReleaseError(
                    "the release has references of an unknown kind",
                    expected=KINDS,
                    found=row["kind"],
                    action="install the PolicyProof version that wrote the release",
                )
            names = self._by[row["kind"]].setdefault(row["name"], {})
            names[row["document_id"]] = row["passages"]
        self._grammar = Grammar([*self._by["provision"], *self._by["container"]])
        words = {name.split()[0] for name in self._by["provision"]}
        loose = [n.upper() for n in self._by["container"] if n in words]
        self._word = re.compile(rf"\b(?:{'|'.join(loose) or '(?!)'})\b(?! \d)")
        self._cited: dict[int, list[list[int]]] = {}
        for name, documents in self._by["citation"].items():
            for document, passages in documents.items():
                for passage in passages:
                    target = self._by["provision"][name][document]
                    self._cited.setdefault(passage, []).append(target)

    def cited(self, passage: int) -> list[list[int]]:
        """Return the passages of each provision that ``passage`` cites."""
        return self._cited.get(passage, [])

    def named(self, question: str) -> Named:
        """Return what ``question`` names."""
        documents = self._documents(question)
        provisions: list[tuple[Sequence[int], tuple[str, ...]]] = []
        containers: list[Sequence[int]] = []
        for code in _CODE.findall(question.upper()):
            provisions += [(held, ()) for held in self._places("code", code, documents)]
        for mention in self._grammar.mentions(self._own(question)):
            for passages in self._places("provision", mention.name, documents):
                provisions.append((passages, mention.points))
            containers += self._places("container", mention.name, documents)
        for match in self._word.finditer(question):
            containers += self._places("container", match[0].lower(), documents)
        return Named(documents, provisions, containers, self._definitions(question, documents))

    def foreign(self, question: str) -> list[str]:
        """Return the provisions that ``question`` names of sources that are not documents here."""
        named = _OF_NAMED.finditer(question)
        return [m[0] for m in named if not self._is_own(m[2]) and not self._is_provision(m[2])]

    def _is_provision(self, name: str) -> bool:
        return bool(self._grammar.mentions(name))

    def _is_own(self, name: str) -> bool:
        """Return whether ``name`` names a document, or has only words of the names of one."""
        words = set(map(stem, content_terms(name)))
        titles = (set(map(stem, known.split())) for known in self._by["document"])
        return bool(self._documents(name)) or any(words <= title for title in titles if words)

    def _own(self, question: str) -> str:
        """Return ``question`` without foreign provisions, and own ones without their source."""

        def kept(named: re.Match[str]) -> str:
            if self._is_provision(named[2]):
                return named[0]
            return f"{named[1]} " if self._is_own(named[2]) else " "

        return _OF_NAMED.sub(kept, question)

    def _places(
        self, kind: str, name: str, documents: Mapping[str, Sequence[int]]
    ) -> list[list[int]]:
        """Return the passages of a name by document: of the named documents if any has it.

        A name that many documents share, such as section 4, says nothing unless one is named.
        """
        places = self._by[kind].get(name, {})
        chosen = [passages for d, passages in places.items() if d in documents]
        return chosen or (list(places.values()) if len(places) <= _MAX_DOCUMENTS else [])

    def _documents(self, question: str) -> dict[str, Sequence[int]]:
        """Return the documents a question names and the passages of each.

        One whose words are only some of those that name another is not meant: NIST in "NIST AI
        RMF" does not name everything NIST publishes.
        """
        covered: dict[str, set[int]] = {}
        passages: dict[str, Sequence[int]] = {}
        for start, stop, named in self._names(contract_terms(question)):
            for document, held in named.items():
                covered.setdefault(document, set()).update(range(start, stop))
                passages[document] = held
        return {
            d: passages[d]
            for d, own in covered.items()
            if not any(own < c for c in covered.values())
        }

    def _names(self, terms: Sequence[str]) -> Iterator[tuple[int, int, Mapping[str, list[int]]]]:
        """Yield where ``terms`` name a document, as (start, stop), with its passages by its id."""
        for start in range(len(terms)):
            for stop in range(start + 1, min(len(terms), start + _MAX_NAME) + 1):
                if named := self._by["document"].get(" ".join(terms[start:stop])):
                    yield start, stop, named

    def subject(self, question: str) -> str:
        """Return ``question`` without the names of documents; whole if nothing else is asked."""
        words = [(t, w.span()) for w in _LETTERS.finditer(question) for t in contract_terms(w[0])]
        terms = [term for term, _ in words]
        letters = list(question)
        for start, stop, _ in self._names(terms):
            first = start - 1 if terms[:start][-1:] == ["the"] else start
            last = stop if terms[stop : stop + 1] == ["s"] else stop - 1
            begin, end = words[first][1][0], words[last][1][1]
            letters[begin:end] = " " * (end - begin)
        rest = " ".join("".join(letters).split())
        return rest if content_terms(rest) else question

    def _definitions(self, question: str, documents: Mapping[str, Sequence[int]]) -> list[int]:
        if not _ASKS_MEANING.search(question):
            return []
        found: dict[int, None] = {}
        for match in _CUE.finditer(question):
            if match[0].lower().startswith("and") and not found:
                continue  # "obligations of X and Y" asks for no definition of Y
            name = self._defined(contract_terms(match[1]))
            places = self._by["definition"].get(name, {})
            chosen = {d: p for d, p in places.items() if d in documents} or places
            found |= dict.fromkeys(p for passages in chosen.values() for p in passages)
        return list(found)

    def _defined(self, terms: list[str]) -> str:
        """Return the longest defined term that ``terms`` open with and that ends there."""
        while terms and terms[0] in STOP_WORDS:
            terms = terms[1:]
        for stop in range(min(len(terms), _MAX_NAME), 0, -1):
            if stop == len(terms) or terms[stop] in STOP_WORDS:
                name = " ".join(map(stem, terms[:stop]))
                if name in self._by["definition"]:
                    return name
        return ""


_MAX_NAME = 8
_MAX_DOCUMENTS = 3
