"""BM25 queries per second beside rank-bm25 and bm25s, on the same passages in one run.

    python benchmarks/retrieve.py [--store DIR] [--sizes 707 10000 100000 1000000]

Reads the passages of the newest ai-governance release and repeats them up to every size; asks the
questions of its benchmark under the accepted contract (k1 1.2, b 0.75, every term once). Every
engine must return the same ranking; two passages may change places where their scores differ by
less than 32-bit floats can tell. Ratios, not seconds, are the result: the machine is the same for
all.
"""

import argparse
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle, islice

import bm25s
import numpy as np
from rank_bm25 import BM25Okapi

from policyproof_assets.evaluation.benchmarks import load_benchmark
from policyproof_assets.project import MANIFESTS
from policyproof_runtime.bm25 import K1, B, Bm25, inverse_document_frequency, weigh
from policyproof_runtime.objects import ObjectStore
from policyproof_runtime.release import load_release
from policyproof_runtime.terms import contract_terms

CORPUS = "ai-governance"
TOP = 10
# rank-bm25 looks at every passage in Python for every term: minutes beyond this size.
LARGEST_RANK_BM25 = 10_000
TOLERANCE = 1e-4

Terms = list[str]
Engine = Callable[[Terms], list[tuple[int, float]]]


class ContractOkapi(BM25Okapi):  # type: ignore[misc]
    """rank-bm25 with the idf of the contract."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {t: inverse_document_frequency(n, self.corpus_size) for t, n in nd.items()}


def rank_bm25_engine(corpus: Sequence[Terms]) -> Engine:
    """Return rank-bm25 over ``corpus``."""
    index = ContractOkapi(corpus, k1=K1, b=B)

    def rank(terms: Terms) -> list[tuple[int, float]]:
        scores = index.get_scores(terms)
        order = np.argsort(-scores, kind="stable")[:TOP]
        return [(int(i), float(scores[i])) for i in order if scores[i] > 0]

    return rank


def bm25s_engine(corpus: Sequence[Terms]) -> Engine:
    """Return bm25s over ``corpus``; its Lucene variant leaves out the constant factor k1 + 1."""
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index(corpus, show_progress=False)

    def rank(terms: Terms) -> list[tuple[int, float]]:
        found, scores = index.retrieve([terms], k=TOP, show_progress=False)
        pairs = zip(found[0], scores[0], strict=True)
        return [(int(i), float(score) * (K1 + 1)) for i, score in pairs if score > 0]

    return rank


def our_engine(corpus: Sequence[Terms]) -> Engine:
    """Return the frozen weights over ``corpus``, whose copies share what was counted."""
    counted = {id(terms): Counter(terms) for terms in corpus}
    counts = [counted[id(terms)] for terms in corpus]
    lengths = np.array([len(terms) for terms in corpus], np.float64)
    relative = lengths / lengths.mean()
    table = weigh(counts, lambda passage, tf: tf / (1 - B + B * relative[passage]), K1)
    index = Bm25(table, len(corpus))
    return lambda terms: index.top(terms, TOP)


def check_equal(ours: list[tuple[int, float]], theirs: list[tuple[int, float]]) -> None:
    """Raise AssertionError unless the rankings are equal but for ties."""
    np.testing.assert_allclose([s for _, s in ours], [s for _, s in theirs], rtol=TOLERANCE)
    floor = ours[-1][1] * (1 + TOLERANCE)
    np.testing.assert_array_equal(
        sorted(i for i, s in ours if s > floor), sorted(i for i, s in theirs if s > floor)
    )


def queries_per_second(engine: Engine, queries: Sequence[Terms], seconds: float = 2.0) -> float:
    """Return the best rate of rounds over all ``queries`` that fit in ``seconds``."""
    best, end = 0.0, time.perf_counter() + seconds
    while best == 0.0 or time.perf_counter() < end:
        start = time.perf_counter()
        for query in queries:
            engine(query)
        best = max(best, len(queries) / (time.perf_counter() - start))
    return best


def main() -> None:
    """Print one row per size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store")
    parser.add_argument("--sizes", nargs="*", type=int, default=[707, 10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    store = ObjectStore(options.store)
    passages = store.phase(load_release(store, CORPUS).phase("passages").snapshot)
    texts = [contract_terms(text) for text in passages["retrieval_text"].to_pylist()]
    asked = load_benchmark(MANIFESTS / "benchmarks" / f"{CORPUS}.yaml")
    queries = [list(dict.fromkeys(contract_terms(q.question))) for q in asked]
    print(f"{'passages':>9} {'ours q/s':>9} {'/ rank-bm25':>11} {'/ bm25s':>8} {'peak MB':>8}")
    for size in options.sizes:
        corpus = list(islice(cycle(texts), size))
        few = queries[: max(10, min(len(queries), 20_000_000 // size))]
        ours = our_engine(corpus)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        engines = {"bm25s": bm25s_engine(corpus)}
        if size <= LARGEST_RANK_BM25:
            engines["rank-bm25"] = rank_bm25_engine(corpus)
        for engine in engines.values():
            for query in few:
                check_equal(ours(query), engine(query))
        rate = queries_per_second(ours, few)
        ratios = {name: rate / queries_per_second(e, few) for name, e in engines.items()}
        slow = f"{ratios['rank-bm25']:10.1f}x" if "rank-bm25" in ratios else f"{'–':>11}"
        print(f"{size:9,} {rate:9,.0f} {slow} {ratios['bm25s']:7.2f}x {peak:8,}", flush=True)


if __name__ == "__main__":
    main()
