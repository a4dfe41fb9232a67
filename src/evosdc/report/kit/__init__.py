"""What the pages share: one style sheet, numbers and labels as text, charts, parts."""
