"""Places where hls4ml's own passes stop at, or drop, something that this back end takes."""

import numpy as np



def _adapt() -> None:
    """Adapts hls4ml before it reads a model; a second call changes nothing."""
    _take_hgq()
    _keep_axes()
    _leave_unrolled()
    _check_conversions()


def _dropped(layer) -> str | None:
    """Returns what hls4ml ignores of a Keras layer although it changes the result, and what helps; `None` for other layers."""
    kind = type(layer).__name__
    if kind in ("TimeDistributed", "SimpleRNN", "QSimpleRNN"):
        return "not supported" + ("; LSTM or GRU" if kind.endswith("RNN") else "; Dense and EinsumDense take rows without it")
    calls = [getattr(node.arguments, "kwargs", {}) for node in layer._inbound_nodes]
    one_way = kind != "Bidirectional" and getattr(layer, "go_backwards", False)
    found = {
        'data_format="channels_first"; use "channels_last"': getattr(layer, "data_format", None) == "channels_first",
        f'interpolation="{getattr(layer, "interpolation", "")}"; use "nearest"':
            kind.startswith("UpSampling") and getattr(layer, "interpolation", "nearest") != "nearest",
        "go_backwards=True; reverse the input": one_way,
        "a forward layer with go_backwards=True": getattr(getattr(layer, "forward_layer", None), "go_backwards", False),
        f'merge_mode={getattr(layer, "merge_mode", None)!r}; use "concat"': kind == "Bidirectional" and layer.merge_mode != "concat",
        "stateful=True; a state would outlive a sample": getattr(layer, "stateful", False),
        "mask_zero=True; later layers would skip the steps that it masks": getattr(layer, "mask_zero", False),
        "normalize=True": getattr(layer, "normalize", False) is True,
        "rms_scaling=True": getattr(layer, "rms_scaling", False),
        "scale=False or center=False; use ones or zeros": kind == "LayerNormalization" and not (layer.scale and layer.center),
        "quantised weights of Keras; convert the layer before quantize()": getattr(layer, "quantization_mode", None) is not None,
        "use_causal_mask=True": any(call.get("use_causal_mask") for call in calls),
    }
    return next((what for what, holds in found.items() if holds), None)


def _check_conversions() -> None:
    """Refuses layers of Keras of which hls4ml drops a part, and adds the layer's name to the errors of hls4ml's own conversion."""
    from hls4ml import converters
    from hls4ml.converters.keras_v3_to_hls import KerasV3HandlerDispatcher

    convert, convert_layer = converters.keras_v3_to_hls, KerasV3HandlerDispatcher.__call__
    if getattr(convert, "alir2hdl", False):
        return

    def refused(layer, what):
        return ValueError(f"alir2hdl: layer {layer.name} ({type(layer).__name__}): {what}")

    def keras_v3_to_hls(config, *arguments, **options):
        if str(config.get("Backend", "")).lower() == "alir2hdl":
            for layer in config["KerasModel"]._flatten_layers(include_self=False, recursive=False):
                what = _dropped(layer)
                if what is not None:
                    raise refused(layer, what)
        return convert(config, *arguments, **options)

    def call(self, layer, in_tensors, out_tensors):
        try:
            return convert_layer(self, layer, in_tensors, out_tensors)
        except Exception as error:
            raise refused(layer, _dropped(layer) or f"hls4ml cannot convert it: {error or type(error).__name__}") from error

    keras_v3_to_hls.alir2hdl = True
    converters.keras_v3_to_hls, KerasV3HandlerDispatcher.__call__ = keras_v3_to_hls, call


def _take_hgq() -> None:
    """Lets HGQ's quantisers through hls4ml's pass for them, which writes C++ for the back ends that it knows and stops at others."""
    try:
        from hls4ml.backends.fpga.passes import hgq_proxy_model as passes
    except ImportError:
        return
    from hls4ml.converters.keras_v3._base import registry

    # HGQ2 has moved its layers of attention since.
    for name, old, new in (("QMultiHeadAttention", "multi_head_attention", "attn.mha"), ("QLinformerAttention", "linformer_attention", "attn.linformer")):
        handler = next((one for key, one in registry.items() if key.endswith(f".{name}")), None)
        if handler is not None:
            registry.setdefault(f"hgq.layers.{new}.{name}", handler)
            registry.setdefault(f"hgq.layers.{old}.{name}", handler)
    theirs = passes.generate_mask_fn
    if getattr(theirs, "alir2hdl", False):
        return

    def generate_mask_fn(name, shape, k, b, i, RND, SAT, backend):  # noqa: N803
        return "" if backend.lower() == "alir2hdl" else theirs(name, shape, k, b, i, RND, SAT, backend)

    generate_mask_fn.alir2hdl = True
    passes.generate_mask_fn = generate_mask_fn


