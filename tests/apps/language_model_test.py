#!/usr/bin/env python3
"""The language model, from a text to a C program: language_model_test.py PROGRAM_FOLDER SOURCE_FOLDER

A tiny LSTM and a tiny GPT are trained. What C++ generates with them is compared with ONNX Runtime on the exported step, with a
C program on the compiled step, and the loss with that of whoever knows the frequencies of characters, counted here.
"""
import collections, json, math, subprocess, sys, tempfile, unittest
from pathlib import Path

import numpy
import onnxruntime

PROGRAMS, SOURCES = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
TEXT = Path("/usr/share/common-licenses/GPL-3")
TINY = "--width 32 --layers 2 --heads 2 --context 24 --epochs 1 --rate 0.01 --dropout 0 --batch 16".split()
KINDS = ["lstm", "gpt"]
PROMPT = "The licenses for most software"  # longer than the context: a GPT's cache goes round


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


class LanguageModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="saltern-test-")
        cls.path = Path(cls.folder.name)
        cls.text = cls.path / "text"
        cls.text.write_bytes(TEXT.read_bytes()[:16000])
        cls.trained = {kind: run(PROGRAMS / "language_model", "train", "--kind", kind, "--text", cls.text, *TINY, "-o",
                                 cls.path / kind, "--json") for kind in KINDS}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def each_kind(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                self.assertEqual(self.trained[kind].returncode, 0, self.trained[kind].stderr)
                yield kind, self.path / kind

    def well(self, *command):
        said = run(*command)
        self.assertEqual(said.returncode, 0, said.stderr)
        return said.stdout

    def export(self, folder):
        self.well(PROGRAMS / "language_model", "export", folder / "model.safetensors", "-o", folder)

    def test_it_learns_more_than_frequencies(self):
        text = self.text.read_bytes()
        held_out = len(text) // 10
        learned, asked = text[:-held_out], text[-held_out:]
        count = collections.Counter(learned)
        total = len(learned) + len(set(text))
        by_frequency = -sum(math.log2((count[c] + 1) / total) for c in asked) / len(asked)
        for kind, folder in self.each_kind():
            facts = json.loads(self.trained[kind].stdout)
            self.assertAlmostEqual(facts["bits_by_frequency"], by_frequency, places=6)
            self.assertLess(facts["bits_per_character"], by_frequency - 0.3)
            self.assertEqual(json.loads((folder / "training.json").read_text()), facts)
            self.assertEqual((folder / "training.png").read_bytes()[:4], b"\x89PNG")

    def test_onnx_runtime_gives_the_scores_of_generation(self):
        for kind, folder in self.each_kind():
            said = json.loads(self.well(PROGRAMS / "language_model", "generate", folder / "model.safetensors", "--prompt",
                                        PROMPT, "--length", 20, "--scores", folder / "scores.npy", "--json"))
            self.assertEqual(said["text"][:len(PROMPT)], PROMPT)
            self.assertEqual(len(said["text"]), len(PROMPT) + 20)
            scores = numpy.load(folder / "scores.npy")
            self.export(folder)
            session = onnxruntime.InferenceSession(folder / "language.onnx", providers=["CPUExecutionProvider"])
            state = {i.name: numpy.zeros(i.shape, {"tensor(int64)": numpy.int64, "tensor(float)": numpy.float32}[i.type])
                     for i in session.get_inputs()[1:]}
            outputs = [o.name for o in session.get_outputs()]
            self.assertEqual(outputs, ["scores"] + ["next_" + name for name in state])
            for step, token in enumerate(said["tokens"][:-1]):
                got = dict(zip(outputs, session.run(None, {"token": numpy.array([token]), **state})))
                numpy.testing.assert_allclose(got["scores"], scores[step], rtol=1e-4, atol=1e-4, err_msg=f"step {step}")
                state = {name: got["next_" + name] for name in state}

    def test_surprise_is_what_scores_say(self):
        text = self.text.read_text()[-300:]
        (self.path / "part").write_text(text)
        for kind, folder in self.each_kind():
            model, picture = folder / "model.safetensors", folder / "surprise.png"
            facts = json.loads(self.well(PROGRAMS / "language_model", "surprise", model, "--text", self.path / "part", "-o",
                                         picture, "--json"))
            said = json.loads(self.well(PROGRAMS / "language_model", "generate", model, "--prompt", text, "--length", 0,
                                        "--scores", folder / "scores.npy", "--json"))
            scores = numpy.load(folder / "scores.npy").astype(float)
            likely = numpy.exp(scores) / numpy.exp(scores).sum(1, keepdims=True)
            of_next = likely[numpy.arange(299), said["tokens"][1:]]
            self.assertAlmostEqual(facts["bits_per_character"], -numpy.log2(of_next).mean(), places=4)
            self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_a_c_program_writes_the_same_text(self):
        for kind, folder in self.each_kind():
            self.export(folder)
            # One target is enough here, and what each CPU has.
            self.well(PROGRAMS / "saltern", "compile", folder / "language.safetensors", "-o", folder, "--target", "sse41")
            program = folder / "generate"
            self.well("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-I", folder,
                      SOURCES / "apps/language_model/generate.c", folder / "liblanguage.a", "-lm", "-lpthread", "-o",
                      program)
            wishes = ["--prompt", PROMPT, "--length", "60", "--temperature", "0"]
            text = self.well(program, *wishes)
            self.assertEqual(text, self.well(PROGRAMS / "language_model", "generate", folder / "model.safetensors", *wishes))
            self.assertEqual(len(text), len(PROMPT) + 60 + 1)
            self.assertNotEqual(text, self.well(program, *wishes[:-1], "2", "--seed", "7"))
            for wrong in [["--prompt", "\x01"], ["--length", "-3"], ["--top"], ["--colour", "1"]]:
                said = run(program, *wrong)
                self.assertEqual((said.returncode, said.stdout), (2, ""), said.stderr)

    def test_training_that_was_stopped_goes_on_to_the_same_bits(self):
        for kind, folder in self.each_kind():
            again = self.path / (kind + "_again")
            command = [PROGRAMS / "language_model", "train", "--kind", kind, "--text", self.text, *TINY, "-o", again]
            self.well(*command, "--stop-after", 30)
            self.assertFalse((again / "model.safetensors").exists())
            facts = json.loads(self.well(*command, "--resume", "--json"))
            self.assertEqual(facts["resumed_at_step"], 30)
            self.assertEqual((again / "model.safetensors").read_bytes(), (folder / "model.safetensors").read_bytes())
            other = run(*command, "--resume", "--seed", 2)
            self.assertNotEqual(other.returncode, 0)
            self.assertIn("seed", other.stderr)

    def test_bad_input_is_named(self):
        model = self.path / "gpt" / "model.safetensors"
        short, damaged = self.path / "short", self.path / "damaged.safetensors"
        short.write_text("too short")
        damaged.write_bytes(model.read_bytes()[:500])
        for culprit, *command in [
                ("no/such/text", "train", "--text", "no/such/text"), (short, "train", "--text", short, "-o", self.path / "no"),
                ("5 heads", "train", "--kind", "gpt", "--text", self.text, "--heads", 5, "-o", self.path / "no"),
                ("rnn", "train", "--kind", "rnn"), (damaged, "generate", damaged), ("--temperature", "generate", model,
                                                                                    "--temperature", "-1"),
                ("\x01", "generate", model, "--prompt", "a\x01"), ("a b", "export", model, "--name", "a b"),
                ("no/model", "export", "no/model"), ("no/text", "surprise", model, "--text", "no/text"),
                ("no two characters", "surprise", model, "--text", self.text, "--from", 2**63 - 1), ("/proc/no", "export", model, "-o", "/proc/no")]:
            said = run(PROGRAMS / "language_model", *command)
            self.assertEqual(said.returncode, 2, f"{command}: {said.stderr}")
            self.assertIn(str(culprit), said.stderr)


if __name__ == "__main__":
    unittest.main()
