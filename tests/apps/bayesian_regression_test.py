#!/usr/bin/env python3
"""Bayesian regression beside the closed form, computed here: bayesian_regression_test.py PROGRAM_FOLDER"""
import json, subprocess, sys, tempfile, unittest
from pathlib import Path

import numpy

PROGRAM = Path(sys.argv.pop(1)) / "bayesian_regression"
NOISE, PRIOR, DEGREE = 0.5, 3.0, 2


def run(*command):
    return subprocess.run([str(c) for c in [PROGRAM, *command]], capture_output=True, text=True)


class BayesianRegression(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="saltern-test-")
        cls.path = Path(cls.folder.name)
        draw = numpy.random.default_rng(4)
        cls.x = draw.uniform(10, 30, 25)
        cls.y = 1.5 - 0.2 * (cls.x - 20) + NOISE * draw.standard_normal(25)
        cls.data = cls.path / "points.csv"
        cls.data.write_text("height,age\n" + "".join(f"{y},{x}\n" for x, y in zip(cls.x, cls.y)))
        cls.said = run("--data", cls.data, "--x", "age", "--y", "height", "--noise", NOISE, "--prior", PRIOR, "--degree",
                       DEGREE, "--steps", 800, "--draws", 600, "--warm-up", 200, "--leaps", 12, "-o", cls.path, "--json")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def facts(self, way):
        self.assertEqual(self.said.returncode, 0, self.said.stderr)
        return json.loads(self.said.stdout)[way]

    def exactly(self):
        scaled = 2 * (self.x - self.x.min()) / (self.x.max() - self.x.min()) - 1
        features = scaled[:, None] ** numpy.arange(DEGREE + 1)
        covariance = numpy.linalg.inv(features.T @ features / NOISE**2 + numpy.eye(DEGREE + 1) / PRIOR**2)
        of_y = NOISE**2 * numpy.eye(len(self.y)) + PRIOR**2 * features @ features.T
        log_evidence = -0.5 * (self.y @ numpy.linalg.solve(of_y, self.y) + numpy.linalg.slogdet(of_y)[1] +
                               len(self.y) * numpy.log(2 * numpy.pi))
        return covariance @ features.T @ self.y / NOISE**2, covariance, log_evidence

    def test_the_closed_form(self):
        mean, covariance, log_evidence = self.exactly()
        facts = self.facts("closed_form")
        numpy.testing.assert_allclose(facts["mean"], mean, rtol=1e-4, atol=1e-4)
        numpy.testing.assert_allclose(facts["covariance"], covariance, rtol=1e-4, atol=1e-6)
        self.assertAlmostEqual(facts["log_evidence"], log_evidence, places=3)

    def test_variational_inference_finds_the_posterior(self):
        """It is a normal distribution, so that nothing stands between them but steps: to 2 % of a deviation."""
        mean, covariance, log_evidence = self.exactly()
        facts = self.facts("variational")
        deviation = numpy.sqrt(numpy.diag(covariance))
        self.assertLess(numpy.abs((facts["mean"] - mean) / deviation).max(), 0.02)
        correlation = (facts["covariance"] - covariance) / numpy.outer(deviation, deviation)
        self.assertLess(numpy.abs(correlation).max(), 0.02)
        self.assertAlmostEqual(facts["elbo"], log_evidence, places=2)

    def test_hamiltonian_chains_are_of_the_posterior(self):
        """As precise as their effective samples let them be: five standard errors of a mean; variances to 20 %."""
        mean, covariance, _ = self.exactly()
        facts = self.facts("hamiltonian")
        deviation, effective = numpy.sqrt(numpy.diag(covariance)), numpy.array(facts["effective_samples"])
        self.assertGreater(effective.min(), 300)
        self.assertLess((numpy.abs(facts["mean"] - mean) / deviation * numpy.sqrt(effective)).max(), 5)
        self.assertLess(numpy.abs(numpy.diag(facts["covariance"]) / deviation**2 - 1).max(), 0.2)
        self.assertLess(max(facts["r_hat"]), 1.05)
        self.assertTrue(0.6 < facts["accepted"] < 0.98, facts["accepted"])

    def test_what_it_writes(self):
        self.assertEqual(json.loads((self.path / "posterior.json").read_text()), json.loads(self.said.stdout))
        self.assertEqual((self.path / "posterior.png").read_bytes()[:4], b"\x89PNG")

    def test_too_few_steps_are_a_failed_check(self):
        said = run("--steps", 5, "--draws", 4, "--warm-up", 1, "--leaps", 1, "-o", self.path / "few")
        self.assertEqual(said.returncode, 1)
        self.assertIn("variational posterior is not the closed form's", said.stderr)

    def test_bad_input_is_named(self):
        words, one, nothing = (self.path / name for name in ["words.csv", "one.csv", "gap.csv"])
        words.write_text("x,y\n1,red\n2,blue\n")
        one.write_text("x,y\n3,1\n3,2\n")
        nothing.write_text("x,y\n1,2\n2,\n")
        for culprit, *options in [("no/such.csv", "--data", "no/such.csv"), ("'y'", "--data", words), ("'x'", "--data", one),
                                  ("row 2", "--data", nothing), ("colour", "--data", one, "--x", "colour"),
                                  ("--noise", "--noise", "0"), ("--degree", "--degree", "-1"), ("/proc/no", "-o", "/proc/no")]:
            said = run(*options)
            self.assertEqual(said.returncode, 2, f"{options}: {said.stderr}")
            self.assertIn(culprit, said.stderr)


if __name__ == "__main__":
    unittest.main()
