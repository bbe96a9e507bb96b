//! What services add to references: components, for each object adapter when it is made.

use bytes::Bytes;
use zorb_giop::{ComponentTag, IiopProfile, Ior, ProfileTag, TaggedComponent, TaggedProfile};

use super::Interceptors;
use crate::exception::{Minor, SystemException};
use crate::orb::Orb;
use crate::poa::{ManagerState, PoaManager, PoaPolicies};

/// Adds tagged components to the references that an object adapter makes (`PortableInterceptor::IORInterceptor`).
///
/// Runs once when an adapter is made, the root's too, before it can be found. Where two threads make the same adapter at once it may run for
/// both, and what one of them established is dropped. It must not make or destroy adapters.
pub trait IorInterceptor: Send + Sync {
    /// What it is called in events.
    fn name(&self) -> &str {
        "anonymous"
    }

    /// An adapter is being made: adds components by its policies. An exception is logged, and otherwise passed over.
    ///
    /// # Errors
    /// Those of adding a component.
    fn establish_components(&self, info: &mut IorInfo<'_>) -> Result<(), SystemException>;

    /// All interceptors have added theirs.
    ///
    /// # Errors
    /// The adapter is not made: who wanted it gets `OBJ_ADAPTER` (OMG 6).
    fn components_established(&self, info: &IorInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// A manager, of one adapter or several, now does this with requests.
    fn adapter_manager_state_changed(&self, manager: &PoaManager, state: ManagerState) {
        let _ = (manager, state);
    }

    /// An adapter, whose names are these from the root's on, is now in this state, other than by its manager: it is destroyed. Children come before
    /// their parents.
    fn adapter_state_changed(&self, adapter_name: &[String], state: AdapterState) {
        let _ = (adapter_name, state);
    }
}

/// What an adapter does with requests (`PortableInterceptor::AdapterState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdapterState {
    /// It is destroyed: requests find no object.
    NonExistent,
}

/// An adapter that is being made.
pub struct IorInfo<'a> {
    pub(crate) orb: &'a Orb,
    pub(crate) names: &'a [String],
    pub(crate) policies: &'a PoaPolicies,
    pub(crate) manager: &'a PoaManager,
    pub(crate) established: Established,
}

impl IorInfo<'_> {
    /// The ORB.
    pub fn orb(&self) -> &Orb {
        self.orb
    }

    /// The adapter's names, from the root's on.
    pub fn adapter_name(&self) -> &[String] {
        self.names
    }

    /// The policies that it is made with (`get_effective_policy`).
    pub fn policies(&self) -> &PoaPolicies {
        self.policies
    }

    /// Its manager.
    pub fn manager(&self) -> &PoaManager {
        self.manager
    }

    /// Adds a component to all profiles that may have components (`add_ior_component`): those of IIOP from version 1.1 on.
    pub fn add_component(&mut self, tag: ComponentTag, data: impl Into<Bytes>) {
        self.established.0.push((None, TaggedComponent { tag, data: data.into() }));
    }

    /// Adds a component to profiles of one kind (`add_ior_component_to_profile`): [`ProfileTag::INTERNET_IOP`], or
    /// [`ProfileTag::MULTIPLE_COMPONENTS`], of which a reference gets one.
    ///
    /// # Errors
    /// `BAD_PARAM` (OMG 29): another kind of profile.
    pub fn add_component_to_profile(
        &mut self,
        tag: ComponentTag,
        data: impl Into<Bytes>,
        profile: ProfileTag,
    ) -> Result<(), SystemException> {
        if profile != ProfileTag::INTERNET_IOP && profile != ProfileTag::MULTIPLE_COMPONENTS {
            let text =
                format!("components can be added to profiles of IIOP and of components, not of {profile}");
            return Err(SystemException::BadParam(text).minor(Minor::omg(29)));
        }
        self.established.0.push((Some(profile), TaggedComponent { tag, data: data.into() }));
        Ok(())
    }
}

/// What was established for an adapter: components, and the kind of profile that each is for, if not for all.
#[derive(Default)]
pub(crate) struct Established(Vec<(Option<ProfileTag>, TaggedComponent)>);

impl Established {
    /// Asks the interceptors.
    pub(crate) fn of(
        interceptors: &Interceptors,
        mut info: IorInfo<'_>,
    ) -> Result<Established, SystemException> {
        for interceptor in &interceptors.ior {
            if let Err(exception) = interceptor.establish_components(&mut info) {
                tracing::warn!(interceptor = interceptor.name(), %exception, "establish_components");
            }
        }
        for interceptor in &interceptors.ior {
            interceptor.components_established(&info).map_err(|exception| {
                let text = format!("components_established of {:?}: {exception}", interceptor.name());
                SystemException::ObjAdapter(text).minor(Minor::omg(6))
            })?;
        }
        Ok(info.established)
    }

    /// Puts them into the profiles of a reference.
    pub(crate) fn add_to(&self, profiles: &mut Vec<TaggedProfile>) -> Result<(), SystemException> {
        if self.0.is_empty() {
            return Ok(());
        }
        for profile in profiles.iter_mut() {
            let Ok(mut iiop) = IiopProfile::decode(profile) else { continue };
            iiop.components.extend(self.for_profile(ProfileTag::INTERNET_IOP, true));
            *profile = iiop.encode().map_err(unwritable)?;
        }
        let apart: Vec<_> = self.for_profile(ProfileTag::MULTIPLE_COMPONENTS, false).collect();
        if !apart.is_empty() {
            profiles.push(TaggedProfile::of_components(&apart).map_err(unwritable)?);
        }
        Ok(())
    }

    fn for_profile(&self, tag: ProfileTag, with_all: bool) -> impl Iterator<Item = TaggedComponent> {
        let is_for = move |profile: &Option<ProfileTag>| profile.map_or(with_all, |profile| profile == tag);
        self.0.iter().filter(move |(profile, _)| is_for(profile)).map(|(_, component)| component.clone())
    }
}

#[cold]
fn unwritable(error: zorb_cdr::EncodeError) -> SystemException {
    SystemException::Internal(format!("a profile with components: {error}"))
}

/// The first component with this tag in the profiles of a reference.
pub(super) fn component(ior: &Ior, tag: ComponentTag) -> Option<Bytes> {
    ior.profiles.iter().find_map(|profile| match profile.tag {
        ProfileTag::INTERNET_IOP => IiopProfile::decode(profile).ok()?.component(tag).cloned(),
        ProfileTag::MULTIPLE_COMPONENTS => {
            let components = profile.components().ok()?;
            components.into_iter().find(|component| component.tag == tag).map(|component| component.data)
        }
        _ => None,
    })
}
