"""The loop in Python: beside one that is written out by hand, resumed after kill -9, and each callback by what it does."""
import contextlib
import copy
import csv
import html.parser
import http.server
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import saltern
from event_files import events
from saltern import nn, training
from saltern.training import Trainer

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, (50, 4)).astype(np.float32)
Y = X[:, :3].argmax(1)


def net(dropout=0.0):
    saltern.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 3))


def trainer(lr=0.1, dropout=0.0, **options):
    made = net(dropout)
    return Trainer(made, 'cross_entropy', saltern.optim.SGD(made.parameters(), lr=lr, momentum=0.9), ['accuracy'], **options)


def values(module):
    return np.concatenate([np.asarray(t).reshape(-1) for t in module.state_dict().values()])


def test_it_does_what_a_loop_by_hand_does():
    hand, losses = net(), []
    steps = saltern.optim.SGD(hand.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        order, sum = np.random.default_rng((5, epoch)).permutation(50), 0
        for begin in range(0, 50, 16):
            p = order[begin:begin + 16]
            loss = nn.functional.cross_entropy(hand(saltern.tensor(X[p])), saltern.tensor(Y[p]))
            steps.zero_grad()
            loss.backward()
            steps.step()
            sum += loss.item() * len(p)
        losses.append(sum / 50)
    t = trainer(seed=5)
    history = t.fit(X, Y, batch_size=16, epochs=3, validation_data=(X, Y)).history
    assert history['loss'] == losses
    assert (values(t.net) == values(hand)).all()
    scores = np.asarray(hand(saltern.tensor(X)))
    assert history['val_accuracy'][-1] == pytest.approx(np.mean(scores.argmax(1) == Y))
    np.testing.assert_allclose(t.predict(X), scores, rtol=1e-5, atol=1e-6)


def test_accumulated_batches_are_one_large_batch():
    one, parts = trainer(), trainer(accumulate=4)
    one.fit(X, Y, batch_size=40)  # 40 and 10
    parts.fit(X, Y, batch_size=10)
    np.testing.assert_allclose(values(one.net), values(parts.net), atol=1e-5)


def test_clipping_and_schedule():
    t, rates = trainer(lr=1.0, clip_norm=0.01, rate=lambda step: 1 / (step + 1)), []
    before = values(t.net)
    t.fit(X, Y, batch_size=50, epochs=1, callbacks=[training.LambdaCallback(
        on_train_batch_end=lambda batch, logs: rates.append(t.learning_rate))])
    assert np.linalg.norm(values(t.net) - before) == pytest.approx(0.01, rel=1e-3) and rates == [1]


def test_averages():
    t, mean = trainer(average=0.5), []
    t.fit(X, Y, batch_size=25, epochs=2, callbacks=[
        training.LambdaCallback(on_train_batch_end=lambda batch, logs: mean.append(
            (mean[-1] + values(t.net)) / 2 if mean else values(t.net))),
        training.SwapEMAWeights()])
    np.testing.assert_allclose(values(t.net), mean[-1], rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match='no averages'):
        trainer().fit(X, Y, callbacks=[training.SwapEMAWeights()])


def test_the_same_bits_for_any_number_of_threads():
    found, before = [], saltern.get_num_threads()
    for threads in (1, 3):
        saltern.set_num_threads(threads)
        t = trainer(dropout=0.3)
        t.fit(X, Y, epochs=2)
        found.append(values(t.net))
    saltern.set_num_threads(before)
    assert (found[0] == found[1]).all()


class Infinite(nn.Module):
    def forward(self, x):
        return x / 0.0


def test_what_is_not_finite_is_named():
    bad = nn.Sequential(nn.Linear(4, 3), Infinite())
    t = Trainer(bad, 'cross_entropy', saltern.optim.SGD(bad.parameters(), lr=0.1))
    with pytest.raises(training.NotFinite, match=r"step 1: the output of layer '1' \(Infinite\)"):
        t.fit(X, Y)
    t = Trainer(bad, 'cross_entropy', saltern.optim.SGD(bad.parameters(), lr=0.1))
    t.fit(X, Y, epochs=5, callbacks=[training.TerminateOnNaN()])
    assert t.stop_training and t.epoch == 0
    zero = nn.Sequential(nn.Linear(4, 3, bias=False), Root())
    t = Trainer(zero, 'cross_entropy', saltern.optim.SGD(zero.parameters(), lr=0.1))
    with pytest.raises(training.NotFinite, match=r"the gradient that layer '1' \(Root\) hands on"):
        t.fit(np.zeros_like(X), Y)


class Root(nn.Module):
    def forward(self, x):
        return (x * x).sqrt()


def test_early_stopping():
    t = trainer(lr=0.0)
    stop = training.EarlyStopping('loss', patience=2, min_delta=1e-4)
    assert len(t.fit(X, Y, epochs=20, callbacks=[stop]).epoch) == 3
    t = trainer(lr=5.0)
    best = training.EarlyStopping('val_loss', patience=3, restore_best_weights=True)
    history = t.fit(X, Y, epochs=30, validation_data=(X, Y), callbacks=[best]).history
    assert t.evaluate(X, Y)['loss'] == pytest.approx(min(history['val_loss']), rel=1e-5)
    with pytest.raises(KeyError, match="'val_loss'.*loss, accuracy"):
        trainer().fit(X, Y, callbacks=[training.EarlyStopping()])


def test_rates():
    t = trainer()
    schedule = training.LearningRateScheduler(lambda epoch, rate: rate / 2)
    assert t.fit(X, Y, epochs=3, callbacks=[schedule]).history['learning_rate'] == [0.05, 0.025, 0.0125]
    t = trainer(lr=1e-9)
    plateau = training.ReduceLROnPlateau('loss', factor=0.5, patience=2, min_lr=3e-10)
    rates = t.fit(X, Y, epochs=6, callbacks=[plateau]).history['learning_rate']
    assert rates == [1e-9] * 3 + [5e-10] * 2 + [3e-10]


def test_model_checkpoint(tmp_path):
    t = trainer()
    history = t.fit(X, Y, epochs=3, validation_data=(X, Y), callbacks=[
        training.ModelCheckpoint(tmp_path / 'net-{epoch:02d}.safetensors', save_weights_only=True),
        BestAgain(tmp_path / 'best.safetensors', save_best_only=True)])
    assert sorted(p.name for p in tmp_path.iterdir()) == ['best.safetensors'] + [f'net-0{i}.safetensors' for i in (1, 2, 3)]
    other = net()
    other.load_state_dict(saltern.load(tmp_path / 'net-03.safetensors'))
    assert (values(other) == values(t.net)).all()
    assert len(history.history['val_loss']) == 3


class BestAgain(training.ModelCheckpoint):
    """Two of one kind do not share anything."""


def test_logs(tmp_path):
    t = trainer()
    history = t.fit(X, Y, epochs=3, callbacks=[
        training.CSVLogger(tmp_path / 'log.csv'), training.TensorBoard(tmp_path / 'run', histogram_freq=1, update_freq='batch',
                                                                      write_graph=True, example=X[:2])]).history
    rows = list(csv.DictReader((tmp_path / 'log.csv').open()))
    assert [float(r['loss']) for r in rows] == history['loss']
    found = list(events(tmp_path / 'run'))
    assert [v for _, name, v in found if name == 'epoch_loss'] == [np.float32(v) for v in history['loss']]
    assert [s for s, name, _ in found if name == 'batch_loss'] == list(range(1, 7))
    assert sum(name == 'gradients/0.weight' for _, name, _ in found) == 3
    assert sum(name == 'graph' for _, name, _ in found) == 1


def test_remote_monitor():
    got = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(('localhost', 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    history = trainer().fit(X, Y, epochs=2, callbacks=[
        training.RemoteMonitor(f'http://localhost:{server.server_port}', send_as_json=True)]).history
    server.shutdown()
    server.server_close()
    assert [g['loss'] for g in got] == history['loss']


def test_progress_bar():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for out, drawn in ((Terminal(), True), (io.StringIO(), False)):
        trainer().fit(X, Y, epochs=2, callbacks=[training.ProgbarLogger(out)])
        assert ('left' in out.getvalue()) == drawn and 'epoch 2/2  loss' in out.getvalue()


CHILD = '''
import sys, numpy as np, saltern
sys.path.insert(0, {tests!r})
import test_trainer as t
made = t.trainer(dropout=0.4, average=0.9, accumulate=2)
def slowly(batch, logs):
    import time; time.sleep(0.002)
history = made.fit(t.X, t.Y, batch_size=5, epochs=6, validation_data=(t.X, t.Y), callbacks=[
    t.training.LambdaCallback(on_train_batch_end=slowly), t.training.EarlyStopping(patience=20),
    t.training.TensorBoard({out!r} + '.csv', histogram_freq=1, update_freq='batch'),
    t.training.BackupAndRestore({backup!r}, save_freq=1, delete_checkpoint=False)])
np.savez({out!r}, net=t.values(made.net), loss=history.history['val_loss'], accuracy=history.history['accuracy'])
'''


def test_killed_and_resumed_it_ends_with_the_same_bits(tmp_path):
    """kill -9 at any moment; KILLS says how often."""
    here, chance = os.path.dirname(__file__), np.random.default_rng(1)

    def child(name):
        code = CHILD.format(tests=here, backup=str(tmp_path / name), out=str(tmp_path / f'{name}.npz'))
        return subprocess.Popen([sys.executable, '-c', code])

    begin = time.monotonic()
    assert child('whole').wait() == 0
    took, kills = time.monotonic() - begin, 0
    for _ in range(int(os.environ.get('KILLS', 3))):
        process = child('killed')
        if kills == 0:  # right behind its first backup: by the clock, it may have ended on a machine that was slow before
            while process.poll() is None and not (tmp_path / 'killed' / 'backup.safetensors').exists():
                time.sleep(1e-3)
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(took * chance.uniform(0.5, 1))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert child('killed').wait() == 0 and kills > 0
    whole, killed = np.load(tmp_path / 'whole.npz'), np.load(tmp_path / 'killed.npz')
    for name in whole.files:
        assert (whole[name] == killed[name]).all(), name
    assert (tmp_path / 'whole.npz.csv').read_text() == (tmp_path / 'killed.npz.csv').read_text()


def test_backups_that_cannot_be_written_are_named(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(OSError, match='the folder .*file/run'):
        trainer().fit(X, Y, callbacks=[training.BackupAndRestore(tmp_path / 'file' / 'run')])
    t = trainer()
    t.fit(X, Y, callbacks=[training.BackupAndRestore(tmp_path, delete_checkpoint=False)])
    with pytest.raises(ValueError, match='backup.safetensors: .*seed 0, not 1'):
        trainer(seed=1).fit(X, Y, callbacks=[training.BackupAndRestore(tmp_path)])
    for other, says in ((lambda c: trainer().fit(X[:40], Y[:40], callbacks=c), 'samples 50, not 40'),
                        (lambda c: trainer().fit(X, Y, batch_size=16, callbacks=c), 'batch_size 32, not 16'),
                        (lambda c: trainer(accumulate=2).fit(X, Y, callbacks=c), 'accumulate 1, not 2')):
        with pytest.raises(ValueError, match=says):
            other([training.BackupAndRestore(tmp_path)])


def test_classifier():
    names = np.array(['low', 'middle', 'high'])[Y]
    found = training.Classifier(hidden=(16,), epochs=60).fit(X, names)
    assert found.score(X, names) > 0.9
    assert set(found.predict(X)) <= set(names) and list(found.classes_) == sorted(set(names))
    chances = found.predict_proba(X)
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    assert (found.classes_[chances.argmax(1)] == found.predict(X)).all()
    assert (pickle.loads(pickle.dumps(found)).predict(X) == found.predict(X)).all()
    again = training.Classifier(**found.get_params()).fit(X, names)
    assert (again.predict_proba(X) == chances).all()
    with pytest.raises(ValueError, match='not trained'):
        training.Classifier().predict(X)
    own = training.Classifier(net=nn.Sequential(nn.Linear(4, 3)), epochs=2).fit(X, Y)
    assert own.predict(X).shape == (50,)


def test_regressor():
    y = X[:, 0] * X[:, 1]
    found = training.Regressor(hidden=(32,), epochs=150).fit(X, y)
    assert found.predict(X).shape == y.shape and found.score(X, y) > 0.8
    both = training.Regressor(epochs=2).fit(X, np.stack([y, -y], 1))
    assert both.predict(X).shape == (50, 2)


class Page(html.parser.HTMLParser):
    """Every element that is opened is closed; what it asks of the network."""
    EMPTY = {'meta', 'img', 'path', 'circle', 'polyline'}

    def __init__(self):
        super().__init__()
        self.open, self.sections, self.asked, self.pictures = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == 'section':
            self.sections.append(attributes['id'])
        if tag in ('script', 'link', 'iframe', 'object'):
            self.asked.append(tag)
        source = attributes.get('src', '')
        if source.startswith('data:image/png;base64,'):
            self.pictures.append(source.split(',')[1])
        elif source or 'href' in attributes:
            self.asked.append(source or attributes['href'])

    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def test_report(tmp_path):
    import base64

    from PIL import Image
    pictures = RANDOM.uniform(0, 1, (20, 3, 6, 6)).astype(np.float32)
    labels = np.arange(20) % 2
    saltern.manual_seed(0)
    seen = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Flatten(), nn.Linear(80, 2))
    t = Trainer(seen, 'cross_entropy', saltern.optim.SGD(seen.parameters(), lr=0.01), ['accuracy'])
    history = t.fit(pictures, labels, epochs=2, validation_data=(pictures, labels))
    training.write_report(tmp_path / 'report.html', t, history, pictures, labels, 'Cats <&> dogs', ['cat', 'dog'])
    text = (tmp_path / 'report.html').read_text()
    page = Page()
    page.feed(text)
    assert page.open == [] and page.asked == []
    wrong = int((t.predict(pictures).argmax(1) != labels).sum())
    assert page.sections == ['facts', 'curves', 'confusion', *(['mistakes'] if wrong else []), 'filters', 'activations',
                             'layers']
    pixels = [Image.open(io.BytesIO(base64.b64decode(p))) for p in page.pictures]
    assert [p.size for p in pixels] == [(6, 6)] * min(wrong, 12) + [(3, 3)] * 5 + [(6, 6)] + [(4, 4)] * 10
    found = np.asarray(seen[0](saltern.tensor(pictures[:1])))[0, 4]
    assert np.array_equal(np.asarray(pixels[-6]) == 255, found == found.max())
    assert 'Cats &lt;&amp;&gt; dogs' in text and text.count('<svg') == 3


@pytest.mark.parametrize('options, match', [(dict(accumulate=0), '0 batches'), (dict(average=1), 'decay'),
                                            (dict(metrics=['speed']), "'speed'; there are accuracy")])
def test_bad_options_are_named(options, match):
    made = net()
    with pytest.raises(ValueError, match=match):
        Trainer(made, 'cross_entropy', saltern.optim.SGD(made.parameters(), lr=0.1), **options)
    with pytest.raises(ValueError, match='50 inputs and 3 targets'):
        trainer().fit(X, Y[:3])
    with pytest.raises(ValueError, match='batches of 0 samples'):
        trainer().fit(X, Y, batch_size=0)


ROWS = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
KINDS = (ROWS[:, 0] > 0).astype(np.int64)


def test_callbacks_serve_again():
    stop = training.EarlyStopping('loss', patience=2, restore_best_weights=True)
    estimator = training.Classifier(hidden=(8,), epochs=40, callbacks=[stop])
    other = (ROWS[:, 1] > 0).astype(np.int64)
    assert estimator.fit(ROWS, KINDS).score(ROWS, KINDS) > 0.9 and estimator.fit(ROWS, other).score(ROWS, other[:, None]) > 0.9


def by_names(net):
    chosen = saltern.keras.optimizers.OptimizerMap([lambda ps: saltern.optim.SGD(ps, 0.1, momentum=0.9)], ['weight'])
    return saltern.keras.optimizers.MultiOptimizer(net.named_parameters(), chosen, saltern.optim.Adam)


@pytest.mark.parametrize('metric', ['accuracy', saltern.metrics.Accuracy(task='multiclass', num_classes=2)])
@pytest.mark.parametrize('make', [lambda net: saltern.optim.Adam(net.parameters()),
                                  lambda net: saltern.keras.optimizers.Adam(net.parameters()), by_names],
                         ids=['PyTorch', 'Keras', 'by names'])
def test_metrics_and_the_best_weights_are_backed_up(tmp_path, metric, make):
    class Scores(training.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs['score'] = (1, 2, 0, 0)[epoch]
    class Killed(training.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if self.model.step == 27 and not killed:
                killed.append(True)
                raise KeyboardInterrupt
    def run(*more):
        saltern.manual_seed(1)
        net = nn.Linear(3, 2)
        t = training.Trainer(net, 'cross_entropy', make(net), metrics=[copy.deepcopy(metric)])
        h = t.fit(ROWS, KINDS, batch_size=4, epochs=4, callbacks=[Scores(), training.EarlyStopping('score', patience=9, restore_best_weights=True), *more])
        return net.weight.tolist(), h.history
    killed = [True]
    whole = run(Killed())
    killed.clear()
    backup = lambda: training.BackupAndRestore(tmp_path, save_freq=3)
    with pytest.raises(KeyboardInterrupt):
        run(Killed(), backup())
    assert run(Killed(), backup()) == whole


def test_a_loss_that_would_be_scaled_is_refused():
    net = nn.Linear(3, 2)
    with pytest.raises(TypeError, match='LossScaleOptimizer'):
        training.Trainer(net, 'mse', saltern.keras.optimizers.LossScaleOptimizer(saltern.optim.SGD(net.parameters(), 0.1)))


class Stops(training.Callback):
    """Ends the process, as it were, behind an epoch."""
    def __init__(self, epoch):
        super().__init__()
        self.at = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize('verbose', [(0, 0), (2, 0), (0, 2)], ids=str)
def test_averages_in_place_and_what_is_shown_are_no_matter_when_training_goes_on(tmp_path, capsys, verbose):
    def run(shown, *more):
        t = trainer(average=0.9)
        history = t.fit(X, Y, epochs=5, verbose=shown, callbacks=[training.SwapEMAWeights(swap_on_epoch=True), *more])
        return values(t.net).tolist(), history.history

    whole = run(0)
    backup = lambda: training.BackupAndRestore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(verbose[0], Stops(3), backup())
    assert run(verbose[1], backup()) == whole


def test_a_backup_of_other_callbacks_is_refused(tmp_path):
    backup = lambda: training.BackupAndRestore(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        trainer().fit(X, Y, epochs=5, callbacks=[training.EarlyStopping('loss', patience=9), Stops(2), backup()])
    with pytest.raises(ValueError, match='backup.safetensors: .*EarlyStopping, History, not History'):
        trainer().fit(X, Y, epochs=5, callbacks=[backup()])


def test_checkpoints_in_folders_of_epochs(tmp_path, capsys):
    path = tmp_path / 'run-{epoch}' / 'net.safetensors'
    trainer().fit(X, Y, epochs=2, callbacks=[training.ModelCheckpoint(path, verbose=1)])
    assert [p.parent.name for p in sorted(tmp_path.glob('*/net.safetensors'))] == ['run-1', 'run-2']
    assert 'run-2/net.safetensors' in capsys.readouterr().err
