"""What peers.py is made of: programs and their building, robots in each library's conventions, measuring, the report."""
