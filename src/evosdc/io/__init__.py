"""Reading and writing: JJ, tau-Argus text files, CSV, Parquet, frames."""

from evosdc.io.argus.hrc import hierarchy_from_levels, read_hierarchy, write_hrc
from evosdc.io.argus.hst import apply_apriori, read_apriori_into, read_hst, write_hst
from evosdc.io.argus.jj import read_jj, write_jj
from evosdc.io.argus.tab import read_tab, write_tab
from evosdc.io.cells import read_consents, read_labels, read_pattern
from evosdc.io.frames import frame_of, pattern_frame, published_frame
from evosdc.io.from_frame import table_from_frame
from evosdc.io.labelled import read_labelled, write_labelled
from evosdc.io.layouts import check_formats, write_grid, write_pivot, write_sbs
from evosdc.io.paths import is_private, open_output
from evosdc.io.records import (
    RecordFile,
    open_microdata,
    read_records,
    write_records,
)
from evosdc.io.tables import check_output_file, read_table, read_tables, write_table

__all__ = [
    "RecordFile",
    "apply_apriori",
    "check_formats",
    "check_output_file",
    "frame_of",
    "hierarchy_from_levels",
    "is_private",
    "open_microdata",
    "open_output",
    "pattern_frame",
    "published_frame",
    "read_apriori_into",
    "read_consents",
    "read_hierarchy",
    "read_hst",
    "read_jj",
    "read_labelled",
    "read_labels",
    "read_pattern",
    "read_records",
    "read_tab",
    "read_table",
    "read_tables",
    "table_from_frame",
    "write_grid",
    "write_hrc",
    "write_hst",
    "write_jj",
    "write_labelled",
    "write_pivot",
    "write_records",
    "write_sbs",
    "write_tab",
    "write_table",
]
