"""The judge: attacker intervals, certificates of safety and their exact checker."""
