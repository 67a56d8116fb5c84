"""Nanoseconds that stand behind the goals."""

# Pinocchio's on the machine they were set on, and ours
GOAL_PEER = {
    "rnea": {"iiwa14": 390, "go2": 730, "atlas": 1820},
    "crba": {"iiwa14": 240, "go2": 460, "atlas": 1350},
    "fd": {"iiwa14": 790, "go2": 1770, "atlas": 4090},
}
GOAL = {
    "without a compiler": {
        "rnea": {"iiwa14": 12, "go2": 20, "atlas": 50},
        "crba": {"iiwa14": 12, "go2": 20, "atlas": 60},
        "fd": {"iiwa14": 25, "go2": 45, "atlas": 120},
    },
    "specialised": {
        "rnea": {"iiwa14": 4.5, "go2": 11, "atlas": 30},
        "crba": {"iiwa14": 2.8, "go2": 7.5, "atlas": 27},
        "fd": {"iiwa14": 7, "go2": 20, "atlas": 60},
    },
}
