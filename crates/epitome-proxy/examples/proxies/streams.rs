//! Many streams at a time: whether each event arrives in order, and what they take.

use std::time::Duration;

use http_body_util::BodyExt as _;
use tokio::time::sleep;

use crate::Failed;
use crate::asking::{Client, long};
use crate::standing::Standing;

/// Reads as many streams as it is told, each of so many seconds.
pub(crate) async fn read(proxy: &Standing, streams: usize, length: Duration) -> Result<(), Failed> {
    let (events, before) = (length.as_secs().max(1), proxy.cpu());
    let reading: Vec<_> = (0..streams)
        .map(|nth| {
            let at = proxy.at.clone();
            tokio::spawn(async move { one(&at, nth, events).await })
        })
        .collect();
    for fifth in 1..=5 {
        sleep(length / 5).await;
        println!("  after {} fifths: {} kB", fifth, proxy.resident() / 1_000);
    }
    for one in reading {
        one.await??;
    }
    let cpu = proxy.cpu().saturating_sub(before);
    let share = cpu.as_micros() / (streams as u128 * u128::from(events));
    println!("  all {} events in order; CPU {share} µs an event", streams as u64 * events);
    sleep(Duration::from_secs(1)).await;
    println!("  in the end: {} kB", proxy.resident() / 1_000);
    Ok(())
}

async fn one(at: &str, nth: usize, events: u64) -> Result<(), Failed> {
    // Not all in one moment, which is another test.
    sleep(Duration::from_millis(nth as u64 % 1_000)).await;
    let mut client = Client::connected(at).await?;
    let mut reply = client.begun(&long(&nth.to_string(), events)).await?;
    let mut text = String::new();
    while let Some(frame) = reply.frame().await.transpose()? {
        text.push_str(std::str::from_utf8(frame.data_ref().ok_or("no data")?)?);
    }
    let event = |nth| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{nth} \"}}}}]}}\n\n")
    };
    let all: String = (0..events).map(event).collect();
    if text == all + "data: [DONE]\n\n" {
        return Ok(());
    }
    Err(format!("stream {nth} isn't what was sent: {} bytes", text.len()).into())
}
