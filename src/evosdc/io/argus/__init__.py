"""Files of tau-Argus: JJ, tables, records, hierarchies, a-priori files."""
