"""A small document with two headings, and the phases from its lines to its passages."""

from dataclasses import dataclass, field
from itertools import pairwise

import polars as pl

from policyproof_assets.corpus.exclusions import LedgerRules
from policyproof_assets.corpus.ledger import own_lines
from policyproof_assets.corpus.lines import Lines
from policyproof_assets.corpus.passages import PassageRules, pack_passages
from policyproof_assets.corpus.proofs import PROPERTIES, Evidence
from policyproof_assets.corpus.reviews import Review
from policyproof_assets.corpus.units import UnitRules, pack_units
from policyproof_assets.schemas import HEADINGS, HIERARCHY, PAGES, SPANS
from policyproof_runtime.tokenize import TokenCounter

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:;!?()[]#*-"
#: Every character is a token of its own, so that lengths can be counted by hand.
COUNTER = TokenCounter(["[UNK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)])


@dataclass(frozen=True)
class Rules:
    units: UnitRules = field(default_factory=UnitRules)
    ledger: LedgerRules = field(default_factory=LedgerRules)
    passages: PassageRules = field(default_factory=PassageRules)


LENIENT = Rules(
    units=UnitRules(strict=False), passages=PassageRules(target=30, hard=40, strict=False)
)


@dataclass(frozen=True)
class Text:
    """Pages of lines; a line that starts with ``# `` is a heading."""

    pages: list[list[str]]
    rules: Rules = field(default_factory=Rules)
    review: Review = field(default_factory=lambda: Review(document_id="doc"))

    def lines(self) -> Lines:
        rows = [
            {"document_id": "doc", "page": number, "text": "\n".join(page)}
            for number, page in enumerate(self.pages, 1)
        ]
        return Lines.from_pages(pl.DataFrame(rows, schema=PAGES))

    def structure(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        lines = self.lines()
        starts = [i for i, text in enumerate(lines.text) if text.startswith("# ")]
        headings, nodes, spans = [], [], []
        for order, (start, stop) in enumerate(pairwise([*starts, len(lines)]), 1):
            page, line = lines.coordinate(start)
            node_id = f"source:doc:page-{page:04d}:line-{line:04d}"
            title = lines.text[start].removeprefix("# ")
            place = {"page": page, "start_line": line, "end_line": line}
            headings.append(
                place
                | {"document_id": "doc", "order": order, "line_numbers": [line], "text": title}
            )
            nodes.append(
                place
                | {"document_id": "doc", "node_id": node_id, "kind": "source", "order": order}
                | {"depth": 1, "ancestors": [], "path": [title], "heading": title}
            )
            body = {}
            if stop > start + 1:
                first, last = lines.coordinate(start + 1), lines.coordinate(stop - 1)
                names = "start_page", "start_line", "end_page", "end_line"
                body = dict(zip(names, (*first, *last), strict=True))
            spans.append(
                {"document_id": "doc", "node_id": node_id, "order": order, "direct_body": body}
            )
        return (
            pl.DataFrame(headings, schema=HEADINGS),
            pl.DataFrame(nodes, schema=HIERARCHY),
            pl.DataFrame(spans, schema=SPANS),
        )

    def units(self) -> pl.DataFrame:
        _, hierarchy, spans = self.structure()
        return pack_units(self.lines(), hierarchy, spans, self.rules, self.review, namespace="ns")

    def ledger(self) -> pl.DataFrame:
        return own_lines(self.lines(), self.structure()[0], self.units(), self.rules)

    def passages(self) -> pl.DataFrame:
        hierarchy = self.structure()[1]
        return pack_passages(
            self.lines(), self.units(), hierarchy, self.rules, self.review, COUNTER
        )

    def evidence(self, **changes: pl.DataFrame) -> Evidence:
        frames = {"units": self.units(), "ledger": self.ledger(), "passages": self.passages()}
        return Evidence(self.lines(), frames | changes, self.rules, self.review)

    def prove(self, but: str = "") -> None:
        evidence = self.evidence()
        for proof in PROPERTIES:
            if proof.name != but:
                proof.check(evidence)
