"""The back end for hls4ml against hls4ml's own C simulation (Vitis), bit for bit, and what it refuses.

Needs an environment with this package, hls4ml 1.3, alkaid, Keras 3 with one of its engines (KERAS_BACKEND; jax unless given), and g++:

    python -m venv V; V/bin/pip install WHEEL "hls4ml==1.3.0" "alkaid==0.8.2" keras jax; V/bin/python hdl_tests/python_hls4ml.py
"""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "jax")

import hls4ml  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402

from alir2hdl import Model  # noqa: E402


def refused(call, *words):
    try:
        call()
    except ValueError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"{words} is not refused")


def network(norm=False, activation="relu"):
    layers = [keras.layers.Input((8,)), keras.layers.Dense(12, name="d1")]
    if norm:
        layers.append(keras.layers.BatchNormalization(name="bn"))
    layers += [keras.layers.Activation(activation, name="act"), keras.layers.Dense(5, name="d2")]
    model = keras.Sequential(layers)
    rng = np.random.default_rng(5)
    model.set_weights([rng.uniform(0.1, 2, w.shape) if w.min() >= 0 and w.max() == 1 else rng.normal(0, 1, w.shape) for w in model.get_weights()])
    return model


def converted(model, backend, folder, precision="ap_fixed<16,6>", change=None, **options):
    config = hls4ml.utils.config_from_keras_model(model, granularity="name", default_precision=precision, backend=backend)
    if change:
        change(config)
    return hls4ml.converters.convert_from_keras_model(model, hls_config=config, output_dir=str(folder), backend=backend, **options)


def results(kind):
    """Rounds and saturates the results of the layers in between."""
    def change(config):
        for layer in ("d1", "act", "d2"):
            config["LayerName"][layer]["Precision"]["result"] = kind

    return change


scratch = Path(tempfile.mkdtemp())
x = np.random.default_rng(1).normal(0, 3, (300, 8))
# Corners: values beyond the type wrap in both.
x[:20] *= 40
cases = {
    "plain": (network(), {}),
    "narrow": (network(), {"precision": "ap_fixed<9,4>"}),
    "norm": (network(norm=True), {}),
    "round_saturate": (network(), {"change": results("ap_fixed<10,4,AP_RND,AP_SAT>")}),
    "truncate_saturate": (network(norm=True), {"change": results("ap_fixed<8,3,AP_TRN,AP_SAT>")}),
    "round_unsigned": (network(activation="linear"), {"change": results("ap_ufixed<9,4,AP_RND,AP_WRAP>")}),
}
for name, (model, options) in cases.items():
    theirs = converted(model, "Vitis", scratch / f"{name}_vitis", **options)
    ours = converted(model, "alir2hdl", scratch / name, clock_period=4, **options)
    theirs.compile()
    ours.compile()
    expected = theirs.predict(x)
    assert np.array_equal(ours.predict(x), expected), name
    assert np.array_equal(ours.predict(x.astype(np.float32)), theirs.predict(x.astype(np.float32))), name
    assert np.array_equal(Model.load(scratch / name / "model.json.gz").predict(x), expected), name
    assert (scratch / name / "project/rtl/myproject.v").is_file()
    print(name, "equal", flush=True)
built = ours.build(vectors=50, pipeline=12)
assert built["latency"] == 12 and all(wrong == 0 for _, _, wrong in built["simulations"]), built
refused(lambda: converted(network(activation="softmax"), "alir2hdl", scratch / "x").write(), "softmax")
refused(lambda: converted(network(), "alir2hdl", scratch / "x", io_type="io_stream"), "io_parallel")
narrow = lambda config: config["LayerName"]["d1"]["Precision"].__setitem__("accum", "ap_fixed<12,6>")  # noqa: E731
refused(lambda: converted(network(), "alir2hdl", scratch / "x", change=narrow).write(), "d1", "accumulator")
print("HLS4ML", len(cases), "networks,", len(built["simulations"]), "simulations")
