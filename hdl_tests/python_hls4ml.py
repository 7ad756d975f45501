"""The back end for hls4ml against hls4ml's own C simulation (Vitis), bit for bit, and what it refuses.

Needs an environment with this package, hls4ml 1.3, alkaid, Keras 3 with one of its engines (KERAS_BACKEND; jax unless given), and g++;
HGQ2 and qonnx add networks of theirs:

    python -m venv V; V/bin/pip install WHEEL "hls4ml==1.3.0" "alkaid==0.8.2" keras jax; V/bin/python hdl_tests/python_hls4ml.py [NAME...]

A name runs the cases whose name begins with it.
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("KERAS_BACKEND", "jax")

import hls4ml  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from alkaid.trace import FVArrayInput  # noqa: E402
from hls4ml.model.graph import ModelGraph  # noqa: E402
from hls4ml.model.quantizers import Quantizer  # noqa: E402
from hls4ml.model.types import ExponentPrecisionType, FixedPrecisionType  # noqa: E402

from alir2hdl import Model  # noqa: E402
from alir2hdl.hls4ml import register  # noqa: E402
from alir2hdl.hls4ml._numbers import _looked_up_in, _plus  # noqa: E402


def refused(call, *words):
    try:
        call()
    except ValueError as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"{words} is not refused")


L = keras.layers
rng = np.random.default_rng(5)


def random_weights(model):
    """Normal weights; scales and variances of a normalisation stay positive."""
    ones = lambda w: w.size and w.min() == w.max() == 1  # noqa: E731
    model.set_weights([rng.uniform(0.1, 2, w.shape) if ones(w) else rng.normal(0, 0.7, w.shape) for w in model.get_weights()])
    return model


def network(norm=False, activation="relu"):
    layers = [L.Dense(12, name="d1")]
    if norm:
        layers.append(L.BatchNormalization(name="bn"))
    return row((8,), *layers, L.Activation(activation, name="act"), L.Dense(5, name="d2"))


def row(shape, *layers):
    return random_weights(keras.Sequential([L.Input(shape), *layers]))


def graph(shape, function):
    given = L.Input(shape)
    return random_weights(keras.Model(given, function(given)))


def converted(model, backend, folder, precision="ap_fixed<16,6>", change=None, **options):
    config = hls4ml.utils.config_from_keras_model(model, granularity="name", default_precision=precision, backend=backend)
    for layer in config["LayerName"].values():
        layer["Trace"] = True
    if change:
        change(config)
    made = hls4ml.converters.convert_from_keras_model(model, hls_config=config, output_dir=str(folder), backend=backend, **options)
    if backend == "Vitis":
        # Optimising the C simulation takes longer than running it.
        def compile_quickly():
            made.write()
            script = folder / "build_lib.sh"
            script.write_text(script.read_text().replace("-O3", "-O0"))
            made._compile()

        made.compile = compile_quickly
    return made


def results(kind):
    """Rounds and saturates the results of the layers in between."""
    def change(config):
        for layer in ("d1", "act", "d2"):
            config["LayerName"][layer]["Precision"]["result"] = kind

    return change


def every(**what):
    """Gives all layers that have it a type or a strategy."""
    def change(config):
        for layer in config["LayerName"].values():
            for key, value in what.items():
                if key in layer["Precision"]:
                    layer["Precision"][key] = value
                elif key in layer:
                    layer[key] = value

    return change


def modes(rounding, overflow):
    """Every type of activations with these modes, inputs and weights too."""
    def change(config):
        for layer in config["LayerName"].values():
            for key in ("result", "weight", "bias"):
                if key in layer["Precision"]:
                    layer["Precision"][key] = f"ap_fixed<10,4,AP_{rounding},AP_{overflow}>"

    return change


#: Inputs of these are converted by `predict`, and the port has codes of the input's type.
converted_inputs = {}
for _rounding in ("TRN_ZERO", "RND_CONV", "RND_INF", "RND_ZERO", "RND_MIN_INF"):
    converted_inputs[f"mode_{_rounding.lower()}"] = (network, {"change": modes(_rounding, "SAT")})
converted_inputs["mode_symmetric"] = (network, {"change": modes("RND", "SAT_SYM")})
converted_inputs["mode_even_wrap"] = (lambda: network(norm=True), {"change": modes("RND_CONV", "WRAP")})

def several():
    """Two inputs, one of which is read twice, and two outputs."""
    a, b = L.Input((4,), name="a"), L.Input((3, 2), name="b")
    both = L.Concatenate(name="k")([L.Dense(3, name="d")(a), L.Flatten(name="f")(b)])
    return random_weights(keras.Model([a, b], [L.Dense(2, name="o")(both), L.Dense(4, activation="relu", name="p")(a)]))


def index_input(config):
    config["LayerName"][next(iter(config["LayerName"]))]["Precision"] = "ap_uint<4>"


scratch = Path(tempfile.mkdtemp())
cases = converted_inputs | {
    "plain": (network, {}),
    "narrow": (network, {"precision": "ap_fixed<9,4>"}),
    "norm": (lambda: network(norm=True), {}),
    "round_saturate": (network, {"change": results("ap_fixed<10,4,AP_RND,AP_SAT>")}),
    "truncate_saturate": (lambda: network(norm=True), {"change": results("ap_fixed<8,3,AP_TRN,AP_SAT>")}),
    "round_unsigned": (lambda: network(activation="linear"), {"change": results("ap_ufixed<9,4,AP_RND,AP_WRAP>")}),
    # Weights are stored with the outputs first; a type for everything, so that products are cut before they are added.
    "resource": (network, {"change": every(Strategy="Resource")}),
    "accumulator": (lambda: network(norm=True), {"change": every(accum="ap_fixed<14,7>")}),
    "accumulator_rounds": (network, {"change": every(accum="ap_fixed<12,7,AP_RND,AP_WRAP>")}),
    "dense_rows": (lambda: row((3, 4), L.Dense(4, name="d"), L.ReLU(name="r"), L.Flatten(name="f"), L.Dense(2, name="e")), {}),
    "conv1d": (lambda: row((9, 3), L.Conv1D(4, 3, name="c"), L.ReLU(name="r"), L.Flatten(name="f"), L.Dense(2, name="d")), {}),
    "conv1d_stride": (lambda: row((9, 2), L.Conv1D(3, 4, strides=2, padding="same", activation="relu", name="c"), L.MaxPooling1D(2, name="p")),
                      {}),
    "conv2d": (lambda: row((6, 5, 2), L.Conv2D(3, (3, 2), padding="same", name="c"), L.ReLU(name="r"), L.MaxPooling2D(2, name="p"),
                           L.Flatten(name="f"), L.Dense(3, name="d")), {}),
    "conv2d_resource": (lambda: row((5, 4, 2), L.Conv2D(3, 2, strides=(2, 1), name="c"), L.Activation("relu", name="r")),
                        {"change": every(Strategy="Resource", accum="ap_fixed<15,7>")}),
    "pointwise": (lambda: row((4, 4, 3), L.Conv2D(2, 1, name="c"), L.GlobalMaxPooling2D(name="g")), {}),
    "average": (lambda: row((7, 6, 1), L.Conv2D(2, 3, strides=(2, 1), padding="same", name="c"), L.AveragePooling2D(2, name="p"),
                            L.GlobalAveragePooling2D(name="g")), {}),
    "average_of_three": (lambda: row((9, 2), L.AveragePooling1D(3, name="p")), {}),
    "padded_pooling": (lambda: row((5, 5, 2), L.MaxPooling2D(2, padding="same", name="p"), L.AveragePooling2D(2, padding="same", name="q")), {}),
    "padding": (lambda: row((4, 3, 2), L.ZeroPadding2D(((1, 0), (2, 1)), name="z"), L.Conv2D(2, 2, name="c"), L.Permute((2, 1, 3), name="t"),
                            L.Flatten(name="f")), {}),
    "merges": (lambda: graph((6,), lambda x: L.Dense(2, name="o")(L.Concatenate(name="k")([
        L.Add(name="s")([L.Dense(4, name="a")(x), L.Dense(4, name="b")(x)]),
        L.Multiply(name="m")([L.Dense(3, name="c")(x), L.Dense(3, name="d")(x)])]))), {"precision": "ap_fixed<12,5>"}),
    "extremes": (lambda: graph((4,), lambda x: L.Maximum(name="g")([
        L.Subtract(name="s")([L.Dense(4, name="a")(x), x]),
        L.Minimum(name="l")([L.Average(name="v")([L.Dense(4, name="b")(x), x]), x])])), {}),
    "concatenated_rows": (lambda: graph((3, 4), lambda x: L.Concatenate(axis=1, name="k")([L.Dense(4, name="d")(x), x])), {}),
    "sigmoid": (lambda: row((5,), L.Dense(4, name="d"), L.Activation("sigmoid", name="s")), {}),
    "tanh": (lambda: row((5,), L.Dense(4, name="d"), L.Activation("tanh", name="s"), L.Dense(3, name="e")), {}),
    "leaky": (lambda: row((5,), L.Dense(4, name="d"), L.LeakyReLU(negative_slope=0.3, name="s"), L.Dense(3, name="e")), {}),
    "softmax": (lambda: row((5,), L.Dense(4, name="d"), L.Activation("softmax", name="s")), {}),
    # Layers in twos and threes: compiling the C simulation takes the time.
    "saturating": (network, {"change": every(accum="ap_fixed<9,4,AP_RND_CONV,AP_SAT>")}),
    "saturating_resource": (lambda: row((8,), L.Dense(6, name="d1"), L.Reshape((6, 1), name="r"), L.Conv1D(2, 4, name="c")), {
        "change": every(Strategy="Resource", ReuseFactor=4, accum="ap_fixed<9,4,AP_TRN,AP_SAT>")}),
    "separable1d": (lambda: row((8, 3), L.SeparableConv1D(2, 3, name="s"), L.DepthwiseConv1D(2, strides=2, padding="same", name="w")), {"precision": "ap_fixed<10,4>"}),
    "separable2d": (lambda: row((5, 4, 2), L.DepthwiseConv2D(2, padding="same", name="w"), L.SeparableConv2D(3, 2, name="s")),
                    {"precision": "ap_fixed<12,5>"}),
    "depthwise_saturating": (lambda: row((6, 2), L.DepthwiseConv1D(3, name="w")), {"change": every(accum="ap_fixed<10,4,AP_RND,AP_SAT_SYM>")}),
    "einsum_dense": (lambda: row((3, 2, 4), L.EinsumDense("abcd,cde->aebc", (5, 3, 2), bias_axes="e", name="e"),
                                 L.EinsumDense("abcd,de->abce", (5, 3, 2), name="f")), {"precision": "ap_fixed<12,5>"}),
    "layer_norm": (lambda: row((3, 5), L.LayerNormalization(axis=2, name="n"), L.Dense(2, name="d")), {}),
    "causal": (lambda: row((7, 2), L.Cropping1D((1, 1), name="k"), L.Conv1D(3, 3, padding="causal", name="c"), L.UpSampling1D(2, name="u")), {}),
    "cropping2d": (lambda: row((4, 5, 2), L.Cropping2D(((1, 0), (2, 1)), name="k"), L.UpSampling2D((2, 3), name="u")), {}),
    "lstm": (lambda: row((4, 3), L.LSTM(3, return_sequences=True, name="l"), L.LSTM(2, name="m")), {}),
    "gru": (lambda: row((4, 3), L.GRU(3, name="g"), L.Dense(2, name="d")), {"precision": "ap_fixed<14,5>"}),
    "lstm_resource": (lambda: row((3, 4), L.LSTM(2, recurrent_activation="relu", name="l")), {
        "change": every(Strategy="Resource", ReuseFactor=2)}),
    "bidirectional": (lambda: row((4, 3), L.Bidirectional(L.LSTM(3, return_sequences=True), name="l"), L.Bidirectional(L.GRU(2), name="m")), {}),
    "bidirectional_saturating": (lambda: row((3, 4), L.Bidirectional(L.GRU(2), backward_layer=L.LSTM(3, go_backwards=True), name="m")), {
        "change": every(Strategy="Resource", ReuseFactor=2, accum="ap_fixed<12,6,AP_RND,AP_SAT>")}),
    "curves": (lambda: graph((6,), lambda x: L.Concatenate(name="k")([
        L.Concatenate(name="j")([L.ELU(0.7, name="e")(x), L.Activation("selu", name="s")(x)]),
        L.Concatenate(name="i")([L.Activation("softplus", name="p")(x), L.Activation("softsign", name="q")(x)])])), {}),
    # The types of results are narrower than the sums, so that conditions see quantised values; weights have both signs.
    "slopes": (lambda: graph((3,), lambda x: L.Concatenate(name="k")([
        L.Concatenate(name="j")([L.LeakyReLU(negative_slope=0.3, name="e")(L.Dense(4, name="a")(x)), L.ELU(0.7, name="s")(L.Dense(4, name="b")(x))]),
        L.Concatenate(name="i")([L.PReLU(name="p")(L.Dense(4, name="c")(x)), L.Activation("selu", name="q")(L.Dense(4, name="d")(x))])])),
        {"change": every(result="ap_fixed<12,5>")}),
    "unrolled": (network, {"change": every(Strategy="Resource_Unrolled", ReuseFactor=2)}),
    "lines": (lambda: graph((6,), lambda x: L.Concatenate(name="k")([
        L.Concatenate(name="j")([L.PReLU(name="e")(x), L.Activation("hard_sigmoid", name="s")(x)]),
        L.Activation("relu6", name="p")(L.ReLU(threshold=0.5, name="t")(x))])), {}),
    "softmax_latency": (lambda: row((3, 5), L.Softmax(name="s")), {"change": every(Implementation="latency")}),
    "softmax_argmax": (lambda: row((5,), L.Softmax(name="s")), {"change": every(Implementation="argmax")}),
    "softmax_legacy": (lambda: row((5,), L.Softmax(name="s")), {"change": every(Implementation="legacy")}),
    "embedding": (lambda: row((3,), L.Embedding(11, 2, name="e"), L.Dense(2, name="d")), {"change": index_input}),
    "ports": (several, {}),
    "softmax_rows": (lambda: row((3, 5), L.Dense(4, name="d"), L.Softmax(axis=-1, name="s")), {}),
}
wanted = {name: case for name, case in cases.items() if not sys.argv[1:] or any(name.startswith(word) for word in sys.argv[1:])}


def listed(made):
    return made if isinstance(made, list) else [made]


def samples_of(name, shape):
    if name == "embedding":
        return np.random.default_rng(1).integers(0, 11, (300, *shape)).astype(float)
    x = np.random.default_rng(1).normal(0, 3, (300, *shape))
    # Corners: values beyond the type wrap in both.
    x[:20] *= 40
    # Ties of every rounding.
    x[20:60] = np.round(x[20:60] * 128) / 128
    return x


# A configuration is created before any model is converted.
config = hls4ml.utils.config_from_keras_model(cases["separable1d"][0](), granularity="name", backend="alir2hdl")
assert set(config["LayerName"]) >= {"s", "w"}, config

for name, (make, options) in wanted.items():
    model = make()
    given = [samples_of(name, variable.shape[1:]) for variable in model.inputs]
    x = given if len(given) > 1 else given[0]
    ours = converted(model, "alir2hdl", scratch / name, clock_period=4, **options)
    theirs = converted(model, "Vitis", scratch / f"{name}_vitis", **options)
    theirs.compile()
    ours.compile()
    expected = listed(theirs.predict(x))
    assert all(np.any(part != part[0]) for part in expected), f"{name} does not depend on its input"
    for mine, part in zip(listed(ours.predict(x)), expected, strict=True):
        assert np.array_equal(mine, part), (name, np.mean(mine != part))
    narrow = [one.astype(np.float32) for one in given] if len(given) > 1 else x.astype(np.float32)
    for mine, part in zip(listed(ours.predict(narrow)), listed(theirs.predict(narrow)), strict=True):
        assert np.array_equal(mine, part), name
    alone = [one[:1] for one in given] if len(given) > 1 else x[:1]
    for mine, part in zip(listed(ours.predict(alone)), listed(theirs.predict(alone)), strict=True):
        assert mine.shape == part.shape and np.array_equal(mine, part), name
    linked = hls4ml.converters.link_existing_project(scratch / name)
    linked.compile()
    for mine, part in zip(listed(linked.predict(x)), expected, strict=True):
        assert np.array_equal(mine, part), name
    if name not in converted_inputs:
        rows, flat = (np.concatenate([part.reshape(300, -1) for part in parts], axis=1) for parts in (given, expected))
        assert np.array_equal(Model.load(scratch / name / "model.json.gz").predict(rows), flat), name
    assert (scratch / name / "project/rtl/myproject.v").is_file()
    if name in ("norm", "conv2d", "merges", "softmax", "mode_rnd_zero", "mode_symmetric"):
        # Layer by layer, in both types of floating point.
        for samples in (x[:7], x[:7].astype(np.float32)):
            (y, layers), (y_theirs, layers_theirs) = ours.trace(samples), theirs.trace(samples)
            assert np.array_equal(y, y_theirs) and list(layers) == list(layers_theirs) and len(layers) > 1, (name, list(layers))
            for layer, values in layers.items():
                assert values.shape == layers_theirs[layer].shape and np.array_equal(values, layers_theirs[layer]), (name, layer)
    print(name, "equal", flush=True)
assert linked.build(vectors=5, pipeline=12)["latency"] == 12
# Without options `build` describes the hardware of the project.
stages = json.loads((scratch / name / "project/metadata.json").read_text())["latency"]
assert ours.build(csim=False)["latency"] == stages, stages
built = ours.build(vectors=50, pipeline=12)
assert built["latency"] == 12 and all(wrong == 0 for _, _, wrong in built["simulations"]), built
refused(lambda: converted(row((3, 2), L.GRU(2, reset_after=False, name="g")), "alir2hdl", scratch / "x").write(), "layer g (GRU)", "reset_after")
refused(lambda: converted(row((3, 2), L.LSTM(2, activation="softsign", name="g")), "alir2hdl", scratch / "x").write(), "layer g (LSTM)", "softsign")
# What hls4ml ignores with a warning at most, or stops at without the layer's name.
for layer, shape, word in (
    (L.UpSampling2D(2, interpolation="bilinear", name="g"), (4, 4, 1), "bilinear"),
    (L.LSTM(2, go_backwards=True, name="g"), (3, 2), "go_backwards"),
    (L.GRU(2, go_backwards=True, name="g"), (3, 2), "go_backwards"),
    (L.Bidirectional(L.LSTM(2, go_backwards=True), backward_layer=L.LSTM(2), name="g"), (3, 2), "forward layer"),
    (L.Bidirectional(L.LSTM(2), merge_mode="sum", name="g"), (3, 2), "concat"),
    (L.SimpleRNN(2, name="g"), (3, 2), "LSTM or GRU"),
    (L.TimeDistributed(L.Dense(2), name="g"), (3, 2), "TimeDistributed"),
    (L.GlobalAveragePooling2D(data_format="channels_first", name="g"), (2, 4, 4), 'use "channels_last"'),
    (L.Flatten(data_format="channels_first", name="g"), (2, 4, 4), 'use "channels_last"'),
    (L.Embedding(4, 2, mask_zero=True, name="g"), (3,), "mask_zero"),
    (L.LayerNormalization(axis=2, scale=False, name="g"), (3, 2), "scale=False"),
    (L.ReLU(max_value=5, name="g"), (3,), "max_value"),
    (L.RepeatVector(2, name="g"), (3,), "RepeatVector"),
):
    refused(lambda: converted(row(shape, layer), "alir2hdl", scratch / "x").write(), f"layer g ({type(layer).__name__})", word)
refused(lambda: converted(row((3, 2), L.Bidirectional(L.GRU(2, reset_after=False), name="g")), "alir2hdl", scratch / "x").write(), "layer g", "reset_after")
refused(lambda: converted(network(), "alir2hdl", scratch / "x", io_type="io_stream"), "io_parallel")


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    plain = converted(row((8,), L.Dense(5, name="d")), "alir2hdl", scratch / "plain_0", pipeline=0, clock_period=20)
    plain.compile()
    # 0 stages are not `auto`; steps of HLS, which scripts request, are ignored.
    assert plain.build(csim=False, synth=True, reset=True)["latency"] == 0
assert [str(one.message) for one in caught if "build ignores reset, synth" in str(one.message)], caught
assert plain.predict(np.zeros((0, 8))).shape == (0, 5)
# Both the entry point and HLS4ML_BACKEND_PLUGINS may register the back end.
register(hls4ml.backends.register_backend, hls4ml.writer.writers.register_writer)

parts = converted(row((3,), L.Dense(2, name="d"), L.Dense(2, name="e")), "alir2hdl", scratch / "parts")
refused(lambda: hls4ml.model.to_multi_model_graph(parts, ["e"]).compile(), "to_multi_model_graph")

# Outputs of more bits than float64 has are those of the C++ header, rounded to the nearest.
found, model = [], row((3,), L.Dense(2, name="d"))
for backend in ("alir2hdl", "Vitis"):
    wide = converted(model, backend, scratch / f"wide_{backend}", "ap_fixed<62,20>")
    wide.compile()
    found.append(wide.predict(np.random.default_rng(4).normal(0, 3, (50, 3))))
assert np.array_equal(*found), "wide"


def equal_to_vitis(name, model, change=None):
    found = []
    for backend in ("alir2hdl", "Vitis"):
        made = converted(model, backend, scratch / f"{name}_{backend}", change=change)
        made.compile()
        found.append(made.predict(np.random.default_rng(4).normal(0, 3, (50, *model.input_shape[1:]))))
    assert np.array_equal(*found), name
    print(name, "as in Vitis", flush=True)


# alkaid computes in single precision: the steps of sums of several layers, and matrices of more than 24 bits.
chain = row((16,), L.Dense(16, name="a"), L.Dense(16, name="b"), L.Dense(5, name="c"))
equal_to_vitis("linear_chain", chain)
equal_to_vitis("wide_weights", row((4,), L.Dense(3, name="d"), L.BatchNormalization(name="b")), every(weight="ap_fixed<40,10>", scale="ap_fixed<40,10>"))
refused(lambda: _plus(SimpleNamespace(name="b", class_name="Dense"), 0.0, [1 + 2.0**-33]), "layer b", "31 bits")
index = FVArrayInput((1,)).quantize(np.zeros(1, int), np.full(1, 2), np.zeros(1, int))
entries = lambda: _looked_up_in(SimpleNamespace(name="s", class_name="UnaryLUT"), index, lambda at: np.full(len(at), 1 + 2.0**-33), FixedPrecisionType(40, 3))  # noqa: E731
refused(entries, "layer s", "24 bits")
long_chain = row((2,), *[L.Dense(2, name=f"d{k}") for k in range(6)])
refused(lambda: converted(long_chain, "alir2hdl", scratch / "x").write(), "layer d5", "52 bits")

# What hls4ml's C++ computes modulo a size, or along the last axis only, is as in Keras here, or refused with the layer's name.
def two(first, second, merge):
    def function(x):
        sides = [L.Reshape(shape)(L.Dense(int(np.prod(shape)))(x)) for shape in (first, second)]
        return merge(name="m")(sides)

    return graph((4,), function)


def as_in_keras(name, model, precision="ap_fixed<32,16>"):
    x = np.round(np.random.default_rng(2).normal(0, 1, (20, *model.input_shape[1:])) * 16) / 16
    ours = converted(model, "alir2hdl", scratch / name, precision, clock_period=4)
    ours.compile()
    difference = np.abs(ours.predict(x).reshape(20, -1) - np.asarray(model.predict(x, verbose=0)).reshape(20, -1)).max()
    assert difference < 0.01, (name, difference)
    print(name, "as in Keras", flush=True)


other_axis = {
    "columns": two((3, 4), (3, 1), L.Add),
    "rows": two((3, 4), (1, 4), L.Subtract),
    "ranks": two((3, 4), (4,), L.Multiply),
    "columns_max": two((3, 4), (3, 1), L.Maximum),
    "shared_slopes": row((3, 4), L.PReLU(shared_axes=[1], name="p")),
    "axis": row((4, 4), L.BatchNormalization(axis=1, name="b")),
    "axis_of_dense": row((4, 4), L.Dense(4, name="d"), L.BatchNormalization(axis=1, name="b")),
    "axis_of_convolution": row((6, 2), L.Conv1D(4, 3, name="c"), L.BatchNormalization(axis=1, name="b")),
    # Products with constants of many bits took twice the time for each of them.
    "average_of_five": row((5, 2), L.GlobalAveragePooling1D(name="g")),
    "axes": row((4, 4), L.ReLU(name="r"), L.BatchNormalization(axis=1, name="b"), L.BatchNormalization(name="e")),
}
for name, model in other_axis.items():
    as_in_keras(name, model)
refused(lambda: converted(two((3, 1), (1, 2), L.Add), "alir2hdl", scratch / "x").write(), "layer m (Merge)", "(3, 1)", "(1, 2)")
# hls4ml has neither dilated nor grouped convolutions.
beyond = {
    "dilated": row((9, 4), L.Conv1D(4, 3, dilation_rate=2, name="c")),
    "dilated_same": row((9, 4), L.Conv1D(4, 3, dilation_rate=3, padding="same", name="c")),
    "dilated_causal": row((9, 4), L.Conv1D(4, 3, dilation_rate=2, padding="causal", name="c")),
    "dilated_2d": row((8, 7, 2), L.Conv2D(3, (3, 2), dilation_rate=(2, 3), padding="same", name="c")),
    "dilated_depthwise": row((8, 7, 2), L.DepthwiseConv2D(2, dilation_rate=2, padding="same", name="c")),
    "dilated_separable": row((9, 3), L.SeparableConv1D(4, 3, dilation_rate=2, padding="same", name="c")),
    "multiplied": row((6, 3), L.DepthwiseConv1D(2, depth_multiplier=2, name="c"), L.SeparableConv1D(3, 2, depth_multiplier=3, name="s")),
    "grouped": row((9, 4), L.Conv1D(6, 3, strides=2, groups=2, name="c"), L.Conv1D(4, 1, groups=2, name="p")),
    "grouped_2d": row((4, 4, 6), L.Conv2D(3, 2, groups=3, dilation_rate=2, name="c")),
}
for name, model in beyond.items():
    as_in_keras(name, model)

# A second model in one folder is not the first one's library.
for _ in range(2):
    as_in_keras("again", network())


class PowersOfTwo(Quantizer):
    """Weights that are powers of two already; their exponents have these bits."""

    def __init__(self, bits):
        super().__init__(bits, ExponentPrecisionType(width=bits, signed=True))

    def __call__(self, data):
        return data

    def serialize_state(self):
        return {}


# hls4ml 1.3 still uses this name, which NumPy 2 has removed.
np.product = np.prod


def layers_as_in_vitis(name, layers, precision, strategy="Latency"):
    """Compares a graph that is given as hls4ml's list of layers after the input; returns the outputs."""
    found, samples = [], np.random.default_rng(2).normal(0, 1, (300, 7))
    for backend in ("alir2hdl", "Vitis"):
        config = hls4ml.utils.config.create_config(output_dir=str(scratch / f"{name}_{backend}"), backend=backend)
        config["HLSConfig"] = {"Model": {"Precision": {"default": precision}, "ReuseFactor": 7, "Strategy": strategy}}
        made = ModelGraph.from_layer_list(config, [{"class_name": "InputLayer", "name": "x", "input_shape": [7]}, *layers])
        made.compile()
        found.append(made.predict(samples))
    assert np.array_equal(*found), name
    return found[0]


