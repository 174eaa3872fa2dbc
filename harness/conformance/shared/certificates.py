"""Two certificates with their keys, for the cases about TLS. The keys are public: they prove nothing.

Made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500`; the password
came with `openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES`, which every Java reads.
"""

from __future__ import annotations

from typing import Final

FIRST: Final = b"""\
-----BEGIN CERTIFICATE-----
MIIBkDCCATegAwIBAgIUA57v/HppK7hwsKt1BVyajXdIHbQwCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwScm1xLWhhcm5lc3MgdGVzdCAxMCAXDTI2MTEyMTIxMDEwM1oY
DzIxMjYxMDI4MjEwMTAzWjAdMRswGQYDVQQDDBJybXEtaGFybmVzcyB0ZXN0IDEw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQcd9bwJrv6lpnMrOON9Li+f1Ae/6vF
6Wj47XCh4QT4kDbYGWCgZTdmW8Wzg0xBUh/yM9V7J+xRPqDqJM0fokWNo1MwUTAd
BgNVHQ4EFgQUO2MnYy31St4eoExPcukuGablWaQwHwYDVR0jBBgwFoAUO2MnYy31
St4eoExPcukuGablWaQwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBE
AiBBvncoWiqLQrc1QylhJLCUX/LTd/FX7wKIklGYHYyWBwIgB662i1NUOhICGTPI
Q2ELAaH78q7Ad5hoFD+zlVhqVmQ=
-----END CERTIFICATE-----
"""
FIRST_KEY: Final = b"""\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgijc4d6WWO2uf24IN
XOE68HxhgjRHkKu2t+ZLAS0LmuChRANCAAQcd9bwJrv6lpnMrOON9Li+f1Ae/6vF
6Wj47XCh4QT4kDbYGWCgZTdmW8Wzg0xBUh/yM9V7J+xRPqDqJM0fokWN
-----END PRIVATE KEY-----
"""
KEY_PASSWORD: Final = "rmq-harness"
FIRST_KEY_WITH_PASSWORD: Final = b"""\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGxMBwGCiqGSIb3DQEMAQMwDgQISPJu+CfSZDcCAggABIGQit8oZZ1cNOD9nOTh
7/S7TK1Sp7eJY2wUf76mdszlp41OjFDlfC1Ozqcl5TREONQ9+u/+OB/FFLbxchO8
fikQBnL6CppnO+hy7DYaeg+ZVO5v3yF7gQwDPEhq5/5A6HH+bdVBjgvHD9AdRhkc
mOHlCDnVjD/NbC5jGs+0rZN+tB0e93spCfKoXbyssAcbDuxb
-----END ENCRYPTED PRIVATE KEY-----
"""
"""The same key in a file that needs `KEY_PASSWORD`."""
FIRST_FINGERPRINT: Final = "24dab7e4a5a1d3cf2aec4c530d546834f870d02bba0571a456a8b8dba1758bac"
"""SHA-256 of the certificate (DER)."""

SECOND: Final = b"""\
-----BEGIN CERTIFICATE-----
MIIBkTCCATegAwIBAgIURqQmH9lDQJJeUnrRoNTtNk7kqMgwCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwScm1xLWhhcm5lc3MgdGVzdCAyMCAXDTI2MTEyMTIxMDEwM1oY
DzIxMjYxMDI4MjEwMTAzWjAdMRswGQYDVQQDDBJybXEtaGFybmVzcyB0ZXN0IDIw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASXzrRPjkY+MayGXw/tHfOOFRyzbF9U
zZHH4eCOjjfkuyOkdujFfIfR/xARzy7gJVY6iQrZvh1xgoH5CFAjpqcRo1MwUTAd
BgNVHQ4EFgQUJkGvFHtmNk0/qRwp6usB7JcUYnwwHwYDVR0jBBgwFoAUJkGvFHtm
Nk0/qRwp6usB7JcUYnwwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBF
AiEAzfcFMk9/fcksnVu1tP/JYbF57PH+bwSEyS1QHZxxie4CIDOSgL6mNnvIwT2y
HPcEb6PNvEIkf7qIxqfTRkHuUwUB
-----END CERTIFICATE-----
"""
SECOND_KEY: Final = b"""\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDZFLVTvRXgFaJhAe
8Ju42sjaybHnqHbNmLZdtoHNfe6hRANCAASXzrRPjkY+MayGXw/tHfOOFRyzbF9U
zZHH4eCOjjfkuyOkdujFfIfR/xARzy7gJVY6iQrZvh1xgoH5CFAjpqcR
-----END PRIVATE KEY-----
"""
SECOND_FINGERPRINT: Final = "c7deb0e5e03e50b6630dd2793c7e01acd84a5125137aa99407715ebfddee3d1d"
"""SHA-256 of the certificate (DER)."""
