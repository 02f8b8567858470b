"""What a caller of agents can get wrong; all of them are `MilleBornesError`, and so `ValueError`."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class UnknownAgentError(MilleBornesError):
    """No agent of that name, or none with such an option; the message lists those there are."""


class AgentOptionError(UnknownAgentError):
    """An option of an agent has a value that it cannot have, or is given twice."""


class AgentProtocolError(UnknownAgentError):
    """An agent's members contradict each other; the message says what to write (`protocol.BaseAgent`)."""


class AgentAnswerError(MilleBornesError):
    """An agent returned something that is no action for each row."""


class AgentArgumentError(MilleBornesError):
    """An agent was asked about something that is not of its table.

    The message says which agent and which argument, what it must be and what it was. The agent is as it was
    before the call.
    """


class RowError(AgentArgumentError):
    """A row of the observations is none that this table can show; the message says which row and why."""
