//! Prints how long a browser takes from the call that starts it to a tab that can be used, and how
//! long it takes to close, in milliseconds. Arguments: how often, then `sandbox` to keep Chromium's own,
//! `window` to show one.

#![allow(clippy::print_stdout, reason = "this is what it is for")]

use reins_browser::{Browser, LaunchOptions};
use std::time::{Duration, Instant};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let times: usize = args.next().map_or(Ok(1), |n| n.parse())?;
    let words: Vec<String> = args.collect();
    let said = |word: &str| words.iter().any(|w| w == word);
    for _ in 0..times {
        let options = LaunchOptions {
            headless: !said("window"),
            no_sandbox: !said("sandbox"),
            ..LaunchOptions::default()
        };
        let began = Instant::now();
        let browser = Browser::launch(options).await?;
        browser.first_tab(Duration::from_secs(10)).await?;
        let ready = began.elapsed();
        let closing = Instant::now();
        browser.close().await;
        println!("{:.1} {:.1}", ready.as_secs_f64() * 1e3, closing.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}
