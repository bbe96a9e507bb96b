//! The serving end.

use std::sync::{Mutex, PoisonError};

use peer::{Element, Failure, Listener, Receiver, Settings};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

use crate::messages::{
    Doubles, Expectation, Long, Longs, Mixed, Nothing, Octet, Octets, Progress, Short, Shorts, Structs,
    Structs32, Text,
};
use crate::patterns::{Buffer, check, octets};
use crate::rpc::bench_server::{Bench, BenchServer};
use crate::{FRAME, WINDOW};

pub(crate) async fn serve(listener: Listener, _settings: Settings) -> Result<(), Failure> {
    let service = BenchServer::new(Service::default())
        .max_decoding_message_size(usize::MAX)
        .max_encoding_message_size(usize::MAX);
    let router = Server::builder()
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_frame_size(FRAME)
        .add_service(service);
    match listener {
        Listener::Tcp(listener) => {
            router.serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true))).await?;
        }
        Listener::Unix(listener, _) => router.serve_with_incoming(UnixListenerStream::new(listener)).await?,
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Service {
    receiver: Mutex<Receiver>,
}

type Answer<M> = Result<Response<M>, Status>;

impl Service {
    async fn receive<B: Buffer + Default + 'static>(
        &self,
        element: Element,
        request: Request<Streaming<B>>,
    ) -> Answer<Progress> {
        let mut buffers = request.into_inner();
        while let Some(buffer) = buffers.next().await {
            check(&mut self.receiver(), element, &buffer?);
        }
        let (executed, fault) = self.receiver().received();
        Ok(Response::new(Progress { executed, fault }))
    }

    fn receiver(&self) -> std::sync::MutexGuard<'_, Receiver> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tonic::async_trait]
impl Bench for Service {
    async fn ping(&self, _: Request<Nothing>) -> Answer<Nothing> {
        Ok(Response::new(Nothing {}))
    }

    async fn echo(&self, request: Request<Octets>) -> Answer<Octets> {
        Ok(Response::new(request.into_inner()))
    }

    async fn cube_short(&self, request: Request<Short>) -> Answer<Short> {
        let value = request.into_inner().value as i16;
        Ok(Response::new(Short { value: value.wrapping_pow(3).into() }))
    }

    async fn cube_long(&self, request: Request<Long>) -> Answer<Long> {
        Ok(Response::new(Long { value: request.into_inner().value.wrapping_pow(3) }))
    }

    async fn cube_octet(&self, request: Request<Octet>) -> Answer<Octet> {
        let value = request.into_inner().value as u8;
        Ok(Response::new(Octet { value: value.wrapping_pow(3).into() }))
    }

    async fn cube_struct(&self, request: Request<Mixed>) -> Answer<Mixed> {
        let Mixed { o, l, s } = request.into_inner();
        Ok(Response::new(Mixed {
            o: (o as u8).wrapping_pow(3).into(),
            l: l.wrapping_pow(3),
            s: (s as i16).wrapping_pow(3).into(),
        }))
    }

    async fn cube_octets(&self, request: Request<Octets>) -> Answer<Octets> {
        let values = request.into_inner().values;
        Ok(Response::new(octets(values.iter().map(|value| value.wrapping_pow(3)).collect())))
    }

    async fn cube_longs(&self, request: Request<Longs>) -> Answer<Longs> {
        let mut longs = request.into_inner();
        longs.values.iter_mut().for_each(|value| *value = value.wrapping_pow(3));
        Ok(Response::new(longs))
    }

    async fn expect(&self, request: Request<Expectation>) -> Answer<Nothing> {
        let Expectation { element, payload, buffers } = request.into_inner();
        let element = Element::named(&element).map_err(|why| Status::invalid_argument(why.to_string()))?;
        self.receiver().expect(element, payload as usize, buffers);
        Ok(Response::new(Nothing {}))
    }

    async fn send_octets(&self, request: Request<Streaming<Octets>>) -> Answer<Progress> {
        self.receive(Element::Octet, request).await
    }

    async fn send_chars(&self, request: Request<Streaming<Octets>>) -> Answer<Progress> {
        self.receive(Element::Char, request).await
    }

    async fn send_shorts(&self, request: Request<Streaming<Shorts>>) -> Answer<Progress> {
        self.receive(Element::Short, request).await
    }

    async fn send_longs(&self, request: Request<Streaming<Longs>>) -> Answer<Progress> {
        self.receive(Element::Long, request).await
    }

    async fn send_doubles(&self, request: Request<Streaming<Doubles>>) -> Answer<Progress> {
        self.receive(Element::Double, request).await
    }

    async fn send_structs(&self, request: Request<Streaming<Structs>>) -> Answer<Progress> {
        self.receive(Element::Struct, request).await
    }

    async fn send_structs32(&self, request: Request<Streaming<Structs32>>) -> Answer<Progress> {
        self.receive(Element::Struct32, request).await
    }

    async fn send_string(&self, request: Request<Streaming<Text>>) -> Answer<Progress> {
        self.receive(Element::String, request).await
    }
}
