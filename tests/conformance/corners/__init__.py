"""Directed cases, a section a module: check(context, report) tells each case to the report."""
