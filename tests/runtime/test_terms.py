"""Terms under the BM25 contract."""

import pytest

from policyproof_runtime.terms import contract_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("High-risk AI, Article 6(2)", ["high", "risk", "ai", "article", "6", "2"]),
        ("ﬁne-tuned ② Ｇｏｖｅｒｎ", ["fine", "tuned", "2", "govern"]),
        ("naïve café", ["na", "ve", "caf"]),
        ("İSTANBUL", ["i", "stanbul"]),
        ("", []),
        ("…—!", []),
    ],
)
def test_terms_are_ascii_runs_of_the_normalised_text(text, terms):
    assert contract_terms(text) == terms
