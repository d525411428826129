"""A report of a training, as a browser that nobody looks at sees it: report_test.py SALTERN
All sections are laid out, all pictures are decoded, and nothing is asked of any network."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

CONFIG = '''
data = "data.npz"
validation = 0.25
net = ["Conv2d(3, 6, 3, padding=1)", "ReLU()", "AdaptiveAvgPool2d(1)", "Flatten()", "Linear(6, 3)"]
metric = "accuracy"
epochs = 2
batch = 16
output = "net.onnx"
report = "report.html"
'''

# Behind the report's own text, in a copy of it: what the browser made of it, as text.
QUESTIONS = '''<script>addEventListener('load', () => {
const sections = [...document.querySelectorAll('[id]')].map(s => [s.id, s.getBoundingClientRect().height]);
const pictures = [...document.images].map(i => i.complete ? i.naturalWidth * i.naturalHeight : 0);
const lines = [...document.querySelectorAll('svg polyline')].map(l => l.getTotalLength());
const asked = performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:'));
document.body.innerHTML = '';
document.title = JSON.stringify({sections, pictures, lines, asked});
});</script>'''


def seen(page):
    dom = subprocess.run(['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--dump-dom', page.as_uri()],
                         capture_output=True, text=True, timeout=120, check=True).stdout
    text = dom.split('<title>')[1].split('</title>')[0]
    return json.loads(text.replace('&amp;', '&').replace('&lt;', '<').replace('&gt;', '>'))


def main():
    saltern = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        random = np.random.default_rng(0)
        labels = random.integers(0, 3, 64)
        pictures = random.uniform(0, 1, (64, 3, 12, 12)).astype(np.float32)
        np.savez(folder / 'data.npz', x=pictures, y=labels)
        (folder / 'train.toml').write_text(CONFIG)
        subprocess.run([saltern, 'train', 'train.toml', '--json'], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        report = (folder / 'report.html').read_text()
        (folder / 'asked.html').write_text(report.replace('</body>', QUESTIONS + '</body>'))
        found = seen(folder / 'asked.html')
    names = [n for n, _ in found['sections']]
    assert names == ['facts', 'curves', 'confusion', 'mistakes', 'filters', 'activations', 'layers'], names
    assert all(height > 20 for _, height in found['sections']), found['sections']
    assert len(found['pictures']) > 6 + 1 + 12 and all(found['pictures']), found['pictures']
    assert len(found['lines']) >= 4 and all(length > 100 for length in found['lines']), found['lines']
    assert found['asked'] == [], found['asked']
    print(f"{len(names)} sections, {len(found['pictures'])} pictures and {len(found['lines'])} lines are shown")


if __name__ == '__main__':
    main()
