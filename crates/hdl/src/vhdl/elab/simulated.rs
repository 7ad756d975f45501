//! Constructs that exist only in constant expressions: real numbers with `ieee.math_real`, strings, and files with
//! `std.textio` and `ieee.std_logic_textio`. This front end evaluates these constructs during elaboration, as synthesis
//! tools do.

use super::super::syntax::{Arg, Expr, Kind};
use super::{
    Data, Elab, Expect, Named, Place, Result, Run, Slot, StoredValue, Type, Value, Vector, integer_bits, show,
};
use num_bigint::BigUint;
use std::sync::Arc;

/// An open file.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// Remaining lines in reverse order: the next one is the last element.
    lines: Vec<Arc<str>>,
    /// Call depth at which the file is declared; 0 outside of functions and procedures.
    depth: u32,
}

/// Largest number of opened files.
const MAX_OPENED: usize = 4096;
/// Largest size of all files together in bytes.
const MAX_READ: usize = 1 << 28;

impl<'a> Elab<'a> {
    // ---- Real numbers

    /// Returns a real value.
    ///
    /// # Errors
    /// If `x` is infinite or not a number.
    pub(super) fn real(&self, x: f64, at: u32) -> Result<Value> {
        match x.is_finite() {
            true => Ok(Value { ty: Type::Real, data: Data::Real(x), bounds: None }),
            false => self.fail(at, "a real number that is infinite or undefined"),
        }
    }

    /// Returns a constant of `math_real`; `None` for other names.
    pub(super) fn math_constant(&self, name: &str, at: u32) -> Option<Result<Value>> {
        use std::f64::consts::*;
        let x = match name {
            "math_e" => E,
            "math_1_over_e" => 1.0 / E,
            "math_pi" => PI,
            "math_2_pi" => TAU,
            "math_1_over_pi" => FRAC_1_PI,
            "math_pi_over_2" => FRAC_PI_2,
            "math_pi_over_3" => FRAC_PI_3,
            "math_pi_over_4" => FRAC_PI_4,
            "math_3_pi_over_2" => 3.0 * FRAC_PI_2,
            "math_log_of_2" => LN_2,
            "math_log_of_10" => LN_10,
            "math_log2_of_e" => LOG2_E,
            "math_log10_of_e" => LOG10_E,
            "math_sqrt_2" => SQRT_2,
            "math_1_over_sqrt_2" => FRAC_1_SQRT_2,
            "math_sqrt_pi" => PI.sqrt(),
            "math_deg_to_rad" => PI / 180.0,
            "math_rad_to_deg" => 180.0 / PI,
            _ => return None,
        };
        Some(self.real(x, at))
    }

