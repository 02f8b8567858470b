"""What users test with: their agents, their editions, states and steps."""
