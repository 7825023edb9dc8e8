//! PostgreSQL: statements, and connecting to the server.
//!
//! Calls wait where they are made, as those of SQLite do; what goes over the wire meanwhile is seen to by a
//! thread of its own, so that it doesn't matter whether the caller is inside of a runtime.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::TlsStream;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, Asked, Encryption};
use super::url::without_password;
use super::{Cell, Connection, Deleted, May, Origin, Row, Value};
use crate::error::StoreError;

/// How long a server may take to answer a first call.
const PATIENCE: Duration = Duration::from_secs(20);

/// The settings of every connection: tables have a schema of their own, acknowledged writes are on the disk, waits have
/// a limit, and plans fit the words of a search.
const SETTINGS: &str =
    "SET search_path TO epitome; SET synchronous_commit TO on; SET lock_timeout TO '20s';
    SET plan_cache_mode TO force_custom_plan; SET client_min_messages TO warning;";

/// A server, and the database on it.
#[derive(Clone)]
pub(crate) struct Server {
    config: Config,
    /// What encrypts connections; `None` where they go in the clear.
    tls: Option<MakeRustlsConnect>,
    /// Without the password.
    shown: String,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Server {
    /// Reads a URL.
    pub(crate) fn new(url: &str, password: Option<&str>) -> Result<Self, StoreError> {
        let shown = without_password(url);
        let wrong = |why: String| StoreError::Address { url: shown.clone(), why };
        let (url, said) = Encryption::read(url).map_err(wrong)?;
        let mut config: Config = url.parse().map_err(|error| wrong(self::said(&error)))?;
        if let (None, Some(password)) = (config.get_password(), password) {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        let asked = match said {
            Encryption::None => None,
            // Nobody listens on a socket of the machine, and no certificate is for one.
            Encryption::Asked(_) if is_socket(&config) => None,
            Encryption::Asked(asked) => Some(asked),
            Encryption::Unsaid if is_near(&config) => None,
            Encryption::Unsaid => Some(Asked::by_name()),
        };
        let tls = asked.map(|asked| asked.connector()).transpose().map_err(wrong)?;
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        if config.get_application_name().is_none() {
            config.application_name("epitome");
        }
        Ok(Server { config, tls, shown })
    }

    /// The URL, without the password.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Connects.
    pub(crate) fn connect(&self, may: May) -> Result<Connection, StoreError> {
        let failed = |error| refusal(&self.shown, &error);
        let (config, tls) = (self.config.clone(), self.tls.clone());
        let (sender, receiver) = std::sync::mpsc::channel();
        runtime()?.spawn(async move {
            match tls {
                Some(tls) => see_to(config.connect(tls).await, sender).await,
                None => see_to(config.connect(NoTls).await, sender).await,
            }
        });
        let answer = receiver.recv().map_err(|_| StoreError::Address {
            url: self.shown.clone(),
            why: "nobody sees to connections any more".to_owned(),
        })?;
        let client = answer.map_err(failed)?;
        let link = Link { client, statements: RefCell::default(), shown: self.shown.clone() };
        link.batch(SETTINGS)?;
        if may == May::Read {
            link.batch("SET default_transaction_read_only TO on")?;
        }
        Ok(Connection::Postgres(Box::new(link)))
    }
}

/// Hands a client over, and sees to what goes over the wire until it is gone.
async fn see_to<S, T>(
    connected: Result<(Client, tokio_postgres::Connection<S, T>), tokio_postgres::Error>,
    asked_by: Sender<Result<Client, tokio_postgres::Error>>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: TlsStream + Unpin,
{
    match connected {
        Ok((client, connection)) => {
            // Whoever asked may have given up.
            let _gone = asked_by.send(Ok(client));
            // What goes wrong later is told to whoever asks next.
            let _told = connection.await;
        }
        Err(error) => {
            let _gone = asked_by.send(Err(error));
        }
    }
}

/// The thread that sees to all connections; it is never ended, because that can't be waited for everywhere.
fn runtime() -> Result<&'static Runtime, StoreError> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let built = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("epitome-store")
        .enable_all()
        .build()
        .map_err(StoreError::io("a thread for connections".as_ref()))?;
    Ok(RUNTIME.get_or_init(|| built))
}

/// Whether the server is on this machine.
fn is_near(config: &Config) -> bool {
    let is_near = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_near) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

/// Whether all ways to the server are sockets of this machine.
fn is_socket(config: &Config) -> bool {
    config.get_hostaddrs().is_empty()
        && config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)))
}

/// A connection to a server.
pub(crate) struct Link {
    client: Client,
    statements: RefCell<HashMap<String, Statement>>,
    shown: String,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Link {
    /// Whether the server has gone away, or was started again.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    fn failed(&self) -> impl Fn(tokio_postgres::Error) -> StoreError {
        |error| refusal(&self.shown, &error)
    }

    fn prepared(&self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        // No statement has a question mark of another meaning.
        let statement = wait(self.client.prepare(&sql.replace('?', "$"))).map_err(self.failed())?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(super) fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        let found = wait(self.client.query(&statement, &parameters(values)));
        let from = origin(sql, &statement);
        found.map_err(self.failed())?.iter().map(|row| read(row, &from)).collect()
    }

