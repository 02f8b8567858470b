"""`HandNetwork` as a PyTorch module, and the exact log-likelihood of a hand that it is fitted to."""

from __future__ import annotations

from math import comb
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, NOW_SCALE, NOW_SIZE
from millebornes_env.agents.search.hand_network import LEVELS, MAX_HAND, MOST_LOG, OUTPUTS, HandNetwork
from millebornes_env.games.millebornes.cards import DECK_SIZE, NUM_CARD_TYPES

_WAYS: Final = torch.tensor(
    [[float(comb(cards, held)) for held in range(MAX_HAND + 1)] for cards in range(DECK_SIZE + 1)]
)
"""Binomial coefficients float32[DECK_SIZE + 1, MAX_HAND + 1]: ways to choose cards from a number of cards."""


class HandModel(nn.Module):
    """The network; see `HandNetwork`."""

    def __init__(self, units: int, memory: int, hidden: int, components: int) -> None:
        """Create random weights; the probabilities of hands are close to those of uniform redeals.

        The layers are those that encode a play, the recurrent one, the hidden one after it, and the mixture.
        """
        super().__init__()
        self.event = nn.Linear(EVENT_SIZE, units)
        self.recurrent = nn.GRU(units, memory)
        self.hidden = nn.Linear(memory, hidden)
        self.now = nn.Linear(NOW_SIZE, hidden, bias=False)
        self.out = nn.Linear(hidden, components * OUTPUTS)
        with torch.no_grad():
            self.out.weight.mul_(0.3)

    def forward(self, events: Tensor, now: Tensor, seen: Tensor, rounds: Tensor) -> Tensor:
        """Compute the outputs, float32[D, K * OUTPUTS].

        Args:
            events: float32[T, B, EVENT_SIZE], plays of B rounds, 0 after the last of each.
            now: float32[D, NOW_SIZE], the table at D decisions.
            seen: int64[D], number of plays before each decision.
            rounds: int64[D], index of the round of each decision.
        """
        memories, _ = self.recurrent(torch.relu(self.event(events)))
        memory = torch.cat([torch.zeros_like(memories[:1]), memories])[seen, rounds]
        hidden = torch.relu(self.hidden(memory) + NOW_SCALE * self.now(now))
        outputs: Tensor = self.out(hidden)
        return outputs

    def load(self, network: HandNetwork) -> None:
        """Copy the weights of a network."""
        with torch.no_grad():
            for ours, theirs in zip(self._parts(), network, strict=True):
                ours.copy_(torch.from_numpy(theirs))

    def weights(self) -> HandNetwork:
        """Return the weights in float32, rounded to float16 as they are saved."""
        arrays = (part.detach().numpy().astype(np.float16).astype(np.float32) for part in self._parts())
        return HandNetwork(*(np.ascontiguousarray(array) for array in arrays))

    def _parts(self) -> tuple[Tensor, ...]:
        """Return the weights in the order and the shapes of `HandNetwork`."""
        recurrent: Any = self.recurrent
        return (
            self.event.weight.T,
            self.event.bias,
            recurrent.weight_ih_l0,
            recurrent.bias_ih_l0,
            recurrent.weight_hh_l0,
            recurrent.bias_hh_l0,
            self.hidden.weight,
            self.now.weight.T,
            self.hidden.bias,
            self.out.weight,
            self.out.bias,
        )


def log_weights(outputs: Tensor, unseen: Tensor, truth: Tensor) -> Tensor:
    """Return the log-likelihood ratio of hands to uniform redeals, float32[D].

    Args:
        outputs: float32[D, K * OUTPUTS], outputs of the network.
        unseen: int64[D, NUM_CARD_TYPES], cards that the seat has not seen.
        truth: int64[D, NUM_CARD_TYPES], the hands.
    """
    outputs = outputs.view(len(outputs), -1, OUTPUTS)
    shares = functional.log_softmax(outputs[:, :, 0], dim=1)
    raw = outputs[:, :, 1:].reshape(*outputs.shape[:2], NUM_CARD_TYPES, LEVELS)
    logs = functional.pad(MOST_LOG * torch.tanh(raw / MOST_LOG), (1, 0))  # [D, K, types, LEVELS + 1]
    sizes = truth.sum(dim=1)
    held = truth.clamp(max=LEVELS)[:, None, :, None].expand(-1, logs.shape[1], -1, -1)
    total = logs.gather(3, held).squeeze(3).sum(dim=2)
    whole = sums_of_hands(logs.exp(), unseen, int(sizes.max()))
    whole = whole.gather(2, sizes[:, None, None].expand(-1, logs.shape[1], 1)).squeeze(2)
    mixed = torch.logsumexp(shares + total - whole.log(), dim=1)
    return mixed + _WAYS[unseen.sum(dim=1), sizes].log()


def sums_of_hands(factors: Tensor, unseen: Tensor, most: int) -> Tensor:
    """Return the total weight of all hands of 0 to `most` cards, float32[D, K, most + 1].

    Args:
        factors: float32[D, K, NUM_CARD_TYPES, LEVELS + 1], weight of a number of cards of a type.
        unseen: int64[D, NUM_CARD_TYPES], cards that the seat has not seen.
        most: cards of the largest hand.
    """
    sums = functional.pad(torch.ones_like(factors[:, :, 0, :1]), (0, most))
    for card in range(NUM_CARD_TYPES):
        ways = _WAYS[unseen[:, card]]
        after = sums
        for held in range(1, min(most, int(unseen[:, card].max())) + 1):
            factor = ways[:, None, held, None] * factors[:, :, card, min(held, LEVELS), None]
            after = after + functional.pad(sums[:, :, : most + 1 - held] * factor, (held, 0))
        sums = after
    return sums