    /// Evaluates a function of `math_real`, or a conversion to a real number; `None` for other names.
    pub(super) fn math_function(
        &mut self,
        run: &mut Run<'a>,
        name: &str,
        args: &[Option<&'a Expr>; 2],
        at: u32,
    ) -> Result<Option<Value>> {
        let (Some(x), second) = (args[0], args[1]) else { return Ok(None) };
        if name == "real" && second.is_none() {
            let v = self.value(run, x, None)?;
            return match v.data {
                Data::Int(i) => self.real(i as f64, at).map(Some),
                Data::Real(_) => Ok(Some(v)),
                _ => self.fail(x.at, "a constant number is expected here"),
            };
        }
        let unary: Option<fn(f64) -> f64> = match name {
            "ceil" => Some(f64::ceil),
            "floor" => Some(f64::floor),
            "round" => Some(f64::round),
            "trunc" => Some(f64::trunc),
            "sqrt" => Some(f64::sqrt),
            "cbrt" => Some(f64::cbrt),
            "exp" => Some(f64::exp),
            "log" => Some(f64::ln),
            "log2" => Some(f64::log2),
            "log10" => Some(f64::log10),
            "sin" => Some(f64::sin),
            "cos" => Some(f64::cos),
            "tan" => Some(f64::tan),
            "arcsin" => Some(f64::asin),
            "arccos" => Some(f64::acos),
            "arctan" => Some(f64::atan),
            "sinh" => Some(f64::sinh),
            "cosh" => Some(f64::cosh),
            "tanh" => Some(f64::tanh),
            "sign" => Some(|x| if x == 0.0 { 0.0 } else { x.signum() }),
            _ => None,
        };
        let binary: Option<fn(f64, f64) -> f64> = match name {
            "realmax" => Some(f64::max),
            "realmin" => Some(f64::min),
            "arctan" => Some(f64::atan2),
            "log" => Some(|x, base| x.ln() / base.ln()),
            _ => None,
        };
        match (unary, binary, second) {
            (Some(f), _, None) => {
                let x = self.real_value(run, x)?;
                self.real(f(x), at).map(Some)
            }
            (_, Some(f), Some(y)) => {
                let (x, y) = (self.real_value(run, x)?, self.real_value(run, y)?);
                self.real(f(x, y), at).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Evaluates an expression of type `real`.
    fn real_value(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<f64> {
        match self.value(run, e, Some(&Expect::Exactly(Type::Real)))?.data {
            Data::Real(x) => Ok(x),
            _ => self.fail(e.at, "a real number is expected here"),
        }
    }

    /// Rounds a real number to the nearest integer, halves away from zero (IEEE 1076-2008, section 9.3.6).
    pub(super) fn rounded(&self, x: f64, at: u32) -> Result<Value> {
        let nearest = x.round();
        match nearest.abs() < 2f64.powi(62) {
            true => Ok(Value { ty: Type::Integer, data: Data::Int(nearest as i64), bounds: None }),
            false => self.fail(at, "an integer beyond 64 bits"),
        }
    }

    /// Evaluates an operator of real numbers. One operand of `**` or `*`, and the right operand of `/`, may be an
    /// integer.
    pub(super) fn real_operator(&mut self, op: &str, x: &Value, y: &Value, at: u32) -> Result<Value> {
        let (x, y) = match (&x.data, &y.data, op) {
            (Data::Real(x), Data::Real(y), _) => (*x, *y),
            (Data::Real(x), Data::Int(i), "**" | "*" | "/") => (*x, *i as f64),
            (Data::Int(i), Data::Real(y), "**" | "*") => (*i as f64, *y),
            _ => return self.fail(at, format!("{op} of {} and {}", show(&x.ty), show(&y.ty))),
        };
        let truth = match op {
            "=" => x == y,
            "/=" => x != y,
            "<" => x < y,
            "<=" => x <= y,
            ">" => x > y,
            ">=" => x >= y,
            "+" => return self.real(x + y, at),
            "-" => return self.real(x - y, at),
            "*" => return self.real(x * y, at),
            "/" => return self.real(x / y, at),
            "**" => return self.real(x.powf(y), at),
            "mod" => return self.real(x - y * (x / y).floor(), at),
            "rem" => return self.real(x % y, at),
            _ => return self.fail(at, format!("{op} of real numbers")),
        };
        let node = self.rtl.number(u64::from(truth), 1);
        Ok(self.boolean(node))
    }

    // ---- Strings

    /// Returns a string value.
    pub(super) fn text_value(&self, text: &str) -> Value {
        Value { ty: Type::Text, data: Data::Text(Arc::from(text)), bounds: None }
    }

    /// Evaluates an expression of type `string`.
    fn string(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<Arc<str>> {
        match self.value(run, e, Some(&Expect::Exactly(Type::Text)))?.data {
            Data::Text(text) => Ok(text),
            _ => self.fail(e.at, "a string is expected here"),
        }
    }

    /// Evaluates the concatenation of two strings.
    pub(super) fn joined_text(&mut self, run: &mut Run<'a>, a: &'a Expr, b: &'a Expr) -> Result<Value> {
        let (a, b) = (self.string(run, a)?, self.string(run, b)?);
        Ok(self.text_value(&format!("{a}{b}")))
    }

    // ---- Files

    /// Declares a file, and opens it if the declaration has a path.
    pub(super) fn file_decl(&mut self, scope: usize, name: &str, path: Option<&'a Expr>, at: u32) -> Result<()> {
        if self.files.len() >= MAX_OPENED {
            return self.fail(at, "more than 4,096 files are opened");
        }
        let id = self.files.len();
        self.files.push(OpenFile { lines: Vec::new(), depth: self.calls });
        self.declare(scope, name, Named::File(id), at)?;
        match path {
            Some(path) => {
                let mut run = self.constant_run(scope);
                let path_text = self.string(&mut run, path)?;
                self.open(id, &path_text, path.at)
            }
            None => Ok(()),
        }
    }

    /// Opens a file and reads its lines.
    fn open(&mut self, id: usize, name: &str, at: u32) -> Result<()> {
        let line = self.text.as_bytes()[..at as usize].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
        let contents = (self.find_data)(line, name).or_else(|message| self.fail(at, message))?;
        self.read_bytes = self.read_bytes.saturating_add(contents.len());
        if self.read_bytes > MAX_READ {
            return self.fail(at, "files of more than 256 MiB are read");
        }
        self.files[id].lines = contents.lines().rev().map(Arc::from).collect();
        Ok(())
    }

    /// Returns the index of the file that a name denotes.
    fn file(&self, run: &Run<'a>, e: &'a Expr) -> Result<usize> {
        let named = match &e.kind {
            Kind::Name(n) => self.find(run.scope, n),
            _ => None,
        };
        let Some(&Named::File(id)) = named else { return self.fail(e.at, "a file is expected here") };
        // Outside of initial values each activation of a process would read further lines.
        if self.initial == 0 && (self.calls == 0 || self.files[id].depth == 0) {
            return self.fail(e.at, "a file is read outside of initial values");
        }
        Ok(id)
    }

    /// Evaluates `endfile(f)`.
    pub(super) fn end_of_file(&mut self, run: &Run<'a>, e: &'a Expr) -> Result<Value> {
        let id = self.file(run, e)?;
        let node = self.rtl.number(u64::from(self.files[id].lines.is_empty()), 1);
        Ok(self.boolean(node))
    }

    /// Executes a procedure of `textio`. Returns `false` for other names.
    pub(super) fn text_procedure(&mut self, run: &mut Run<'a>, name: &str, args: &'a [Arg], at: u32) -> Result<bool> {
        let plain = args.iter().all(|a| a.choices.is_empty() && !a.others);
        let args: Vec<&'a Expr> = args.iter().map(|a| &a.value).collect();
        match (name, &args[..]) {
            ("file_close", [file]) if plain => self.file(run, file).map(|id| self.files[id].lines.clear())?,
            ("file_open", [file, path]) if plain => {
                let (id, path_text) = (self.file(run, file)?, self.string(run, path)?);
                self.open(id, &path_text, path.at)?;
            }
            ("file_open", [file, path, Expr { kind: Kind::Name(mode), .. }]) if plain => {
                if mode != "read_mode" {
                    return self.fail(at, "files are only read");
                }
                let (id, path_text) = (self.file(run, file)?, self.string(run, path)?);
                self.open(id, &path_text, path.at)?;
            }
            ("readline", [file, line]) if plain => {
                self.turn(at)?;
                let id = self.file(run, file)?;
                let Some(text) = self.files[id].lines.pop() else {
                    return self.fail(at, "a line after the end of the file is read");
                };
                let place = self.line_place(run, line)?;
                run.state.insert(place.slot, StoredValue::Text(text));
            }
            (
                "read" | "hread" | "oread" | "bread" | "hex_read" | "octal_read" | "binary_read",
                [line, target, good @ ..],
            ) if plain && good.len() <= 1 => {
                self.turn(at)?;
                let base = match name {
                    "hread" | "hex_read" => 4,
                    "oread" | "octal_read" => 3,
                    _ => 1,
                };
                let place = self.line_place(run, line)?;
                let Some(StoredValue::Text(text)) = run.state.get(&place.slot).cloned() else {
                    return self.fail(line.at, "a line that was not read");
                };
                let to = self.place(run, target)?;
                let (found, rest) = match self.parsed(&text, &to.ty, base, at)? {
                    Some((value, rest)) => (Some(value), rest),
                    None => (None, &*text),
                };
                let rest: Arc<str> = Arc::from(rest);
                match (&found, good) {
                    (None, []) => {
                        let shown: String = text.chars().take(40).collect();
                        return self.fail(at, format!("{:?} is not read as {}", shown, show(&to.ty)));
                    }
                    (_, [good]) => {
                        let flag = self.rtl.number(u64::from(found.is_some()), 1);
                        let (place, flag) = (self.place(run, good)?, self.boolean(flag));
                        self.give(run, &place, &flag, at)?;
                    }
                    _ => {}
                }
                run.state.insert(place.slot, StoredValue::Text(rest));
                if let Some(value) = found {
                    self.give(run, &to, &value, at)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the variable of type `line` that an expression denotes.
    fn line_place(&mut self, run: &mut Run<'a>, e: &'a Expr) -> Result<Place> {
        let place = self.place(run, e)?;
        match (&place.ty, place.slot) {
            (Type::Line, Slot::Variable(_)) => Ok(place),
            _ => self.fail(e.at, "a variable of type line is expected here"),
        }
    }

    /// Parses a value of type `ty` at the beginning of a line. Returns the value and the rest of the line; `None` if
    /// the line does not begin with such a value.
    fn parsed<'t>(&mut self, text: &'t str, ty: &Type, base: u32, at: u32) -> Result<Option<(Value, &'t str)>> {
        let text = text.trim_start();
        let word = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
        match ty {
            Type::Bit | Type::Vector(..) => {
                let (kind, width) = match ty {
                    Type::Vector(kind, width) => (Some(*kind), *width),
                    _ => (None, 1),
                };
                let digits = width.div_ceil(base) as usize;
                let (mut value, mut unknown, mut used, mut len) = (BigUint::ZERO, false, 0, 0);
                for c in text.chars() {
                    if used == digits {
                        break;
                    }
                    len += c.len_utf8();
                    let digit = match c.to_ascii_uppercase() {
                        '_' if used > 0 => continue,
                        'L' if base == 1 => Some(0),
                        'H' if base == 1 => Some(1),
                        'U' | 'X' | 'Z' | 'W' | '-' => {
                            unknown = true;
                            Some(0)
                        }
                        c => c.to_digit(1 << base),
                    };
                    let Some(digit) = digit else { return Ok(None) };
                    value = (value << base) | BigUint::from(digit);
                    used += 1;
                }
                if used < digits || value.bits() > u64::from(width) {
                    return Ok(None);
                }
                let node = if unknown { self.rtl.free(width) } else { self.rtl.constant(value, width) };
                let value = match kind {
                    Some(kind) => self.vector(kind, node),
                    None => Value { ty: Type::Bit, data: Data::Node(node), bounds: None },
                };
                Ok(Some((value, &text[len..])))
            }
            Type::Integer => {
                let sign = usize::from(word.starts_with('-'));
                let digits = word[sign..].bytes().take_while(u8::is_ascii_digit).count();
                match word[..sign + digits].parse::<i64>() {
                    Ok(i) if digits > 0 && integer_bits(i, Vector::Signed) <= 62 => {
                        let value = Value { ty: Type::Integer, data: Data::Int(i), bounds: None };
                        Ok(Some((value, &text[sign + digits..])))
                    }
                    _ => Ok(None),
                }
            }
            Type::Real => match word.parse::<f64>() {
                Ok(x) if word.contains('.') => Ok(Some((self.real(x, at)?, &text[word.len()..]))),
                _ => Ok(None),
            },
            Type::Boolean => match word.to_ascii_lowercase().as_str() {
                truth @ ("true" | "false") => {
                    let node = self.rtl.number(u64::from(truth == "true"), 1);
                    Ok(Some((self.boolean(node), &text[word.len()..])))
                }
                _ => Ok(None),
            },
            _ => self.fail(at, format!("{} is not read from a file", show(ty))),
        }
    }
}
