//! Maps as text: `{key: value}` where the keys are strings, pairs otherwise.
//!
//! A TypeCode has a map as a sequence of structs without a name, of a key and a value. No IDL declares another type of this
//! shape.

use std::collections::HashSet;

use zorb_cdr::{Decoder, TCKind, TypeCode};

use super::WrittenError;
use super::compose::{Composed, Composer, refused};
use super::show::{Show, Shown};
use super::tree::Tree;
use crate::form::Form;

/// The types of the keys and the values, if the elements of a sequence are pairs of a map.
pub(crate) fn pair(sequence: &TypeCode) -> Option<(TypeCode, TypeCode)> {
    let element = sequence.content_type().filter(|_| sequence.kind() == TCKind::Sequence)?;
    let unnamed = element.kind() == TCKind::Struct && element.id() == Some("") && element.name() == Some("");
    let named = |index| element.member_name(index).unwrap_or_default();
    let is_pair = unnamed && element.member_count() == Some(2) && named(0) == "key" && named(1) == "value";
    is_pair.then(|| Some((element.member_type(0)?, element.member_type(1)?)))?
}

fn is_text(ty: &TypeCode) -> bool {
    matches!(ty.unaliased().kind(), TCKind::String | TCKind::WString)
}

impl Composer<'_, '_> {
    /// The pairs of a map, behind their number.
    pub(super) fn pairs(
        &mut self,
        members: &[(String, Tree)],
        (key, value): (&TypeCode, &TypeCode),
        form: &Form,
    ) -> Composed {
        if !is_text(key) {
            return refused(
                "a map whose keys are no strings is a list of pairs: [{key: …, value: …}]".to_owned(),
            );
        }
        let (key_form, value_form) = form.pair();
        for (name, tree) in members {
            let text = Tree::Text(name.clone());
            self.value(&text, key, &key_form).map_err(|error| error.within(name))?;
            self.value(tree, value, &value_form).map_err(|error| error.within(name))?;
        }
        Ok(())
    }
}

impl Show<'_> {
    /// So many pairs of a map.
    pub(super) fn pairs(
        &self,
        (key, value): (&TypeCode, &TypeCode),
        form: &Form,
        count: usize,
        from: &mut Decoder<'_>,
    ) -> Shown {
        let (key_form, value_form) = form.pair();
        let mut pairs = Vec::new();
        for index in 0..count {
            let within = |part| move |error: WrittenError| error.within(part).at(index);
            // As many steps and levels as the struct takes which it is.
            let pair = self.nested(from, |from| {
                let key = self.part(key, &key_form, from).map_err(within("key"))?;
                let value = self.part(value, &value_form, from).map_err(within("value"))?;
                pairs.push((key, value));
                Ok(Tree::Null)
            });
            pair?;
        }
        let mut seen = HashSet::new();
        let is_name = |tree: &Tree| match tree {
            // What begins so would be taken for something of a value that holds the map.
            Tree::Text(text) => !text.starts_with('$') && seen.insert(text.clone()),
            _ => false,
        };
        let named = is_text(key) && pairs.iter().map(|(key, _)| key).all(is_name);
        if named {
            let members = pairs.into_iter().map(|(key, value)| match key {
                Tree::Text(name) => (name, value),
                _ => (String::new(), value),
            });
            return Ok(Tree::Members(members.collect()));
        }
        let pair = |(key, value)| Tree::Members(vec![("key".to_owned(), key), ("value".to_owned(), value)]);
        Ok(Tree::List(pairs.into_iter().map(pair).collect()))
    }
}
