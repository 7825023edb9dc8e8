//! The scripted model server for real clients:
//! `cargo run -p testkit --features serve --example model-server -- --port 4000 --capture DIR --script FILE`

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use testkit::server::shell::{Recorded, start_on};
use testkit::server::{Model, Server, script_file};

const USAGE: &str = "\
usage: model-server [--port N] [--capture DIR] [--script FILE] [--window MODEL=TOKENS]...

  --port N               listen on 127.0.0.1:N (default: any free port)
  --capture DIR          write each request there: NNNN-api.json is the body byte for byte,
                         NNNN-api.meta.json its method, path and headers (without credentials), and what was answered
  --script FILE          what the model answers, as JSON (crates/testkit/src/server/script_file.rs);
                         without it: three steps with the first tool, then a last word
  --window MODEL=TOKENS  a smaller (or larger) window
";

struct Settings {
    port: u16,
    capture: Option<PathBuf>,
    server: Server,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{USAGE}");
        return Ok(());
    }
    let settings = settings(&words).inspect_err(|_| eprint!("{USAGE}"))?;
    tokio::runtime::Runtime::new()?.block_on(serve(settings))
}

fn settings(words: &[String]) -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings { port: 0, capture: None, server: Server::default() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--port" => settings.port = value()?.parse()?,
            "--capture" => settings.capture = Some(PathBuf::from(value()?)),
            "--script" => settings.server.play(script_file::read(&fs::read_to_string(value()?)?)?),
            "--window" => {
                let (name, tokens) = value()?.split_once('=').ok_or("--window MODEL=TOKENS")?;
                let model =
                    Model::named(name).ok_or(format!("no family of models begins like {name}"))?;
                settings.server.judge.models.put(Model { window: tokens.parse()?, ..model });
            }
            _ => return Err(format!("{word}: not known").into()),
        }
    }
    Ok(settings)
}

async fn serve(settings: Settings) -> Result<(), Box<dyn Error>> {
    let address = SocketAddr::from(([127, 0, 0, 1], settings.port));
    if let Some(folder) = &settings.capture {
        fs::create_dir_all(folder)?;
    }
    let capture = settings.capture;
    // Captures of an earlier run stay.
    let first = capture.as_deref().map_or(Ok(0), next_number)?;
    let watch = move |number: usize, recorded: &Recorded| {
        let refusal = recorded.noted.verdict.as_ref().err().map(|error| error.message.clone());
        let why = refusal.filter(|_| recorded.status != 200).unwrap_or_default();
        println!("{} {} {} {why}", recorded.status, recorded.method, recorded.path);
        if let Some(folder) = &capture
            && let Err(error) = write(folder, first + number, recorded)
        {
            eprintln!("{}: {error}", folder.display());
        }
    };
    let running = start_on(settings.server, address, Some(Arc::new(watch))).await?;
    println!("listening on {}", running.url);
    tokio::select! {
        ended = running.wait() => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(())
}

fn next_number(folder: &Path) -> std::io::Result<usize> {
    let mut next = 0;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name
            .to_string_lossy()
            .split('-')
            .next()
            .and_then(|digits| digits.parse::<usize>().ok());
        next = next.max(number.map_or(0, |number| number + 1));
    }
    Ok(next)
}

fn write(folder: &Path, number: usize, recorded: &Recorded) -> std::io::Result<()> {
    let api = recorded.noted.route.as_ref().map_or("other", |route| route.api.name());
    let name = folder.join(format!("{number:04}-{api}"));
    let secret = ["authorization", "x-api-key", "x-goog-api-key", "cookie"];
    let headers: Vec<_> =
        recorded.headers.iter().filter(|(name, _)| !secret.contains(&name.as_str())).collect();
    let path = recorded.path.split("key=").next().unwrap_or_default();
    let meta = json!({
        "method": recorded.method,
        "path": path,
        "headers": headers,
        "status": recorded.status,
        "refusal": recorded.noted.verdict.as_ref().err().filter(|_| recorded.status != 200).map(|error| &error.message),
    });
    fs::write(name.with_extension("json"), &recorded.body)?;
    fs::write(name.with_extension("meta.json"), format!("{meta:#}\n"))
}
