"""Chapter registration: who may register what (code 103), what is stored, and how it is answered.

A first registration has two topics, because 5.x refuses a single one. Where one topic is the point, the case
says so. A registration that would leave null names behind is sent only to a server of its own.
"""
