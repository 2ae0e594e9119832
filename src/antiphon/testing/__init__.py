"""What tests need: the promises of every seam as suites, a scripted model, a failing disk, a clock."""

from ._context_contract import ContextContract
from ._failing_disk import FailingDisk
from ._manual_clock import ManualClock
from ._model_contract import ModelContract
from ._scripted_model import ScriptedModel
from ._source_contract import SourceContract
from ._store_contract import StoreContract

__all__ = [
    "ContextContract",
    "FailingDisk",
    "ManualClock",
    "ModelContract",
    "ScriptedModel",
    "SourceContract",
    "StoreContract",
]
