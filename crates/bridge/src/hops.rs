//! How many bridges a request has passed through, so that bridges which lead to each other end it.
//!
//! A service context of zorb's own ([`ContextId::ZORB_HOPS`]) travels with each request that leaves a bridge:
//!
//! ```text
//! byte order: 0 │ 0 0 0 │ bridges passed so far: ulong        an encapsulation, of either byte order when read
//! ```

use zorb_giop::{ContextId, ServiceContexts};
use zorb_orb::SystemException;

/// How many bridges a request with these contexts has passed.
fn passed(contexts: &ServiceContexts) -> Result<u32, SystemException> {
    match contexts.find(ContextId::ZORB_HOPS).map(|data| &data[..]) {
        None => Ok(0),
        Some(&[0, _, _, _, a, b, c, d]) => Ok(u32::from_be_bytes([a, b, c, d])),
        Some(&[1, _, _, _, a, b, c, d]) => Ok(u32::from_le_bytes([a, b, c, d])),
        Some(_) => {
            Err(SystemException::Marshal("the count of bridges passed is no encapsulated unsigned long"))
        }
    }
}

/// The contexts with one more, unless it is more than `most`.
pub(crate) fn counted(contexts: ServiceContexts, most: u32) -> Result<ServiceContexts, SystemException> {
    let passed = passed(&contexts)?;
    if passed >= most {
        return Err(SystemException::ImpLimit(format!(
            "the request has passed {passed} bridges, and {most} is the limit here: do they lead to each other?"
        )));
    }
    let mut contexts: ServiceContexts =
        contexts.into_iter().filter(|context| context.id != ContextId::ZORB_HOPS).collect();
    let [a, b, c, d] = (passed + 1).to_be_bytes();
    contexts.push(ContextId::ZORB_HOPS, vec![0, 0, 0, 0, a, b, c, d].into());
    Ok(contexts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_orb::Kind;

    fn with(data: &[u8]) -> ServiceContexts {
        let mut contexts = ServiceContexts::new();
        contexts.push(ContextId(0x77), vec![1].into());
        contexts.push(ContextId::ZORB_HOPS, data.to_vec().into());
        contexts
    }

    #[test]
    fn each_bridge_counts_itself_up_to_the_limit() {
        let mut contexts = ServiceContexts::new();
        for hops in 1..=3 {
            contexts = counted(contexts, 3).unwrap();
            assert_eq!((contexts.len(), passed(&contexts)), (1, Ok(hops)));
        }
        assert_eq!(counted(contexts, 3).unwrap_err().kind, Kind::ImpLimit);
        assert_eq!(counted(with(&[1, 0, 0, 0, 2, 0, 0, 0]), 9).map(|found| passed(&found)), Ok(Ok(3)));
        assert_eq!(
            counted(with(&[0, 0, 0, 0, 255, 255, 255, 255]), u32::MAX).unwrap_err().kind,
            Kind::ImpLimit
        );
    }

    #[test]
    fn a_count_that_is_none_is_refused() {
        for data in [&[][..], &[0], &[2, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 0, 0, 1, 0]] {
            assert_eq!(counted(with(data), 9).unwrap_err().kind, Kind::Marshal);
        }
    }
}
