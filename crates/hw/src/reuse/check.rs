//! The checker of plans, which is independent of their construction.
//!
//! The checker follows one sample cycle by cycle. Every block computes the values of the program, on a unit that no
//! other block uses at the same phase, from values that are born and still stored. The result is complete and stable
//! for one interval. A separate checker, `serial::check`, checks the bit-serial parts.

use super::{Base, Group, Inputs, Instance, OutputPort, Plan, Region, Storage, Store, free, origin, serial};
use alir_core::ir::{Model, Op, Output, ValueId};
use alir_core::num::Kif;
use alir_opt::passes;
use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Checks a plan of a program.
///
/// # Errors
/// Describes the first violated rule.
pub fn check(model: &Model, plan: &Plan) -> Result<(), String> {
    let checker = Checker { model, plan, free: free(model), exact: passes::exact_sums(model) };
    checker.shape()?;
    checker.beats()?;
    let mut made = checker.blocks()?;
    checker.regions(&mut made)?;
    checker.births(&made)?;
    checker.reads()?;
    checker.outputs()
}

/// Sum as a row: a coefficient `m * 2^e` for each value, and for `None` the constant.
#[derive(Clone, Debug, Default)]
struct Row {
    terms: BTreeMap<Option<ValueId>, (BigInt, i64)>,
}

impl Row {
    fn one(v: ValueId) -> Row {
        Row { terms: BTreeMap::from([(Some(v), (BigInt::from(1), 0))]) }
    }

    /// Returns the row of a constant with this raw integer value in this type.
    fn constant(code: BigInt, kif: Kif) -> Row {
        Row { terms: BTreeMap::from([(None, (code, -i64::from(kif.frac)))]) }
    }

    /// Returns the row of an operation on rows; `None` if the operation is not a sum, or if exponents differ too much.
    fn from_op<'r>(op: &Op, row: impl Fn(ValueId) -> Option<&'r Row>) -> Option<Row> {
        match op {
            Op::Add { a, b, shift } => row(*a)?.clone().plus(row(*b)?, i64::from(*shift), false),
            Op::Sub { a, b, shift } => row(*a)?.clone().plus(row(*b)?, i64::from(*shift), true),
            Op::AddConst { x, value, shift } => {
                let constant = Row { terms: BTreeMap::from([(None, (value.to_big(), 0))]) };
                row(*x)?.clone().plus(&constant, -i64::from(*shift), false)
            }
            _ => None,
        }
    }

    fn plus(mut self, other: &Row, shift: i64, neg: bool) -> Option<Row> {
        const FAR: i64 = 1 << 12;
        for (&v, (m, e)) in &other.terms {
            let (m, e) = (if neg { -m } else { m.clone() }, e + shift);
            let known = self.terms.entry(v).or_insert((BigInt::ZERO, e));
            let least = known.1.min(e);
            let (own, by) = (u64::try_from(known.1 - least).ok()?, u64::try_from(e - least).ok()?);
            if own.max(by) > FAR as u64 {
                return None;
            }
            *known = ((std::mem::take(&mut known.0) << own) + (m << by), least);
        }
        Some(self)
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        other.clone().plus(self, 0, true).is_some_and(|zero| zero.terms.values().all(|(m, _)| *m == BigInt::ZERO))
    }
}

