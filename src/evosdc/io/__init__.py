"""Reading and writing: JJ, tau-Argus text files, CSV, Parquet, frames."""

from evosdc.io.also import check_also
from evosdc.io.files import (
    check_output_file,
    open_output,
    read_table,
    read_tables,
    write_table,
)
from evosdc.io.frames import (
    frame_of,
    pattern_frame,
    published_frame,
    table_from_frame,
)
from evosdc.io.hrc import hierarchy_from_levels, read_hierarchy, write_hrc
from evosdc.io.hst import apply_apriori, read_apriori_into, read_hst, write_hst
from evosdc.io.jj import read_jj, write_jj
from evosdc.io.labelled import read_labelled, write_labelled
from evosdc.io.labels import read_labels
from evosdc.io.microdata import open_microdata
from evosdc.io.paths import is_private
from evosdc.io.pattern import read_pattern
from evosdc.io.publish import write_grid, write_pivot, write_sbs
from evosdc.io.records import (
    RecordFile,
    read_records,
    write_records,
)
from evosdc.io.tab import read_tab, write_tab
from evosdc.io.waiver import read_waiver

__all__ = [
    "RecordFile",
    "apply_apriori",
    "check_also",
    "check_output_file",
    "frame_of",
    "hierarchy_from_levels",
    "is_private",
    "open_microdata",
    "open_output",
    "pattern_frame",
    "published_frame",
    "read_apriori_into",
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
    "read_waiver",
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
