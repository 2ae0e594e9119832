"""The examples, each run with a scripted model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.testing import ScriptedModel
from examples.context import TOPICS, long_talk
from examples.layered import QUESTIONS
from examples.layered import long_talk as layered_talk
from examples.persistent import talk
from examples.recent_with_edits import corrected
from tests.docs.blocks import ROOT

pytestmark = pytest.mark.anyio


async def test_persistent_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second run shows what was said in the first, and its model too."""
    first = ScriptedModel("Paris.")
    session_id = await talk(first, str(tmp_path), None, "What is the capital of France?")
    capsys.readouterr()
    second = ScriptedModel("Rome.")
    assert await talk(second, str(tmp_path), session_id, "And of Italy?") == session_id
    assert capsys.readouterr().out.startswith("> What is the capital of France?\nParis.\n")
    assert [message.text for message in second.requests[0].messages] == [
        "What is the capital of France?",
        "Paris.",
        "And of Italy?",
    ]


async def test_context_summarises_for_the_model_alone(tmp_path: Path) -> None:
    """Every message stays in the transcript while the model is shown a summary and the recent ones."""
    said, shown = await long_talk(
        ScriptedModel(lambda request: f"answer to {request.messages[-1].text}"), str(tmp_path)
    )
    assert said == 2 * len(TOPICS)
    assert shown < said


async def test_recent_with_edits_shows_what_a_person_preferred() -> None:
    """The next call is shown the preferred reply in place of the one that was given."""
    assert await corrected(ScriptedModel(["Hey.", "Hello again."])) == "Good morning, Ana."


async def test_layered_says_what_became_of_each_piece(tmp_path: Path) -> None:
    """Within a small window rules stay whole, documents are cut to their share, a dead service costs only itself."""
    model = ScriptedModel(lambda _: "The ferries leave from the east pier. " * 6)
    kept, shown = await layered_talk(model, str(tmp_path))
    assert kept == len(QUESTIONS)
    fates = {layer.id: layer.status for layer in shown.layers}
    assert {name: fates[name] for name in ("today", "summary", "guide", "weather")} == {
        "today": "included",
        "summary": "compacted",
        "guide": "truncated",
        "weather": "failed",
    }
    assert shown.headroom >= 0


def test_tools_pays_once_though_its_process_dies(tmp_path: Path) -> None:
    """Money waits for a person; a process that dies while it pays leaves a turn that goes on and pays no second time.

    Run twice in one folder: each run is a session of its own.
    """
    command = [sys.executable, str(ROOT / "examples" / "tools.py"), str(tmp_path / "shop")]
    for times in (1, 2):
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        assert "refund {'order': 17, 'euros': 90} waits" in said
        assert "it ended with 9" in said
        assert "the turn is interrupted" in said
        assert "it was paid before: 90.0 euros" in said
        assert len(json.loads((tmp_path / "shop" / "ledger.json").read_text())) == times
