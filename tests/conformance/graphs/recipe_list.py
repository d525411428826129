"""Recipes: functions that each add an operator, or a few, to a graph.

A recipe takes the builder: it picks operands out of the graph (pick), makes others (operand, constant), and adds a node
that reads them (add). It raises Skip where nothing fits.
"""


class RecipeList(list):
    """Recipes, each as many times as it weighs: to choose from."""

    def weighing(self, weight):
        def register(recipe):
            self.extend([recipe] * weight)
            return recipe
        return register