for bits, lowest, precision, strategy in ((4, -4, "ap_fixed<16,6>", "Latency"), (4, -6, "ap_fixed<8,1>", "Latency"), (5, -9, "ap_fixed<12,6>", "Resource")):
    powers = rng.choice([-1.0, 1.0], (7, 5)) * 2.0 ** rng.integers(lowest, 2, (7, 5))
    dense = {"class_name": "Dense", "name": "d", "n_in": 7, "n_out": 5, "bias_data": np.ones(5), "weight_data": powers}
    outputs = layers_as_in_vitis(f"powers_{bits}_{lowest}", [dense | {"weight_quantizer": PowersOfTwo(bits)}], precision, strategy)
    assert len(np.unique(outputs)) > 100, (bits, lowest)
for kind in ("binary", "ternary"):
    numbers = {"scale_data": rng.uniform(0.3, 1.5, 7), "bias_data": rng.normal(size=7)}
    norm = {"class_name": "BatchNormalization", "name": "n", "n_in": 7, "n_filt": -1} | numbers
    activation = {"class_name": "Activation", "name": "a", "activation": f"{kind}_tanh", "n_in": 7}
    outputs = layers_as_in_vitis(f"thresholds_{kind}", [norm, activation], "ap_fixed<16,6>")
    assert len(np.unique(outputs)) == (2 if kind == "binary" else 3), kind
