//! Moving bytes through a tunnel: counted, at the session's rate, and not forever.

use crate::limits::{CHUNK, HALF_CLOSED, SILENCE};
use crate::session::Session;
use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until};

/// Runs until both sides have ended, one fails, nothing moves for too long, or the session is over.
pub(crate) async fn run(
    session: &Session,
    browser: impl AsyncRead + AsyncWrite + Unpin,
    server: TcpStream,
) -> io::Result<()> {
    let life = Life { until: Mutex::new(Instant::now() + SILENCE) };
    let (mut from_browser, mut to_browser) = split(browser);
    let (mut from_server, mut to_server) = server.into_split();
    let up = async {
        let moved = pump(session, &life, &mut from_browser, &mut to_server).await;
        life.half_closed();
        moved
    };
    let down = async {
        let moved = pump(session, &life, &mut from_server, &mut to_browser).await;
        life.half_closed();
        moved
    };
    tokio::select! {
        both = async { tokio::try_join!(up, down) } => both.map(drop),
        () = life.ended() => Err(io::ErrorKind::TimedOut.into()),
        () = session.over.cancelled() => Ok(()),
    }
}

/// Until when a tunnel may be silent.
struct Life {
    until: Mutex<Instant>,
}

impl Life {
    fn get(&self) -> Instant {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, silence: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + silence;
    }

    fn half_closed(&self) {
        self.set(HALF_CLOSED);
    }

    async fn ended(&self) {
        loop {
            let until = self.get();
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}

async fn pump(
    session: &Session,
    life: &Life,
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = from.read(&mut chunk).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        let wait = session.count(read).map_err(io::Error::other)?;
        to.write_all(&chunk[..read]).await?;
        life.set(SILENCE);
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}
