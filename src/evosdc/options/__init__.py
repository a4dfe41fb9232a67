"""Options, declared once: for verbs, for methods, for the command line.

`evosdc.options.objects` has the options of the verbs for tables, and
`evosdc.options.tables` which verb takes which.
"""

from evosdc.options.declare import (
    Declaration,
    Declared,
    Flag,
    MethodOptions,
    OptionObject,
    check_at_least,
    declarations,
    is_of,
    option,
    read_options,
    read_text,
    type_name,
)
from evosdc.options.verbs import Takes, check_arguments, taken

__all__ = [
    "Declaration",
    "Declared",
    "Flag",
    "MethodOptions",
    "OptionObject",
    "Takes",
    "check_arguments",
    "check_at_least",
    "declarations",
    "is_of",
    "option",
    "read_options",
    "read_text",
    "taken",
    "type_name",
]
