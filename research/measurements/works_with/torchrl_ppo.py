"""TorchRL: PPO over Gymnasium's vector environment, wrapped by TorchRL's own `GymWrapper`."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, Compose, DTypeCastTransform, GymWrapper, TransformedEnv
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from research.measurements.works_with.rounds import GAME, Act, most_probable

GAMES, STEPS, EPOCHS, BATCH = 256, 32, 2, 1024


def make_env() -> TransformedEnv:
    """Create the environment as a user of TorchRL would."""
    games = gymnasium.make_vec(
        GAME, num_envs=GAMES, opponent="random", observe_mask=True, scaled=True, autoreset_mode="disabled"
    )
    masks_as_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    wrapped = GymWrapper(games, categorical_action_encoding=True)
    return TransformedEnv(wrapped, Compose(masks_as_bool, ActionMask()))


def _perceptron(env: TransformedEnv, outputs: int) -> MLP:
    inputs = env.observation_spec["observation"].shape[-1]
    return MLP(inputs, outputs, num_cells=[128, 128], activation_class=torch.nn.Tanh)


def learn(seed: int) -> Iterator[Act]:
    """Learn without end; yield the policy after each update."""
    torch.manual_seed(seed)
    env = make_env()
    env.set_seed(seed)
    actions = env.action_spec.space.n
    actor = ProbabilisticActor(
        TensorDictModule(_perceptron(env, actions), ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(_perceptron(env, 1), in_keys=["observation"])
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=0.5)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    collector = Collector(
        env, actor, frames_per_batch=GAMES * STEPS, total_frames=-1, auto_register_policy_transforms=True
    )
    network = actor.get_submodule("module.0")
    act = most_probable(lambda rows: network(TensorDict({"observation": rows}, [len(rows)]))["logits"])
    for rollout in collector:
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantage(rollout)
            rows = rollout.reshape(-1)
            for chosen in torch.randperm(len(rows)).tensor_split(len(rows) // BATCH):
                losses = loss(rows[chosen])
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        yield act
