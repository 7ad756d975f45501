//! The judge of a plan, which knows nothing of how plans are made.
//!
//! It follows one sample through the clocks: every block computes what the program says, on a copy that no other uses
//! at that phase, from values that exist and are still there; the result is complete and stays for as many clocks as
//! the interval.

use super::{Base, Group, Instance, Plan, Storage, free, origin};
use crate::ir::{Model, Op, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Judges a plan of a program.
///
/// # Errors
/// The first rule that is broken.
pub fn check(model: &Model, plan: &Plan) -> Result<(), String> {
    let judge = Judge { model, plan, free: free(model) };
    judge.shape()?;
    let made = judge.blocks()?;
    judge.births(&made)?;
    judge.reads()?;
    judge.outputs()
}

struct Judge<'a> {
    model: &'a Model,
    plan: &'a Plan,
    free: Vec<bool>,
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

impl Judge<'_> {
    fn shape(&self) -> Result<(), String> {
        let plan = self.plan;
        ensure(plan.interval >= 2, || format!("interval {}", plan.interval))?;
        ensure(plan.latency >= 1, || "no latency".into())?;
        ensure(plan.own_register.len() == self.model.outputs().len(), || "one entry for each output".into())?;
        for (number, group) in plan.groups.iter().enumerate() {
            let template = &group.template;
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

    /// Every block is the program's, and alone on its copy at its phase. Gives where each value is made.
    fn blocks(&self) -> Result<FxHashMap<ValueId, (usize, usize, usize)>, String> {
        let mut made = FxHashMap::default();
        for (number, group) in self.plan.groups.iter().enumerate() {
            let mut used = FxHashSet::default();
            for (at, instance) in group.instances.iter().enumerate() {
                let phase = instance.start % self.plan.interval;
                ensure(instance.copy < group.copies, || format!("group {number}: no copy {}", instance.copy))?;
                ensure(used.insert((instance.copy, phase)), || {
                    format!("group {number}: copy {} is used twice at phase {phase}", instance.copy)
                })?;
                self.same(group, instance).map_err(|why| format!("group {number}, instance {at}: {why}"))?;
                for (k, &v) in instance.outputs.iter().enumerate() {
                    ensure(made.insert(v, (number, at, k)).is_none(), || format!("{v} is made twice"))?;
                }
            }
        }
        Ok(made)
    }

    /// Whether an instance's template computes the program's values: the same operations on the same operands, in types
    /// that hold the program's values.
    fn same(&self, group: &Group, instance: &Instance) -> Result<(), String> {
        let (model, template) = (self.model, &group.template);
        ensure(instance.inputs.len() == template.n_inputs(), || "inputs of the template".into())?;
        ensure(instance.outputs.len() == template.outputs().len(), || "outputs of the template".into())?;
        let mut seen: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let mut stack = Vec::new();
        for (output, &value) in template.outputs().iter().zip(&instance.outputs) {
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
                let given = instance.inputs[input as usize];
                ensure(given == outer, || format!("input {input} is {given}, the program reads {outer}"))?;
                let holds = kif.frac == meant.frac && kif.holds(&meant.min_code()) && kif.holds(&meant.max_code());
                ensure(holds || meant.is_zero(), || format!("{outer} does not fit the input's {kif}"))?;
                continue;
            }
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
            // A sum that never wraps may do so in any type that holds it.
            let exact = matches!(own, Op::Add { .. } | Op::Sub { .. } | Op::AddConst { .. });
            let holds = kif.frac == meant.frac && kif.holds(&meant.min_code()) && kif.holds(&meant.max_code());
            ensure(kif == meant || (exact && holds), || format!("{outer} of type {meant} is made as {kif}"))?;
            for (at, (&inside, &outside)) in ours.iter().zip(&theirs).enumerate() {
                // What depends on the number of bits of an operand.
                let counts = matches!(own, Op::Unary { .. }) || (matches!(own, Op::Mux { .. }) && at == 2);
                ensure(!counts || template.kif(inside) == model.kif(outside), || {
                    format!("{outer} depends on the type of {outside}, which is another")
                })?;
            }
            stack.extend(ours.into_iter().zip(theirs));
        }
        Ok(())
    }

    /// Every stored value is made, when its block makes it.
    fn births(&self, made: &FxHashMap<ValueId, (usize, usize, usize)>) -> Result<(), String> {
        for (base, store) in &self.plan.stores {
            let Base::Value(v) = base else {
                ensure(store.born == 1, || format!("{base:?} is captured by the edge that accepts it"))?;
                ensure(matches!(store.storage, Storage::Held(_)), || format!("{base:?} passes through no copy"))?;
                continue;
            };
            let &(number, at, output) = made.get(v).ok_or_else(|| format!("nothing makes {v}"))?;
            let group = &self.plan.groups[number];
            let instance = &group.instances[at];
            let source = group.template.outputs()[output].source.ok_or("an output without a source")?;
            let born = instance.start + group.stage[source.index()] + 1;
            ensure(store.born == born, || format!("{v} is born in clock {born}, not {}", store.born))?;
            if let Storage::Passing { group, copy, output: passing } = store.storage {
                ensure((group, copy, passing) == (number, instance.copy, output), || {
                    format!("{v} passes behind another output than its own")
                })?;
            }
        }
        Ok(())
    }

    /// A read of a value in a clock.
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
        let (latency, interval) = (self.plan.latency, self.plan.interval);
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
