//! Tests with generated networks: the cases of the contract, and random networks. Each test compares the reference
//! evaluator on real inputs, the reference evaluator on raw values, and the lowered program.

use super::front::{self, Front};
use super::lower::{self, Lowered};
use super::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ShapeProto,
    StringStringEntryProto, TensorProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use super::{Network, OnnxMeaning, Options, read, read_with, run, run_codes, structure, summary};
use crate::exact::Rational;
use crate::function::{Function, Functions};
use crate::graph::quant::QuantFile;
use crate::port::ReferenceSemantics;
use crate::quantise::{Overflow, Quantiser, Round};
use crate::reciprocal::{inverse_code, inverse_root_code};
use alir_core::ir::Model;
use alir_interp::{LookupMiss, Step, golden_steps};
use num_bigint::BigInt;
use proptest::prelude::*;
use prost::Message;

/// Generator of small random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        // Knuth's MMIX generator; its high bits have the better quality.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }

    fn float(&mut self) -> f32 {
        match self.roll(6) {
            0 => self.roll(17) as f32 / 4.0 - 2.0,
            1 => 0.0,
            _ => (self.roll(20_001) as f32 / 10_000.0 - 1.0) * 1.7,
        }
    }

    fn scale(&mut self) -> f32 {
        match self.roll(3) {
            0 => self.pick(&[0.11, 0.034, 0.5, 0.333_333_34, 0.76]),
            _ => self.pick(&[0.0625, 0.125, 0.25, 0.5, 1.0]),
        }
    }
}

#[derive(Default)]
struct Maker {
    graph: GraphProto,
    count: usize,
    last: String,
    shape: Vec<i64>,
    /// Version of ONNX's operator set; 0 stands for version 11.
    opset: i64,
    /// Tensors that later layers may read again.
    earlier: Vec<(String, Vec<i64>)>,
}

fn attribute(name: &str) -> AttributeProto {
    AttributeProto { name: Some(name.into()), ..Default::default() }
}

fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), kind: Some(2), ..attribute(name) }
}

fn integers(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { ints: values.to_vec(), kind: Some(7), ..attribute(name) }
}

fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: Some(value.into()), kind: Some(3), ..attribute(name) }
}

impl Maker {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("t{}", self.count)
    }

    fn floats(&mut self, shape: &[i64], values: Vec<f32>) -> String {
        let name = self.fresh();
        let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let tensor = TensorProto {
            dims: shape.to_vec(),
            data_type: Some(1),
            raw_data: Some(raw),
            name: Some(name.clone()),
            ..Default::default()
        };
        self.graph.initializer.push(tensor);
        name
    }

    fn random(&mut self, dice: &mut Dice, shape: &[i64]) -> String {
        let count = shape.iter().product::<i64>();
        self.floats(shape, (0..count).map(|_| dice.float()).collect())
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> String {
        let output = self.fresh();
        let quant = ["Quant", "IntQuant", "BipolarQuant", "Trunc"].contains(&operator);
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&i| i.to_owned()).collect(),
            output: vec![output.clone()],
            name: Some(format!("{operator}_{output}")),
            op_type: Some(operator.into()),
            attribute: attributes,
            domain: quant.then(|| "qonnx.custom_op.general".to_owned()),
        });
        output
    }

    /// Appends a node that reads the previous result.
    fn then(&mut self, operator: &str, more: &[&str], attributes: Vec<AttributeProto>) {
        let mut inputs = vec![self.last.as_str()];
        inputs.extend(more);
        let inputs: Vec<String> = inputs.into_iter().map(str::to_owned).collect();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        self.last = self.node(operator, &inputs, attributes);
    }

    fn quant(&mut self, dice: &mut Dice, name: &str, shape: &[i64], bits: u64, axis: Option<usize>) -> String {
        let scale = match axis.filter(|_| dice.roll(3) == 0) {
            None => {
                let s = dice.scale();
                self.floats(&[], vec![s])
            }
            Some(axis) => {
                let mut sizes = vec![1; shape.len()];
                sizes[axis] = shape[axis];
                let scales = (0..shape[axis]).map(|_| dice.scale()).collect();
                self.floats(&sizes, scales)
            }
        };
        let signed = dice.roll(3) > 0;
        let zero = if dice.roll(4) == 0 { dice.roll(5) as f32 - 2.0 } else { 0.0 };
        let zero = self.floats(&[], vec![zero]);
        let bits = self.floats(&[], vec![bits as f32]);
        let mode = dice.pick(&["ROUND", "HALF_EVEN", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "half_down"]);
        let narrow = i64::from(dice.roll(3) == 0);
        let attributes = vec![integer("signed", signed.into()), integer("narrow", narrow), text("rounding_mode", mode)];
        let operator = dice.pick(&["Quant", "IntQuant"]);
        self.node(operator, &[name, &scale, &zero, &bits], attributes)
    }

    fn quantise(&mut self, dice: &mut Dice) {
        let bits = 1 + dice.roll(6);
        let axis = (self.shape.len() > 1).then_some(1);
        let (last, shape) = (self.last.clone(), self.shape.clone());
        self.last = self.quant(dice, &last, &shape, bits, axis);
    }

    /// Appends one layer; a kind that does not fit the shape is replaced with another kind.
    fn layer(&mut self, kind: u8, dice: &mut Dice) {
        let shape = self.shape.clone();
        let rank = shape.len();
        match kind % 24 {
            0 => self.quantise(dice),
            1 => {
                let s = dice.scale();
                let scale = self.floats(&[], vec![s]);
                self.then("BipolarQuant", &[&scale], vec![]);
            }
            2 | 3 => {
                let (inner, outer) = (shape[rank - 1], 1 + dice.roll(4) as i64);
                let weights = self.random(dice, &[inner, outer]);
                let bits = 2 + dice.roll(3);
                let weights = self.quant(dice, &weights, &[inner, outer], bits, Some(1));
                self.then("MatMul", &[&weights], vec![]);
                *self.shape.last_mut().unwrap() = outer;
            }
            4 if rank == 2 => {
                let (inner, outer) = (shape[1], 1 + dice.roll(4) as i64);
                let weights = self.random(dice, &[outer, inner]);
                let weights = self.quant(dice, &weights, &[outer, inner], 3, Some(0));
                let bias = self.random(dice, &[outer]);
                self.then("Gemm", &[&weights, &bias], vec![integer("transB", 1)]);
                self.shape = vec![1, outer];
            }
            5 | 6 if rank > 2 => self.convolution(dice),
            7 if rank > 1 => {
                let channels = shape[1];
                let [gamma, beta, mean] = [0; 3].map(|_| self.random(dice, &[channels]));
                let variance = (0..channels).map(|_| dice.roll(900) as f32 / 100.0).collect();
                let variance = self.floats(&[channels], variance);
                self.then("BatchNormalization", &[&gamma, &beta, &mean, &variance], vec![]);
            }
            8 => self.then("Relu", &[], vec![]),
            9 => {
                let alpha = AttributeProto { f: Some(dice.pick(&[0.25, 0.01, -0.5])), ..attribute("alpha") };
                self.then("LeakyRelu", &[], vec![alpha]);
            }
            10 => {
                let low = self.floats(&[], vec![dice.pick(&[-1.0, -0.3, 0.0])]);
                let high = self.floats(&[], vec![dice.pick(&[0.5, 1.1, 2.0])]);
                self.then("Clip", &[&low, &high], vec![]);
            }
            11 => self.then("Neg", &[], vec![]),
            12 | 13 => {
                let operator = dice.pick(&["Add", "Sub", "Mul", "Max", "Min"]);
                let constant = self.random(dice, &shape[rank - 1..]);
                self.then(operator, &[&constant], vec![]);
            }
            14 => {
                let by = self.floats(&[], vec![dice.pick(&[3.0, 4.0, -0.7])]);
                self.then("Div", &[&by], vec![]);
            }
            15 | 16 => {
                let same: Vec<String> =
                    self.earlier.iter().filter(|(_, s)| *s == shape).map(|(name, _)| name.clone()).collect();
                let operator = dice.pick(&["Add", "Sub", "Mul", "Max", "Min", "Concat"]);
                if same.is_empty() {
                    return self.quantise(dice);
                }
                let other = same[dice.roll(same.len() as u64) as usize].clone();
                if operator == "Concat" {
                    self.then(operator, &[&other], vec![integer("axis", -1)]);
                    self.shape[rank - 1] *= 2;
                } else {
                    self.then(operator, &[&other], vec![]);
                }
            }
            17 => {
                self.quantise(dice);
                let operator = dice.pick(&["Sigmoid", "Tanh", "Gelu"]);
                self.then(operator, &[], vec![]);
                self.quantise(dice);
            }
            18 => self.truncation(dice),
            19 if rank > 2 => {
                let operator = dice.pick(&["MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"]);
                if operator.starts_with("Global") {
                    self.then(operator, &[], vec![]);
                    self.shape[2..].fill(1);
                } else {
                    let kernel: Vec<i64> = shape[2..].iter().map(|&s| s.min(2)).collect();
                    let include = integer("count_include_pad", dice.roll(2) as i64);
                    let mut attributes =
                        vec![integers("kernel_shape", &kernel), integers("strides", &vec![2; kernel.len()])];
                    attributes.extend((operator == "AveragePool").then_some(include));
                    self.then(operator, &[], attributes);
                    for axis in 2..rank {
                        self.shape[axis] = (shape[axis] - kernel[axis - 2]) / 2 + 1;
                    }
                }
            }
            20 if rank > 2 => {
                self.then("Flatten", &[], vec![]);
                self.shape = vec![shape[0], shape[1..].iter().product()];
            }
            21 => {
                let perm: Vec<i64> = (0..rank as i64).rev().collect();
                self.then("Transpose", &[], vec![integers("perm", &perm)]);
                self.then("Transpose", &[], vec![integers("perm", &perm)]);
            }
            22 => {
                let operator = dice.pick(&["ReduceMean", "ReduceSum"]);
                self.then(operator, &[], vec![integers("axes", &[-1])]);
                self.shape[rank - 1] = 1;
            }
            _ => {
                let mut pads = vec![0; 2 * rank];
                (pads[rank - 1], pads[2 * rank - 1]) = (1, 1);
                self.then("Pad", &[], vec![integers("pads", &pads)]);
                self.shape[rank - 1] += 2;
            }
        }
    }

    fn convolution(&mut self, dice: &mut Dice) {
        let shape = self.shape.clone();
        let channels = shape[1];
        let groups = if dice.roll(3) == 0 { channels } else { 1 };
        let outputs = groups * (1 + dice.roll(2) as i64);
        let spatial = shape.len() - 2;
        let kernel: Vec<i64> = (0..spatial).map(|_| 1 + dice.roll(3) as i64).collect();
        let mut size = vec![outputs, channels / groups];
        size.extend(&kernel);
        let weights = self.random(dice, &size);
        let weights = self.quant(dice, &weights, &size, 3, Some(0));
        let strides: Vec<i64> = (0..spatial).map(|_| 1 + dice.roll(2) as i64).collect();
        let pads: Vec<i64> = kernel.iter().map(|k| k / 2).collect();
        let mut all_pads = pads.clone();
        all_pads.extend(&pads);
        let attributes = vec![integers("strides", &strides), integers("pads", &all_pads), integer("group", groups)];
        let bias = self.random(dice, &[outputs]);
        if dice.roll(2) == 0 {
            self.then("Conv", &[&weights, &bias], attributes);
        } else {
            self.then("Conv", &[&weights], attributes);
        }
        self.shape[1] = outputs;
        for axis in 0..spatial {
            self.shape[axis + 2] = (shape[axis + 2] + 2 * pads[axis] - kernel[axis]) / strides[axis] + 1;
        }
    }

    fn truncation(&mut self, dice: &mut Dice) {
        let s = dice.scale();
        let scale = self.floats(&[], vec![s]);
        let zero = self.floats(&[], vec![dice.pick(&[0.0, 0.0, 3.0])]);
        let from = self.floats(&[], vec![8.0]);
        let mode = text("rounding_mode", dice.pick(&["FLOOR", "ROUND", "CEIL", "HALF_UP"]));
        if dice.roll(2) == 0 {
            let to = self.floats(&[], vec![dice.pick(&[4.0, 7.0, 8.0])]);
            self.then("Trunc", &[&scale, &zero, &from, &to], vec![mode]);
        } else {
            let out = self.floats(&[], vec![s * dice.pick(&[1.0, 2.0, 8.0])]);
            let to = self.floats(&[], vec![dice.pick(&[3.0, 5.0])]);
            let signed = integer("signed", dice.roll(2) as i64);
            self.then("Trunc", &[&scale, &zero, &from, &out, &to], vec![mode, signed]);
        }
    }

    fn bytes(mut self, input_shape: &[i64]) -> Vec<u8> {
        let dim = |&value: &i64| DimensionProto { value: Some(value), parameter: None };
        let shape = ShapeProto { dim: input_shape.iter().map(dim).collect() };
        let tensor = TensorTypeProto { elem_type: Some(1), shape: Some(shape) };
        let kind = Some(TypeProto { tensor: Some(tensor) });
        self.graph.input = vec![ValueInfoProto { name: Some("x".into()), kind }];
        self.graph.output = vec![ValueInfoProto { name: Some(self.last), kind: None }];
        let opset = OperatorSetIdProto { domain: None, version: Some(if self.opset == 0 { 11 } else { self.opset }) };
        ModelProto { ir_version: Some(8), graph: Some(self.graph), opset_import: vec![opset] }.encode_to_vec()
    }
}

