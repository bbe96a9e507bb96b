//! Who sent a datagram, as the kernel wrote it.

#![allow(
    unsafe_code,
    reason = "an address comes from the kernel and goes back to it by a pointer and a length"
)]

use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::slice;

use rustix::net::SocketAddrAny;
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque, SocketAddrStorage};

use super::DatagramFamily;

/// Who sent a datagram: an address in the form in which the kernel gave it, since most senders are only answered
/// ([`reply`](crate::DatagramSocket::reply)), and that takes the same form. [`address`](Self::address) decodes it.
///
/// Two are equal if the kernel wrote the same of both.
///
/// ```
/// use std::io::IoSlice;
/// use std::time::{Duration, Instant};
/// use zorb_ipc::UdpSocket;
///
/// # fn main() -> Result<(), zorb_ipc::Error> {
/// let deadline = Instant::now() + Duration::from_secs(5);
/// let one = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// let other = UdpSocket::bind("127.0.0.1:0".parse().unwrap())?;
/// one.send_to(&[IoSlice::new(b"hello")], other.local().unwrap())?;
///
/// let mut datagram = [0; 64];
/// let received = other.receive_from_by(&mut datagram, deadline)?;
/// let Some(sender) = received.from() else { return Ok(()) };
/// assert_eq!(sender, *one.local().unwrap());
/// other.reply(&[IoSlice::new(&datagram[..received.octets])], &sender)?;
/// assert_eq!(one.receive_from_by(&mut datagram, deadline)?.octets, 5);
/// # Ok(())
/// # }
/// ```
pub struct Sender<F: DatagramFamily> {
    /// One that [`Calls::is_sender`](super::Calls::is_sender) admits, and that `form` has room for.
    length: NonZeroU32,
    /// Initialised that far.
    form: MaybeUninit<F::Form>,
}

/// What the kernel wrote beside a datagram: a sender's address, or nothing. Looked at when somebody asks.
pub(crate) struct Origin<F: DatagramFamily> {
    /// As the kernel said.
    length: SocketAddrLen,
    /// Initialised that far, or whole.
    form: MaybeUninit<F::Form>,
}

impl<F: DatagramFamily> Origin<F> {
    #[inline]
    pub(crate) fn of(from: Option<SocketAddrAny>) -> Self {
        const { assert!(size_of::<F::Form>() <= size_of::<SocketAddrStorage>()) };
        match from {
            // SAFETY: the pointer leads to memory for any address, which is larger than the form; as memory that may be
            // uninitialised it may be read whole. The address's octets are initialised, as many as its length says.
            Some(from) => unsafe {
                Self {
                    length: from.addr_len(),
                    form: from.as_ptr().cast::<MaybeUninit<F::Form>>().read_unaligned(),
                }
            },
            None => Self { length: 0, form: MaybeUninit::uninit() },
        }
    }

    /// `None`: the kernel gave no address, or one that no socket of the family is bound to.
    #[inline]
    pub(crate) fn sender(&self) -> Option<Sender<F>> {
        let is_sender = F::is_sender(self.length) && self.length as usize <= size_of::<F::Form>();
        let length = NonZeroU32::new(self.length).filter(|_| is_sender)?;
        Some(Sender { length, form: self.form })
    }
}

impl<F: DatagramFamily> Clone for Origin<F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: DatagramFamily> Copy for Origin<F> {}

impl<F: DatagramFamily> Sender<F> {
    #[inline]
    pub(crate) fn of(from: Option<SocketAddrAny>) -> Option<Self> {
        Origin::of(from).sender()
    }

    /// An address that is sent to again and again, in the kernel's form. `None`: it is none of the family's, or longer than any
    /// sender's.
    #[cfg(target_os = "linux")]
    pub(crate) fn to(address: &impl SocketAddrArg) -> Option<Self> {
        Self::of(Some(address.as_any()))
    }

    /// The address, decoded.
    #[inline]
    pub fn address(&self) -> F::Address {
        F::address_of(self.octets())
    }

    #[inline]
    fn octets(&self) -> &[u8] {
        // SAFETY: so many octets the kernel has written, and there is room for them: no other is made (`Origin::sender`).
        unsafe { slice::from_raw_parts(self.form.as_ptr().cast(), self.length.get() as usize) }
    }
}

// SAFETY: the pointer and the length are those of the octets, which are borrowed while they are used.
unsafe impl<F: DatagramFamily> SocketAddrArg for Sender<F> {
    #[inline]
    unsafe fn with_sockaddr<R>(&self, f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R) -> R {
        f(self.octets().as_ptr().cast(), self.length.get())
    }
}

impl<F: DatagramFamily> Clone for Sender<F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: DatagramFamily> Copy for Sender<F> {}

impl<F: DatagramFamily> PartialEq for Sender<F> {
    fn eq(&self, other: &Self) -> bool {
        self.octets() == other.octets()
    }
}

impl<F: DatagramFamily> Eq for Sender<F> {}

impl<F: DatagramFamily> Hash for Sender<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.octets().hash(state);
    }
}

impl<F: DatagramFamily> fmt::Debug for Sender<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&self.address()).finish()
    }
}

/// As the address.
impl<F: DatagramFamily> fmt::Display for Sender<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address().fmt(f)
    }
}
