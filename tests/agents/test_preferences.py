"""The sets of actions that agents choose from are the legal actions, at every table and by every rule."""

from __future__ import annotations

from millebornes_env import edition, editions, vector_env
from millebornes_env.compile import for_kernels
from millebornes_env.millebornes.legality import legal_actions
from millebornes_env.millebornes.rules import compiled_rules
from tests.each import each

TABLES = [(name, *table) for name in editions() for table in edition(name).tables]
OVERRIDES: tuple[dict[str, int], ...] = ({}, {"discard_only_if_stuck": 1}, {"discard_safeties": 0})


@each("changes", OVERRIDES)
@each(("name", "players", "teams"), TABLES)
def test_the_set_of_legal_actions_is_the_mask(
    name: str, players: int, teams: int, changes: dict[str, int]
) -> None:
    env = vector_env(6, edition(name).replace(**changes), players=players, teams=teams, seed=4)
    rules = compiled_rules(env.rules)
    masks = env.reset()[0]["action_mask"]
    for _ in range(70):
        for state, mask in zip(for_kernels(env.get_states()), masks, strict=True):
            legal = legal_actions(state, rules, int(state["seat"]))
            assert [legal >> action & 1 for action in range(len(mask))] == mask.tolist()
        masks = env.step(env.sample_actions()).observations["action_mask"]
