//! Constant expressions: their values, types and ranges. CORBA 3.4 part 1, 7.10.

use super::constructed::article;
use super::float::{Number, Precision};
use super::scope::Target;
use super::{Checker, fixed, float};
use crate::diagnostics::error;
use crate::model::{DefinitionId, DefinitionKind, FixedValue, Type, Value};
use crate::source::Span;
use crate::syntax::{Expression, Step, TypeSpec};

/// The value of a subexpression.
#[derive(Clone, Debug)]
enum Operand {
    Integer(i128),
    Float(Number),
    Fixed(FixedValue),
    Char(u8),
    WChar(u16),
    String(String),
    WString(String),
    Boolean(bool),
    Enumerator { of: DefinitionId, index: u32 },
}

/// What subexpressions are computed in: integers in the type of the whole, but at least 32 bits, and floating-point numbers
/// in `double`, if the whole is no `long double`.
#[derive(Clone, Copy)]
struct Width {
    bits: u32,
    signed: bool,
    precision: Precision,
}

impl Width {
    fn of(ty: &Type) -> Width {
        let (bits, signed) = match ty {
            Type::Short | Type::Long | Type::Int8 => (32, true),
            Type::UnsignedShort | Type::UnsignedLong | Type::Octet | Type::UInt8 => (32, false),
            Type::UnsignedLongLong => (64, false),
            _ => (64, true),
        };
        let precision = match ty {
            Type::LongDouble => Precision::Quadruple,
            _ => Precision::Double,
        };
        Width { bits, signed, precision }
    }

    fn holds(self, value: i128) -> bool {
        value >= -(1 << (self.bits - 1)) && value < (1 << self.bits)
    }

    fn describe(self) -> &'static str {
        if self.bits == 32 {
            "32 bits, in which this is computed"
        } else {
            "64 bits, in which this is computed"
        }
    }
}

impl Checker {
    /// The type of a constant as declared; `fixed` without digits is `None` inside.
    pub(super) fn constant_type(&mut self, spec: &TypeSpec) -> Option<Option<Type>> {
        if let TypeSpec::Fixed { parameters: None, .. } = spec {
            return Some(None);
        }
        let ty = self.ty(spec)?;
        if !self.can_be_constant(&ty) {
            let span = super::type_span(spec);
            let label = "numbers, characters, strings, booleans and enums can be constants";
            self.report(error("no constant has this type", span, label));
            return None;
        }
        Some(Some(ty))
    }

    /// There can be constants of this type.
    pub(super) fn can_be_constant(&self, ty: &Type) -> bool {
        match self.model.resolve_alias(ty) {
            Type::Named(id) => matches!(self.model.definition(*id).kind, DefinitionKind::Enum(_)),
            Type::Char | Type::WChar | Type::Boolean | Type::Octet | Type::Fixed { .. } => true,
            Type::String { .. } | Type::WString { .. } => true,
            ty => ty.is_integer() || ty.is_floating(),
        }
    }

    /// The value of an expression in the type that it has by itself: whole numbers are `long long`, or `unsigned long long`
    /// if they need it, other numbers `double` or `fixed`.
    pub(super) fn natural(&mut self, expression: &Expression) -> Option<Value> {
        Some(match self.evaluate(expression, Width::of(&Type::LongLong))? {
            Operand::Integer(it) => {
                match integer(&Type::LongLong, it).or(integer(&Type::UnsignedLongLong, it)) {
                    Some(it) => it,
                    None => {
                        self.report(error(format!("{it} fits no integer type"), expression.span, ""));
                        return None;
                    }
                }
            }
            Operand::Float(Number::Double(it)) => Value::Double(it),
            Operand::Float(Number::Quadruple(it)) => Value::LongDouble(float::bits(it)),
            Operand::Fixed(it) => Value::Fixed(it),
            Operand::Char(it) => Value::Char(it),
            Operand::WChar(it) => Value::WChar(it),
            Operand::String(it) => Value::String(it),
            Operand::WString(it) => Value::WString(it),
            Operand::Boolean(it) => Value::Boolean(it),
            Operand::Enumerator { of, index } => Value::Enumerator { of, index },
        })
    }

