"""Reading and writing: JJ, tau-Argus text files, CSV, Parquet, frames."""
