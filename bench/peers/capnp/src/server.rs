//! The serving end.

use std::cell::RefCell;
use std::rc::Rc;

use capnp::Error;
use capnp_rpc::RpcSystem;
use capnp_rpc::rpc_twoparty_capnp::Side;
use peer::{Element, Failure, Listener, Receiver, Settings, character};
use tokio::task::spawn_local;

use crate::bench_capnp::bench::{
    Client, CubeLongParams, CubeLongResults, CubeLongsParams, CubeLongsResults, CubeOctetParams,
    CubeOctetResults, CubeOctetsParams, CubeOctetsResults, CubeShortParams, CubeShortResults,
    CubeStructParams, CubeStructResults, EchoParams, EchoResults, ExpectParams, ExpectResults, PingParams,
    PingResults, ReceivedParams, ReceivedResults, SendCharsParams, SendDoublesParams, SendLongsParams,
    SendOctetsParams, SendShortsParams, SendStringParams, SendStructs32Params, SendStructsParams, Server,
};
use crate::connection::network;

pub(crate) async fn serve(listener: Listener, _settings: Settings) -> Result<(), Failure> {
    let bench: Client = capnp_rpc::new_client(Service::default());
    loop {
        let stream = listener.accept().await?;
        // A connection's end is the normal end of its system, whatever the reason.
        spawn_local(RpcSystem::new(network(stream, Side::Server), Some(bench.clone().client)));
    }
}

#[derive(Debug, Default)]
struct Service {
    receiver: RefCell<Receiver>,
}

/// A struct holds its number truncated to each member.
macro_rules! holds {
    ($item:expr, $value:expr) => {
        $item.get_s() == $value as i16
            && $item.get_c() == $value as u8
            && $item.get_l() == $value as i32
            && $item.get_o() == $value as u8
            && $item.get_d() == f64::from($value)
    };
}

impl Service {
    fn take_octets(&self, element: Element, octets: &[u8]) {
        self.receiver.borrow_mut().take(element, octets.len(), |index, value| octets[index] == value as u8);
    }
}

impl Server for Service {
    async fn ping(self: Rc<Self>, _: PingParams, _: PingResults) -> Result<(), Error> {
        Ok(())
    }

    async fn echo(self: Rc<Self>, params: EchoParams, mut results: EchoResults) -> Result<(), Error> {
        results.get().set_value(params.get()?.get_value()?);
        Ok(())
    }

    async fn cube_short(
        self: Rc<Self>,
        params: CubeShortParams,
        mut results: CubeShortResults,
    ) -> Result<(), Error> {
        results.get().set_value(params.get()?.get_value().wrapping_pow(3));
        Ok(())
    }

    async fn cube_long(
        self: Rc<Self>,
        params: CubeLongParams,
        mut results: CubeLongResults,
    ) -> Result<(), Error> {
        results.get().set_value(params.get()?.get_value().wrapping_pow(3));
        Ok(())
    }

    async fn cube_octet(
        self: Rc<Self>,
        params: CubeOctetParams,
        mut results: CubeOctetResults,
    ) -> Result<(), Error> {
        results.get().set_value(params.get()?.get_value().wrapping_pow(3));
        Ok(())
    }

    async fn cube_struct(
        self: Rc<Self>,
        params: CubeStructParams,
        mut results: CubeStructResults,
    ) -> Result<(), Error> {
        let value = params.get()?.get_value()?;
        let mut cubed = results.get().init_value();
        cubed.set_o(value.get_o().wrapping_pow(3));
        cubed.set_l(value.get_l().wrapping_pow(3));
        cubed.set_s(value.get_s().wrapping_pow(3));
        Ok(())
    }

    async fn cube_octets(
        self: Rc<Self>,
        params: CubeOctetsParams,
        mut results: CubeOctetsResults,
    ) -> Result<(), Error> {
        let values = params.get()?.get_value()?;
        let cubed = results.get().init_value(values.len() as u32);
        for (cubed, value) in cubed.iter_mut().zip(values) {
            *cubed = value.wrapping_pow(3);
        }
        Ok(())
    }

    async fn cube_longs(
        self: Rc<Self>,
        params: CubeLongsParams,
        mut results: CubeLongsResults,
    ) -> Result<(), Error> {
        let values = params.get()?.get_value()?;
        let mut cubed = results.get().init_value(values.len());
        for (index, value) in values.iter().enumerate() {
            cubed.set(index as u32, value.wrapping_pow(3));
        }
        Ok(())
    }

    async fn expect(self: Rc<Self>, params: ExpectParams, _: ExpectResults) -> Result<(), Error> {
        let wanted = params.get()?;
        let element =
            Element::named(wanted.get_element()?.to_str()?).map_err(|why| Error::failed(why.to_string()))?;
        self.receiver.borrow_mut().expect(element, wanted.get_payload() as usize, wanted.get_buffers());
        Ok(())
    }

    async fn send_octets(self: Rc<Self>, params: SendOctetsParams) -> Result<(), Error> {
        self.take_octets(Element::Octet, params.get()?.get_buffer()?);
        Ok(())
    }

    async fn send_chars(self: Rc<Self>, params: SendCharsParams) -> Result<(), Error> {
        self.take_octets(Element::Char, params.get()?.get_buffer()?);
        Ok(())
    }

    async fn send_shorts(self: Rc<Self>, params: SendShortsParams) -> Result<(), Error> {
        let buffer = params.get()?.get_buffer()?;
        self.receiver.borrow_mut().take(Element::Short, buffer.len() as usize, |index, value| {
            buffer.get(index as u32) == value as i16
        });
        Ok(())
    }

    async fn send_longs(self: Rc<Self>, params: SendLongsParams) -> Result<(), Error> {
        let buffer = params.get()?.get_buffer()?;
        self.receiver.borrow_mut().take(Element::Long, buffer.len() as usize, |index, value| {
            buffer.get(index as u32) == value as i32
        });
        Ok(())
    }

    async fn send_doubles(self: Rc<Self>, params: SendDoublesParams) -> Result<(), Error> {
        let buffer = params.get()?.get_buffer()?;
        self.receiver.borrow_mut().take(Element::Double, buffer.len() as usize, |index, value| {
            buffer.get(index as u32) == f64::from(value)
        });
        Ok(())
    }

    async fn send_structs(self: Rc<Self>, params: SendStructsParams) -> Result<(), Error> {
        let buffer = params.get()?.get_buffer()?;
        self.receiver.borrow_mut().take(Element::Struct, buffer.len() as usize, |index, value| {
            let item = buffer.get(index as u32);
            holds!(item, value)
        });
        Ok(())
    }

    async fn send_structs32(self: Rc<Self>, params: SendStructs32Params) -> Result<(), Error> {
        let buffer = params.get()?.get_buffer()?;
        self.receiver.borrow_mut().take(Element::Struct32, buffer.len() as usize, |index, value| {
            let item = buffer.get(index as u32);
            holds!(item, value) && item.get_filler() == u64::from(value as u8)
        });
        Ok(())
    }

    async fn send_string(self: Rc<Self>, params: SendStringParams) -> Result<(), Error> {
        let text = params.get()?.get_buffer()?.to_str()?.as_bytes();
        self.receiver
            .borrow_mut()
            .take(Element::String, text.len(), |index, value| text[index] == character(value));
        Ok(())
    }

    async fn received(self: Rc<Self>, _: ReceivedParams, mut results: ReceivedResults) -> Result<(), Error> {
        let (executed, fault) = self.receiver.borrow().received();
        results.get().set_executed(executed);
        results.get().set_fault(fault);
        Ok(())
    }
}
