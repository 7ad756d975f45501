"""Plugin for pytest: runs hls4ml's own tests with the back end alir2hdl in place of Vitis.

    V/bin/pip install pytest; PYTHONPATH=hdl_tests V/bin/python -m pytest -p hls4ml_plugin HLS4ML/test/pytest

V is the environment of `python_hls4ml.py`, HLS4ML a clone of hls4ml at the tag of the installed version. Of the tests only those remain
that name Vitis (as a parameter or in their text) and no io_stream. A test counts if it converted a network with our back end; the
summary has one line for each that failed. Tests that read C++ projects fail by their nature: `compile` and `predict` are ours.
HLS4ML_BACKEND=Vitis counts the same tests with hls4ml's own back end.
"""

import functools
import importlib.util
import inspect
import os
import signal
import sys
import types

import pytest

os.environ.setdefault("KERAS_BACKEND", "jax")

#: Limit for one test.
SECONDS = int(os.environ.get("HLS4ML_SECONDS", "60"))

#: Back end in place of Vitis.
BACKEND = os.environ.get("HLS4ML_BACKEND", "alir2hdl")

converted = []
rows = {}


def _take_keras_for_tensorflow():
    """Lets tests import Keras as a part of TensorFlow if that is not installed."""
    if importlib.util.find_spec("tensorflow") is None:
        keras = importlib.import_module("keras")
        sys.modules["tensorflow"] = types.SimpleNamespace(
            keras=keras, random=keras.utils, initializers=keras.initializers, float32="float32", __spec__=None, __path__=[])
        keras.utils.set_seed = keras.utils.set_random_seed
        # A class of Keras 2.
        keras.layers.ThresholdedReLU = lambda theta=1.0, **options: keras.layers.ReLU(threshold=theta, **options)
        sys.modules["tensorflow.keras"] = keras
        for name in ("layers", "models", "optimizers", "regularizers", "utils", "initializers", "datasets", "activations", "backend", "losses"):
            sys.modules[f"tensorflow.keras.{name}"] = importlib.import_module(f"keras.{name}")


def pytest_configure(config):
    import hls4ml

    _take_keras_for_tensorflow()

    def ours(convert):
        parameters = inspect.signature(convert).parameters

        @functools.wraps(convert)
        def wrapper(*arguments, **options):
            given = dict(zip(parameters, arguments)) | options
            config = given.get("hls_config") if isinstance(given.get("hls_config"), dict) else {}
            backend = str(given.get("backend") or config.get("Backend", "")).lower()
            if backend == "vitis" and given.get("io_type", "io_parallel") == "io_parallel":
                converted.append(convert.__name__)
                given["backend"] = BACKEND
            if "kwargs" in given and "kwargs" in parameters:
                given |= given.pop("kwargs")
            return convert(**given)

        return wrapper

    for name in ("convert_from_keras_model", "convert_from_pytorch_model", "convert_from_onnx_model"):
        wrapped = ours(getattr(hls4ml.converters, name))
        setattr(hls4ml.converters, name, wrapped)


def pytest_collection_modifyitems(config, items):
    def is_ours(item):
        callspec = getattr(item, "callspec", None)
        values = [str(value).lower() for value in (callspec.params.values() if callspec else ())]
        backends = [value for value in values if value in ("vivado", "vitis", "quartus", "catapult", "oneapi")]
        if "io_stream" in values or (backends and "vitis" not in backends):
            return False
        return bool(backends) or "vitis" in inspect.getsource(item.function).lower()

    kept = [item for item in items if is_ours(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    def stop(*_):
        raise TimeoutError(f"more than {SECONDS} seconds")

    signal.signal(signal.SIGALRM, stop)
    # Again every second: code that must not fail drops what is raised in it.
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "setup":
        converted.clear()
    if call.when == "call" and (converted or report.failed):
        reason = "" if report.passed or report.skipped else str(call.excinfo.value).strip().splitlines()
        rows[item.nodeid.split("/")[-1]] = (report.outcome, bool(converted), (reason or [type(call.excinfo.value).__name__])[0][:160] if call.excinfo else "")
    return report


def pytest_terminal_summary(terminalreporter):
    counted = [row for row in rows.values() if row[1]]
    terminalreporter.write_line(f"{BACKEND}: {sum(row[0] == 'passed' for row in counted)} of {len(counted)} tests passed")
    for name, (outcome, with_ours, reason) in rows.items():
        if outcome != "passed":
            terminalreporter.write_line(f"  {name}: {'' if with_ours else '(before the back end) '}{reason}")
