//! Policies of one invocation, as the service context `INVOCATION_POLICIES` carries them. CORBA 3.3 part 1, 17.3.
//!
//! ```text
//! context data, an encapsulation: count │ policy type: ulong │ octets: the policy's value, an encapsulation │ …
//! ```

use alloc::vec::Vec;

use bytes::Bytes;
use zorb_cdr::{DecodeError, Decoder, EncodeError, Encoder};

use crate::{ContextId, ServiceContexts};

/// The number of a policy's type (`CORBA::PolicyType`), of those that travel with invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PolicyType(pub u32);

impl PolicyType {
    /// The request is not to be delivered after this time; a `TimeBase::UtcT`.
    pub const REQUEST_END_TIME: PolicyType = PolicyType(28);
    /// Whether requests may go both ways on a connection; a `BiDirPolicy::BidirectionalPolicyValue`.
    pub const BIDIRECTIONAL: PolicyType = PolicyType(37);
    /// The reply is not to be delivered after this time; a `TimeBase::UtcT`.
    pub const REPLY_END_TIME: PolicyType = PolicyType(30);
}

/// A policy with its value (`Messaging::PolicyValue`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyValue {
    /// Which policy.
    pub ty: PolicyType,
    /// Its value, an encapsulation.
    pub value: Bytes,
}

/// A point in time as `TimeBase::UtcT` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime {
    /// Steps of 100 ns since the beginning of 15 October 1582, UTC (`TimeBase::TimeT`).
    pub ticks: u64,
}

impl UtcTime {
    /// The beginning of 1970.
    pub const UNIX_EPOCH: UtcTime = UtcTime { ticks: 12_219_292_800 * 10_000_000 };

    fn value(self) -> Result<Bytes, EncodeError> {
        Encoder::encapsulated(|to| {
            to.write_u64(self.ticks);
            // Inaccuracy, low and high, and the time zone: none is told.
            to.write_u32(0);
            to.write_u16(0);
            to.write_i16(0);
            Ok(())
        })
    }
}

/// The data of a context with these policies.
///
/// # Errors
/// More than a context can hold.
pub fn encode_invocation_policies(policies: &[PolicyValue]) -> Result<Bytes, EncodeError> {
    Encoder::encapsulated(|to| {
        to.write_length(policies.len())?;
        for policy in policies {
            to.write_u32(policy.ty.0);
            to.write_length(policy.value.len())?;
            to.write_octets(&policy.value);
        }
        Ok(())
    })
}

/// The data of a context that says when a request is late.
///
/// # Errors
/// None in practice.
pub fn encode_request_end(end: UtcTime) -> Result<Bytes, EncodeError> {
    encode_invocation_policies(&[PolicyValue { ty: PolicyType::REQUEST_END_TIME, value: end.value()? }])
}

/// The policies of a request that came with these contexts; none if it has no such context.
///
/// # Errors
/// The context's data are no list of policies.
pub fn invocation_policies(contexts: &ServiceContexts) -> Result<Vec<PolicyValue>, DecodeError> {
    let mut policies = Vec::new();
    let Some(data) = contexts.find(ContextId::INVOCATION_POLICIES) else { return Ok(policies) };
    let mut from = Decoder::from_encapsulation(data)?;
    // Type and length: nothing is allocated for more than can follow.
    for _ in 0..from.read_count(8)? {
        let ty = PolicyType(from.read_u32()?);
        let value = from.read_octet_sequence()?;
        policies.push(PolicyValue { ty, value });
    }
    Ok(policies)
}

/// When a request with these contexts is late, if they say so.
///
/// # Errors
/// The context's data are no list of policies, or the time is none.
pub fn request_end(contexts: &ServiceContexts) -> Result<Option<UtcTime>, DecodeError> {
    let policies = invocation_policies(contexts)?;
    let Some(policy) = policies.iter().find(|it| it.ty == PolicyType::REQUEST_END_TIME) else {
        return Ok(None);
    };
    Ok(Some(UtcTime { ticks: Decoder::from_encapsulation(&policy.value)?.read_u64()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts(data: Bytes) -> ServiceContexts {
        let mut contexts = ServiceContexts::new();
        contexts.push(ContextId::INVOCATION_POLICIES, data);
        contexts
    }

    #[test]
    fn a_time_comes_back() {
        let end = UtcTime { ticks: UtcTime::UNIX_EPOCH.ticks + 7 };
        let data = encode_request_end(end).expect("it can be written");
        assert_eq!(request_end(&contexts(data)), Ok(Some(end)));
        assert_eq!(request_end(&ServiceContexts::new()), Ok(None));
        let none = encode_invocation_policies(&[]).expect("it can be written");
        assert_eq!(request_end(&contexts(none)), Ok(None));
    }

    #[test]
    fn the_octets_are_those_of_the_specification() {
        // Big-endian: one policy, type 28, 25 octets: an encapsulation with a UtcT aligned within it.
        let data: &[u8] = &[
            0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
            0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let end = request_end(&contexts(Bytes::from_static(data)));
        assert_eq!(end, Ok(Some(UtcTime { ticks: 0x0102_0304_0506_0708 })));
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        let data = encode_request_end(UtcTime { ticks: 1 }).expect("it can be written");
        for end in 0..data.len() {
            assert!(request_end(&contexts(data.slice(..end))).is_err(), "{end} octets");
        }
        let many: &[u8] = &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
        assert!(request_end(&contexts(Bytes::from_static(many))).is_err());
    }
}
