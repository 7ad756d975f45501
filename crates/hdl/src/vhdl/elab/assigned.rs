//! Names that the statements of an architecture may assign. Every other signal keeps its initial value.

use super::super::syntax::{Arg, Block, Concurrent, Decl, Expr, Kind, Statement};
use rustc_hash::FxHashSet;

/// Returns the names of targets and of connections, which may include other objects than signals.
pub(super) fn assigned_names(body: &[Concurrent]) -> FxHashSet<&str> {
    let mut names = FxHashSet::default();
    concurrents(body, &mut names);
    names
}

fn target<'e>(e: &'e Expr, names: &mut FxHashSet<&'e str>) {
    match &e.kind {
        Kind::Name(n) => {
            names.insert(n);
        }
        Kind::Call(base, args) => {
            target(base, names);
            arguments(args, names);
        }
        Kind::Field(base, _) | Kind::Attribute(base, _) => target(base, names),
        Kind::Aggregate(args) => arguments(args, names),
        _ => {}
    }
}

fn arguments<'e>(args: &'e [Arg], names: &mut FxHashSet<&'e str>) {
    args.iter().for_each(|arg| target(&arg.value, names));
}

fn block<'e>(block: &'e Block, names: &mut FxHashSet<&'e str>) {
    aliases(&block.decls, names);
    concurrents(&block.body, names);
}

/// Adds the targets of procedure bodies, and the signals that have an alias, as an assignment may use the alias.
pub(super) fn aliases<'e>(decls: &'e [Decl], names: &mut FxHashSet<&'e str>) {
    for d in decls {
        match d {
            Decl::Alias { of, .. } => target(of, names),
            Decl::Procedure(p) => statements(&p.body, names),
            _ => {}
        }
    }
}

fn concurrents<'e>(body: &'e [Concurrent], names: &mut FxHashSet<&'e str>) {
    for c in body {
        match c {
            Concurrent::Assign { target: t, .. } | Concurrent::Select { target: t, .. } => target(t, names),
            Concurrent::Process { decls, body, .. } => {
                aliases(decls, names);
                statements(body, names);
            }
            Concurrent::Instance(i) => arguments(&i.ports, names),
            Concurrent::For { decls, body, .. } => {
                aliases(decls, names);
                concurrents(body, names);
            }
            Concurrent::If { branches, .. } => branches.iter().for_each(|b| block(&b.1, names)),
            Concurrent::Case { items, .. } => items.iter().for_each(|i| block(&i.2, names)),
        }
    }
}

fn statements<'e>(body: &'e [Statement], names: &mut FxHashSet<&'e str>) {
    for s in body {
        match s {
            Statement::Assign { target: t, .. } | Statement::Call(t) => target(t, names),
            Statement::If(branches, otherwise) => {
                branches.iter().for_each(|b| statements(&b.1, names));
                statements(otherwise, names);
            }
            Statement::Case { items, .. } => items.iter().for_each(|i| statements(&i.2, names)),
            Statement::For { body, .. } | Statement::While { body, .. } => statements(body, names),
            Statement::Null | Statement::Leave { .. } | Statement::Return(..) | Statement::Wait(_) => {}
        }
    }
}
