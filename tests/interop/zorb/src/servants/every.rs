//! The object of all the echoes: calls, attributes, exceptions, references and callbacks.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use zorb::poa::{Poa, PoaPolicies};
use zorb::{
    Call, Completion, Interface, Kind as ExceptionKind, Minor, ObjectRef, Orb, OrbBuilder, SystemException,
};

use super::beyond::Parts;
use super::echo::echo;
use super::newer::Newest;
use super::parts::{
    Decimals as DecimalsPart, Forwarder, Guard, LongDoubles as LongDoublesPart, Shape, as_base, bouncer,
};
use crate::every::interop::{self, *};
use crate::newer::fresh::Newer;
use crate::sample::Sample;

/// Serves an `Every`.
pub struct EveryServant {
    root: Poa,
    forwarding: Poa,
    base: Base,
    left: Left,
    right: Right,
    diamond: Diamond,
    decimals: interop::Decimals,
    newer: Newer,
    long_doubles: interop::LongDoubles,
    guarded: Guarded,
    partner: Peer,
    parts: Parts,
    state: Mutex<State>,
    met: Condvar,
}

/// What the operations change.
struct State {
    notes: Vec<i32>,
    present: u32,
    meetings: u32,
    title: String,
    setting: BinStruct,
    choice: ByUShort,
    first_list: LongSeq,
    second_list: LongSeq,
}

