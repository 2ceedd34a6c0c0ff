"""The fast lane: cached redirects answered before any framework has seen the request.

A protocol class for uvicorn (`http=`), which keeps uvicorn's handling of connections and hands everything
but a hit on to it. A hit costs a parse, a dict read, a comparison and a click record. The records of one loop tick
are journaled by one write(2), and only then are the tick's answers given to the sockets.

    batch       what the connections of one worker share: the cache, the journal, the tick's answers
    connection  how a connection reads, waits, refuses and ends, whatever it is asked for
    hits        which requests are answered at once, and how
"""

from laconic.redirect.lane.batch import Lane
from laconic.redirect.lane.connection import WHOLE
from laconic.redirect.lane.hits import LaneProtocol, lane_protocol

__all__ = ["WHOLE", "Lane", "LaneProtocol", "lane_protocol"]
