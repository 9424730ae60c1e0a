"""What exists: one group of assets and checks per corpus manifest."""

import dagster as dg

from policyproof_assets.assets import corpus_assets
from policyproof_assets.checks import corpus_checks
from policyproof_assets.project import Project

_project = Project()
_corpora = _project.corpora()

defs = dg.Definitions(
    assets=[asset for corpus in _corpora for asset in corpus_assets(_project, corpus)],
    asset_checks=[check for corpus in _corpora for check in corpus_checks(_project, corpus)],
    # Workers do the work; a process per asset would only start Python again.
    executor=dg.in_process_executor,
)
