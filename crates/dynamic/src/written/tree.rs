//! [`Tree`]: what JSON and literals have in common.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value as Json};

use super::WrittenError;
use super::graph::ValueTree;

/// How deeply JSON may nest: what its parser allows.
const NESTING: usize = 128;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Boolean(bool),
    /// As it is written.
    Number(String),
    /// In quotation marks.
    Text(String),
    /// Without them in a literal.
    Word(String),
    /// What a sequence or an array of octets holds; shown only, never parsed.
    Octets(Vec<u8>),
    List(Vec<Tree>),
    Members(Vec<(String, Tree)>),
    /// A value, and one that stands elsewhere, by where it began; shown only, and settled before it is seen.
    Value(Box<ValueTree>),
    Again(usize),
}

impl Tree {
    pub(super) fn of_json(json: &Json, depth: usize) -> Result<Tree, WrittenError> {
        if depth > NESTING {
            return Err(WrittenError::new(format!("JSON nests at most {NESTING} deep")));
        }
        let inner = |json| Tree::of_json(json, depth + 1);
        Ok(match json {
            Json::Null => Tree::Null,
            Json::Bool(it) => Tree::Boolean(*it),
            Json::Number(it) => Tree::Number(it.to_string()),
            Json::String(it) => Tree::Text(it.clone()),
            Json::Array(items) => Tree::List(items.iter().map(inner).collect::<Result<_, _>>()?),
            Json::Object(members) => {
                let members = members.iter().map(|(name, json)| Ok((name.clone(), inner(json)?)));
                Tree::Members(members.collect::<Result<_, WrittenError>>()?)
            }
        })
    }

    pub(super) fn into_json(self) -> Json {
        match self {
            Tree::Null => Json::Null,
            Tree::Boolean(it) => Json::Bool(it),
            Tree::Number(text) => number(&text).map_or(Json::String(text), Json::Number),
            Tree::Text(text) | Tree::Word(text) => Json::String(text),
            Tree::Octets(octets) => {
                let text = STANDARD.encode(octets);
                Json::Object(Map::from_iter([("base64".to_owned(), Json::String(text))]))
            }
            Tree::List(items) => Json::Array(items.into_iter().map(Tree::into_json).collect()),
            Tree::Members(members) => {
                let members = members.into_iter().map(|(name, tree)| (name, tree.into_json()));
                Json::Object(members.collect::<Map<_, _>>())
            }
            Tree::Value(_) | Tree::Again(_) => Json::Null,
        }
    }

    /// What it is, for people.
    pub(super) fn called(&self) -> String {
        match self {
            Tree::Null => "null".to_owned(),
            Tree::Boolean(it) => it.to_string(),
            Tree::Number(text) | Tree::Word(text) => shortened(text),
            Tree::Text(text) => format!("{:?}", shortened(text)),
            Tree::Octets(_) => "octets".to_owned(),
            Tree::List(_) => "a list".to_owned(),
            Tree::Members(_) => "a list of members".to_owned(),
            Tree::Value(_) | Tree::Again(_) => "a value".to_owned(),
        }
    }
}

fn number(text: &str) -> Option<Number> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    Number::from_f64(text.parse().ok()?)
}

/// An error shows so much of what was written.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
