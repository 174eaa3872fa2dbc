"""Chapter lease: when a silent broker is removed, and what the end of its connection means.

* `eventually` waits for a removal: 5.x queues it. Before a case judges that something stayed, `settle` waits
  until the server has nothing left to do.
* Time counts from answers (`since=`), never from the moment at which the case looks. Where something must
  still be there, the case names the term (`advance_short_of`), so that a slow machine causes no failure.
* A lease runs out on a busy connection, or else the idle close would remove the broker; the session keeps
  connections busy.
* A case lets as few leases run out as possible, and changes nothing meanwhile: 4.9.8's scan may not survive
  that.
"""
