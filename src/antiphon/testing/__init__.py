"""What tests need: the promises of stores and models as suites, a scripted model, a failing disk, a clock."""

from ._failing_disk import FailingDisk
from ._manual_clock import ManualClock
from ._model_contract import ModelContract
from ._scripted_model import ScriptedModel
from ._store_contract import StoreContract

__all__ = ["FailingDisk", "ManualClock", "ModelContract", "ScriptedModel", "StoreContract"]
