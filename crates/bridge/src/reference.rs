//! References on both sides of a bridge: what the bridge's own say of the target, and the target's with a client's choice of
//! code sets.

use std::net::IpAddr;

use zorb_cdr::{CodeSet, CodeSets, EncodeError, Version};
use zorb_giop::code_sets::{CodeSetComponent, Supported};
use zorb_giop::{ComponentTag, IiopProfile, Ior, TaggedComponent, TaggedProfile, UiopProfile};

/// What clients must know of a target, whoever they send their requests to: how it reads them.
#[derive(Debug, PartialEq)]
pub(crate) struct Terms {
    version: Version,
    code_sets: Option<TaggedComponent>,
    orb_type: Option<TaggedComponent>,
}

impl Terms {
    /// Those of the first profile that can be read; `None` if there is none.
    pub(crate) fn of(ior: &Ior) -> Option<Terms> {
        ior.profiles.iter().find_map(|profile| {
            let (version, components) = match IiopProfile::decode(profile) {
                Ok(profile) => (profile.version, profile.components),
                Err(_) => {
                    let profile = UiopProfile::decode(profile).ok()?;
                    (profile.version, profile.components)
                }
            };
            let find = |tag| components.iter().find(|component| component.tag == tag).cloned();
            let (code_sets, orb_type) = (find(ComponentTag::CODE_SETS), find(ComponentTag::ORB_TYPE));
            Some(Terms { version, code_sets, orb_type })
        })
    }

    /// The same profiles, which say this of the object. What cannot be read stays as it is.
    pub(crate) fn put_into(&self, ior: &Ior) -> Result<Ior, EncodeError> {
        edited(ior, |version, components| {
            *version = self.version.min(*version);
            components.retain(|component| {
                !matches!(component.tag, ComponentTag::CODE_SETS | ComponentTag::ORB_TYPE)
            });
            components.extend(self.code_sets.iter().chain(&self.orb_type).cloned());
        })
    }
}

/// The target as a client that announced `code_sets` is to reach it: a reference of which an ORB chooses just these.
pub(crate) fn with_code_sets(ior: &Ior, code_sets: CodeSets) -> Result<Ior, EncodeError> {
    let alone = |native| Supported { native, conversion: Vec::new() };
    let component = match code_sets {
        CodeSets::UNNEGOTIATED => None,
        CodeSets { char, wchar } => {
            let wchar = alone(wchar.unwrap_or(CodeSet(0)));
            Some(CodeSetComponent { char: alone(char), wchar }.encode()?)
        }
    };
    edited(ior, |_, components| {
        components.retain(|other| other.tag != ComponentTag::CODE_SETS);
        components.extend(component.clone());
    })
}

/// Where the first profile says that the object is, if it says so by an address.
pub(crate) fn address(ior: &Ior) -> Option<IpAddr> {
    let profile = ior.profiles.iter().find_map(|profile| IiopProfile::decode(profile).ok())?;
    literal(&profile.host)
}

