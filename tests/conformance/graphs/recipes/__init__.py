"""All recipes. Their order and their weights make the graphs of every seed: a change here makes other graphs."""
from graphs.recipes import control_flow, elementwise, images, movement, products, quantised, reductions

RECIPES = [
    recipe for module in (elementwise, movement, reductions, images, products, quantised, control_flow)
    for recipe in module.RECIPES
]