    /// Evaluates a constant of a type from [`constant_type`](Checker::constant_type).
    pub(super) fn constant_value(
        &mut self,
        ty: Option<Type>,
        expression: &Expression,
    ) -> Option<(Type, Value)> {
        match ty {
            Some(ty) => {
                let value = self.value_of(&ty, expression)?;
                Some((ty, value))
            }
            None => match self.evaluate(expression, Width::of(&Type::LongLong))? {
                Operand::Fixed(value) => {
                    let value = fixed::shortest(value);
                    Some((Type::Fixed { digits: value.digits(), scale: value.scale }, Value::Fixed(value)))
                }
                other => {
                    self.mismatch("fixed", &other, expression.span);
                    None
                }
            },
        }
    }

    /// The value of an expression as a type that a constant can have; `None` was reported.
    pub(super) fn value_of(&mut self, ty: &Type, expression: &Expression) -> Option<Value> {
        let ty = self.model.resolve_alias(ty).clone();
        let width = Width::of(&ty);
        let operand = self.evaluate(expression, width)?;
        let span = expression.span;
        match (&ty, operand) {
            (ty, Operand::Integer(value)) if ty.is_integer() => {
                let Some(value) = integer(ty, value) else {
                    let (least, most) = ty.integer_range()?;
                    let message = format!("{value} does not fit `{}`", type_name(ty));
                    self.report(error(message, span, format!("from {least} to {most}")));
                    return None;
                };
                Some(value)
            }
            (ty, Operand::Integer(value)) if ty.is_floating() => {
                self.float(ty, Number::from_integer(value, width.precision), span)
            }
            (ty, Operand::Float(value)) if ty.is_floating() => self.float(ty, value, span),
            (Type::Char, Operand::Char(value)) => Some(Value::Char(value)),
            (Type::WChar, Operand::WChar(value)) => Some(Value::WChar(value)),
            (Type::Boolean, Operand::Boolean(value)) => Some(Value::Boolean(value)),
            (Type::String { bound }, Operand::String(text)) => {
                self.check_length(*bound, text.chars().count(), span)?;
                Some(Value::String(text))
            }
            (Type::WString { bound }, Operand::WString(text)) => {
                self.check_length(*bound, text.encode_utf16().count(), span)?;
                Some(Value::WString(text))
            }
            (Type::Fixed { digits, scale }, Operand::Fixed(value)) => {
                let fitted = fixed::fit(value, *digits, *scale);
                if fitted.is_none() {
                    let message = format!("{value} does not fit `fixed<{digits}, {scale}>`");
                    self.report(error(message, span, format!("{} digits before the point", digits - scale)));
                }
                fitted.map(Value::Fixed)
            }
            (Type::Named(id), Operand::Enumerator { of, index }) if *id == of => {
                Some(Value::Enumerator { of, index })
            }
            (ty, operand) => {
                let name = match ty {
                    Type::Named(id) => self.model.scoped_name(*id),
                    _ => type_name(ty).to_string(),
                };
                self.mismatch(&name, &operand, span);
                None
            }
        }
    }

    /// A bound or dimension: 1 to 2^32 - 1.
    pub(super) fn bound(&mut self, expression: &Expression) -> Option<u32> {
        match self.value_of(&Type::UnsignedLong, expression)? {
            Value::UnsignedLong(bound) if bound > 0 => Some(bound),
            _ => {
                self.report(error("a bound of 0", expression.span, "at least 1"));
                None
            }
        }
    }

    /// A number from 0 to `most`.
    pub(super) fn small(&mut self, expression: &Expression, most: u16) -> Option<u16> {
        match self.value_of(&Type::UnsignedLong, expression)? {
            Value::UnsignedLong(value) if value <= u32::from(most) => Some(value as u16),
            _ => {
                self.report(error("number too large", expression.span, format!("at most {most}")));
                None
            }
        }
    }

