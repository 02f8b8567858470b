"""Scripts that learn: `selfplay`, `maskable_ppo`, `exploit`; what they share stands in `common`."""
