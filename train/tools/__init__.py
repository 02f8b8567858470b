"""Scripts around training: average, round and refit policies, fit beliefs and values of luck, many best
responses.
"""