    fn check_length(&mut self, bound: Option<u32>, length: usize, span: Span) -> Option<()> {
        let Some(bound) = bound.filter(|bound| length > *bound as usize) else { return Some(()) };
        self.report(error(
            format!("{length} characters are too many"),
            span,
            format!("the bound is {bound}"),
        ));
        None
    }

    fn float(&mut self, ty: &Type, value: Number, span: Span) -> Option<Value> {
        let value = match value {
            Number::Quadruple(value) => {
                return Some(Value::LongDouble(float::bits(value)));
            }
            Number::Double(value) if *ty == Type::Float => value,
            Number::Double(value) => return Some(Value::Double(value)),
        };
        let narrow = value as f32;
        let label = if narrow.is_infinite() {
            "at most about 3.4e38"
        } else if narrow == 0.0 && value != 0.0 {
            "at least about 1.4e-45"
        } else {
            return Some(Value::Float(narrow));
        };
        self.report(error(format!("{value:e} does not fit `float`"), span, label));
        None
    }

    /// A number as it is computed with; if that cannot hold it, `None`, and it was reported.
    fn number(&mut self, number: Result<Number, Wrong>, precision: Precision, span: Span) -> Option<Operand> {
        let (ty, most, least) = precision.describe();
        let label = match number {
            Ok(number) => return Some(Operand::Float(number)),
            Err(Wrong::Underflow) => format!("the least that is not 0 is about {least}"),
            Err(_) => format!("at most about {most}"),
        };
        self.report(error(format!("the number does not fit `{ty}`"), span, label));
        None
    }

    fn mismatch(&mut self, wanted: &str, operand: &Operand, span: Span) {
        let label = match (wanted, operand) {
            ("wstring" | "wchar", Operand::String(_) | Operand::Char(_)) => "write `L` before the quote",
            ("string" | "char", Operand::WString(_) | Operand::WChar(_)) => "remove the `L` before the quote",
            ("fixed", Operand::Integer(_) | Operand::Float(_)) => "write `d` after the number",
            ("float" | "double" | "long double", Operand::Fixed(_)) => "remove the `d` after the number",
            ("boolean", Operand::Integer(_)) => "write `TRUE` or `FALSE`",
            _ => "",
        };
        let message = format!("expected a value of type `{wanted}`, found a{}", article(operand.describe()));
        self.report(error(message, span, label));
    }

