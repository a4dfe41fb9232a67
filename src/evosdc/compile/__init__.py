"""How kernels are compiled, kept on disk and timed, and which jobs need no compiler."""
