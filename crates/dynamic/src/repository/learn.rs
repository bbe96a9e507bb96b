//! Types that came without IDL, with the signatures of an interface repository, so that text can name them.

use zorb_cdr::{TCKind, TypeCode};

use super::{Content, InterfaceContent, Repository};
use crate::interface::Interface;

impl Repository {
    /// Adds the named types that an interface's operations are made of, and are not known yet.
    ///
    /// Their scoped names are what their repository ids suggest: `IDL:acme.com/Bank/Account:1.0` is `Bank::Account`.
    pub fn learn(&mut self, interface: &Interface) {
        let mut pending = Vec::new();
        for operation in interface.operations() {
            pending.push(operation.result.clone());
            pending.extend(operation.parameters.iter().map(|parameter| parameter.ty.clone()));
            pending.extend(operation.raises.iter().cloned());
        }
        while let Some(ty) = pending.pop() {
            // A type that is known has been followed; one without a name ends, or leads to one.
            if let Some(id) = ty.id()
                && !id.is_empty()
            {
                if self.place_of(id).is_some() {
                    continue;
                }
                self.learn_type(id, &ty);
            }
            pending.extend(ty.content_type());
            pending.extend(ty.discriminator_type());
            pending.extend(ty.concrete_base_type());
            pending.extend((0..ty.member_count().unwrap_or(0)).filter_map(|index| ty.member_type(index)));
        }
    }

    fn learn_type(&mut self, id: &str, ty: &TypeCode) {
        let content = match ty.kind() {
            TCKind::ObjRef | TCKind::AbstractInterface | TCKind::LocalInterface => {
                Content::Interface(InterfaceContent { ty: ty.clone(), bases: Vec::new(), defined: false })
            }
            _ => Content::Type(ty.clone()),
        };
        let name = scoped_name(id).unwrap_or_else(|| ty.name().unwrap_or_default().to_owned());
        self.put(None, id, &name, content);
    }
}

/// What a repository id of the IDL format says, without its prefix: whatever stands before the last segment with a point.
fn scoped_name(id: &str) -> Option<String> {
    let (path, _) = id.strip_prefix("IDL:")?.rsplit_once(':')?;
    let segments: Vec<&str> = path.split('/').collect();
    let begin = segments.iter().rposition(|segment| segment.contains('.')).map_or(0, |at| at + 1);
    segments.get(begin..).filter(|names| !names.is_empty()).map(|names| names.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_suggest_names() {
        let name = |id| scoped_name(id);
        assert_eq!(name("IDL:Bank/Account:1.0").as_deref(), Some("Bank::Account"));
        assert_eq!(name("IDL:acme.com/Bank/Account:1.0").as_deref(), Some("Bank::Account"));
        assert_eq!(name("IDL:omg.org/CORBA/Object:1.0").as_deref(), Some("CORBA::Object"));
        assert_eq!(name("IDL:acme.com:1.0"), None);
        assert_eq!(name("DCE:1"), None);
    }
}
