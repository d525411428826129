"""Random graphs: how they grow, how results are judged, how failures become small."""
