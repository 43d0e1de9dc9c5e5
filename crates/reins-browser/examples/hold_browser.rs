//! Starts a browser without a window, says `ready`, and does what its input says, one word a line:
//! `close` it, `drop` its handle, wait until it is `gone`, or `stick` its page in an endless loop.
//! The tests kill it at every point, to see that nothing of the browser stays behind.

use reins_browser::{Browser, LaunchOptions};
use std::io::Write;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = LaunchOptions {
        headless: true,
        no_sandbox: std::env::var_os("REINS_NO_SANDBOX").is_some(),
        ..LaunchOptions::default()
    };
    if let Some(limit) = std::env::args().nth(1) {
        // A start that is given up halfway.
        let limit = Duration::from_millis(limit.parse()?);
        drop(tokio::time::timeout(limit, Browser::launch(options)).await);
        return Ok(());
    }
    let mut browser = Some(Browser::launch(options).await?);
    say("ready")?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match (line.as_str(), &browser) {
            ("close", Some(browser)) => browser.close().await,
            ("drop", _) => browser = None,
            ("gone", Some(browser)) => {
                let mut events = browser.events();
                while !browser.is_gone() && events.next().await.is_some() {}
            }
            _ => {}
        }
        say(&line)?;
    }
    Ok(())
}

fn say(word: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{word}")?;
    out.flush()
}
