"""Users' policies as policies of small games: one query at each information set."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.command_line import sentence
from millebornes_env.agents.protocol import Agent, Masks, Observations, ask, forget, sees_hidden_cards
from millebornes_env.agents.registry import load
from millebornes_env.envs.vector import vector_env
from millebornes_env.errors import AgentError, MilleBornesError, SolvingError, shown
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec, sections
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.policies import FunctionPolicy, observation_size, write_rows
from millebornes_env.solving.recall import RecallPolicy
from millebornes_env.solving.values import Policy, Uniform

SAMPLE: Final = "sample"
RowFunction = Callable[[Observations, Masks], npt.NDArray[Any]]
"""Function of observations, int8[N, D], and action masks, int8[N, A], that returns action probabilities,
[N, A]."""

_OBSERVATION_AND_MASK: Final = 2


def policy_of(given: Any, game: Solvable, seed: int = 0, *, observe_rules: bool = False) -> Policy:
    """Return anything that chooses actions as a policy of both seats.

    An agent that has `probabilities` and samples (`mode=sample`) is a mixed policy; `random` is the uniform
    policy, `equilibrium` the policy in its file. An agent that has `advance` is asked with its memory of the
    decisions before (`recall.Remembering`). Any other agent acts once at each information set, with an empty
    memory, and its action is taken as a deterministic choice.

    Args:
        given: an agent or its specification, as for `agents.load`; a PyTorch module that returns logits from
            observations, float32[N, D], or from observations and masks, int8[N, A] (of a tuple, the first);
            a MaskablePPO model that learned with `SB3VecEnv`, or its zip file (which the library unpickles:
            load only your own; PPO without masks is refused where it gives weight to illegal actions);
            a function of observations, int8[N, D], and masks that returns probabilities, [N, A]; or a
            `values.Policy`.
        game: from `solving.deck.solvable`.
        seed: seed of an agent's random numbers.
        observe_rules: True if observations show the rules, as in `vector_env`.

    Raises:
        SolvingError: the agent sees hidden cards, so its actions are not a policy; or the object is none of
            these.
        MilleBornesError: as `agents.load`.
    """
    if callable(getattr(given, "weights", None)) and hasattr(given, "needs_states"):
        policy: Policy = given
        return policy
    spec = DEFAULT_SPEC._replace(rules=int(observe_rules))
    if isinstance(given, (str, Path)) and str(given).endswith(".zip"):
        given = load_model(Path(given))
    function: RowFunction | None = None
    if _is_instance(given, "stable_baselines3.common.base_class", "BaseAlgorithm"):
        function = function_of_model(given, game, spec)
    elif _is_instance(given, "torch.nn", "Module"):
        function = function_of_module(given)
    elif callable(given) and not isinstance(given, type) and not hasattr(given, "act"):
        function = given
    if function is not None:
        name = getattr(given, "__name__", type(given).__name__)
        return FunctionPolicy(name, _of_rows(function, game, spec))
    env = vector_env(1, game.sheet, players=2, observe_rules=observe_rules)
    agent = load(given, env, seed)
    if sees_hidden_cards(agent):
        raise SolvingError(
            f"{agent.name!r} sees hidden cards, so its actions depend on more than a seat sees"
        )
    table = getattr(agent, "policy_of_both_seats", None)
    if table is not None:
        result: Policy = table()
        return result
    if agent.name == "random":
        return Uniform()
    if hasattr(agent, "advance"):
        remembering: Any = agent
        return RecallPolicy(remembering, game, spec)
    return FunctionPolicy(agent.name, _of_rows(_AgentFunction(agent), game, spec))


def _is_instance(given: object, module: str, name: str) -> bool:
    """Return True for an instance of a library's class; the library is not imported for the question."""
    library = sys.modules.get(module)
    return library is not None and isinstance(given, getattr(library, name))


