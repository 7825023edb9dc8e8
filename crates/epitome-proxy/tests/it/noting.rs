//! An upstream that notes what reaches it, and answers as it is told.

use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A body that a test writes.
pub(crate) type Written = UnsyncBoxBody<Bytes, std::io::Error>;

/// What reached it: heads and bodies.
pub(crate) type Book = Arc<Mutex<Vec<(Parts, Bytes)>>>;

/// Serves on a free port until the runtime ends; `answer` is asked once a request is there with all of its body.
pub(crate) async fn upstream<F>(
    answer: impl Fn(&Parts) -> F + Clone + Send + 'static,
) -> (String, Book)
where
    F: Future<Output = Response<Written>> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let book = Book::default();
    let noted = Arc::clone(&book);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (answer, book) = (answer.clone(), Arc::clone(&noted));
            let service = service_fn(move |request: Request<Incoming>| {
                let (answer, book) = (answer.clone(), Arc::clone(&book));
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await.map(http_body_util::Collected::to_bytes);
                    let replying = answer(&head);
                    let noted = (head, body.unwrap_or_default());
                    book.lock().expect("nobody panicked").push(noted);
                    Ok::<_, Infallible>(replying.await)
                }
            });
            tokio::spawn(async move {
                let mut server = auto::Builder::new(TokioExecutor::new());
                server.http1().auto_date_header(false).max_headers(1_000);
                drop(server.serve_connection(TokioIo::new(stream), service).await);
            });
        }
    });
    (url, book)
}

/// A body that is there.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Written {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A body that is written while it is sent; dropped by whoever reads it, nothing more can be written.
pub(crate) fn piecewise() -> (mpsc::Sender<Bytes>, Written) {
    let (write, mut read) = mpsc::channel::<Bytes>(1);
    let frames = futures_util::stream::poll_fn(move |context| {
        read.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    });
    (write, StreamBody::new(frames).boxed_unsync())
}