/// Returns the file of a network with these layers. If the input has no type (`typed` is `false`), the network starts
/// with a quantiser.
fn network_of(form: u8, typed: bool, layers: &[(u8, u64)]) -> Vec<u8> {
    let mut dice = Dice(u64::from(form) + 77);
    let input: Vec<i64> = match form % 4 {
        0 | 1 => vec![1, 3],
        2 => vec![1, 2, 4],
        _ => vec![1, 2, 3, 3],
    };
    let mut maker = Maker { last: "x".into(), shape: input.clone(), ..Maker::default() };
    if !typed {
        if dice.roll(2) == 0 {
            let by = maker.floats(&[], vec![1.3]);
            maker.then("Mul", &[&by], vec![]);
        }
        maker.layer(if form.is_multiple_of(3) { 1 } else { 0 }, &mut dice);
    }
    for (number, &(kind, seed)) in layers.iter().enumerate() {
        let mut dice = Dice(seed);
        if maker.last != "x" || !typed {
            maker.earlier.push((maker.last.clone(), maker.shape.clone()));
        }
        maker.layer(kind, &mut dice);
        if number % 2 == 1 {
            maker.quantise(&mut dice);
        }
    }
    maker.bytes(&input)
}

/// Parses and lowers a network, and compares the reference evaluator on real inputs and on raw values with the program.
fn held(bytes: &[u8], input_type: Option<Quantiser>, rows: u32) -> Result<(), TestCaseError> {
    held_with(bytes, &QuantFile::default(), input_type, rows)
}

fn held_with(bytes: &[u8], quant: &QuantFile, input_type: Option<Quantiser>, rows: u32) -> Result<(), TestCaseError> {
    let network = read_with(bytes, &Options::default(), quant).unwrap_or_else(|e| panic!("{}", e[0]));
    let front = front::front(&network, input_type).unwrap_or_else(|e| panic!("{e}"));
    let lowered = match lower::lower(&network, &front, &lower::Options::default()) {
        Ok(lowered) => lowered,
        // Products of products, and quantisers of such products, may exceed the limits of hardware.
        Err(lower::Refused::Latency(missed)) => panic!("no latency was asked: {missed:?}"),
        Err(lower::Refused::Network(e)) => {
            let known = ["bits", "steps", "entries"].iter().any(|word| e.message.contains(word));
            prop_assert!(known, "{e}");
            return Ok(());
        }
    };
    let plain = specification(&network, &front, &lowered);
    if let Err(e) = &plain {
        let known = ["bits", "steps", "table too large", "not a multiple"].iter().any(|word| e.contains(word));
        prop_assert!(known, "{e}");
    }
    let mut dice = Dice(rows.into());
    for _ in 0..rows {
        let x: Vec<Rational> =
            (0..network.input.elements()).map(|_| Rational::from_f64(f64::from(dice.float()) * 4.0).unwrap()).collect();
        same_outputs(&network, &front, &lowered, plain.as_ref().ok(), input_type, &x)?;
    }
    Ok(())
}

fn specification(network: &Network, front: &Front, lowered: &Lowered) -> Result<Model, String> {
    let types = lowered.model.output_intervals().to_vec();
    OnnxMeaning::new(network.clone(), front.clone(), lowered.units.clone(), types).specification()
}

