"""What is wrong with a client, judged by what it says: the statements `cl.…` of the catalogue.

Traces go in, remarks come out; who was the server does not matter. No clock is read and no socket opened.

    for remark in judge([read_trace(path)]):
        print(remark)
"""

from .bench import Judged, judge, judged
from .remark import Evidence, Remark, is_about_clients
from .stream import Source

__all__ = ["Evidence", "Judged", "Remark", "Source", "is_about_clients", "judge", "judged"]
