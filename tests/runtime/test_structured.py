"""The default method: references, definitions, synonyms, versions, and the weight of meaning."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from policyproof_runtime.asks import Asks, freeze_asks
from policyproof_runtime.bm25 import Bm25, best, freeze
from policyproof_runtime.errors import ReleaseError
from policyproof_runtime.fields import freeze_fields, priors
from policyproof_runtime.fused import Fused, Fusion
from policyproof_runtime.passages import Passages
from policyproof_runtime.provisions import Grammar, Mention, provision_name
from policyproof_runtime.references import SCHEMA, References, defined_terms, find_references
from policyproof_runtime.sentences import sentences
from policyproof_runtime.structured import Structured, Weights
from policyproof_runtime.terms import stems
from policyproof_runtime.thesaurus import Thesaurus, acronyms, freeze_thesaurus
from policyproof_runtime.versions import Versions

LABELS = ["Article 1 — Scope", "Article 2 — Terms", "ANNEX III — Uses", "Recital 4", "2.1 Owners"]
TEXTS = [
    "This applies to lifts, as set out in Annex III.",
    "‘lift’ means a machine that moves people.\n1. It moves.\n2. It stops.",
    "Hoists in mines.",
    "Lifts matter.",
    "A register of lifts is kept by its owner.",
]
PATHS = [["PART I — Rules", LABELS[0]], *([label] for label in LABELS[1:])]
DOCUMENTS = ["lifts"] * 4 + ["owners"]
NAMES = {"lifts": ["Lift Act", "agency"], "owners": ["agency", "agency owner guide"]}


@pytest.fixture
def references() -> References:
    return References(find_references(DOCUMENTS, LABELS, PATHS, TEXTS, NAMES))


@dataclass(frozen=True)
class Versioned:
    id: str
    version: str
    status: str
    effective_date: str
    family: str = "f"


def method(references: References, versions: Versions | None = None, **weights: float):
    index = Bm25(freeze([f"{a}\n{b}" for a, b in zip(LABELS, TEXTS, strict=True)], stems), 5)
    thesaurus = Thesaurus(freeze_thesaurus([["elevator", "lift"]]))
    rows = {"document_id": DOCUMENTS, "citation_text": TEXTS, "path": PATHS}
    passages = Passages(pa.table(rows), {})
    return Structured(index, references, thesaurus, Weights(**weights), passages, versions=versions)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Article 26 — Duties", "article 26"),
        ("ANNEX III — Uses", "annex iii"),
        ("GOVERN 1.1: Rules", "govern 1.1"),
        ("1.2.3 Risk", "1.2.3"),
        ("Appendix B: More", "appendix b"),
        ("Executive Summary", None),
    ],
)
def test_a_label_opens_with_its_name(label: str, name: str | None) -> None:
    assert provision_name(label) == name


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Article 26(5) and (6)", [Mention("article 26", ("5",))]),
        ("Arts. 8, 9 and 10", [Mention(f"article {n}", ()) for n in (8, 9, 10)]),
        ("articles 8 to 10", [Mention(f"article {n}", ()) for n in (8, 9, 10)]),
        ("Annex III, point 4", [Mention("annex iii", ("4",))]),
        ("annex 3", [Mention("annex iii", ())]),
        ("point 4 of Annex III", [Mention("annex iii", ("4",))]),
        ("Annex III 5b", [Mention("annex iii", ("5", "b"))]),
        ("article (26)", [Mention("article 26", ())]),
        ("section 1.2.3", [Mention("1.2.3", ())]),
        ("§ 1.2.3", [Mention("1.2.3", ())]),
        ("Article 8 of Directive 2014/90/EU", []),
        ("Article 99", []),
    ],
)
def test_provisions_are_found_however_they_are_written(text: str, mentions: list) -> None:
    names = ["annex i", "annex iii", "1.2.3", *(f"article {n}" for n in (8, 9, 10, 26))]
    assert Grammar(names).mentions(text) == mentions


def test_a_section_is_found_by_its_number_where_other_headings_have_the_word() -> None:
    grammar = Grammar(["section 1", "1.2.3"])
    assert grammar.mentions("section 1") == [Mention("section 1", ())]
    assert grammar.mentions("section 1.2.3") == [Mention("1.2.3", ())]


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("What does Article 2 of the GDPR say?", ["Article 2 of the GDPR"]),
        ("Art. 7 of the Toy Safety Act", ["Art. 7 of the Toy Safety Act"]),
        ("Article 9 of Regulation (EU) 2016/679", ["Article 9 of Regulation (EU) 2016/679"]),
        ("Article 2 of the Lift Act", []),
        ("Article 2 of the Act", []),
        ("Article 2 of the Owner Guide", []),
        ("Section 2 of the HR Handbook", []),
        ("point 2 of Annex III", []),
    ],
)
def test_a_provision_of_a_source_with_another_name_is_foreign(
    references: References, question: str, foreign: list
) -> None:
    assert references.foreign(question) == foreign
    if foreign:
        assert not references.named(question).provisions


def test_an_entry_is_found_by_its_code() -> None:
    texts = ["GV-1.1-001 Keep a list.", "GV-1.1-002 Keep two."]
    table = find_references(["d"] * 2, ["Entries"] * 2, [[]] * 2, texts, {})
    assert References(table).named("what about gv-1.1-002?").provisions == [([1], ())]


def test_the_second_of_two_things_asked_about_is_defined_only_beside_a_first(
    references: References,
) -> None:
    assert references.named("What are the duties of the owner and the lift?").definitions == []
    assert references.named("What is a lift and who owns it?").definitions


def test_only_documents_named_in_full_are_meant(references: References) -> None:
    assert set(references.named("What does the Lift Act say?").documents) == {"lifts"}
    assert set(references.named("What does the agency say?").documents) == {"lifts", "owners"}
    assert set(references.named("the agency owner guide").documents) == {"owners"}


def test_a_citation_leads_to_the_provision(references: References) -> None:
    assert references.cited(0) == [[2]]
    assert references.cited(1) == []


def test_terms_are_defined_in_quotes_or_by_a_verb() -> None:
    assert defined_terms("‘AI system’ means a machine") == ["ai system"]
    assert defined_terms("Risk tolerance refers to readiness") == ["risk toler"]
    assert defined_terms("It means a lot") == []


def test_what_a_question_names_comes_first(references: References) -> None:
    ranked = method(references, provisions=1.0).rank("lifts in Annex III", 5)
    assert ranked[0][0] == 2
    ranked = method(references, definitions=2.0).rank("What is a lift?", 5)
    assert ranked[0][0] == 1
    assert method(references, definitions=2.0).rank("Who owns a lift?", 1)[0][0] != 1


def test_other_words_for_a_word_are_found(references: References) -> None:
    assert method(references).rank("elevator", 5) == []
    assert method(references, synonyms=0.3).rank("elevator", 5)


def test_a_superseded_version_stays_behind_and_comes_when_asked_for(
    references: References,
) -> None:
    versions = Versions(
        [
            Versioned("lifts", "2", "active", "2025-03-01"),
            Versioned("owners", "1", "superseded", "2023-10-01"),
        ],
        DOCUMENTS,
    )
    rank = method(references, versions, superseded=0.5).rank
    question = "Who is the owner in the register of lifts?"
    assert rank(question, 5)[0][0] != 4
    assert 4 in [i for i, _ in rank(question, 5)]
    for past in ("In the previous version.", "What was the old rule?", "As of 2024.", "In v1."):
        ranked = rank(f"Lifts. {question} {past}", 5)
        assert ranked[0][0] == 4, past
        assert ranked[1][1] < ranked[0][1] / 1.9
    for present in ("Is it an old register?", "As of 2025.", "In v2."):
        assert rank(f"Lifts. {question} {present}", 5)[0][0] != 4, present
    assert rank("What changed since the previous version of lifts?", 5)[0][0] != 4


def test_a_sentence_that_says_it_all_with_a_figure_lifts_its_passage(
    references: References,
) -> None:
    plain = dict(method(references).rank("register of lifts", 5))
    read = dict(method(references, sentences=1.0).rank("register of lifts", 5))
    assert read[4] == pytest.approx(plain[4] + 1.0)
    assert read[3] - plain[3] < 1.0
    figure = dict(method(references, figures=1.0).rank("What number of lifts stops?", 5))
    assert figure[1] > dict(method(references).rank("What number of lifts stops?", 5))[1]


def test_rows_are_read_with_the_head_of_their_table() -> None:
    text = "Limits apply.\n| City | EUR |\n\n| Oslo | 180 |\n| Bergen | 150 |\n\nAsk first. Always."
    assert sentences(text) == [
        "Limits apply.",
        "| City | EUR |",
        "| City | EUR | | Oslo | 180 |",
        "| City | EUR | | Bergen | 150 |",
        "Ask first.",
        "Always.",
    ]


def test_acronyms_are_learned_where_initials_agree() -> None:
    assert acronyms("a large language model (LLM) and the Union (EU)") == [
        ("LLM", "large language model")
    ]


def test_fields_weigh_and_kinds_of_passage_have_factors() -> None:
    rules = {"label": {"weight": 5.0, "b": 0.0}, "text": {"weight": 1.0, "b": 0.75}}
    fields = {"label": ["lift", "other"], "text": ["other", "lift"]}
    index = Bm25(freeze_fields(fields, rules, [1.0, 1.0], 2.0), 2)
    assert index.top(["lift"], 2)[0][0] == 0
    index = Bm25(freeze_fields(fields, rules, [0.1, 1.0], 2.0), 2)
    assert index.top(["lift"], 2)[0][0] == 1
    assert priors(["a", "b", None], [None, None, 3], {"a": 0.7, "references": 0.3}) == [0.7, 1, 0.3]


def test_the_closest_question_of_a_finding_aid_counts() -> None:
    tables = freeze_asks([(0, "Who owns it?"), (0, "How tall is a tower?"), (2, "Is a tower old?")])
    asks = Asks(tables["asks"], tables["ask_terms"], 3)
    scores = asks.scores({"tall": 1.0, "tower": 1.0})
    assert scores[0] > scores[2] > scores[1] == 0


def test_meaning_counts_more_where_words_bear_out_little() -> None:
    fusion = Fusion(weight=0.3, strength=3.0, power=2.0, most=1.0, asks=0.5)
    assert fusion.weigh(5.0) == 0.3
    assert fusion.weigh(2.0) == pytest.approx(0.3 * 1.5**2)
    assert fusion.weigh(0.0) == 1.0


def test_a_question_in_other_words_is_ranked_by_meaning(references: References) -> None:
    fusion = Fusion(weight=0.3, strength=3.0, power=2.0, most=1.0, asks=0.5)
    near = np.array([0.0, 0.0, 0.9, 0.1, 0.2])
    fused = Fused(method(references), lambda _: (near, None), fusion, references, None, 1.0)
    assert fused.rank("escalator", 1)[0][0] == 2


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("May the lift stop under the City Code?", "May the lift stop under ?"),
        ("Does City Code's annex name fees?", "Does annex name fees?"),
        ("What is the City Code?", "What is the City Code?"),
        ("Who inspects a lift?", "Who inspects a lift?"),
    ],
)
def test_the_subject_of_a_question_is_what_it_asks_of_a_document(question, subject) -> None:
    names = {"code": ["City Code"]}
    table = find_references(["code"], ["Article 1"], [[]], ["Lifts are inspected."], names)
    assert References(table).subject(question) == subject


def test_the_name_of_a_document_has_no_part_in_meaning(references: References) -> None:
    heard: list[str] = []

    def similarity(question: str) -> tuple[np.ndarray, None]:
        heard.append(question)
        return np.zeros(5), None

    fusion = Fusion(weight=0.3, strength=3.0, power=2.0, most=1.0, asks=0.5)
    name = next(iter(next(iter(NAMES.values()))))
    Fused(method(references), similarity, fusion, references, None, 1.0).rank(f"fees in {name}", 1)
    assert heard == ["fees in"]


def test_leaving_postings_out_does_not_change_the_ranking(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{int(n)}" for n in rng.zipf(1.3, 30) if n < 500) for _ in range(3_000)]
    index = Bm25(freeze(texts), len(texts))
    queries = [[f"w{int(n)}" for n in rng.integers(1, 60, 8)] for _ in range(30)]
    plain = [best(index.scores(query), 10) for query in queries]
    monkeypatch.setattr("policyproof_runtime.bm25._SMALL", 0)
    assert [index.top(query, 10) for query in queries] == plain


def test_references_of_an_unknown_kind_are_refused() -> None:
    row = {"kind": "later", "document_id": "d", "name": "n", "passages": [0]}
    with pytest.raises(ReleaseError, match="unknown kind"):
        References(pa.Table.from_pylist([row], SCHEMA))