def _of_rows(function: Callable[..., Any], game: Solvable, spec: ObservationSpec) -> Any:
    """Return a function of states and masks that calls a function of observations and masks.

    One thread calls at a time, because the function may keep state. An agent also receives the states, for
    those that ask for them.
    """
    lock, width = Lock(), observation_size(game, spec)

    def probabilities(states: StateArray, masks: Masks) -> npt.NDArray[Any]:
        rows = np.zeros((len(states), width), np.int8)
        write_rows(states, game.record, spec, rows)
        with lock:
            if isinstance(function, _AgentFunction):
                return function(rows, masks, states, game)
            try:
                result: npt.NDArray[Any] = function(rows, masks)
            except MilleBornesError:
                raise
            except Exception as error:
                rules = "with" if spec.rules else "without"
                raise SolvingError(
                    f"the policy failed on observations int8[{len(rows)}, {width}] of {game.name}, {rules} "
                    f"its rules ({type(error).__name__}: {sentence(error)}): is it for this sheet, and for "
                    "observations with these options?"
                ) from error
            return result

    return probabilities


class _AgentFunction:
    """Function that calls an agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._is_mixed = getattr(agent, "mode", None) == SAMPLE and hasattr(agent, "probabilities")

    def __call__(
        self, rows: Observations, masks: Masks, states: StateArray, game: Solvable
    ) -> npt.NDArray[Any]:
        """Return the probabilities of the agent's actions.

        Raises:
            AgentError: the agent raised, or did not return an action for each row.
        """
        try:
            return self._probabilities(rows, masks, states)
        except MilleBornesError:
            raise
        except Exception as error:
            raise AgentError(
                f"the agent {self._agent.name!r} raised {type(error).__name__} at {len(rows)} decisions of "
                f"{game.name}: {sentence(error)}; correct the agent"
            ) from error

    def _probabilities(self, rows: Observations, masks: Masks, states: StateArray) -> npt.NDArray[Any]:
        if self._is_mixed:
            mixed: Any = self._agent
            result: npt.NDArray[Any] = mixed.probabilities(rows, masks)
            return result
        forget(self._agent)
        actions = ask(self._agent, rows, masks, np.arange(len(rows)), states.copy)
        weights = np.zeros(masks.shape)
        in_range = (actions >= 0) & (actions < masks.shape[1])
        weights[np.flatnonzero(in_range), actions[in_range]] = 1.0
        return weights


# PyTorch ----------------------------------------------------------------------------------------------------


def function_of_module(module: Any) -> RowFunction:
    """Return a function that calls a module of logits, and softmaxes those of legal actions.

    Raises:
        SolvingError: `forward` takes neither observations alone nor observations and masks.
    """
    import torch  # noqa: PLC0415 - the module is of it

    count = _arguments_of_forward(module)
    if not 1 <= count <= _OBSERVATION_AND_MASK:
        raise SolvingError(
            f"forward of {type(module).__name__} takes {count} arguments: it must take observations, "
            "float32[N, D], or observations and action masks, int8[N, A]"
        )
    device = next((one.device for one in module.parameters()), torch.device("cpu"))

    def probabilities(rows: Observations, masks: Masks) -> npt.NDArray[Any]:
        inputs = torch.from_numpy(rows).to(device, torch.float32)
        legal = torch.from_numpy(masks).to(device)
        with torch.no_grad(), _evaluating(module):
            answer = module(inputs) if count == 1 else module(inputs, legal)
            logits = answer[0] if isinstance(answer, tuple) else answer
            is_tensor = isinstance(logits, torch.Tensor)
            if not is_tensor or tuple(logits.shape) != masks.shape:
                kind = f"logits of the shape {shown(tuple(logits.shape))}" if is_tensor else shown(logits)
                raise SolvingError(
                    f"{type(module).__name__} returned {kind} for {len(rows)} observations; it must be "
                    f"{list(masks.shape)}, a logit for each action"
                )
            logits = logits.to(torch.float64).masked_fill(legal == 0, -torch.inf)
            result: npt.NDArray[Any] = torch.softmax(logits, dim=1).cpu().numpy()
        return result

    return probabilities


def _arguments_of_forward(module: Any) -> int:
    """Return the number of arguments that a module needs; a traced one, which does not say it, needs one."""
    try:
        parameters = inspect.signature(module.forward).parameters.values()
    except ValueError:
        return 1
    count = sum(
        one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty
        for one in parameters
    )
    wrapped = getattr(module, "_orig_mod", getattr(module, "module", None))  # torch.compile, DataParallel
    return _arguments_of_forward(wrapped) if count == 0 and wrapped is not None else count


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """Switch dropout and batch statistics off, and afterwards back on where they were on."""
    training = [part for part in module.modules() if part.training]
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True


# Stable-Baselines3 ------------------------------------------------------------------------------------------


def load_model(path: Path) -> Any:
    """Load a model of PPO or MaskablePPO from its zip file.

    Raises:
        SolvingError: it is no such file, or its library is not installed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            policy = json.loads(archive.read("data"))["policy_class"]
        is_masked = "maskable" in str(policy.get("__module__", policy))
        library = importlib.import_module("sb3_contrib" if is_masked else "stable_baselines3")
    except ModuleNotFoundError as error:
        raise SolvingError(
            f"{path} needs {error.name}, which is not installed: pip install 'millebornes-env[train]'"
        ) from None
    except FileNotFoundError:
        raise SolvingError(f"there is no file {str(path)!r}") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise SolvingError(f"{path} is not a model of Stable-Baselines3 ({error})") from None
    model = library.MaskablePPO if is_masked else library.PPO
    try:
        return model.load(path, device="cpu")
    except (TypeError, KeyError) as error:
        raise SolvingError(f"{path} is not a model of {model.__name__} ({sentence(error)})") from None


