"""A shop that takes orders and ships them: correct, and with mistakes that faults find.

`client.py` is a small client of RocketMQ, `shop.py` is the application, and `mistakes.py` has its faulty
versions: one decision is wrong in each.
"""
