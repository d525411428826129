"""What others say that a model gives: ONNX Runtime, and ONNX's own evaluator."""
import warnings

import numpy
import onnxruntime
from onnx.reference import ReferenceEvaluator

from harness.unsaturated import unsaturated

onnxruntime.set_default_logger_severity(4)
warnings.filterwarnings("ignore")
numpy.seterr(all="ignore")


def session_of(model, optimised=False, threads=1):
    """ONNX Runtime with a model: a path, or its bytes. 0 threads: as many as it likes."""
    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def onnxruntime_results(model, feeds):
    return [numpy.asarray(a) for a in session_of(unsaturated(model).SerializeToString()).run(None, feeds)]


def reference_results(case):
    """What ONNX's evaluator gives, or None where it does not run the graph."""
    try:
        results = ReferenceEvaluator(case.model).run(None, case.feeds)
        return [numpy.asarray(r).astype(e.dtype) for r, e in zip(results, case.expected)]
    except Exception:  # it raises anything at all
        return None