converted(network(), "alir2hdl", scratch / "archive", write_tar=True).write()
assert (scratch / "archive.tar.gz").is_file()
print("lists of layers equal", flush=True)

try:
    from hgq.config import QuantizerConfigScope
    from hgq.layers import QAdd, QConv1D, QDense, QEinsumDense, QLinformerAttention, QMultiHeadAttention
    from hgq.utils import trace_minmax
except ImportError:
    print("no HGQ2 here", file=sys.stderr)
else:
    for place, changes in (
        ("all", {"round_mode": "RND"}),
        ("datalane", {"round_mode": "RND"}),
        ("datalane", {"round_mode": "RND_CONV"}),
        ("datalane", {"overflow_mode": "SAT"}),
        ("datalane", {"round_mode": "RND_CONV", "overflow_mode": "SAT_SYM"}),
    ):
        with QuantizerConfigScope(place="all", default_q_type="kif"), QuantizerConfigScope(place=place, **changes):
            dense = keras.Sequential([L.Input((6,)), QDense(5, activation="relu"), QDense(3)])
            rows = keras.Sequential([L.Input((7, 2)), QConv1D(3, 3, activation="relu"), L.Flatten(), QDense(3)])
        for model in (dense, rows):
            x = rng.normal(0, 2, (50, *model.input_shape[1:])).astype(np.float32)
            trace_minmax(model, x)
            config = {"Model": {"Precision": "ap_fixed<-1,0>", "ReuseFactor": 1, "Strategy": "latency"}}
            folder = scratch / f"hgq_{place}_{'_'.join(changes.values())}_{len(model.input_shape)}"
            ours = hls4ml.converters.convert_from_keras_model(model, hls_config=config, backend="alir2hdl", output_dir=str(folder), clock_period=4)
            ours.compile()
            assert np.array_equal(ours.predict(x), np.asarray(model.predict(x, verbose=0))), folder.name

    def as_in_vitis(name, shape, outputs_of):
        """A network of HGQ2 whose values saturate has the outputs of Vitis' C simulation."""
        with QuantizerConfigScope(place="all", default_q_type="kif", f0=3, i0=2), QuantizerConfigScope(
            place="datalane", default_q_type="kif", f0=3, i0=2, overflow_mode="SAT", round_mode="RND"
        ):
            inputs = L.Input(shape)
            model = keras.Model(inputs, outputs_of(inputs))
        x = rng.normal(0, 2, (300, *shape)).astype(np.float32)
        trace_minmax(model, x)
        x[:40] *= 8
        config = {"Model": {"Precision": "ap_fixed<-1,0>", "ReuseFactor": 1, "Strategy": "latency"}}
        found = []
        for backend in ("alir2hdl", "Vitis"):
            folder = str(scratch / f"{name}_{backend}")
            made = hls4ml.converters.convert_from_keras_model(model, hls_config=config, backend=backend, output_dir=folder)
            made.compile()
            found.append(made.predict(x))
        assert np.array_equal(*found), name

    def attention(x):
        return QEinsumDense("bij,jk->bik", (2, 4), bias_axes="k")(QAdd()([x, QMultiHeadAttention(2, 2, fuse="none")(x, x)]))

    as_in_vitis("attention", (2, 4), attention)
    as_in_vitis("linformer", (4, 3), lambda x: QLinformerAttention(2, 2, 2)(x, x))
    print("HGQ2 equal", flush=True)

