//! A value as text, for logs.

use super::{Content, DynAny};
use crate::any::name_of;
use core::fmt;

impl fmt::Debug for DynAny {
    /// The value with the names of its type; what is kept in one piece by its type alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Content::Nothing => f.write_str("null"),
            Content::Boolean(value) => value.fmt(f),
            Content::Octet(value) => value.fmt(f),
            Content::Char(value) => fmt::Debug::fmt(value, f),
            Content::WChar(value) => value.fmt(f),
            Content::Short(value) => value.fmt(f),
            Content::UShort(value) => value.fmt(f),
            Content::Long(value) => value.fmt(f),
            Content::ULong(value) => value.fmt(f),
            Content::LongLong(value) => value.fmt(f),
            Content::ULongLong(value) => value.fmt(f),
            Content::Float(value) => fmt::Debug::fmt(value, f),
            Content::Double(value) => fmt::Debug::fmt(value, f),
            Content::LongDouble(value) => value.fmt(f),
            Content::Text(value) => fmt::Debug::fmt(value, f),
            Content::Fixed(value) => fmt::Display::fmt(value, f),
            Content::Enumerator(value) => match self.enumerator() {
                Ok(name) => f.write_str(name),
                Err(_) => value.fmt(f),
            },
            Content::TypeCode(value) => value.fmt(f),
            Content::Any(value) => value.fmt(f),
            Content::Whole(_) => write!(f, "<{} of {}>", name_of(&self.ty), self.component_count()),
            Content::Parts(parts) => match self.member_names() {
                Ok(names) => {
                    let mut to = f.debug_struct(self.ty.name().unwrap_or_default());
                    names.zip(parts).for_each(|(name, part)| {
                        to.field(name, part);
                    });
                    to.finish()
                }
                Err(_) => f.debug_list().entries(parts).finish(),
            },
            Content::Union(arms) => {
                let mut to = f.debug_struct(self.ty.name().unwrap_or_default());
                if let Some(discriminator) = arms.parts.first() {
                    to.field("switch", discriminator);
                }
                if let (Ok(name), Ok(Some(member))) = (self.active_member_name(), arms.part(&self.ty, 1)) {
                    to.field(name, &member);
                }
                to.finish()
            }
        }
    }
}