/// Returns the values of a template as rows over the program's values at its inputs. An entry is `None` if the value is
/// not a sum, or if the sum can exceed its type for some inputs.
fn template_rows(model: &Model, template: &Model, inputs: &[ValueId]) -> Vec<Option<Row>> {
    // The bounds use rows over the template's own inputs, because two inputs may be one value of the program.
    let mut own: Vec<Option<Row>> = Vec::with_capacity(template.nodes().len());
    for id in template.ids() {
        let kif = template.kif(id);
        let row = match template.node(id).op {
            Op::Input { input } if kif == template.input_kifs()[input as usize] => Some(Row::one(ValueId(input))),
            Op::Const { ref value } => Some(Row::constant(value.to_big(), kif)),
            _ => {
                Row::from_op(&template.node(id).op, |x| own[x.index()].as_ref()).filter(|row| fits(row, kif, template))
            }
        };
        own.push(row);
    }
    let renamed = |row: &Row| {
        let mut all = Row::default();
        for (v, c) in &row.terms {
            let v = v.map(|v| inputs[v.index()]);
            // A value that is always zero has no term.
            if v.is_some_and(|v| model.kif(v).is_zero()) {
                continue;
            }
            all = all.plus(&Row { terms: BTreeMap::from([(v, c.clone())]) }, 0, false)?;
        }
        Some(all)
    };
    own.iter().map(|row| row.as_ref().and_then(renamed)).collect()
}

/// Returns `true` if a type represents every value of a row exactly.
fn fits(row: &Row, kif: Kif, template: &Model) -> bool {
    let (mut min, mut max) = (BigInt::ZERO, BigInt::ZERO);
    for (v, (m, e)) in &row.terms {
        let read = v.map(|v| template.input_kifs()[v.index()]);
        let by = e + i64::from(kif.frac) - read.map_or(0, |read| i64::from(read.frac));
        let scaled = match u64::try_from(by) {
            Ok(by) if by < 1 << 12 => m << by,
            _ if *m == BigInt::ZERO => BigInt::ZERO,
            // The type lacks the low bits; all of them must be zero.
            Err(_) if m.trailing_zeros().is_some_and(|zeros| zeros >= by.unsigned_abs()) => m >> by.unsigned_abs(),
            _ => return false,
        };
        let ends = match read {
            Some(read) => [&scaled * read.min_code(), &scaled * read.max_code()],
            None => [scaled.clone(), scaled],
        };
        min += ends.iter().min().expect("two ends");
        max += ends.iter().max().expect("two ends");
    }
    kif.holds(&min) && kif.holds(&max)
}

/// Block or region that computes a value.
#[derive(Clone, Copy)]
struct ImplementedBlock {
    /// First cycle in which a register shows the value.
    born: u32,
    /// Group, unit, and output of the template; `None` for bit-serial values.
    behind: Option<(usize, u32, usize)>,
}

struct Checker<'a> {
    model: &'a Model,
    plan: &'a Plan,
    free: Vec<bool>,
    /// Sums of the program that never wrap.
    exact: Vec<bool>,
}