impl EveryServant {
    /// A servant whose parts are active in the root adapter; those of them that interceptors are to see, in an ORB of
    /// `builder`.
    pub fn new(orb: &Orb, builder: OrbBuilder) -> Result<Self, SystemException> {
        let root = orb.root_poa()?;
        let base = root.activate::<Base>(Arc::new(Shape::new("base")))?;
        let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
        let forwarding = root.create_child_with("forwarding", policies, &root.manager())?;
        forwarding.set_servant_locator(Arc::new(Forwarder { last: base.clone() }))?;
        Ok(EveryServant {
            left: root.activate::<Left>(Arc::new(Shape::new("left")))?,
            right: root.activate::<Right>(Arc::new(Shape::new("right")))?,
            diamond: root.activate::<Diamond>(Arc::new(Shape::new("diamond")))?,
            decimals: root.activate::<interop::Decimals>(Arc::new(DecimalsPart))?,
            newer: root.activate::<Newer>(Arc::new(Newest::default()))?,
            long_doubles: root.activate::<interop::LongDoubles>(Arc::new(LongDoublesPart))?,
            guarded: root.activate::<Guarded>(Arc::new(Guard::default()))?,
            partner: bouncer(&root)?,
            parts: Parts::new(orb, builder)?,
            base,
            forwarding,
            root,
            state: Mutex::new(State {
                notes: Vec::new(),
                present: 0,
                meetings: 0,
                title: String::new(),
                setting: BinStruct::default(),
                choice: ByUShort::sample(0),
                first_list: LongSeq::default(),
                second_list: LongSeq::default(),
            }),
            met: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallsServant for EveryServant {
    fn nothing(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }
    fn consume(&self, _: &Call, _: i32, _: &str, _: &BinStruct, _: &[String]) -> Result<(), SystemException> {
        Ok(())
    }
    fn produce(&self, _: &Call) -> Result<(i32, String, BinStruct, StringSeq, LongArray), SystemException> {
        Ok((Sample::sample(5), Sample::sample(5), Sample::sample(5), Sample::sample(5), Sample::sample(5)))
    }
    fn change(
        &self,
        _: &Call,
        _: i32,
        _: &str,
        _: &BinStruct,
        _: &[String],
        _: &ByUShort,
    ) -> Result<(i32, String, BinStruct, StringSeq, ByUShort), SystemException> {
        Ok((Sample::sample(5), Sample::sample(5), Sample::sample(5), Sample::sample(5), Sample::sample(5)))
    }
    fn mixed(
        &self,
        _: &Call,
        a: u8,
        b: i16,
        d: &str,
        f: OctetSeq,
    ) -> Result<(i32, i16, f64, String, OctetSeq), SystemException> {
        let count = i32::try_from(f.len()).unwrap_or(i32::MAX);
        Ok((count, -b, a.into(), d.into(), f.iter().rev().copied().collect()))
    }
    fn interface(&self, _: &Call, module: i16) -> Result<i16, SystemException> {
        Ok(module + 1)
    }
    fn note(&self, _: &Call, value: i32) -> Result<(), SystemException> {
        self.state().notes.push(value);
        Ok(())
    }
    fn note_all(&self, _: &Call, more: LongSeq, text: &str) -> Result<(), SystemException> {
        let mut state = self.state();
        state.notes.extend(more.iter());
        state.notes.push(i32::try_from(text.len()).unwrap_or(i32::MAX));
        Ok(())
    }
    fn noted(&self, _: &Call) -> Result<LongSeq, SystemException> {
        Ok(self.state().notes.clone().into())
    }
    fn forget(&self, _: &Call) -> Result<(), SystemException> {
        self.state().notes.clear();
        Ok(())
    }
    fn nap(&self, _: &Call, milliseconds: u32) -> Result<(), SystemException> {
        thread::sleep(Duration::from_millis(milliseconds.into()));
        Ok(())
    }
    fn meet(&self, _: &Call, parties: u32, milliseconds: u32) -> Result<bool, SystemException> {
        let mut state = self.state();
        state.present += 1;
        if state.present >= parties {
            state.present = 0;
            state.meetings += 1;
            self.met.notify_all();
            return Ok(true);
        }
        let meeting = state.meetings;
        let limit = Duration::from_millis(milliseconds.into());
        let (mut state, waited) = self
            .met
            .wait_timeout_while(state, limit, |state| state.meetings == meeting)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            state.present -= 1;
        }
        Ok(!waited.timed_out())
    }
    fn operation_name_that_is_rather_long_so_that_its_length_word_and_padding_are_not_the_usual_ones(
        &self,
        _: &Call,
        a: &str,
    ) -> Result<String, SystemException> {
        Ok(a.into())
    }
}

impl AttributesServant for EveryServant {
    fn answer(&self, _: &Call) -> Result<i32, SystemException> {
        Ok(42)
    }
    fn title(&self, _: &Call) -> Result<String, SystemException> {
        Ok(self.state().title.clone())
    }
    fn set_title(&self, _: &Call, title: &str) -> Result<(), SystemException> {
        self.state().title = title.into();
        Ok(())
    }
    fn setting(&self, _: &Call) -> Result<BinStruct, SystemException> {
        Ok(self.state().setting)
    }
    fn set_setting(&self, _: &Call, setting: &BinStruct) -> Result<(), SystemException> {
        self.state().setting = *setting;
        Ok(())
    }
    fn choice(&self, _: &Call) -> Result<ByUShort, SystemException> {
        Ok(self.state().choice.clone())
    }
    fn set_choice(&self, _: &Call, choice: &ByUShort) -> Result<(), SystemException> {
        self.state().choice = choice.clone();
        Ok(())
    }
    fn first_list(&self, _: &Call) -> Result<LongSeq, SystemException> {
        Ok(self.state().first_list.clone())
    }
    fn set_first_list(&self, _: &Call, first_list: LongSeq) -> Result<(), SystemException> {
        self.state().first_list = first_list;
        Ok(())
    }
    fn second_list(&self, _: &Call) -> Result<LongSeq, SystemException> {
        Ok(self.state().second_list.clone())
    }
    fn set_second_list(&self, _: &Call, second_list: LongSeq) -> Result<(), SystemException> {
        self.state().second_list = second_list;
        Ok(())
    }
}

impl ExceptionsServant for EveryServant {
    fn raise_empty(&self, _: &Call) -> Result<(), exceptions::RaiseEmptyError> {
        Err(Empty {}.into())
    }
    fn raise_refused(&self, _: &Call, why: &str, code: i32) -> Result<i32, exceptions::RaiseRefusedError> {
        Err(Refused { why: why.into(), code }.into())
    }
    fn raise_loaded(&self, _: &Call, k: u32) -> Result<(), exceptions::RaiseLoadedError> {
        Err(Loaded::sample(k).into())
    }
    fn raise_one_of(
        &self,
        _: &Call,
        which: u32,
        c: i32,
    ) -> Result<(i32, String, i32), exceptions::RaiseOneOfError> {
        match which {
            1 => Err(Empty {}.into()),
            2 => Err(Refused { why: "two".into(), code: 2 }.into()),
            3 => Err(Loaded::sample(3).into()),
            _ => Ok((7, "fine".into(), -c)),
        }
    }
    fn raise_system(&self, _: &Call, name: &str, minor: u32, completed: u32) -> Result<(), SystemException> {
        let kind = ExceptionKind::ALL.iter().find(|kind| kind.name() == name);
        let kind = *kind.ok_or_else(|| SystemException::BadParam(format!("no system exception {name}")))?;
        let completed = match completed {
            0 => Completion::Yes,
            1 => Completion::No,
            _ => Completion::Maybe,
        };
        Err(SystemException::new(kind, Minor(minor), completed, "asked to"))
    }
    fn raise_undeclared(&self, _: &Call) -> Result<(), SystemException> {
        // What a Rust method can do that no signature declares.
        panic!("asked to fail in a way that the signature does not declare")
    }
}

impl ReferencesServant for EveryServant {
    fn echo_base(
        &self,
        _: &Call,
        a: Option<Base>,
        c: Option<Base>,
    ) -> Result<(Option<Base>, Option<Base>, Option<Base>), SystemException> {
        echo(a, c)
    }
    fn echo_diamond(
        &self,
        _: &Call,
        a: Option<Diamond>,
        c: Option<Diamond>,
    ) -> Result<(Option<Diamond>, Option<Diamond>, Option<Diamond>), SystemException> {
        echo(a, c)
    }
    fn echo_object(
        &self,
        _: &Call,
        a: Option<ObjectRef>,
        c: Option<ObjectRef>,
    ) -> Result<(Option<ObjectRef>, Option<ObjectRef>, Option<ObjectRef>), SystemException> {
        echo(a, c)
    }
    fn echo_base_seq(
        &self,
        _: &Call,
        a: &[Option<Base>],
        c: &[Option<Base>],
    ) -> Result<(BaseSeq, BaseSeq, BaseSeq), SystemException> {
        echo(a.to_vec(), c.to_vec())
    }
    fn echo_base_array(
        &self,
        _: &Call,
        a: &BaseArray,
        c: &BaseArray,
    ) -> Result<(BaseArray, BaseArray, BaseArray), SystemException> {
        echo(a.clone(), c.clone())
    }
    fn echo_object_seq(
        &self,
        _: &Call,
        a: &[Option<ObjectRef>],
        c: &[Option<ObjectRef>],
    ) -> Result<(ObjectSeq, ObjectSeq, ObjectSeq), SystemException> {
        echo(a.to_vec(), c.to_vec())
    }
    fn echo_ref_record(
        &self,
        _: &Call,
        a: &RefRecord,
        c: &RefRecord,
    ) -> Result<(RefRecord, RefRecord, RefRecord), SystemException> {
        echo(a.clone(), c.clone())
    }
    fn echo_ref_choice(
        &self,
        _: &Call,
        a: &RefChoice,
        c: &RefChoice,
    ) -> Result<(RefChoice, RefChoice, RefChoice), SystemException> {
        echo(a.clone(), c.clone())
    }
    fn make(&self, _: &Call, which: Kind) -> Result<Option<Base>, SystemException> {
        Ok(match which {
            Kind::a_base => Some(self.base.clone()),
            Kind::a_left => Some(as_base(&self.left)),
            Kind::a_right => Some(as_base(&self.right)),
            Kind::a_diamond => Some(as_base(&self.diamond)),
            Kind::a_nil => None,
        })
    }
    fn make_object(&self, call: &Call, which: Kind) -> Result<Option<ObjectRef>, SystemException> {
        Ok(self.make(call, which)?.map(|base| base.as_object().clone()))
    }
    fn gone(&self, _: &Call) -> Result<Option<Base>, SystemException> {
        let base = self.root.activate::<Base>(Arc::new(Shape::new("gone")))?;
        let id = self.root.reference_to_id(&base)?;
        self.root.deactivate(&id)?;
        Ok(Some(base))
    }
    fn forwarded(&self, _: &Call, hops: u32) -> Result<Option<Base>, SystemException> {
        if hops == 0 {
            return Ok(Some(self.base.clone()));
        }
        Forwarder::reference(&self.forwarding, hops).map(Some)
    }
    fn raise_ref(
        &self,
        _: &Call,
        culprit: Option<Base>,
        witness: Option<ObjectRef>,
    ) -> Result<(), references::RaiseRefError> {
        Err(RefError { culprit, witness }.into())
    }
}

impl CallbacksServant for EveryServant {
    fn partner(&self, _: &Call) -> Result<Option<Peer>, SystemException> {
        Ok(Some(self.partner.clone()))
    }
    fn ask(&self, _: &Call, whom: Option<Listener>, question: &str) -> Result<String, callbacks::AskError> {
        use listener::AskedError;

        let whom = whom.ok_or_else(|| SystemException::BadParam("ask: nobody to ask"))?;
        whom.asked(question).map_err(|error| match error {
            AskedError::Refused(refused) => refused.into(),
            AskedError::System(exception) => exception.into(),
        })
    }
    fn tell(&self, _: &Call, whom: Option<Listener>, times: i32) -> Result<(), SystemException> {
        let whom = whom.ok_or_else(|| SystemException::BadParam("tell: nobody to tell"))?;
        (0..times).try_for_each(|n| whom.told(n))
    }
    fn bounce_with(&self, _: &Call, other: Option<Peer>, depth: i32) -> Result<i32, SystemException> {
        self.partner.bounce(other.as_ref(), depth)
    }
}

impl interop::EveryServant for EveryServant {
    fn part(&self, _: &Call, interface_name: &str) -> Result<Option<ObjectRef>, SystemException> {
        Ok(match interface_name {
            "Newer" => Some(self.newer.as_object().clone()),
            "Decimals" => Some(self.decimals.as_object().clone()),
            "LongDoubles" => Some(self.long_doubles.as_object().clone()),
            "Guarded" => Some(self.guarded.as_object().clone()),
            name => self.parts.part(name),
        })
    }
    fn shutdown(&self, call: &Call) -> Result<(), SystemException> {
        self.parts.traced().shutdown(false, Duration::ZERO);
        call.orb().shutdown(false, Duration::ZERO);
        Ok(())
    }
}