def function_of_model(model: Any, game: Solvable, spec: ObservationSpec) -> RowFunction:
    """Return a function that asks a model for the probabilities of actions.

    A model whose observations end at 1 gets scaled ones, as from `SB3VecEnv`.

    Raises:
        SolvingError: the model was trained on another sheet, has observations of another shape, or is of an
            algorithm whose policy does not give probabilities from an observation alone.
    """
    ask_policy = getattr(model.policy, "get_distribution", None)
    asked = {} if ask_policy is None else inspect.signature(ask_policy).parameters
    if sum(one.default is one.empty for one in asked.values()) != 1:
        raise SolvingError(
            f"{type(model).__name__} gives no probabilities of actions from an observation alone: models of "
            "MaskablePPO and PPO do; for others write a function of observations and masks"
        )
    space, expected = model.observation_space, (observation_size(game, spec),)
    if getattr(space, "shape", None) != expected:
        raise SolvingError(
            f"{type(model).__name__} has observations {shown(space)}; those of {game.name} are "
            f"float32{list(expected)}: was it trained on another sheet, or with other options?"
        )
    if (trained_on := getattr(space, "sheet", game.name)) != game.name:
        raise SolvingError(
            f"{type(model).__name__} was trained on {trained_on}; this is {game.name}: give its deck"
        )
    highs = np.concatenate([np.full(one.size, max(one.high, 1)) for one in sections(game.rules, spec)])
    scale = (1.0 / highs if float(space.high.max()) <= 1 else np.ones(len(highs))).astype(np.float32)
    takes_masks = "action_masks" in asked

    def probabilities(rows: Observations, masks: Masks) -> npt.NDArray[Any]:
        import torch  # noqa: PLC0415 - the model is of it

        inputs = torch.from_numpy(rows * scale).to(model.device)
        with torch.no_grad(), _evaluating(model.policy):
            if takes_masks:
                chosen = model.policy.get_distribution(inputs, action_masks=masks.astype(np.bool_))
            else:
                chosen = model.policy.get_distribution(inputs)
            result: npt.NDArray[Any] = chosen.distribution.probs.double().cpu().numpy()
        return result

    return probabilities
