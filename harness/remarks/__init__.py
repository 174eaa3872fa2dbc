"""What is wrong with a client, judged by what it says: the statements `cl.…` of the catalogue.

Traces go in, remarks come out; who was the server does not matter. No clock is read and no socket opened.

    for remark in judge([read_trace(path)]):
        print(remark)
"""

from .bench import judge, judged
from .remark import Evidence, Remark
from .stream import Source

__all__ = ["Evidence", "Remark", "Source", "judge", "judged"]
