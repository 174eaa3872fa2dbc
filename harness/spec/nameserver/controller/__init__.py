"""What a controller may answer: the chapter controller of the catalogue, as sets of possible states.

As in `harness.spec`: nothing of the reference is looked at. What belongs to one broker name is judged apart
from all others.
"""
