"""Each effect has one method of the driver, and the annotations say so."""

import inspect
import types
import typing

from antiphon.chat import _driver, _effects
from antiphon.chat._answering import by_model
from antiphon.chat._driver import Driver
from antiphon.chat._effects import Effect
from antiphon.chat._ground import Ground
from antiphon.chat._listening import SessionEvents
from antiphon.chat._log import EventLog
from antiphon.chat._plan import TurnPlan
from antiphon.chat._recorder import Recorder
from antiphon.testing import ScriptedModel
from antiphon.transcript import Transcript
from tests.chat.fakes import ListStore, created

EFFECTS = [cls for _, cls in inspect.getmembers(_effects, inspect.isclass) if Effect in cls.__mro__[1:]]


def answer_type(effect: type) -> object:
    """The `A` of `class X(Effect[A])`."""
    (base,) = types.get_original_bases(effect) if hasattr(types, "get_original_bases") else effect.__orig_bases__  # type: ignore[attr-defined]
    return typing.get_args(base)[0]


def methods_for(effect: type) -> list[str]:
    """Names of the driver's methods whose one parameter is this effect."""
    found = []
    for name, method in inspect.getmembers(Driver, inspect.iscoroutinefunction):
        hints = typing.get_type_hints(method, vars(_driver) | vars(_effects))
        if [hint for given, hint in hints.items() if given != "return"] == [effect]:
            assert hints["return"] == answer_type(effect), f"{name} does not answer what {effect.__name__} asks for"
            found.append(name)
    return found


def driver() -> Driver:
    """A driver that is never run."""
    transcript = Transcript("s")
    transcript.apply(created())
    model = ScriptedModel("x")
    plan = TurnPlan("t", "hi", build=lambda view: [], answers=by_model(model), find_model=lambda _: model)
    store = ListStore()
    recorder = Recorder(store, transcript, place="a list")
    ground = Ground(store, recorder, scope=None, derived=None, listening=SessionEvents())
    return Driver(plan, ground, log=EventLog("t"))


def test_each_effect_has_one_method() -> None:
    """Each effect class has exactly one driver method that takes it, gives its answer type and stands in the table."""
    table = {effect: method.__name__ for effect, method in driver()._methods.items()}
    assert table == {effect: methods_for(effect)[0] for effect in EFFECTS}
    assert all(len(methods_for(effect)) == 1 for effect in EFFECTS)
    assert len(EFFECTS) == 7
