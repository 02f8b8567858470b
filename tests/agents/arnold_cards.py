"""The cards as the words about Ken Arnold's player name them; one half of `arnold_words.py`."""

from __future__ import annotations

MILES = {"25": 25, "50": 50, "75": 75, "100": 100, "200": 200}
CARD_INDEX = {"25": 0, "50": 1, "75": 2, "100": 3, "200": 4}
GAS_OUT_FLAT_CRASH = ("OUT_OF_GAS", "FLAT_TIRE", "ACCIDENT")
BATTLE_HAZARDS = (*GAS_OUT_FLAT_CRASH, "STOP")
HAZARDS = (*BATTLE_HAZARDS, "SPEED_LIMIT")
GAS_SPARE_REPAIRS = ("GASOLINE", "SPARE_TIRE", "REPAIRS")
REMEDIES = (*GAS_SPARE_REPAIRS, "ROLL", "END_OF_LIMIT")
TANK_PUNCTURE_ACE = ("EXTRA_TANK", "PUNCTURE_PROOF", "DRIVING_ACE")
SAFETIES = (*TANK_PUNCTURE_ACE, "RIGHT_OF_WAY")

ANSWER = dict(zip(HAZARDS, REMEDIES, strict=True))
HAZARD_OF_REMEDY = dict(zip(REMEDIES, HAZARDS, strict=True))
HAZARD_OF_SAFETY = dict(zip(TANK_PUNCTURE_ACE, GAS_OUT_FLAT_CRASH, strict=True))
SAFETY_OF = dict(zip(HAZARDS, (*SAFETIES, "RIGHT_OF_WAY"), strict=True))
# read as: "a battle card ... whose safety (Go and Stop -> RoW)": a remedy has the safety of its hazard.
SAFETY_OF_BATTLE_CARD = SAFETY_OF | {ANSWER[hazard]: SAFETY_OF[hazard] for hazard in BATTLE_HAZARDS}

# total(c): the 101-card deck.
TOTALS = {
    **{"25": 10, "50": 10, "75": 10, "100": 12, "200": 4},
    **{"OUT_OF_GAS": 2, "FLAT_TIRE": 2, "ACCIDENT": 2, "STOP": 4, "SPEED_LIMIT": 3},
    **{"GASOLINE": 6, "SPARE_TIRE": 6, "REPAIRS": 6, "END_OF_LIMIT": 6, "ROLL": 14},
    **dict.fromkeys(SAFETIES, 1),
}