    pub(super) fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.prepared(sql)?;
        wait(self.client.execute(&statement, &parameters(values))).map_err(self.failed())
    }

    /// All of them are on their way before the first answer is there.
    pub(super) fn each<const N: usize>(
        &self,
        sql: &str,
        all: &[[Value<'_>; N]],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let statement = self.prepared(sql)?;
        let parameters: Vec<_> = all.iter().map(|values| parameters(values)).collect();
        let asked = parameters.iter().map(|values| self.client.query(&statement, values));
        let found = wait(try_join_all(asked)).map_err(self.failed())?;
        let from = origin(sql, &statement);
        found.iter().map(|rows| rows.iter().map(|row| read(row, &from)).collect()).collect()
    }

    /// Frees what was deleted, for others to be written over it: giving pages back to the system would wait for
    /// everybody who reads. The server's log and backups are its operator's.
    pub(super) fn vacuum(&self, deleted: Deleted) -> Result<(), StoreError> {
        if deleted == Deleted::Something {
            for table in ["blob", "word", "entry", "input", "link", "view", "session"] {
                self.batch(&format!("VACUUM (TRUNCATE FALSE) {table}"))?;
            }
        }
        Ok(())
    }

    pub(super) fn batch(&self, sql: &str) -> Result<(), StoreError> {
        wait(self.client.batch_execute(sql)).map_err(self.failed())
    }
}

fn parameters<'v>(values: &'v [Value<'_>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn origin(sql: &str, statement: &Statement) -> Arc<Origin> {
    Origin::new(sql, statement.columns().iter().map(tokio_postgres::Column::name))
}

fn read(row: &tokio_postgres::Row, from: &Arc<Origin>) -> Result<Row, StoreError> {
    let cell = |at: usize| {
        let wrong = |error| StoreError::damaged(format!("column {at}: {}", said(&error)));
        let kind = row.columns()[at].type_();
        let cell = match *kind {
            Type::INT8 => row.try_get::<_, Option<i64>>(at).map(|v| v.map(Cell::Int)),
            Type::INT4 => row.try_get::<_, Option<i32>>(at).map(|v| v.map(|v| Cell::Int(v.into()))),
            Type::TEXT => row.try_get::<_, Option<String>>(at).map(|v| v.map(Cell::Text)),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at).map(|v| v.map(Cell::Bytes)),
            _ => return Err(StoreError::damaged(format!("column {at} is of type {kind}"))),
        };
        Ok(cell.map_err(wrong)?.unwrap_or(Cell::Null))
    };
    let cells = (0..row.len()).map(cell).collect::<Result<_, StoreError>>()?;
    Ok(Row { cells, from: Arc::clone(from) })
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(value) if *kind == Type::INT4 => i32::try_from(*value)?.to_sql(kind, out),
            Value::Int(value) if *kind == Type::INT8 => value.to_sql(kind, out),
            Value::Text(text) if *kind == Type::TEXT => text.to_sql(kind, out),
            Value::Bytes(bytes) if *kind == Type::BYTEA => bytes.to_sql(kind, out),
            _ => Err(format!("{self:?} is no {kind}").into()),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

/// What the server, or the way to it, said.
fn refusal(url: &str, error: &tokio_postgres::Error) -> StoreError {
    let url = url.to_owned();
    if tls::is_distrust(error) {
        return StoreError::Untrusted { url, why: said(error) };
    }
    let code = error.code().map(|code| code.code().to_owned());
    // Too many connections, a lock that was waited for too long, a server that starts or ends.
    let passing = ["53300", "55P03", "57P01", "57P03", "40001", "40P01"];
    let is_passing = match &code {
        Some(code) => passing.contains(&code.as_str()),
        None => tls::is_passing(error),
    };
    StoreError::Server { url, what: said(error), code, is_passing }
}

/// An error with what it comes from: the outermost says only that it is one.
fn said(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let mut text = error.message().to_owned();
        if let Some(detail) = error.detail() {
            write!(text, " ({detail})").expect("a string takes all");
        }
        return text;
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        write!(text, ": {error}").expect("a string takes all");
        source = error.source();
    }
    text
}

/// Waits for what another thread sees to.
fn wait<T>(work: impl Future<Output = T>) -> T {
    struct Waiting(Thread);

    impl Wake for Waiting {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut work = pin!(work);
    let waker = Waker::from(Arc::new(Waiting(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match work.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_over_a_network_in_the_clear_unless_that_is_said() {
        let is_fine = |url: &str| Server::new(url, None).is_ok();
        assert!(
            is_fine("postgres://me@localhost/app") && is_fine("postgres://me@127.0.0.1:5433/app")
        );
        assert!(is_fine("postgres:///app?host=/run/postgresql"));
        let is_clear = |url: &str| Server::new(url, None).is_ok_and(|server| server.tls.is_none());
        assert!(is_clear("postgres://me@db.example/app?sslmode=disable"));
        assert!(is_clear("postgres://me@localhost/app"));
        assert!(is_clear("postgres:///app?host=/run/postgresql&sslmode=require"));
        for url in [
            "postgres://me@db.example/app",
            "postgres://me@db.example/app?sslmode=require",
            "postgres://me@localhost,db.example/app",
            "postgres://me@localhost/app?sslmode=require",
        ] {
            assert!(!is_clear(url), "{url}");
        }
        assert!(is_fine("postgres://me@localhost/app?sslmode=require"));
        assert!(!is_fine("postgres://me@localhost/app?sslmode=prefer"));
        assert!(!is_fine("postgres://me@localhost:no/app"));
        let url = "postgres://me:secret@db.example/app?sslmode=prefer";
        let told = Server::new(url, None).expect_err("refused");
        assert!(!told.to_string().contains("secret"), "{told}");
        assert!(
            !format!("{:?}", Server::new("postgres://me:secret@[::1]/", None)).contains("secret")
        );
    }

    #[test]
    fn waiting_ends() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let thread = thread::spawn(move || sender.send(7));
        assert_eq!(wait(receiver), Ok(7));
        thread.join().expect("no panic").expect("sent");
    }
}
