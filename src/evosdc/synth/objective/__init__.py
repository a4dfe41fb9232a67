"""What a copy should be like: tables, risks, prices, noise floor, scenario."""