fn literal(host: &str) -> Option<IpAddr> {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// The same object as far as it is reached at this address, by TCP: a reference without all that may lead elsewhere. `None` if
/// nothing is left. Names are not looked up: what they mean is for their owner to change.
pub(crate) fn only_at(ior: &Ior, address: IpAddr) -> Result<Option<Ior>, EncodeError> {
    let at = ior.profiles.iter().filter_map(|profile| IiopProfile::decode(profile).ok());
    let at = at.filter(|profile| literal(&profile.host) == Some(address.to_canonical()));
    let profile = |mut profile: IiopProfile| {
        profile
            .components
            .retain(|component| matches!(component.tag, ComponentTag::CODE_SETS | ComponentTag::ORB_TYPE));
        profile.encode()
    };
    let profiles: Vec<_> = at.map(profile).collect::<Result<_, _>>()?;
    Ok((!profiles.is_empty()).then(|| Ior { type_id: ior.type_id.clone(), profiles }))
}

fn edited(ior: &Ior, edit: impl Fn(&mut Version, &mut Vec<TaggedComponent>)) -> Result<Ior, EncodeError> {
    let profile = |profile: &TaggedProfile| {
        if let Ok(mut iiop) = IiopProfile::decode(profile) {
            edit(&mut iiop.version, &mut iiop.components);
            return iiop.encode();
        }
        if let Ok(mut uiop) = UiopProfile::decode(profile) {
            edit(&mut uiop.version, &mut uiop.components);
            return uiop.encode();
        }
        Ok(profile.clone())
    };
    let profiles = ior.profiles.iter().map(profile).collect::<Result<_, _>>()?;
    Ok(Ior { type_id: ior.type_id.clone(), profiles })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_giop::{ContextId, ServiceContexts};

    fn ior(version: Version, components: Vec<TaggedComponent>) -> Ior {
        let (host, port) = ("h".into(), 1);
        let profile = IiopProfile { version, host, port, object_key: Default::default(), components };
        Ior { type_id: "IDL:x:1.0".into(), profiles: vec![profile.encode().unwrap()] }
    }

    fn read(ior: &Ior) -> IiopProfile {
        IiopProfile::decode(&ior.profiles[0]).unwrap()
    }

    #[test]
    fn the_bridges_reference_says_of_text_and_version_what_the_targets_says() {
        let latin = Supported { native: CodeSet::ISO_8859_1, conversion: vec![] };
        let component = CodeSetComponent { char: latin.clone(), wchar: latin }.encode().unwrap();
        let mine = ior(Version::V1_2, vec![CodeSetComponent::ours().encode().unwrap()]);

        let target = ior(Version::V1_1, vec![component.clone()]);
        let outside = read(&Terms::of(&target).unwrap().put_into(&mine).unwrap());
        assert_eq!((outside.version, outside.components), (Version::V1_1, vec![component]));

        let silent = ior(Version::V1_2, vec![]);
        let outside = read(&Terms::of(&silent).unwrap().put_into(&mine).unwrap());
        assert_eq!((outside.version, outside.components), (Version::V1_2, vec![]));
    }

    #[test]
    fn of_a_reference_only_what_leads_to_its_sender_is_left() {
        let port = |host: &str| {
            let elsewhere =
                TaggedComponent { tag: ComponentTag::ALTERNATE_IIOP_ADDRESS, data: Default::default() };
            let components = vec![elsewhere, CodeSetComponent::ours().encode().unwrap()];
            let (version, host) = (Version::V1_2, host.into());
            IiopProfile { version, host, port: 7, object_key: Default::default(), components }
                .encode()
                .unwrap()
        };
        let foreign = TaggedProfile { tag: zorb_giop::ProfileTag::TAO_UIOP, data: Default::default() };
        let profiles = vec![foreign, port("192.0.2.1"), port("::ffff:10.0.0.1"), port("localhost")];
        let ior = Ior { type_id: "IDL:x:1.0".into(), profiles };
        let left = |from: &str| only_at(&ior, from.parse().unwrap()).unwrap();
        let mine = left("10.0.0.1").unwrap();
        let (profile, one) = (read(&mine), mine.profiles.len());
        assert_eq!((one, &*profile.host, profile.components.len()), (1, "::ffff:10.0.0.1", 1));
        assert_eq!(profile.components[0].tag, ComponentTag::CODE_SETS);
        assert_eq!(left("127.0.0.1"), None);
        assert_eq!(address(&ior), Some("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn a_target_is_told_the_clients_code_sets_and_no_others() {
        let target = ior(Version::V1_2, vec![CodeSetComponent::ours().encode().unwrap()]);
        for char in [CodeSet::UTF_8, CodeSet::ISO_8859_1, CodeSet::ISO_646] {
            for wchar in [None, Some(CodeSet::UTF_16), Some(CodeSet::UCS_2)] {
                let wanted = CodeSets { char, wchar };
                let inside = read(&with_code_sets(&target, wanted).unwrap());
                let component = inside.components.first();
                let chosen = component.map(|found| CodeSetComponent::decode(found).unwrap().choose());
                assert_eq!(chosen.unwrap_or_default(), wanted);
                let mut contexts = ServiceContexts::new();
                contexts.push(ContextId::CODE_SETS, zorb_giop::code_sets::encode_context(wanted));
                let mut server = zorb_giop::code_sets::ServerCodeSets::default();
                assert_eq!(server.for_request(&contexts), Ok(wanted));
            }
        }
    }
}