fn same_outputs(
    network: &Network,
    front: &Front,
    lowered: &Lowered,
    plain: Option<&Model>,
    input_type: Option<Quantiser>,
    x: &[Rational],
) -> Result<(), TestCaseError> {
    let codes: Vec<BigInt> = x.iter().zip(&front.inputs).map(|(x, input)| input.encoder.code(x)).collect();
    let real: Vec<Rational> = match input_type {
        Some(quantiser) => x.iter().map(|x| quantiser.value(x)).collect(),
        None => x.to_vec(),
    };
    let expected = run(network, &real).unwrap();
    prop_assert_eq!(&run_codes(network, front, &codes).unwrap(), &expected);
    let mut broken = None;
    let visit = |step: Step| {
        if step.exceeds_declared_range(&lowered.model) {
            broken = Some(format!("{step:?}"));
        }
    };
    let outputs = golden_steps(&lowered.model, &codes, LookupMiss::Error, visit);
    let outputs = outputs.unwrap_or_else(|e| panic!("{e:?}"));
    prop_assert_eq!(broken, None);
    let value = |(j, code): (usize, &BigInt)| lowered.units[j].value(code, lowered.model.output_kif(j).frac.into());
    let values: Vec<Rational> = outputs.iter().enumerate().map(value).collect();
    prop_assert_eq!(values, expected);
    if let Some(plain) = plain {
        let codes = golden_steps(plain, &codes, LookupMiss::Error, |_| {});
        prop_assert_eq!(&codes.unwrap_or_else(|e| panic!("{e:?}")), &outputs);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn programs_mean_what_networks_mean(
        form in 0u8..12,
        layers in prop::collection::vec((0u8..24, any::<u64>()), 1..6),
    ) {
        held(&network_of(form, false, &layers), None, 6)?;
    }

    #[test]
    fn programs_behind_a_typed_input_too(
        form in 0u8..4,
        kind in prop::sample::select(vec!["s6.3,RND_CONV,SAT", "u5.3,RND,SAT_SYM", "s4.-1", "s5.2,TRN,SAT_ZERO"]),
        layers in prop::collection::vec((0u8..24, any::<u64>()), 1..6),
    ) {
        held(&network_of(form, true, &layers), Some(Quantiser::parse(kind).unwrap()), 6)?;
    }

    /// No changed file makes the parser panic.
    #[test]
    fn changed_files_are_read_or_refused(
        form in 0u8..12,
        layers in prop::collection::vec((0u8..24, any::<u64>()), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..6),
    ) {
        let mut bytes = network_of(form, false, &layers);
        for (at, value, kind) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = value,
                1 => bytes[at] ^= 1 << (value % 8),
                2 => bytes.truncate(at),
                _ => bytes.insert(at, value),
            }
        }
        if let Ok(network) = read(&bytes, &Options { max_adders: 20_000, ..Default::default() })
            && let Ok(front) = front::front(&network, None)
        {
            let _ = lower::lower(&network, &front, &lower::Options { max_table_bits: 8, ..lower::Options::default() });
        }
    }
}

const CASES: u32 = 200;

