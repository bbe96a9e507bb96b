//! Literals: text into a [`Tree`].
//!
//! ```text
//! value   = "null" | "true" | "false" | number | string | word | list | members
//! list    = "[" [ value { "," value } [ "," ] ] "]"
//! members = "{" [ name ":" value { "," name ":" value } [ "," ] ] "}"
//! name    = identifier | string
//! string  = as in JSON
//! word    = all up to white space, a comma, or a bracket that was not opened in it
//! ```

use super::WrittenError;
use super::tree::{Tree, shortened};

/// How deeply a literal may nest: far beyond what people write, and little stack.
const NESTING: usize = 64;

pub(super) fn parse(text: &str) -> Result<Tree, WrittenError> {
    let mut reader = Reader { whole: text, rest: text };
    let tree = reader.value(0)?;
    reader.space();
    if reader.rest.is_empty() { Ok(tree) } else { Err(reader.refused("the end was expected")) }
}

struct Reader<'t> {
    whole: &'t str,
    rest: &'t str,
}

impl Reader<'_> {
    fn refused(&self, expected: &str) -> WrittenError {
        let at = self.whole.len() - self.rest.len();
        let column = self.whole[..at].chars().count() + 1;
        let found = match self.rest.is_empty() {
            true => "the literal ends".to_owned(),
            false => format!("there is {:?}", shortened(self.rest)),
        };
        WrittenError::new(format!("{expected} at character {column}, where {found}"))
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, mark: char) -> bool {
        self.space();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Tree, WrittenError> {
        if depth > NESTING {
            return Err(WrittenError::new(format!("a literal nests at most {NESTING} deep")));
        }
        self.space();
        match self.rest.chars().next() {
            Some('[') => self.list(depth),
            Some('{') => self.members(depth),
            Some('"') => Ok(Tree::Text(self.string()?)),
            _ => self.bare(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Tree, WrittenError> {
        self.eat('[');
        let mut items = Vec::new();
        while !self.eat(']') {
            let at = items.len();
            items.push(self.value(depth + 1).map_err(|error| error.at(at))?);
            if !self.eat(',') && !self.rest.starts_with(']') {
                return Err(self.refused("a comma or ] was expected"));
            }
        }
        Ok(Tree::List(items))
    }

    fn members(&mut self, depth: usize) -> Result<Tree, WrittenError> {
        self.eat('{');
        let mut members: Vec<(String, Tree)> = Vec::new();
        while !self.eat('}') {
            let name = self.name()?;
            if members.iter().any(|(known, _)| *known == name) {
                return Err(WrittenError::new(format!("{name} is given twice")));
            }
            if !self.eat(':') {
                return Err(self.refused(&format!("a colon behind {name} was expected")));
            }
            let value = self.value(depth + 1).map_err(|error| error.within(&name))?;
            members.push((name, value));
            if !self.eat(',') && !self.rest.starts_with('}') {
                return Err(self.refused("a comma or } was expected"));
            }
        }
        Ok(Tree::Members(members))
    }

    fn name(&mut self) -> Result<String, WrittenError> {
        self.space();
        if self.rest.starts_with('"') {
            return self.string();
        }
        let end = self.rest.find(|it: char| !is_of_name(it)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(self.refused("a member's name was expected"));
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    /// As JSON has them: the string ends with the first quotation mark that no backslash escapes.
    fn string(&mut self) -> Result<String, WrittenError> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, it)| {
            let ends = *it == '"' && !escaped;
            escaped = *it == '\\' && !escaped;
            ends
        });
        let Some((end, _)) = end else { return Err(self.refused("a quotation mark ends every string")) };
        let (quoted, rest) = self.rest.split_at(end + 1);
        let text = serde_json::from_str(&controls_escaped(quoted))
            .map_err(|_| self.refused("a string as in JSON was expected"))?;
        self.rest = rest;
        Ok(text)
    }

    fn bare(&mut self) -> Result<Tree, WrittenError> {
        let mut open = 0_usize;
        let end = self.rest.find(|it: char| match it {
            ',' | '{' | '}' | '"' => true,
            '[' => {
                open += 1;
                false
            }
            ']' => {
                let ends = open == 0;
                open = open.saturating_sub(1);
                ends
            }
            other => other.is_whitespace(),
        });
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if word.is_empty() {
            return Err(self.refused("a value was expected"));
        }
        self.rest = rest;
        Ok(match word {
            "null" => Tree::Null,
            "true" => Tree::Boolean(true),
            "false" => Tree::Boolean(false),
            _ if word
                .trim_start_matches(['-', '+'])
                .starts_with(|it: char| it.is_ascii_digit() || it == '.') =>
            {
                Tree::Number(word.to_owned())
            }
            _ => Tree::Word(word.to_owned()),
        })
    }
}

/// A line break that was typed into a string means itself.
fn controls_escaped(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    for letter in quoted.chars() {
        match letter {
            '\0'..='\x1f' => text.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => text.push(letter),
        }
    }
    text
}

/// What a member's name that needs no quotation marks is made of.
pub(super) fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}
