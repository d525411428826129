"""Changes of images, with Keras' names; of values from 0 to 1."""
from sample import layer

IMAGES = (2, 3, 5, 4)
RANGE = {'value_range': (0, 1)}


def change(name, *made_with, **options):
    return layer(name, *made_with, inputs=[IMAGES], low=0.1, high=0.9, **options)


LAYERS = [
    change('RandomBrightness', 0.1, **RANGE),
    change('RandomContrast', 0.2, **RANGE),
    change('RandomSaturation', (0.3, 0.6), **RANGE),
    change('RandomHue', 0.4, **RANGE),
    change('RandomColorJitter', (0, 1), 0.05, 0.1, (0.4, 0.5), 0.1),
    change('RandomColorDegeneration', 0.5, **RANGE),
    change('RandomGrayscale', 0.5),
    change('RandomInvert', 1.0, **RANGE),
    change('RandomPosterization', (2, 6), **RANGE),
    change('RandomSharpness', 0.6, **RANGE),
    change('RandomGaussianBlur', 1.0, (3, 5), (0.5, 1.0), **RANGE),
    change('Solarization', 0.1, 0.8, **RANGE),
    change('AutoContrast', **RANGE),
    change('RandomFlip'),
    change('RandomFlip', 'vertical'),
    change('RandomCrop', 3, 2),
    change('CenterCrop', 3, 3),
]
