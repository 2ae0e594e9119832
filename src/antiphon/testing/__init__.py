"""What tests need: the promises of stores and models as suites, a scripted model, and a disk that fails."""

from ._failing_disk import FailingDisk
from ._model_contract import ModelContract
from ._scripted_model import ScriptedModel
from ._store_contract import StoreContract

__all__ = ["FailingDisk", "ModelContract", "ScriptedModel", "StoreContract"]