/// Checks that the implementation has the inputs and outputs of the specification.
fn ports_alike(meant: &Model, made: &Model) -> Result<(), String> {
    ensure(made.n_inputs() == meant.n_inputs(), || "inputs of what is made".into())?;
    ensure(made.outputs().len() == meant.outputs().len(), || "outputs of what is made".into())?;
    for (ours, theirs) in made.outputs().iter().zip(meant.outputs()) {
        let kif = |model: &Model, output: &Output| {
            let plain = output.shift == 0 && !output.neg;
            output.source.filter(|_| plain).map(|v| model.kif(v)).ok_or("an output of a block is a value as it is")
        };
        ensure(kif(made, ours)? == kif(meant, theirs)?, || "an output of another type".into())?;
    }
    Ok(())
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

impl Checker<'_> {
    fn shape(&self) -> Result<(), String> {
        let plan = self.plan;
        ensure(plan.interval >= 2, || format!("interval {}", plan.interval))?;
        ensure(plan.latency > u32::from(plan.registered_outputs), || "no latency".into())?;
        ensure(plan.own_register.len() == self.model.outputs().len(), || "one entry for each output".into())?;
        for (number, group) in plan.groups.iter().enumerate() {
            let template = &group.template;
            if let Some(specification) = &group.specification {
                ports_alike(specification, template).map_err(|why| format!("group {number}: {why}"))?;
            }
            ensure(group.stage.len() == template.nodes().len(), || format!("group {number}: stages of operations"))?;
            for id in template.ids() {
                let mut after = 0;
                template.node(id).op.for_each_operand(|v| {
                    if !matches!(template.node(v).op, Op::Const { .. }) {
                        after = after.max(group.stage[v.index()]);
                    }
                });
                ensure(group.stage[id.index()] >= after, || format!("group {number}: {id} is before its operands"))?;
            }
        }
        Ok(())
    }

    /// Checks that every block computes the program's values, and that no two blocks use one unit at one phase. Returns
    /// the block of each value.
    fn blocks(&self) -> Result<FxHashMap<ValueId, ImplementedBlock>, String> {
        let mut made = FxHashMap::default();
        for (number, group) in self.plan.groups.iter().enumerate() {
            let mut used = FxHashSet::default();
            for (at, instance) in group.instances.iter().enumerate() {
                let phase = instance.start % self.plan.interval;
                ensure(instance.unit < group.units, || format!("group {number}: no unit {}", instance.unit))?;
                ensure(used.insert((instance.unit, phase)), || {
                    format!("group {number}: unit {} is used twice at phase {phase}", instance.unit)
                })?;
                let same = match group.by_rows {
                    true => self.same_rows(group, instance),
                    false => self.same(group.specification(), &instance.inputs, &instance.outputs),
                };
                same.map_err(|why| format!("group {number}, instance {at}: {why}"))?;
                for (k, &v) in instance.outputs.iter().enumerate() {
                    let source = group.template.outputs()[k].source.ok_or("an output without a source")?;
                    let born = instance.start + group.stage[source.index()] + 1;
                    let made_here = ImplementedBlock { born, behind: Some((number, instance.unit, k)) };
                    ensure(made.insert(v, made_here).is_none(), || format!("{v} is made twice"))?;
                }
            }
        }
        Ok(made)
    }

    /// Checks that every region computes the program's values, from registers that store its inputs long enough. Adds
    /// the outputs of the regions to `made`.
    fn regions(&self, made: &mut FxHashMap<ValueId, ImplementedBlock>) -> Result<(), String> {
        for (number, region) in self.plan.regions.iter().enumerate() {
            self.region(region).map_err(|why| format!("region {number}: {why}"))?;
            for &v in &region.outputs {
                let made_here = ImplementedBlock { born: region.plan.latency, behind: None };
                ensure(made.insert(v, made_here).is_none(), || format!("{v} is made twice"))?;
            }
        }
        Ok(())
    }

    fn region(&self, region: &Region) -> Result<(), String> {
        self.same(&region.specification, &region.inputs, &region.outputs)?;
        ports_alike(&region.specification, &region.implementation)?;
        let (graph, plan, interval) = (&region.graph, &region.plan, self.plan.interval);
        ensure(*graph == serial::graph(&region.implementation), || "streams of another program".into())?;
        ensure(plan.interval == interval, || format!("a sample every {} clocks", plan.interval))?;
        ensure(!plan.registered_outputs, || "registers behind the results".into())?;
        serial::check(graph, plan)?;
        for (&v, &shown) in region.inputs.iter().zip(&plan.arrivals) {
            let Some(base) = origin(self.model, &self.free, v).base else { continue };
            // Streams read one register, from its first cycle to its last.
            let store = self.plan.stores.get(&base).ok_or_else(|| format!("{base:?} lies nowhere"))?;
            ensure(store.born == shown && matches!(store.storage, Storage::Held(_)), || {
                format!("{base:?} is not held from clock {shown} on")
            })?;
            self.read(v, shown + interval - 1)?;
        }
        Ok(())
    }

    /// Checks that a template computes the program's values: equal operations on equal operands, in types that hold the
    /// program's values.
    fn same(&self, template: &Model, inputs: &[ValueId], outputs: &[ValueId]) -> Result<(), String> {
        let model = self.model;
        ensure(inputs.len() == template.n_inputs(), || "inputs of the template".into())?;
        ensure(outputs.len() == template.outputs().len(), || "outputs of the template".into())?;
        let mut seen: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let mut stack = Vec::new();
        for (output, &value) in template.outputs().iter().zip(outputs) {
            let plain = output.shift == 0 && !output.neg;
            let source = output.source.filter(|_| plain).ok_or("an output of a block is a value as it is")?;
            stack.push((source, value));
        }
        while let Some((inner, outer)) = stack.pop() {
            if let Some(&before) = seen.get(&inner) {
                ensure(before == outer, || format!("{inner} is both {before} and {outer}"))?;
                continue;
            }
            seen.insert(inner, outer);
            let (kif, meant) = (template.kif(inner), model.kif(outer));
            if let Op::Input { input } = template.node(inner).op {
                let given = inputs[input as usize];
                ensure(given == outer, || format!("input {input} is {given}, the program reads {outer}"))?;
                let holds = kif.frac == meant.frac && kif.holds(&meant.min_code()) && kif.holds(&meant.max_code());
                ensure(holds || meant.is_zero(), || format!("{outer} does not fit the input's {kif}"))?;
                continue;
            }
            let operands = self.same_operation((template, inner), outer)?;
            // A sum that never wraps may have any type that represents its values.
            let exact = self.exact[outer.index()];
            let holds = kif.frac == meant.frac && kif.holds(&meant.min_code()) && kif.holds(&meant.max_code());
            ensure(kif == meant || (exact && (holds || meant.is_zero())), || {
                format!("{outer} of type {meant} is made as {kif}")
            })?;
            stack.extend(operands);
        }
        Ok(())
    }

    /// Checks that an instance's template computes the program's values, where its sums are built differently: the
    /// operations after the sums are equal, and the sums are equal as rows over what the instance reads.
    fn same_rows(&self, group: &Group, instance: &Instance) -> Result<(), String> {
        let (model, template) = (self.model, group.specification());
        ensure(instance.inputs.len() == template.n_inputs(), || "inputs of the template".into())?;
        ensure(instance.outputs.len() == template.outputs().len(), || "outputs of the template".into())?;
        for (kif, &given) in template.input_kifs().iter().zip(&instance.inputs) {
            let meant = model.kif(given);
            let holds = kif.frac == meant.frac && kif.holds(&meant.min_code()) && kif.holds(&meant.max_code());
            ensure(holds || meant.is_zero(), || format!("{given} does not fit the input's {kif}"))?;
        }
        let made = template_rows(model, template, &instance.inputs);
        let read: FxHashSet<ValueId> = instance.inputs.iter().copied().collect();
        let mut stack: Vec<(ValueId, ValueId)> = Vec::new();
        for (output, &value) in template.outputs().iter().zip(&instance.outputs) {
            let plain = output.shift == 0 && !output.neg;
            stack.push((output.source.filter(|_| plain).ok_or("an output of a block is a value as it is")?, value));
        }
        let mut seen: FxHashSet<(ValueId, ValueId)> = FxHashSet::default();
        while let Some((inner, outer)) = stack.pop() {
            if !seen.insert((inner, outer)) {
                continue;
            }
            if let Some(own) = &made[inner.index()] {
                let meant = self.row(outer, &read).ok_or_else(|| format!("{outer} is no exact sum of what is read"))?;
                ensure(*own == meant, || format!("{outer} is another sum"))?;
                continue;
            }
            ensure(!read.contains(&outer), || format!("{outer} is what the block reads"))?;
            let (kif, meant) = (template.kif(inner), model.kif(outer));
            ensure(kif == meant, || format!("{outer} of type {meant} is made as {kif}"))?;
            stack.extend(self.same_operation((template, inner), outer)?);
        }
        Ok(())
    }

    /// Checks that an operation of a template equals one of the program, except for the operands, and returns these in
    /// pairs.
    fn same_operation(
        &self,
        (template, inner): (&Model, ValueId),
        outer: ValueId,
    ) -> Result<Vec<(ValueId, ValueId)>, String> {
        let model = self.model;
        let (mut own, mut other) = (template.node(inner).op.clone(), model.node(outer).op.clone());
        let (ours, theirs) = (own.operands(), other.operands());
        own.map_operands(|_| ValueId(0));
        other.map_operands(|_| ValueId(0));
        let table = |model: &Model, op: &Op| match op {
            Op::Lookup { table, .. } => Some(model.table(*table).entries.clone()),
            _ => None,
        };
        ensure(own == other && ours.len() == theirs.len(), || format!("{outer} is another operation"))?;
        ensure(table(template, &own) == table(model, &other), || format!("{outer} reads another table"))?;
        for (at, (&inside, &outside)) in ours.iter().zip(&theirs).enumerate() {
            // These operations depend on the width of an operand.
            let counts = matches!(own, Op::Unary { .. }) || (matches!(own, Op::Mux { .. }) && at == 2);
            ensure(!counts || template.kif(inside) == model.kif(outside), || {
                format!("{outer} depends on the type of {outside}, which is another")
            })?;
            let is_code = matches!(own, Op::Lookup { .. });
            ensure(!is_code || template.kif(inside).frac == model.kif(outside).frac, || {
                format!("{outer} reads the code of {outside}, which has another binary point")
            })?;
        }
        Ok(ours.into_iter().zip(theirs).collect())
    }

    /// Returns a value of the program as a row over the values `read` and over values that are not exact sums. The row
    /// can equal that of a template only if the terms of all values outside `read` cancel out.
    fn row(&self, value: ValueId, read: &FxHashSet<ValueId>) -> Option<Row> {
        let model = self.model;
        let mut rows: FxHashMap<ValueId, Row> = FxHashMap::default();
        let mut below: BTreeSet<ValueId> = BTreeSet::new();
        let mut stack = vec![value];
        while let Some(v) = stack.pop() {
            let is_leaf = read.contains(&v) || !self.exact[v.index()];
            if let Op::Const { value } = &model.node(v).op {
                rows.insert(v, Row::constant(value.to_big(), model.kif(v)));
            } else if is_leaf {
                rows.insert(v, if model.kif(v).is_zero() { Row::default() } else { Row::one(v) });
            } else if below.insert(v) {
                stack.extend(model.node(v).op.operands());
            }
        }
        for v in below {
            let row = Row::from_op(&model.node(v).op, |x| rows.get(&x))?;
            rows.insert(v, row);
        }
        rows.remove(&value)
    }

    /// Checks that a block computes every stored value, in the cycle of its birth.
    fn births(&self, made: &FxHashMap<ValueId, ImplementedBlock>) -> Result<(), String> {
        for (base, store) in &self.plan.stores {
            let Base::Value(v) = base else {
                self.birth_of_port(base, store)?;
                continue;
            };
            let &ImplementedBlock { born, behind } = made.get(v).ok_or_else(|| format!("nothing makes {v}"))?;
            ensure(store.born == born, || format!("{v} is born in clock {born}, not {}", store.born))?;
            if let Storage::Passing(outlet) = store.storage {
                let own = behind.map(|(group, unit, output)| OutputPort::Unit { group, unit, output });
                ensure(own == Some(outlet), || format!("{v} passes behind another output than its own"))?;
            }
        }
        Ok(())
    }

    /// Checks the birth of an input element: the cycle after its beat or after the edge that accepts its sample, or
    /// cycle 0 if the port is stable.
    fn birth_of_port(&self, base: &Base, store: &Store) -> Result<(), String> {
        let &Base::Port(e) = base else { return Err(format!("{base:?} is no port")) };
        let place = match &self.plan.inputs {
            Inputs::Beats(beats) => *beats.elements.get(e as usize).ok_or_else(|| format!("{base:?} has no beat"))?,
            Inputs::Captured | Inputs::Held => None,
        };
        let clock = match (&self.plan.inputs, place) {
            (Inputs::Held, _) => 0,
            (_, None) => 1,
            (_, Some((beat, _))) => beat + 1,
        };
        ensure(store.born == clock, || format!("{base:?} is there in clock {clock}, not {}", store.born))?;
        match store.storage {
            Storage::Held(_) => Ok(()),
            Storage::Passing(outlet) => ensure(place.is_some_and(|(_, lane)| outlet == OutputPort::Lane(lane)), || {
                format!("{base:?} passes behind another lane than its own")
            }),
        }
    }

    /// Checks the beats: every element with bits has one beat and, in that beat, bits of its own width that no other
    /// element uses.
    fn beats(&self) -> Result<(), String> {
        let Inputs::Beats(beats) = &self.plan.inputs else { return Ok(()) };
        ensure((1..=self.plan.interval).contains(&beats.count), || format!("{} beats of a sample", beats.count))?;
        ensure(self.plan.settled() >= beats.count, || "a result is there before its sample".into())?;
        ensure(beats.elements.len() == self.model.n_inputs(), || "a beat for each element".into())?;
        let mut taken: FxHashSet<(u32, u32)> = FxHashSet::default();
        for (e, (place, kif)) in beats.elements.iter().zip(self.model.input_kifs()).enumerate() {
            let Some((beat, lane)) = *place else {
                ensure(kif.is_zero(), || format!("element {e} is in no beat"))?;
                continue;
            };
            let lane = beats.lanes.get(lane as usize).ok_or_else(|| format!("element {e} has no lane"))?;
            ensure(beat < beats.count, || format!("element {e} is in beat {beat}"))?;
            ensure(lane.width == kif.width(), || format!("element {e} has {} bits", lane.width))?;
            ensure(lane.lsb + lane.width <= beats.width, || format!("element {e} is beside the port"))?;
            let alone = (lane.lsb..lane.lsb + lane.width).all(|bit| taken.insert((beat, bit)));
            ensure(alone, || format!("element {e} shares bits of beat {beat}"))?;
        }
        Ok(())
    }

    /// Checks that a value is stored in a cycle in which it is read.
    fn read(&self, value: ValueId, clock: u32) -> Result<(), String> {
        let Some(base) = origin(self.model, &self.free, value).base else { return Ok(()) };
        let store = self.plan.stores.get(&base).ok_or_else(|| format!("{base:?} lies nowhere"))?;
        ensure(clock >= store.born, || format!("{base:?} is read in clock {clock}, before it is born"))?;
        ensure(clock <= store.last, || format!("{base:?} is read in clock {clock}, after its last"))?;
        if let Storage::Held(registers) = store.storage {
            let at = (clock - store.born) / self.plan.interval;
            ensure(at < registers, || format!("{base:?} is read in clock {clock}, when it is held no more"))?;
        }
        Ok(())
    }

    fn reads(&self) -> Result<(), String> {
        let instances = self.plan.groups.iter().flat_map(|g| &g.instances);
        for instance in instances {
            instance.inputs.iter().try_for_each(|&v| self.read(v, instance.start))?;
        }
        Ok(())
    }

    fn outputs(&self) -> Result<(), String> {
        // Registers at the ports show the same values a cycle later.
        let (latency, interval) = (self.plan.latency - u32::from(self.plan.registered_outputs), self.plan.interval);
        for (j, (output, &own)) in self.model.outputs().iter().zip(&self.plan.own_register).enumerate() {
            let Some(v) = output.source else { continue };
            let Some(base) = origin(self.model, &self.free, v).base else { continue };
            if own {
                self.read(v, latency - 1)?;
                continue;
            }
            ensure(!output.neg, || format!("output {j} is negated behind its register"))?;
            let store = self.plan.stores.get(&base).ok_or_else(|| format!("{base:?} lies nowhere"))?;
            ensure(store.born == latency && matches!(store.storage, Storage::Held(_)), || {
                format!("output {j} does not stay for {interval} clocks")
            })?;
            self.read(v, latency + interval - 1)?;
        }
        Ok(())
    }
}