/// Returns the rows of an npy file of doubles.
fn rows_of(path: &std::path::Path) -> Vec<Vec<f64>> {
    let bytes = std::fs::read(path).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = std::str::from_utf8(&bytes[10..10 + header]).unwrap();
    assert!(text.contains("'<f8'") && text.contains("'fortran_order': False"), "{text}");
    let (_, shape) = text.split_once("'shape': (").unwrap();
    let (shape, _) = shape.split_once(')').unwrap();
    let columns: usize = shape.split(',').nth(1).unwrap().trim().parse().unwrap();
    let values: Vec<f64> =
        bytes[10 + header..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    values.chunks_exact(columns).map(<[f64]>::to_vec).collect()
}

fn data(name: &str) -> std::path::PathBuf {
    alir_testing::repository().join("tests/data/network").join(name)
}

#[test]
fn cases_of_the_contract_have_their_outputs() {
    for case in ["bipolar", "branches", "conv1d", "conv2d", "mlp_float_scales", "mlp_pow2"] {
        let folder = data("qonnx").join(case);
        let network = read(&std::fs::read(folder.join("model.onnx")).unwrap(), &Options::default()).unwrap();
        let front = front::front(&network, None).unwrap();
        let lowered = lower::lower(&network, &front, &lower::Options::default()).unwrap();
        let plain = specification(&network, &front, &lowered).unwrap();
        let (inputs, outputs) = (rows_of(&folder.join("inputs.npy")), rows_of(&folder.join("outputs.npy")));
        assert_eq!(inputs.len(), outputs.len());
        for (x, y) in inputs.iter().zip(&outputs) {
            let x: Vec<Rational> = x.iter().map(|&x| Rational::from_f64(x).unwrap()).collect();
            let expected: Vec<f64> = run(&network, &x).unwrap().iter().map(Rational::to_f64).collect();
            assert_eq!(&expected, y, "{case}");
            same_outputs(&network, &front, &lowered, Some(&plain), None, &x).unwrap();
        }
    }
}

#[test]
fn broken_files_are_refused_with_their_place() {
    let expected = [
        ("o_batch", "graph.input", "batch of 8"),
        ("o_bits", "node Quant_15 (Quant)", "bit width is 3.5"),
        ("o_dangling", "node Add_16 (Add)", "no node computes input ghost"),
        ("o_garbage", "", "no ONNX file"),
        ("o_lstm", "node LSTM_16 (LSTM)", "LSTM is not supported"),
        ("o_no_input_type", "graph.input", "without a Quant"),
        ("o_rounding", "node Quant_4 (Quant)", "NEAREST"),
        ("o_scale_variable", "node 5 (Quant)", "scale must be constant"),
        ("o_scale_zero", "node Quant_15 (Quant)", "positive"),
        ("o_shapes", "node MatMul_17 (MatMul)", "do not go together"),
        ("o_sigmoid_bare", "node MatMul_18 (MatMul)", "sigmoid needs a Quant"),
        ("o_zero_point", "node Quant_4 (Quant)", "zero point is 0.5"),
    ];
    for (name, place, reason) in expected {
        let bytes = std::fs::read(data("invalid").join(format!("{name}.onnx"))).unwrap();
        let refused = match read(&bytes, &Options::default()) {
            Err(all) => all[0].clone(),
            Ok(network) => front::front(&network, None).unwrap_err(),
        };
        assert_eq!(refused.place, place, "{refused}");
        assert!(refused.message.contains(reason), "{refused}");
    }
}

impl Maker {
    /// Adds an initialiser of another type, given as its packed bytes.
    fn packed(&mut self, shape: &[i64], data_type: i32, raw: Vec<u8>) -> String {
        let name = self.fresh();
        let (dims, name_too) = (shape.to_vec(), Some(name.clone()));
        let tensor =
            TensorProto { dims, data_type: Some(data_type), raw_data: Some(raw), name: name_too, ..Default::default() };
        self.graph.initializer.push(tensor);
        name
    }

    fn whole(&mut self, values: &[i64]) -> String {
        self.packed(&[values.len() as i64], 7, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }
}

/// Returns the outputs of a network with a typed input for the inputs 0, 1, 2, ..., or the reason of its rejection. The
/// network is compared with its program.
fn computed(input: &[i64], make: impl FnOnce(&mut Maker)) -> Result<Vec<f64>, String> {
    let mut maker = Maker { last: "x".into(), shape: input.to_vec(), ..Maker::default() };
    make(&mut maker);
    let bytes = maker.bytes(input);
    let network = read(&bytes, &Options::default()).map_err(|refusals| refusals[0].to_string())?;
    held(&bytes, Some(Quantiser::parse("s8.0").unwrap()), 3).unwrap();
    let x: Vec<Rational> = (0..network.input.elements() as i64).map(Rational::from).collect();
    Ok(run(&network, &x).unwrap().iter().map(Rational::to_f64).collect())
}

#[test]
fn parts_and_copies_are_elements_of_the_input() {
    let slice = |starts: &[i64], ends: &[i64], axes: &[i64], steps: &[i64]| {
        computed(&[1, 2, 4], |m| {
            let lists = [starts, ends, axes, steps].map(|list| m.whole(list));
            m.then("Slice", &lists.each_ref().map(String::as_str), vec![]);
        })
    };
    assert_eq!(slice(&[1], &[9], &[2], &[2]).unwrap(), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(slice(&[-1], &[-9], &[-1], &[-2]).unwrap(), [3.0, 1.0, 7.0, 5.0]);
    assert_eq!(slice(&[1, 1], &[2, 3], &[1, 2], &[1, 1]).unwrap(), [5.0, 6.0]);
    assert!(slice(&[0], &[4], &[2], &[0]).unwrap_err().contains("node Slice_t5 (Slice): the step 0"));
    let gathered = computed(&[1, 4], |m| {
        let at = m.whole(&[3, 0, -2]);
        m.then("Gather", &[&at], vec![integer("axis", 1)]);
    });
    assert_eq!(gathered.unwrap(), [3.0, 0.0, 2.0]);
    let tiled = computed(&[1, 2], |m| {
        let times = m.whole(&[1, 2]);
        m.then("Tile", &[&times], vec![]);
        let shape = m.whole(&[2, 1]);
        m.then("Expand", &[&shape], vec![]);
        m.then("Cast", &[], vec![integer("to", 1)]);
    });
    assert_eq!(tiled.unwrap(), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    let rounded = computed(&[1, 2], |m| m.then("Cast", &[], vec![integer("to", 10)]));
    assert!(rounded.unwrap_err().contains("(Cast): a change to FLOAT16 may round"));
    let added = |value: i64, to: &[i64]| {
        computed(&[1, 2], |m| {
            let mut constant = m.whole(&[value]);
            for to in to {
                constant = m.node("Cast", &[&constant], vec![integer("to", *to)]);
            }
            m.then("Add", &[&constant], vec![]);
        })
    };
    // Types of ONNX with their smallest and largest integers.
    for (to, least, largest) in [
        (2, 0, 255),
        (3, -128, 127),
        (4, 0, 65_535),
        (5, -32_768, 32_767),
        (6, -2_147_483_648, 2_147_483_647),
        (12, 0, 4_294_967_295),
    ] {
        for value in [least, largest] {
            assert_eq!(added(value, &[to]).unwrap(), [value as f64, value as f64 + 1.0], "{to}");
        }
        for value in [least - 1, largest + 1] {
            let refused = added(value, &[to]).unwrap_err();
            assert!(refused.contains(&format!("(Cast): the constant {value} is beyond ")), "{refused}");
        }
    }
    assert!(added(-1, &[13]).unwrap_err().contains("(Cast): the constant -1 is beyond UINT64"));
    // FLOAT rounds to 24 bits, half to even; DOUBLE does not.
    assert_eq!(added(16_777_217, &[1]).unwrap()[0], 16_777_216.0);
    assert_eq!(added(16_777_219, &[11, 1, 7]).unwrap()[0], 16_777_220.0);
    assert_eq!(added(16_777_217, &[11]).unwrap()[0], 16_777_217.0);
    assert!(added((1 << 53) + 1, &[1]).unwrap_err().contains("(Cast): the constant 9007199254740993"));
    let open = computed(&[1, 4], |m| {
        let shape = m.whole(&[-1, -1]);
        m.then("Reshape", &[&shape], vec![]);
    });
    assert!(open.unwrap_err().contains("the shape [-1, -1] leaves more than one size open"));
}

#[test]
fn every_output_of_a_split_is_its_part() {
    let split = |outputs: usize, sizes: Option<&[i64]>, attributes: Vec<AttributeProto>| {
        computed(&[1, 5], |m| {
            let mut inputs = vec!["x".to_owned()];
            inputs.extend(sizes.map(|sizes| m.whole(sizes)));
            let names: Vec<String> = (0..outputs).map(|k| format!("part{k}")).collect();
            m.graph.node.push(NodeProto {
                input: inputs,
                output: names.clone(),
                name: Some("split".into()),
                op_type: Some("Split".into()),
                attribute: attributes,
                domain: None,
            });
            let back: Vec<&str> = names.iter().rev().map(String::as_str).collect();
            m.last = m.node("Concat", &back, vec![integer("axis", 1)]);
        })
    };
    let axis = || integer("axis", 1);
    assert_eq!(split(2, Some(&[2, 3]), vec![axis()]).unwrap(), [2.0, 3.0, 4.0, 0.0, 1.0]);
    assert_eq!(split(2, None, vec![axis(), integers("split", &[1, 4])]).unwrap(), [1.0, 2.0, 3.0, 4.0, 0.0]);
    assert_eq!(split(3, None, vec![axis(), integer("num_outputs", 3)]).unwrap(), [4.0, 2.0, 3.0, 0.0, 1.0]);
    assert_eq!(split(5, None, vec![axis()]).unwrap(), [4.0, 3.0, 2.0, 1.0, 0.0]);
    assert!(split(2, None, vec![axis()]).unwrap_err().contains("node split (Split): axis 1 of [1, 5] has no 2 equal"));
    assert!(split(2, Some(&[2, 2]), vec![axis()]).unwrap_err().contains("parts of [2, 2]"));
    assert!(split(2, None, vec![axis(), integer("num_outputs", 3)]).unwrap_err().contains("num_outputs is 3"));
}

#[test]
fn initialisers_of_every_type_are_exact() {
    let added = |data_type: i32, count: i64, raw: &[u8]| {
        computed(&[1, count], |m| {
            let constant = m.packed(&[count], data_type, raw.to_vec());
            m.then("Add", &[&constant], vec![]);
        })
    };
    // bfloat16 1.5 and -2, bool, signed and unsigned halves of bytes.
    assert_eq!(added(16, 2, &[0xc0, 0x3f, 0x00, 0xc0]).unwrap(), [1.5, -1.0]);
    assert_eq!(added(9, 2, &[0, 1]).unwrap(), [0.0, 2.0]);
    assert_eq!(added(22, 3, &[0x8f, 0x07]).unwrap(), [-1.0, -7.0, 9.0]);
    assert_eq!(added(21, 3, &[0x8f, 0x07]).unwrap(), [15.0, 9.0, 9.0]);
    assert!(added(22, 3, &[0x8f]).unwrap_err().contains("1 bytes for 3 numbers of 4 bits"));
    assert!(added(16, 1, &[0x80, 0x7f]).unwrap_err().contains("NaN or infinity"));
    assert!(added(17, 1, &[0]).unwrap_err().contains("FLOAT8E4M3FN is not supported"));
}

#[test]
fn dropout_takes_a_flag_and_windows_of_padding_are_zero() {
    let dropped = |training: u8| {
        computed(&[1, 2], |m| {
            let (ratio, flag) = (m.floats(&[], vec![0.5]), m.packed(&[], 9, vec![training]));
            m.then("Dropout", &[&ratio, &flag], vec![]);
        })
    };
    assert_eq!(dropped(0).unwrap(), [0.0, 1.0]);
    assert!(dropped(1).unwrap_err().contains("(Dropout): training_mode is not supported"));
    let pooled = |operator: &str, include: i64| {
        computed(&[1, 1, 2], |m| {
            let attributes = vec![
                integers("kernel_shape", &[2]),
                integers("strides", &[1]),
                integers("pads", &[2, 0]),
                integer("count_include_pad", include),
            ];
            m.then(operator, &[], attributes);
        })
    };
    assert_eq!(pooled("AveragePool", 1).unwrap(), [0.0, 0.0, 0.5]);
    assert!(pooled("AveragePool", 0).unwrap_err().contains("a window lies in the padding altogether"));
    let scaled = computed(&[1, 3], |m| {
        let weights = m.floats(&[3, 2], vec![1.0; 6]);
        let (scale, zero, bits) =
            (m.floats(&[1, 2], vec![0.5, 0.0]), m.floats(&[], vec![0.0]), m.floats(&[], vec![4.0]));
        let quantised =
            m.node("Quant", &[&weights, &scale, &zero, &bits], vec![integer("signed", 1), integer("narrow", 0)]);
        m.then("MatMul", &[&quantised], vec![]);
    });
    let refused = scaled.unwrap_err();
    assert!(refused.contains("(Quant): the scale of channel 1 is 0; it must be positive"), "{refused}");
}

/// Returns a record with random modes, as text and as a quantiser.
fn record(dice: &mut Dice, kind: &str, overflows: &[&str]) -> (String, Quantiser) {
    let (round, _) = Round::NAMED[dice.roll(7) as usize];
    let overflow = dice.pick(overflows);
    let quantiser = Quantiser::parse(&format!("{kind},{round},{overflow}")).unwrap();
    (format!("{{\"type\": \"{kind}\", \"round\": \"{round}\", \"overflow\": \"{overflow}\"}}"), quantiser)
}

/// Returns records of a softmax: difference, exp, sum, inverse, probability.
fn softmax_records(dice: &mut Dice) -> (String, [Quantiser; 5]) {
    let all = Overflow::NAMED.map(|(name, _)| name);
    let parts = [
        ("difference", "s7.4", &all[1..3]),
        ("exp", "u7.6", &all[..]),
        ("sum", "u8.5", &all[..]),
        ("inverse", "u10.9", &all[..]),
        ("probability", "u6.6", &all[..]),
    ];
    let made = parts.map(|(name, kind, overflows)| {
        let (text, quantiser) = record(dice, kind, overflows);
        (format!("\"{name}\": {text}"), quantiser)
    });
    let texts: Vec<&str> = made.iter().map(|(text, _)| text.as_str()).collect();
    (format!("{{{}}}", texts.join(", ")), made.clone().map(|(_, quantiser)| quantiser))
}

fn norm_records(dice: &mut Dice) -> (String, [Quantiser; 2]) {
    let all = Overflow::NAMED.map(|(name, _)| name);
    let (square, a) = record(dice, "u9.4", &all);
    let (table, b) = record(dice, "u9.5", &all);
    (format!("{{\"rstd\": {{\"mean_square\": {square}, \"table\": {table}}}}}"), [a, b])
}

fn quant_file(nodes: &str) -> QuantFile {
    let text = format!("{{\"format\": \"alir2hdl-quant\", \"version\": 1, \"nodes\": {{{nodes}}}}}");
    QuantFile::read_records(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the softmax of the contract, computed directly from its formulas; `None` in the row stands for a dropped
/// element.
fn plain_softmax(row: &[Option<Rational>], types: &[Quantiser; 5]) -> Vec<Rational> {
    let mut functions = Functions::new();
    let [difference, exp, sum, inverse, probability] = types;
    let most = row.iter().flatten().max().unwrap().clone();
    let value = |code: BigInt, q: &Quantiser| Rational::from_code(&code, q.kif.frac.into());
    let e: Vec<Option<Rational>> = row
        .iter()
        .map(|x| {
            let d = difference.value(&(x.as_ref()? - &most));
            Some(value(functions.code(Function::Exp, &d, exp).unwrap(), exp))
        })
        .collect();
    let total = sum.value(&e.iter().flatten().fold(Rational::zero(), |sum, e| &sum + e));
    let r = value(inverse_code(&total, inverse), inverse);
    e.iter().map(|e| e.as_ref().map_or_else(Rational::zero, |e| probability.value(&(e * &r)))).collect()
}

/// Returns random numbers of a type with two fractional bits.
fn typed_row(dice: &mut Dice, count: usize) -> Vec<Rational> {
    (0..count).map(|_| Rational::from_code(&BigInt::from(dice.roll(64) as i64 - 32), 2)).collect()
}

#[test]
fn softmax_inside_a_network_with_a_mask_is_that_of_the_contract() {
    for seed in 0..10 {
        let mut dice = Dice(seed * 7919 + 3);
        let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
        let masked = dice.roll(2) == 0;
        let drop = dice.pick(&[f32::NEG_INFINITY, -1e9, -40_000.0]);
        if masked {
            // A causal mask, over scores that a selection may mask, too.
            let entries = (0..9).map(|k| if k % 3 > k / 3 { drop } else { 0.25 }).collect();
            let mask = maker.floats(&[3, 3], entries);
            if dice.roll(2) == 0 {
                maker.then("Add", &[&mask], vec![]);
            } else {
                let below = maker.floats(&[1], vec![drop]);
                let keep = maker.floats(&[3, 3], (0..9).map(|k| if k % 3 > k / 3 { 0.0 } else { 1.0 }).collect());
                let x = maker.last.clone();
                maker.last = maker.node("Where", &[&keep, &x, &below], vec![]);
            }
        }
        let axis = if masked { -1 } else { dice.pick(&[-1, 1, 0]) };
        maker.then("Softmax", &[], vec![integer("axis", axis)]);
        maker.then("Identity", &[], vec![]);
        let (text, types) = softmax_records(&mut dice);
        let quant = quant_file(&format!("\"Softmax\": {text}"));
        let added = maker.graph.node.iter().any(|n| n.op_type.as_deref() == Some("Add"));
        let bytes = maker.bytes(&[1, 3, 3]);
        let network = read_with(&bytes, &Options::default(), &quant).unwrap_or_else(|e| panic!("{}", e[0]));
        for _ in 0..5 {
            let x = typed_row(&mut dice, 9);
            let found = run(&network, &x).unwrap();
            let quarter = Rational::one().shifted(-2);
            let score = |r: usize, c: usize| {
                let x = if added { &x[r * 3 + c] + &quarter } else { x[r * 3 + c].clone() };
                (!masked || c <= r).then_some(x)
            };
            let mut expected = vec![Rational::zero(); 9];
            for line in 0..if axis == 0 { 9 } else { 3 } {
                let at: Vec<(usize, usize)> = match axis {
                    -1 => (0..3).map(|c| (line, c)).collect(),
                    1 => (0..3).map(|r| (r, line)).collect(),
                    _ => vec![(line / 3, line % 3)],
                };
                let row: Vec<Option<Rational>> = at.iter().map(|&(r, c)| score(r, c)).collect();
                for ((r, c), p) in at.into_iter().zip(plain_softmax(&row, &types)) {
                    expected[r * 3 + c] = p;
                }
            }
            assert_eq!(found, expected, "seed {seed}");
        }
        held_with(&bytes, &quant, Some(Quantiser::parse("s6.2,RND,SAT").unwrap()), 4).unwrap();
    }
}

#[test]
fn norms_inside_a_network_are_those_of_the_contract() {
    for seed in 0..6 {
        let mut dice = Dice(seed * 104_729 + 11);
        let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
        let operator = dice.pick(&["LayerNormalization", "RMSNormalization"]);
        let width = dice.pick(&[2i64, 3, 5]);
        let gamma: Vec<f32> = (0..width).map(|_| dice.roll(33) as f32 / 16.0 - 1.0).collect();
        let gammas = maker.floats(&[width], gamma.clone());
        let epsilon = AttributeProto { f: Some(0.25), kind: Some(1), ..attribute("epsilon") };
        maker.then(operator, &[&gammas], vec![epsilon, integer("axis", -1)]);
        maker.then("Identity", &[], vec![]);
        let (text, [square, table]) = norm_records(&mut dice);
        let quant = quant_file(&format!("\"{operator}\": {text}"));
        let bytes = maker.bytes(&[1, 2, width]);
        let network = read_with(&bytes, &Options::default(), &quant).unwrap_or_else(|e| panic!("{}", e[0]));
        let n = Rational::from(width);
        for _ in 0..5 {
            let x = typed_row(&mut dice, 2 * width as usize);
            let mut expected = Vec::new();
            for row in x.chunks(width as usize) {
                let sum = |values: &mut dyn Iterator<Item = Rational>| values.fold(Rational::zero(), |a, b| &a + &b);
                let mean = match operator {
                    "LayerNormalization" => sum(&mut row.iter().cloned()).checked_div(&n).unwrap(),
                    _ => Rational::zero(),
                };
                let squares = sum(&mut row.iter().map(|x| &(x - &mean) * &(x - &mean)));
                let ms = &square.value(&squares.checked_div(&n).unwrap()) + &Rational::one().shifted(-2);
                let rstd = Rational::from_code(&inverse_root_code(&ms, &table), table.kif.frac.into());
                let scaled = row
                    .iter()
                    .zip(&gamma)
                    .map(|(x, g)| &(&(x - &mean) * &rstd) * &Rational::from_f64(f64::from(*g)).unwrap());
                expected.extend(scaled);
            }
            assert_eq!(run(&network, &x).unwrap(), expected, "seed {seed}");
        }
        held_with(&bytes, &quant, Some(Quantiser::parse("s6.2,RND,SAT").unwrap()), 4).unwrap();
    }
}

/// Returns a self-attention of two heads in the form that exporters write: projections, Quant, transposes, products of
/// activations or Einsum, a scale, a mask, Softmax, and a norm after the residual.
fn attention_graph(dice: &mut Dice) -> (Vec<u8>, QuantFile) {
    let mut maker = Maker { last: "x".into(), shape: vec![1, 3, 4], opset: 13, ..Maker::default() };
    maker.quantise_four(dice);
    let input = maker.last.clone();
    let mut heads = Vec::new();
    for _ in 0..3 {
        maker.last = input.clone();
        maker.shape = vec![1, 3, 4];
        let w = maker.floats(&[4, 4], (0..16).map(|_| dice.roll(15) as f32 / 8.0 - 0.875).collect());
        maker.then("MatMul", &[&w], vec![]);
        maker.quantise_four(dice);
        let shape = maker.integers_of(&[1, 3, 2, 2]);
        maker.then("Reshape", &[&shape], vec![]);
        heads.push(maker.last.clone());
    }
    let by_einsum = dice.roll(2) == 0;
    let score = if by_einsum {
        maker.node("Einsum", &[&heads[0], &heads[1]], vec![text("equation", "bqhd,bkhd->bhqk")])
    } else {
        let q = maker.node("Transpose", &[&heads[0]], vec![integers("perm", &[0, 2, 1, 3])]);
        let k = maker.node("Transpose", &[&heads[1]], vec![integers("perm", &[0, 2, 3, 1])]);
        maker.node("MatMul", &[&q, &k], vec![])
    };
    let scale = maker.floats(&[], vec![dice.pick(&[0.5, 0.707_106_77])]);
    maker.last = maker.node("Mul", &[&score, &scale], vec![]);
    if dice.roll(2) == 0 {
        let entries = (0..9).map(|k| if k % 3 > k / 3 { f32::NEG_INFINITY } else { 0.0 }).collect();
        let mask = maker.floats(&[3, 3], entries);
        maker.then("Add", &[&mask], vec![]);
    }
    maker.then("Softmax", &[], vec![]);
    let p = maker.last.clone();
    let mixed = if by_einsum {
        maker.node("Einsum", &[&p, &heads[2]], vec![text("equation", "bhqk,bkhd->bqhd")])
    } else {
        let v = maker.node("Transpose", &[&heads[2]], vec![integers("perm", &[0, 2, 1, 3])]);
        let mixed = maker.node("MatMul", &[&p, &v], vec![]);
        maker.node("Transpose", &[&mixed], vec![integers("perm", &[0, 2, 1, 3])])
    };
    let shape = maker.integers_of(&[1, 3, 4]);
    maker.last = maker.node("Reshape", &[&mixed, &shape], vec![]);
    maker.shape = vec![1, 3, 4];
    maker.quantise_four(dice);
    maker.then("Add", &[&input], vec![]);
    let gammas = maker.floats(&[4], vec![1.0, 0.5, -0.75, 1.25]);
    maker.then("LayerNormalization", &[&gammas], vec![]);
    maker.quantise_four(dice);
    let (softmax, norm) = (softmax_records(dice).0, norm_records(dice).0);
    let quant = quant_file(&format!("\"Softmax\": {softmax}, \"LayerNormalization\": {norm}"));
    (maker.bytes(&[1, 3, 4]), quant)
}

impl Maker {
    /// Appends a signed Quant of four bits with a power of two as scale.
    fn quantise_four(&mut self, dice: &mut Dice) {
        let scale = self.floats(&[], vec![dice.pick(&[0.25, 0.5])]);
        let (zero, bits) = (self.floats(&[], vec![0.0]), self.floats(&[], vec![4.0]));
        let attributes = vec![integer("signed", 1), integer("narrow", 0), text("rounding_mode", "ROUND")];
        self.then("Quant", &[&scale, &zero, &bits], attributes);
    }

    fn integers_of(&mut self, values: &[i64]) -> String {
        let name = self.fresh();
        self.graph.initializer.push(TensorProto {
            dims: vec![values.len() as i64],
            data_type: Some(7),
            raw_data: Some(values.iter().flat_map(|v| v.to_le_bytes()).collect()),
            name: Some(name.clone()),
            ..Default::default()
        });
        name
    }
}

#[test]
fn random_attention_graphs_are_lowered_bit_by_bit() {
    for seed in 0..3 {
        let (bytes, quant) = attention_graph(&mut Dice(seed * 31 + 5));
        held_with(&bytes, &quant, None, 3).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

#[test]
fn einsum_is_a_sum_of_products_by_labels() {
    let cases: [(&str, &[i64], &[i64]); 7] = [
        ("ij,jk->ik", &[2, 3], &[3, 2]),
        ("ij,jk", &[2, 3], &[3, 4]),
        ("bij,bjk->bki", &[2, 2, 3], &[2, 3, 2]),
        ("ij,ij->", &[2, 3], &[2, 3]),
        ("ab,c->cab", &[2, 2], &[3]),
        ("ijk,kl->lj", &[2, 3, 2], &[2, 2]),
        ("ij,klj->ilk", &[2, 3], &[2, 2, 3]),
    ];
    for (equation, a, b) in cases {
        for constant in [false, true] {
            let mut dice = Dice(17);
            let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
            let (n_a, n_b): (i64, i64) = (a.iter().product(), b.iter().product());
            let factors: Vec<f32> = (0..n_b).map(|_| dice.roll(17) as f32 - 8.0).collect();
            let size = if constant { n_a } else { n_a + n_b };
            let left = maker.integers_of(a);
            let (x, y) = if constant {
                (maker.node("Reshape", &["x", &left], vec![]), maker.floats(b, factors.clone()))
            } else {
                let bounds = [0, n_a, n_a + n_b, 1].map(|v| maker.integers_of(&[v]));
                let x = maker.node("Slice", &["x", &bounds[0], &bounds[1], &bounds[3]], vec![]);
                let y = maker.node("Slice", &["x", &bounds[1], &bounds[2], &bounds[3]], vec![]);
                let right = maker.integers_of(b);
                (maker.node("Reshape", &[&x, &left], vec![]), maker.node("Reshape", &[&y, &right], vec![]))
            };
            maker.last = maker.node("Einsum", &[&x, &y], vec![text("equation", equation)]);
            let bytes = maker.bytes(&[1, size]);
            let network = read(&bytes, &Options::default()).unwrap_or_else(|e| panic!("{equation}: {}", e[0]));
            let input = typed_row(&mut dice, size as usize);
            let found = run(&network, &input).unwrap();
            let right: Vec<Rational> = match constant {
                true => factors.iter().map(|f| Rational::from_f64(f64::from(*f)).unwrap()).collect(),
                false => input[n_a as usize..].to_vec(),
            };
            assert_eq!(found, plain_einsum(equation, (a, &input), (b, &right)), "{equation}");
            held_with(&bytes, &QuantFile::default(), Some(Quantiser::parse("s4.2,RND,SAT").unwrap()), 2).unwrap();
        }
    }
}

/// Computes an Einsum by enumerating all assignments of its labels.
fn plain_einsum(equation: &str, (a, x): (&[i64], &[Rational]), (b, y): (&[i64], &[Rational])) -> Vec<Rational> {
    let (left, right) = equation.split_once("->").unwrap_or((equation, "ik"));
    let (first, second) = left.split_once(',').unwrap();
    let sizes: std::collections::BTreeMap<char, i64> =
        first.chars().zip(a).chain(second.chars().zip(b)).map(|(label, &size)| (label, size)).collect();
    let labels: Vec<(char, i64)> = sizes.into_iter().collect();
    let index = |word: &str, at: &std::collections::BTreeMap<char, i64>| {
        let size = |c: char| labels.iter().find(|(label, _)| *label == c).unwrap().1;
        word.chars().fold(0, |index, c| index * size(c) + at[&c]) as usize
    };
    let count: i64 = right.chars().map(|c| labels.iter().find(|(label, _)| *label == c).unwrap().1).product();
    let mut sums = vec![Rational::zero(); count as usize];
    for number in 0..labels.iter().map(|(_, size)| size).product() {
        let mut rest: i64 = number;
        let mut at = std::collections::BTreeMap::new();
        for (label, size) in &labels {
            at.insert(*label, rest % size);
            rest /= size;
        }
        let sum = &mut sums[index(right, &at)];
        *sum = &*sum + &(&x[index(first, &at)] * &y[index(second, &at)]);
    }
    sums
}

#[test]
fn records_masks_and_equations_are_refused_with_reasons() {
    let refusal = |maker: Maker, shape: &[i64], quant: &QuantFile| {
        let error = read_with(&maker.bytes(shape), &Options::default(), quant).unwrap_err();
        error[0].to_string()
    };
    let softmax = |mask: Option<f32>| {
        let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
        if let Some(entry) = mask {
            let mask = maker.floats(&[3], vec![entry; 3]);
            maker.then("Add", &[&mask], vec![]);
        }
        maker.then("Softmax", &[], vec![]);
        maker.then("Identity", &[], vec![]);
        maker
    };
    let complete = quant_file(&format!("\"Softmax\": {}", softmax_records(&mut Dice(1)).0));
    let said = refusal(softmax(None), &[1, 3], &QuantFile::default());
    assert!(said.contains("difference, exp, sum, inverse, probability") && said.contains("nodes.Softmax"), "{said}");
    let said = refusal(softmax(Some(-1e9)), &[1, 3], &complete);
    assert!(said.contains("leaves nothing of the row [0, :]"), "{said}");
    let unknown = quant_file("\"Attention\": {}");
    assert!(refusal(softmax(None), &[1, 3], &unknown).contains("no such node"));
    let wrong_key = quant_file("\"Softmax\": {\"score\": {\"type\": \"s8.4\"}}");
    assert!(refusal(softmax(None), &[1, 3], &wrong_key).contains("no such key"));
    let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
    let infinite = maker.floats(&[3], vec![f32::NEG_INFINITY; 3]);
    maker.then("Add", &[&infinite], vec![]);
    assert!(refusal(maker, &[1, 3], &QuantFile::default()).contains("infinity"));
    for (equation, word) in
        [("i...,i->i", "ellipsis"), ("ii,i->i", "twice"), ("ij,j,j->i", "3 operands"), ("i,j->k", "label")]
    {
        let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
        let ones = maker.floats(&[3], vec![1.0; 3]);
        maker.then("Einsum", &[&ones], vec![text("equation", equation)]);
        let said = refusal(maker, &[1, 3], &QuantFile::default());
        assert!(said.contains(word), "{equation}: {said}");
    }
}

/// Moves the data of all initialisers of a file to `weights/all.bin` in a folder; `place` changes the locations that
/// the file states.
fn moved_out(bytes: &[u8], folder: &std::path::Path, place: impl Fn(&mut Vec<(&'static str, String)>)) -> Vec<u8> {
    let mut model = ModelProto::decode(bytes).unwrap();
    let graph = model.graph.as_mut().unwrap();
    let constants = graph.node.iter_mut().flat_map(|node| &mut node.attribute).filter_map(|a| a.t.as_mut());
    let mut all = b"head".to_vec();
    for tensor in graph.initializer.iter_mut().chain(constants) {
        let Some(raw) = tensor.raw_data.take() else { continue };
        let mut entries = vec![
            ("location", "weights/all.bin".to_owned()),
            ("offset", all.len().to_string()),
            ("length", raw.len().to_string()),
        ];
        place(&mut entries);
        let entry = |(key, value): (&str, String)| StringStringEntryProto { key: Some(key.into()), value: Some(value) };
        tensor.external_data = entries.into_iter().map(entry).collect();
        tensor.data_location = Some(1);
        all.extend(raw);
    }
    std::fs::create_dir_all(folder.join("weights")).unwrap();
    std::fs::write(folder.join("weights/all.bin"), all).unwrap();
    model.encode_to_vec()
}

#[test]
fn data_in_other_files_is_that_of_the_file_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for seed in 0..12 {
        let inside = network_of(seed as u8, false, &[(seed as u8, seed), (3, seed + 1), (0, seed + 2)]);
        let outside = moved_out(&inside, folder.path(), |_| {});
        let options = Options { folder: Some(folder.path()), ..Options::default() };
        if let Ok(expected) = read(&inside, &options) {
            assert_eq!(format!("{:?}", read(&outside, &options).unwrap()), format!("{expected:?}"));
            compared += 1;
        }
        let bytes = |file: &[u8]| summary(file).unwrap().buffers.iter().map(|(.., bytes)| *bytes).collect::<Vec<_>>();
        assert_eq!(bytes(&outside), bytes(&inside));
    }
    assert!(compared > 5);
}

/// Function that changes the entries of a tensor's external data.
type Placing = dyn Fn(&mut Vec<(&'static str, String)>);

#[test]
fn data_elsewhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("below");
    let inside = network_of(0, false, &[]);
    let set = |key: &'static str, value: &'static str| {
        move |entries: &mut Vec<(&'static str, String)>| {
            entries.retain(|(name, _)| *name != key);
            entries.push((key, value.to_owned()));
        }
    };
    std::fs::write(folder.path().join("secret"), [0; 64]).unwrap();
    let moved = |place: &Placing| moved_out(&inside, &below, place);
    let cases: [(Vec<u8>, &str); 8] = [
        (moved(&set("location", "../secret")), "not in the network's folder"),
        (moved(&set("location", "weights/../../secret")), "not in the network's folder"),
        (moved(&set("location", "/etc/passwd")), "not in the network's folder"),
        (moved(&set("location", "")), "not in the network's folder"),
        (moved(&set("location", "weights")), "is not a file"),
        (moved(&set("location", "absent.bin")), "cannot read its data from \"absent.bin\""),
        (moved(&set("offset", "18446744073709551615")), "bytes from byte 18446744073709551615"),
        (moved(&set("length", "many")), "length \"many\" of its data is not a number"),
    ];
    let refused = |bytes: &[u8], folder| {
        let refusals = read(bytes, &Options { folder, ..Options::default() }).unwrap_err();
        assert!(refusals[0].place.starts_with("initialiser "), "{}", refusals[0]);
        refusals[0].message.clone()
    };
    for (bytes, reason) in cases {
        let message = refused(&bytes, Some(below.as_path()));
        assert!(message.contains(reason), "{message}");
    }
    assert!(refused(&moved(&|_| {}), None).contains("not read from a folder"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret", below.join("link")).unwrap();
        let linked = moved(&set("location", "link"));
        assert!(refused(&linked, Some(&below)).contains("not in the network's folder"));
    }
}

/// Lowers a network with records, and compares the results of reference evaluator, lowered program and specification.
fn lowered_with(bytes: &[u8], quant: &QuantFile, input: &str, seed: u64) -> Lowered {
    let input = Quantiser::parse(input).unwrap();
    let network = read_with(bytes, &Options::default(), quant).unwrap_or_else(|e| panic!("{}", e[0]));
    let front = front::front(&network, Some(input)).unwrap();
    let lowered = lower::lower(&network, &front, &lower::Options::default()).unwrap_or_else(|e| panic!("{e:?}"));
    let plain = specification(&network, &front, &lowered).unwrap();
    let (low, high) = input.codes();
    let span = u64::try_from(&high - &low).unwrap() + 1;
    let mut dice = Dice(seed);
    for row in 0..8 {
        let code = |k: usize| match row {
            0 => low.clone(),
            1 => high.clone(),
            2 if k == 0 => low.clone(),
            2 => high.clone(),
            3 => BigInt::from(k),
            _ => &low + dice.roll(1 << 31) % span,
        };
        let frac = i64::from(input.kif.frac);
        let x: Vec<Rational> = (0..network.input.elements()).map(code).map(|c| Rational::from_code(&c, frac)).collect();
        same_outputs(&network, &front, &lowered, Some(&plain), Some(input), &x).unwrap();
    }
    lowered
}

fn softmax_network(count: i64) -> Vec<u8> {
    let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
    maker.then("Softmax", &[], vec![]);
    maker.then("Identity", &[], vec![]);
    maker.bytes(&[1, count])
}

fn norm_network(operator: &str, count: i64) -> Vec<u8> {
    let mut maker = Maker { last: "x".into(), opset: 17, ..Maker::default() };
    let gammas = maker.floats(&[count], (0..count).map(|k| 1.0 - k as f32 / 4.0).collect());
    maker.then(operator, &[&gammas], vec![]);
    maker.then("Identity", &[], vec![]);
    maker.bytes(&[1, count])
}

/// Returns the number of address bits of the widest table.
fn table_bits(lowered: &Lowered) -> u32 {
    lowered.model.tables().iter().map(|t| t.entries.len().next_power_of_two().trailing_zeros()).max().unwrap_or(0)
}

#[test]
fn inputs_of_tables_are_as_narrow_as_their_records() {
    for overflow in Overflow::NAMED.map(|(name, _)| name) {
        for (round, _) in Round::NAMED {
            // The record has fewer, equally many, and more fractional bits than the exact value.
            for (kind, input) in [("s8.1", "s14.2"), ("s8.2", "s20.2"), ("s8.4", "s20.2"), ("s9.6", "u14.2")] {
                let record = format!("{{\"type\": \"{kind}\", \"round\": \"{round}\", \"overflow\": \"{overflow}\"}}");
                let quant = quant_file(&format!(
                    "\"Softmax\": {{\"difference\": {record}, \"exp\": {{\"type\": \"u8.7\"}}, \
                     \"sum\": {{\"type\": \"u8.5\", \"overflow\": \"{overflow}\"}}, \
                     \"inverse\": {{\"type\": \"u11.10\"}}, \"probability\": {{\"type\": \"u8.7\"}}}}"
                ));
                let lowered = lowered_with(&softmax_network(3), &quant, input, 5);
                // Rounding may use tables, too.
                let bits = table_bits(&lowered);
                assert!(bits <= 9 || kind == "s8.1", "{record} of {input}: {bits} bits");
            }
        }
    }
}

#[test]
fn mean_squares_of_all_types_and_counts_are_lowered() {
    let mut dice = Dice(77);
    for operator in ["LayerNormalization", "RMSNormalization"] {
        for overflow in Overflow::NAMED.map(|(name, _)| name) {
            for count in [3, 4] {
                for (kind, input) in [("u8.10", "s7.2"), ("u12.6", "s10.4"), ("s9.2", "s24.8"), ("u8.-3", "u20.4")] {
                    let (round, _) = Round::NAMED[dice.roll(7) as usize];
                    let quant = quant_file(&format!(
                        "\"{operator}\": {{\"rstd\": {{\"mean_square\": {{\"type\": \"{kind}\", \
                         \"round\": \"{round}\", \"overflow\": \"{overflow}\"}}, \"table\": {{\"type\": \"u10.6\"}}}}}}"
                    ));
                    let lowered = lowered_with(&norm_network(operator, count), &quant, input, dice.roll(1 << 30));
                    // Rounding may use tables, too, but not if the mean has fewer fractional bits.
                    let bits = table_bits(&lowered);
                    assert!(bits <= if kind == "u8.10" && count == 4 { 8 } else { 12 }, "{kind} of {input}: {bits}");
                }
            }
        }
    }
}

#[test]
fn entries_of_tables_have_up_to_32_bits() {
    for (exp, inverse) in [("u32.31", "u11.10"), ("s32.30", "u32.31"), ("u32.32", "u32.28"), ("u8.7", "s32.20")] {
        let quant = quant_file(&format!(
            "\"Softmax\": {{\"difference\": {{\"type\": \"s8.4\"}}, \"exp\": {{\"type\": \"{exp}\"}}, \
             \"sum\": {{\"type\": \"u8.5\", \"overflow\": \"SAT\"}}, \"inverse\": {{\"type\": \"{inverse}\"}}, \
             \"probability\": {{\"type\": \"u8.7\", \"round\": \"RND\"}}}}"
        ));
        lowered_with(&softmax_network(3), &quant, "s6.2", 9);
    }
}

#[test]
fn minus_infinity_of_every_kind_of_constant_is_a_mask() {
    let quant = quant_file(&format!("\"Softmax\": {}", softmax_records(&mut Dice(4)).0));
    let constant = |maker: &mut Maker, attribute: AttributeProto| maker.node("Constant", &[], vec![attribute]);
    let cast = |maker: &mut Maker, packed: String| {
        let to = integer("to", 1);
        maker.node("Cast", &[&packed], vec![to])
    };
    let masks: [&dyn Fn(&mut Maker) -> String; 6] = [
        &|m| m.floats(&[3], vec![0.0, 0.0, f32::NEG_INFINITY]),
        &|m| {
            let floats = vec![0.0, 0.0, f32::NEG_INFINITY];
            constant(m, AttributeProto { floats, ..attribute("value_floats") })
        },
        &|m| {
            let packed = m.packed(&[3], 10, [0u16, 0, 0xfc00].iter().flat_map(|bits| bits.to_le_bytes()).collect());
            cast(m, packed)
        },
        &|m| {
            let packed = m.packed(&[3], 16, [0u16, 0, 0xff80].iter().flat_map(|bits| bits.to_le_bytes()).collect());
            cast(m, packed)
        },
        &|m| {
            let raw = [0.0, 0.0, f64::NEG_INFINITY].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
            let packed = m.packed(&[3], 11, raw);
            cast(m, packed)
        },
        &|m| {
            let below = constant(m, AttributeProto { f: Some(f32::NEG_INFINITY), ..attribute("value_float") });
            let (keep, zero) = (m.floats(&[3], vec![1.0, 1.0, 0.0]), m.floats(&[3], vec![0.0; 3]));
            m.node("Where", &[&keep, &zero, &below], vec![])
        },
    ];
    for (kind, mask) in masks.iter().enumerate() {
        let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
        let mask = mask(&mut maker);
        maker.then("Add", &[&mask], vec![]);
        maker.then("Softmax", &[], vec![]);
        maker.then("Identity", &[], vec![]);
        let bytes = maker.bytes(&[1, 3]);
        lowered_with(&bytes, &quant, "s6.2,RND,SAT", 3);
        let network = read_with(&bytes, &Options::default(), &quant).unwrap();
        let x = typed_row(&mut Dice(1), 3);
        assert!(run(&network, &x).unwrap()[2].is_zero(), "constant {kind}");
    }
}

#[test]
fn the_structure_is_checked_without_records() {
    let mut maker = Maker { last: "x".into(), opset: 17, ..Maker::default() };
    let gammas = maker.floats(&[3], vec![1.0, 0.5, 0.25]);
    maker.then("LayerNormalization", &[&gammas], vec![]);
    maker.then("Softmax", &[], vec![]);
    maker.then("Identity", &[], vec![]);
    let bytes = maker.bytes(&[1, 3]);
    let none = structure(&bytes, &Options::default(), &QuantFile::default()).unwrap();
    let places: Vec<&str> = none.missing.iter().map(|node| node.place.as_str()).collect();
    assert_eq!((none.nodes, places.len()), (3, 2), "{places:?}");
    assert!(none.missing[0].message.contains("mean_square, table") && places[1].contains("(Softmax)"));
    let quant = quant_file(&format!("\"LayerNormalization\": {}", norm_records(&mut Dice(2)).0));
    assert_eq!(structure(&bytes, &Options::default(), &quant).unwrap().missing.len(), 1);
    let short = norm_network("RMSNormalization", 4);
    let bad = QuantFile::default();
    assert_eq!(structure(&short, &Options::default(), &bad).unwrap().missing.len(), 1);
}

#[test]
fn refusals_name_the_record_the_parameter_and_the_row() {
    let softmax = |records: &str| quant_file(&format!("\"Softmax\": {{{records}}}"));
    let records = |difference: &str, exp: &str| {
        let all = [("difference", difference), ("exp", exp), ("sum", "u8.5"), ("inverse", "u8.7")];
        let all = all.map(|(name, kind)| format!("\"{name}\": {{\"type\": \"{kind}\"}}")).join(", ");
        softmax(&format!("{all}, \"probability\": {{\"type\": \"exact\"}}"))
    };
    let lowered = |quant: &QuantFile| {
        let network = read_with(&softmax_network(3), &Options::default(), quant).map_err(|e| e[0].to_string())?;
        let front = front::front(&network, Some(Quantiser::parse("s20.4").unwrap())).unwrap();
        lower::lower(&network, &front, &lower::Options::default()).map_err(|e| format!("{e:?}"))
    };
    let said = lowered(&records("s17.4", "u8.7")).unwrap_err();
    assert!(said.contains("nodes.Softmax.difference (s17.4) has 17 bits"), "{said}");
    let said = lowered(&records("s8.4", "u33.31")).unwrap_err();
    assert!(said.contains("nodes.Softmax.exp (u33.31) has 33 bits"), "{said}");
    let refusal = |maker: Maker, shape: &[i64], quant: &QuantFile| {
        let error = read_with(&maker.bytes(shape), &Options::default(), quant).unwrap_err();
        error[0].to_string()
    };
    // A mask on a Softmax that is removed at the output.
    let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
    let mask = maker.floats(&[3], vec![0.0, 0.0, f32::NEG_INFINITY]);
    maker.then("Add", &[&mask], vec![]);
    maker.then("Softmax", &[], vec![]);
    let said = refusal(maker, &[1, 3], &QuantFile::default());
    assert!(said.contains("the Softmax at the end is cut off"), "{said}");
    // Inputs and parameters of a norm.
    let mut maker = Maker { last: "x".into(), opset: 17, ..Maker::default() };
    let gammas = maker.floats(&[3], vec![1.0; 3]);
    maker.then("LayerNormalization", &[&gammas], vec![]);
    let norm = quant_file(&format!("\"LayerNormalization\": {}", norm_records(&mut Dice(2)).0));
    let said = refusal(maker, &[1, 2, 4], &norm);
    assert!(said.contains(&format!("the scale {gammas} of shape [3] for an input of shape [1, 2, 4]")), "{said}");
    for (equation, word) in [("bi,i-->b", "has '-' in operand 1"), ("b,i->b", "1 labels for operand 0")] {
        let mut maker = Maker { last: "x".into(), opset: 13, ..Maker::default() };
        let ones = maker.floats(&[3], vec![1.0; 3]);
        maker.then("Einsum", &[&ones], vec![text("equation", equation)]);
        let said = refusal(maker, &[1, 3], &QuantFile::default());
        assert!(said.contains(word), "{equation}: {said}");
    }
    let bare =
        "{\"format\": \"alir2hdl-quant\", \"version\": 1, \"nodes\": {\"Softmax\": {\"probability\": \"exact\"}}}";
    let problem = QuantFile::read_records(bare.as_bytes()).unwrap_err();
    assert_eq!(problem.help.as_deref(), Some("write {\"type\": \"exact\"}"));
}
