"""What the conformance programs share: models with inputs and right outputs, runs of the program, comparisons."""
