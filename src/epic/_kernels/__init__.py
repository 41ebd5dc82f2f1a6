"""The only compiled code: inner loops that numba compiles where it is installed (extra ``fast``)."""