    fn evaluate(&mut self, expression: &Expression, width: Width) -> Option<Operand> {
        let mut stack: Vec<Operand> = Vec::new();
        for (step, span) in &expression.steps {
            let value = match step {
                Step::Unary(operator) => {
                    let operand = stack.pop()?;
                    self.unary(operator, operand, width, *span)?
                }
                Step::Binary(operator) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    self.binary(operator, left, right, width, *span)?
                }
                Step::Integer(value) => Operand::Integer((*value).into()),
                Step::Float(text) => {
                    if width.precision == Precision::Quadruple {
                        self.work(float::steps(text), *span);
                    }
                    self.number(Number::parse(text, width.precision), width.precision, *span)?
                }
                Step::Fixed(value) => Operand::Fixed(*value),
                Step::Char(value) => Operand::Char(*value),
                Step::WChar(value) => Operand::WChar(*value),
                Step::String(value) => Operand::String(value.to_string()),
                Step::WString(value) => Operand::WString(value.to_string()),
                Step::Boolean(value) => Operand::Boolean(*value),
                Step::Name(name) => {
                    let target = self.resolve(name)?;
                    match self.named_value(target, *span)? {
                        Operand::Float(it) => self.number(it.to(width.precision), width.precision, *span)?,
                        other => other,
                    }
                }
            };
            if let Operand::Integer(number) = value {
                // The whole is measured against its own type, in better words.
                if expression.steps.len() > 1 && !width.holds(number) {
                    self.report(error(format!("{number} does not fit {}", width.describe()), *span, ""));
                    return None;
                }
            }
            stack.push(value);
        }
        stack.pop()
    }

    fn named_value(&mut self, target: Target, span: Span) -> Option<Operand> {
        let constant = match target {
            Target::Enumerator { of, index } => return Some(Operand::Enumerator { of, index }),
            // As a mask, which is what flags are combined as.
            Target::Flag { position } => return Some(Operand::Integer(1 << position)),
            Target::Definition(id) if self.facts[id.index()].broken => return None,
            Target::Definition(id) => match &self.model.definition(id).kind {
                DefinitionKind::Constant(constant) => Some(constant.value.clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(value) = constant else {
            let what = article(self.describe(target));
            self.report(error(format!("expected a constant, found a{what}"), span, ""));
            return None;
        };
        if let Value::String(text) | Value::WString(text) = &value {
            // A long string that many constants name would be copied each time.
            self.work(text.len() / 16, span);
        }
        Some(match value {
            Value::Float(value) => Operand::Float(Number::Double(value.into())),
            Value::Double(value) => Operand::Float(Number::Double(value)),
            Value::LongDouble(value) => Operand::Float(Number::from_bits(value)),
            Value::Char(value) => Operand::Char(value),
            Value::WChar(value) => Operand::WChar(value),
            Value::Boolean(value) => Operand::Boolean(value),
            Value::String(text) => Operand::String(text),
            Value::WString(text) => Operand::WString(text),
            Value::Fixed(value) => Operand::Fixed(value),
            Value::Enumerator { of, index } => Operand::Enumerator { of, index },
            integer => Operand::Integer(integer.as_integer()?),
        })
    }

    fn unary(&mut self, operator: &str, operand: Operand, width: Width, span: Span) -> Option<Operand> {
        Some(match (operator, operand) {
            ("+", operand @ (Operand::Integer(_) | Operand::Float(_) | Operand::Fixed(_))) => operand,
            ("-", Operand::Integer(value)) => Operand::Integer(-value),
            ("-", Operand::Float(value)) => Operand::Float(value.negated()),
            ("-", Operand::Fixed(value)) => Operand::Fixed(FixedValue { unscaled: -value.unscaled, ..value }),
            ("~", Operand::Integer(value)) if width.signed || value < 0 => Operand::Integer(-value - 1),
            ("~", Operand::Integer(value)) => Operand::Integer((1 << width.bits) - 1 - value),
            (_, operand) => {
                let message = format!("`{operator}` cannot be applied to a{}", article(operand.describe()));
                self.report(error(message, span, ""));
                return None;
            }
        })
    }

    fn binary(
        &mut self,
        operator: &str,
        left: Operand,
        right: Operand,
        width: Width,
        span: Span,
    ) -> Option<Operand> {
        let result = match (&left, &right) {
            (Operand::Integer(left), Operand::Integer(right)) => integers(operator, *left, *right, width),
            (Operand::Float(left), Operand::Float(right)) => {
                float::apply(operator, *left, *right).map(Operand::Float)
            }
            (Operand::Fixed(left), Operand::Fixed(right)) => {
                fixed::apply(operator, *left, *right).map(Operand::Fixed)
            }
            (
                Operand::Integer(_) | Operand::Float(_) | Operand::Fixed(_),
                Operand::Integer(_) | Operand::Float(_) | Operand::Fixed(_),
            ) => {
                let (left, right) = (article(left.describe()), article(right.describe()));
                let message = format!("`{operator}` cannot mix a{left} and a{right}");
                self.report(error(message, span, "write both the same way: `2`, `2.0` or `2d`"));
                return None;
            }
            _ => Err(Wrong::Operator),
        };
        let wrong = match result {
            Ok(value) => return Some(value),
            Err(wrong) => wrong,
        };
        let (message, label) = match wrong {
            Wrong::Operator => {
                let (left, right) = (article(left.describe()), article(right.describe()));
                (format!("`{operator}` cannot be applied to a{left} and a{right}"), "")
            }
            Wrong::Zero => ("division by zero".to_string(), ""),
            Wrong::Shift => ("shift out of range".to_string(), "by 0 to 63 bits"),
            Wrong::Overflow => ("the result is too large".to_string(), ""),
            Wrong::Underflow => ("the result is too small".to_string(), "it would become 0"),
        };
        self.report(error(message, span, label));
        None
    }
}

/// Why an operation has no result.
#[derive(Debug)]
pub(super) enum Wrong {
    Operator,
    Zero,
    Shift,
    Overflow,
    /// What is not zero would become zero.
    Underflow,
}

fn integers(operator: &str, left: i128, right: i128, width: Width) -> Result<Operand, Wrong> {
    // Both are at most 64 bits long, so that only products and shifts need care.
    let value = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left.checked_mul(right).ok_or(Wrong::Overflow)?,
        "/" | "%" if right == 0 => return Err(Wrong::Zero),
        "/" => left / right,
        "%" => left % right,
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "<<" | ">>" if !(0..64).contains(&right) => return Err(Wrong::Shift),
        "<<" => {
            let shifted = left.checked_mul(1 << right).ok_or(Wrong::Overflow)?;
            // A signed constant may be written as its bit pattern's sign bit: `1 << 31`.
            if width.holds(shifted) { shifted } else { return Err(Wrong::Overflow) }
        }
        ">>" => left >> right,
        _ => return Err(Wrong::Operator),
    };
    Ok(Operand::Integer(value))
}

/// A value of an integer type, if it fits.
pub(super) fn integer(ty: &Type, value: i128) -> Option<Value> {
    Some(match ty {
        Type::Short => Value::Short(value.try_into().ok()?),
        Type::Long => Value::Long(value.try_into().ok()?),
        Type::LongLong => Value::LongLong(value.try_into().ok()?),
        Type::UnsignedShort => Value::UnsignedShort(value.try_into().ok()?),
        Type::UnsignedLong => Value::UnsignedLong(value.try_into().ok()?),
        Type::UnsignedLongLong => Value::UnsignedLongLong(value.try_into().ok()?),
        Type::Octet => Value::Octet(value.try_into().ok()?),
        Type::Int8 => Value::Int8(value.try_into().ok()?),
        Type::UInt8 => Value::UInt8(value.try_into().ok()?),
        _ => return None,
    })
}

impl Operand {
    fn describe(&self) -> &'static str {
        match self {
            Operand::Integer(_) => "integer",
            Operand::Float(_) => "floating-point number",
            Operand::Fixed(_) => "fixed-point number",
            Operand::Char(_) => "character",
            Operand::WChar(_) => "wide character",
            Operand::String(_) => "string",
            Operand::WString(_) => "wide string",
            Operand::Boolean(_) => "boolean",
            Operand::Enumerator { .. } => "enumerator",
        }
    }
}

/// How IDL writes a type that a constant can have.
fn type_name(ty: &Type) -> &'static str {
    match ty {
        Type::Short => "short",
        Type::Long => "long",
        Type::LongLong => "long long",
        Type::UnsignedShort => "unsigned short",
        Type::UnsignedLong => "unsigned long",
        Type::UnsignedLongLong => "unsigned long long",
        Type::Octet => "octet",
        Type::Int8 => "int8",
        Type::UInt8 => "uint8",
        Type::Float => "float",
        Type::Double => "double",
        Type::LongDouble => "long double",
        Type::Char => "char",
        Type::WChar => "wchar",
        Type::Boolean => "boolean",
        Type::String { .. } => "string",
        Type::WString { .. } => "wstring",
        Type::Fixed { .. } => "fixed",
        _ => "this type",
    }
}