def _leave_unrolled() -> None:
    """Leaves out hls4ml's C++ for the strategy Resource_Unrolled, which stops at other back ends; the numbers are those of Resource."""
    from hls4ml.backends.vivado.passes.unrolled_codegen import GenerateUnrolledDenseResource

    theirs = GenerateUnrolledDenseResource.match
    if getattr(theirs, "alir2hdl", False):
        return

    def match(self, node):
        return node.model.config.backend.name != "alir2hdl" and theirs(self, node)

    match.alir2hdl = True
    GenerateUnrolledDenseResource.match = match


def _keep_axes() -> None:
    """Keeps what hls4ml drops of Keras' configuration: the axis of a normalisation, if it is not the last one, and dilations.

    A normalisation of another axis stays a layer: hls4ml would fuse it as one of the last. So does one with a factor that is not
    positive before a binary or ternary tanh: hls4ml compares with a threshold as if it were."""
    from hls4ml.backends.vivado.passes import bn_quant
    from hls4ml.converters.keras_v2_to_hls import layer_handlers
    from hls4ml.converters.keras_v3.conv import ConvHandler, gen_conv_config
    from hls4ml.converters.keras_v3.recurrent import BidirectionalHandler
    from hls4ml.model.optimizer.passes import batchnorm_opt, bn_fuse

    def alone(match):
        def matches(self, node):
            if node.model.config.backend.name != "alir2hdl":
                return match(self, node)
            given = [node, *(node.get_input_node(name) for name in node.inputs)]
            return match(self, node) and not has_sign(node) and not any(one is not None and one.get_attr("keras_axis", None) for one in given)

        matches.alir2hdl = True
        return matches

    def has_sign(node):
        given = node.get_input_node() if node.class_name in ("Activation", "TernaryTanh") else None
        return given is not None and "scale" in given.weights and bool(np.any(given.weights["scale"].data <= 0))

    for fusion in (bn_fuse.FuseBatchNormalization, batchnorm_opt.FuseConsecutiveBatchNormalization, bn_quant.MergeBatchNormAndQuantizedTanh):
        if not getattr(fusion.match, "alir2hdl", False):
            fusion.match = alone(fusion.match)

    convolution = ConvHandler.handle
    if not getattr(convolution, "alir2hdl", False):

        def handle(self, layer, in_tensors, out_tensors):
            own = self.load_weight
            if not hasattr(layer, "kernel"):
                # hls4ml asks separable layers of Keras 3 for a kernel that they do not have.
                self.load_weight = lambda layer, key: own(layer, "depthwise_kernel" if key == "kernel" else key)
            try:
                found = convolution(self, layer, in_tensors, out_tensors)
            finally:
                self.__dict__.pop("load_weight", None)
            rates = [int(n) for n in np.ravel(layer.dilation_rate)]
            if any(rate != 1 for rate in rates):
                reach = tuple((n - 1) * rate + 1 for n, rate in zip(layer.kernel_size, rates))
                sizes = (in_tensors[0].shape[1:], out_tensors[0].shape[1:], reach, layer.strides, layer.padding, layer.data_format, layer.name)
                found |= {key: value for key, value in gen_conv_config(*sizes).items() if key.startswith("pad_")}
                found |= dict(zip(("dilation_width",) if len(rates) == 1 else ("dilation_height", "dilation_width"), rates))
            return found

        handle.alir2hdl = True
        ConvHandler.handle = handle

    bidirectional = BidirectionalHandler.handle
    if not getattr(bidirectional, "alir2hdl", False):

        def handle_both(self, layer, in_tensors, out_tensors):
            found = bidirectional(self, layer, in_tensors, out_tensors)
            for row in found if isinstance(found, (list, tuple)) else (found,):
                for side in ("forward", "backward"):
                    # hls4ml asks a cell whether it is a layer, and so leaves both biases of a GRU in one array.
                    if row.get(f"{side}_class_name") == "GRU" and row.get(f"{side}_recurrent_bias_data") is None:
                        bias = np.asarray(row[f"{side}_bias_data"])
                        row[f"{side}_bias_data"], row[f"{side}_recurrent_bias_data"] = bias if bias.ndim == 2 else (bias, np.zeros_like(bias))
            return found

        handle_both.alir2hdl = True
        BidirectionalHandler.handle = handle_both

    theirs = layer_handlers.get("BatchNormalization")
    if theirs is None or getattr(theirs, "alir2hdl", False):
        return

    def handler(keras_layer, input_names, input_shapes, data_reader):
        layer, shape = theirs(keras_layer, input_names, input_shapes, data_reader)
        axis = keras_layer["config"].get("axis", -1)
        axis = axis[0] if isinstance(axis, (list, tuple)) else axis
        if axis not in (-1, len(input_shapes[0]) - 1):
            layer["keras_axis"] = axis if axis > 0 else axis + len(input_shapes[0])
        return layer, shape

    handler.alir2hdl = True
    layer_handlers["BatchNormalization"] = handler
