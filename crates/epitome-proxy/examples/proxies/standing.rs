//! Proxies as processes: how they are begun, and what they have taken, as Linux tells it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::Failed;

/// Where they listen.
const EPITOME: &str = "127.0.0.1:7497";
const NGINX: &str = "127.0.0.1:7498";
/// A tick of a process's clock, which is that on every platform of Linux.
const TICK: Duration = Duration::from_millis(10);

/// A proxy that stands there, or none.
pub(crate) struct Standing {
    pub(crate) name: String,
    pub(crate) at: String,
    process: Option<Process>,
}

/// It ends with what holds it, and so does its folder.
struct Process {
    child: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Process {
    fn drop(&mut self) {
        for it in self.all() {
            drop(Command::new("kill").arg(it.to_string()).stderr(Stdio::null()).status());
        }
        drop(self.child.wait());
    }
}

impl Process {
    /// It, and what it began.
    fn all(&self) -> Vec<u32> {
        let own = self.child.id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
        let children = children.unwrap_or_default();
        std::iter::once(own).chain(children.split(' ').filter_map(|it| it.parse().ok())).collect()
    }
}

impl Standing {
    pub(crate) fn none(at: &str) -> Self {
        Self { name: "none (its own time)".into(), at: at.into(), process: None }
    }

    pub(crate) fn other(name: &str, at: &str) -> Self {
        Self { name: name.into(), at: at.into(), process: None }
    }

    pub(crate) async fn epitome(program: &Path, upstream: &str) -> Result<Self, Failed> {
        let mut command = Command::new(program);
        command.args(["serve", "--listen", EPITOME, "--window", "10000000", "--store", "none"]);
        command.args(["--upstream", &format!("http://{upstream}")]);
        command.env("EPITOME_PLAIN_HTTP", "127.0.0.1").env("EPITOME_TOKEN", "of-this-machine");
        let process = Process { child: command.spawn()?, _folder: tempfile::tempdir()? };
        Self { name: "epitome".into(), at: EPITOME.into(), process: Some(process) }.ready().await
    }

    /// With a connection kept for each client, and nothing held back.
    pub(crate) async fn nginx(upstream: &str) -> Result<Option<Self>, Failed> {
        let folder = tempfile::tempdir()?;
        let at = folder.path().display();
        let settings = format!(
            "worker_processes 2;\ndaemon off;\npid {at}/pid;\nerror_log {at}/error.log;\nworker_rlimit_nofile 20000;\n\
             events {{ worker_connections 8192; }}\n\
             http {{\n  access_log off;\n  client_max_body_size 0;\n  client_body_buffer_size 4m;\n  proxy_buffering off;\n  \
             keepalive_requests 1000000;\n  proxy_read_timeout 600;\n  client_body_temp_path {at}/body;\n  proxy_temp_path {at}/proxy;\n  \
             fastcgi_temp_path {at}/fastcgi;\n  scgi_temp_path {at}/scgi;\n  uwsgi_temp_path {at}/uwsgi;\n  \
             upstream there {{ server {upstream}; keepalive 64; }}\n  \
             server {{ listen {NGINX}; location / {{ proxy_pass http://there; proxy_http_version 1.1; proxy_set_header Connection \"\"; }} }}\n}}\n"
        );
        fs::write(folder.path().join("nginx.conf"), settings)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder.path()).arg("-c").arg(folder.path().join("nginx.conf"));
        let Ok(child) = command.stderr(Stdio::null()).spawn() else {
            eprintln!("there is no nginx: nothing stands beside it");
            return Ok(None);
        };
        let process = Some(Process { child, _folder: folder });
        Self { name: "nginx".into(), at: NGINX.into(), process }.ready().await.map(Some)
    }

    async fn ready(self) -> Result<Self, Failed> {
        for _ in 0..5_000 {
            if TcpStream::connect(&self.at).await.is_ok() {
                return Ok(self);
            }
            sleep(Duration::from_millis(1)).await;
        }
        Err(format!("{} doesn't listen", self.name).into())
    }

    /// Whether it was begun here.
    pub(crate) fn is_seen(&self) -> bool {
        self.process.is_some()
    }

    fn all(&self) -> Vec<u32> {
        self.process.as_ref().map(Process::all).unwrap_or_default()
    }

    /// Time on a CPU since it began.
    pub(crate) fn cpu(&self) -> Duration {
        let ticks = |id: u32| -> Option<u32> {
            let told = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            let words: Vec<&str> = told.rsplit_once(')')?.1.split_whitespace().collect();
            Some(words.get(11)?.parse::<u32>().ok()? + words.get(12)?.parse::<u32>().ok()?)
        };
        TICK * self.all().into_iter().filter_map(ticks).sum::<u32>()
    }

    /// Bytes in memory, what it shares with others included.
    pub(crate) fn resident(&self) -> u64 {
        let bytes = |id: u32| -> Option<u64> {
            let told = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
            let line = told.lines().find(|it| it.starts_with("VmRSS:"))?;
            Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1_024)
        };
        self.all().into_iter().filter_map(bytes).sum()
    }
}
