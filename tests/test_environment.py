"""What the project's own environment must hold, so that nothing is skipped there without a word."""

import os

from antiphon.cli._model_choice import embedded_model_is_here


def test_the_projects_own_runs_have_the_embedded_model() -> None:
    """Run by `./dev`, the tests of the embedded model are never skipped: `./dev setup` has installed it."""
    assert embedded_model_is_here() or not os.environ.get("ANTIPHON_DEV"), "run ./dev setup"