try:
    from onnx import TensorProto, helper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.util.cleanup import cleanup_model
except ImportError:
    print("no qonnx here", file=sys.stderr)
else:
    def binary_network(are_weights_binary, factors=None):
        """A product of the signs of seven inputs with signs, or with weights of five bits; with factors also a normalisation by these,
        and a product of its signs."""
        def quant(given, made, scale, bits):
            modes = {"narrow": 0, "rounding_mode": "ROUND", "signed": 1}
            return helper.make_node("Quant", [given, scale, "zero", bits], [made], domain="qonnx.custom_op.general", **modes)

        def signs(given, made):
            return helper.make_node("BipolarQuant", [given, "one"], [made], domain="qonnx.custom_op.general")

        numbers = {"one": 1, "zero": 0, "eighth": 0.125, "five": 5, "eight": 8}
        constants = [helper.make_tensor(name, TensorProto.FLOAT, [1], [float(value)]) for name, value in numbers.items()]
        constants.append(helper.make_tensor("w", TensorProto.FLOAT, [7, 5], rng.normal(size=35)))
        nodes = [quant("x", "xq", "eighth", "eight"), signs("xq", "b")]
        nodes.append(signs("w", "wq") if are_weights_binary else quant("w", "wq", "eighth", "five"))
        if factors is None:
            nodes.append(helper.make_node("MatMul", ["b", "wq"], ["y"]))
        else:
            rows = {"factor": factors, "bias": rng.normal(size=5), "mean": rng.normal(size=5), "variance": rng.uniform(0.5, 2, 5)}
            constants += [helper.make_tensor(name, TensorProto.FLOAT, [5], row) for name, row in rows.items()]
            constants.append(helper.make_tensor("v", TensorProto.FLOAT, [5, 5], rng.normal(size=25)))
            nodes.append(helper.make_node("MatMul", ["b", "wq"], ["p"]))
            nodes.append(helper.make_node("BatchNormalization", ["p", *rows], ["n"]))
            nodes += [signs("n", "s"), quant("v", "vq", "eighth", "five"), helper.make_node("MatMul", ["s", "vq"], ["y"])]
        ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in (("x", 7), ("y", 5))]
        imports = [helper.make_opsetid("", 13), helper.make_opsetid("qonnx.custom_op.general", 1)]
        made = helper.make_graph(nodes, "signs", ports[:1], ports[1:], constants)
        return cleanup_model(ModelWrapper(helper.make_model(made, opset_imports=imports)))

    def predicted(model, name, x, backend):
        config = hls4ml.utils.config.config_from_onnx_model(model, granularity="name", backend=backend, default_precision="fixed<16,6>")
        folder = str(scratch / f"{name}_{backend}")
        made = hls4ml.converters.convert_from_onnx_model(model, hls_config=config, backend=backend, output_dir=folder)
        made.compile()
        return made.predict(x)

    samples = np.round(rng.normal(0, 1.5, (200, 7)) * 8) / 8
    for are_weights_binary in (True, False):
        for factors in (None, rng.uniform(0.3, 1.5, 5)):
            model, name = binary_network(are_weights_binary, factors), f"signs_{are_weights_binary}_{factors is None}"
            ours, theirs = (predicted(model, name, samples, backend) for backend in ("alir2hdl", "Vitis"))
            assert np.array_equal(ours, theirs) and len(np.unique(ours)) > 5, name
        # hls4ml's own back ends compare as if each factor were positive.
        model = binary_network(are_weights_binary, np.array([0.5, -0.75, 1.0, -1.25, 0.875]))
        ours = predicted(model, f"signs_{are_weights_binary}", samples, "alir2hdl")
        given, made = model.graph.input[0].name, model.graph.output[0].name
        expected = [execute_onnx(model, {given: sample[None].astype(np.float32)})[made][0] for sample in samples]
        assert np.array_equal(ours, expected), are_weights_binary
    print("signs equal", flush=True)
print("HLS4ML", len(wanted), "networks,", len(built["simulations"]), "simulations")
