"""Any table: programs, boxes, cycles, witnesses."""
