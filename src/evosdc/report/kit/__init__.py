"""What all pages share: the style sheet, numbers and labels as text, charts, parts."""
