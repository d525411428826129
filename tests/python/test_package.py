"""What pip builds with is what the project builds with."""
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).parents[2]


def test_pins_are_those_of_the_venv():
    lines = (ROOT / 'cmake/requirements.txt').read_text().splitlines()
    pinned = dict(line.split('==') for line in lines if '==' in line)
    package = tomllib.loads((ROOT / 'pyproject.toml').read_text())
    asked = dict(r.split('==') for r in package['build-system']['requires'] +
                 package['project']['optional-dependencies']['compiler'])
    assert {name for name in asked if name not in pinned} == {'scikit-build-core'}
    assert {name: pinned[name] for name in asked if name in pinned} == {n: v for n, v in asked.items() if n in pinned}
