"""Scripts that fit small networks (beliefs, luck, values), and that merge, round or compare policies."""
