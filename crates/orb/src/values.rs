//! Value factories: the valuetypes that an ORB knows by their repository ids (CORBA part 1, §8.2.5.3), and what describes those that it does
//! not.
//!
//! Where a valuetype is declared, what it leads to is known without them: it, and those that the same IDL derives from it. A factory is
//! needed where the declaration says less than the value: `ValueBase`, abstract interfaces, anys that are taken apart without
//! their Rust types, and types derived in other IDL.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use zorb_cdr::{DecodeContext, KeptMemory, KnownTypes, TypeCode, ValueInfo, ValueType};

use crate::orb::Orb;

/// Those of one ORB.
#[derive(Default)]
pub(crate) struct ValueFactories(
    RwLock<HashMap<&'static [u8], &'static ValueInfo>>,
    RwLock<Option<Arc<Describe>>>,
);

/// Describes the valuetype of a repository id.
type Describe = dyn Fn(&str) -> Option<TypeCode> + Send + Sync;

impl Orb {
    /// Lets values of valuetype `T`, by its repository id, be read wherever a value may be of that type; gives what was
    /// registered for the id. Generated types are their own factories.
    ///
    /// ```
    /// # use zorb_orb::Orb;
    /// # use zorb_cdr::{DecodeError, Decoder, EncodeError, Encoder, ValueInfo, ValueType};
    /// # struct Stamp;
    /// # impl ValueType for Stamp {
    /// #     fn info() -> &'static ValueInfo {
    /// #         static INFO: ValueInfo = ValueInfo::new::<Stamp>("IDL:Stamp:1.0", None, false, &[]);
    /// #         &INFO
    /// #     }
    /// #     fn encode_state<'a>(&'a self, _: &mut Encoder<'a>) -> Result<(), EncodeError> { Ok(()) }
    /// #     fn decode_state(_: &mut Decoder<'_>) -> Result<Self, DecodeError> { Ok(Stamp) }
    /// # }
    /// let orb = Orb::builder().build();
    /// orb.register_value_factory::<Stamp>();
    /// assert!(orb.lookup_value_factory("IDL:Stamp:1.0").is_some());
    /// ```
    pub fn register_value_factory<T: ValueType>(&self) -> Option<&'static ValueInfo> {
        self.register_value_factories(&[T::info]).pop()
    }

    /// [`register_value_factory`](Self::register_value_factory) for several types: `&[Node::info, Leaf::info]`; gives
    /// those that they replace.
    pub fn register_value_factories(&self, types: &[fn() -> &'static ValueInfo]) -> Vec<&'static ValueInfo> {
        let mut known = self.0.value_factories.0.write();
        let infos = types.iter().map(|info| info());
        infos.filter_map(|info| known.insert(info.id().as_bytes(), info)).collect()
    }

    /// Lets `find` describe valuetypes by their repository ids, where the type that is declared does not lead to them: what dynamic calls need
    /// of types that are known only at run time. A type that is derived from another in IDL, and not to be cut down to that, is
    /// not in chunks: only its description tells where its values end. Such values are then kept in anys.
    ///
    /// It is asked while a message is read, perhaps for each value of it, and with whatever ids a peer sends. What was told before is forgotten.
    ///
    /// ```
    /// use zorb_cdr::{DecodeContext, TypeCode};
    /// # use zorb_orb::Orb;
    /// let leaf = TypeCode::build(|to| {
    ///     to.value("IDL:Leaf:1.0", "Leaf", 0, |to| (None, vec![("number", to.basic::<i32>(), 1)]))
    /// })?;
    /// let orb = Orb::builder().build();
    /// orb.describe_values(move |id| (id == "IDL:Leaf:1.0").then(|| leaf.clone()));
    /// assert!(orb.described_value("IDL:Leaf:1.0").is_some());
    /// # Ok::<(), zorb_cdr::TypeCodeError>(())
    /// ```
    pub fn describe_values(&self, find: impl Fn(&str) -> Option<TypeCode> + Send + Sync + 'static) {
        *self.0.value_factories.1.write() = Some(Arc::new(find));
    }

    /// Forgets what is registered for the repository id, and gives it.
    pub fn unregister_value_factory(&self, id: &str) -> Option<&'static ValueInfo> {
        self.0.value_factories.0.write().remove(id.as_bytes())
    }

    /// What is registered for the repository id.
    pub fn lookup_value_factory(&self, id: &str) -> Option<&'static ValueInfo> {
        self.value_type(id.as_bytes())
    }
}

/// Object references that are decoded with it are bound to it.
impl DecodeContext for Orb {
    fn value_type(&self, id: &[u8]) -> Option<&'static ValueInfo> {
        self.0.value_factories.0.read().get(id).copied()
    }

    fn described_value(&self, id: &str) -> Option<TypeCode> {
        // It may take its time, and call.
        let describe = self.0.value_factories.1.read().clone()?;
        describe(id)
    }

    fn kept_memory(&self) -> Option<&Arc<KeptMemory>> {
        Some(&self.0.kept_memory)
    }

    fn known_types(&self) -> Option<&dyn KnownTypes> {
        Some(&self.0.types_met)
    }
}
