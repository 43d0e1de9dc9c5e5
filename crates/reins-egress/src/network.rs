//! What the proxy needs of the world: names, connections and the time. Arguments, so that tests can be exact.

use crate::limits::LOOKUPS;
use futures_util::future::BoxFuture;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync {
    /// All addresses of `name`, in the order they should be tried. A dot at its end means that no search list is
    /// used.
    ///
    /// # Errors
    /// What stood in the way; a name without addresses may be an error or an empty list.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Makes connections.
pub trait Dialer: Send + Sync {
    /// Connects to exactly this address.
    ///
    /// # Errors
    /// What stood in the way.
    fn dial(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;

    /// Whether an address is one of this machine's own.
    fn is_here(&self, address: IpAddr) -> bool;
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// For how long something lasts.
    fn now(&self) -> Instant;

    /// For people.
    fn wall(&self) -> SystemTime;
}

/// All of it.
#[derive(Clone)]
pub struct Network {
    /// Names.
    pub resolver: Arc<dyn Resolver>,
    /// Connections.
    pub dialer: Arc<dyn Dialer>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network")
    }
}

impl Network {
    /// The real one: the system's own resolver with its hosts file, split DNS and cache.
    pub fn system() -> Self {
        Self {
            resolver: Arc::new(SystemResolver { lookups: Semaphore::new(LOOKUPS) }),
            dialer: Arc::new(SystemDialer),
            clock: Arc::new(SystemClock),
        }
    }
}

struct SystemResolver {
    lookups: Semaphore,
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let _turn = self.lookups.acquire().await.map_err(io::Error::other)?;
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

struct SystemDialer;

impl Dialer for SystemDialer {
    fn dial(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            // Small writes of tunnels would wait for each other.
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }

    /// Connecting a datagram socket sends nothing; the system only picks the address it would send from, which is
    /// the very same one if that is its own.
    fn is_here(&self, address: IpAddr) -> bool {
        let any: IpAddr = match address {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let from = UdpSocket::bind((any, 0)).and_then(|socket| {
            // Any port will do: nothing is sent.
            socket.connect((address, 9))?;
            socket.local_addr()
        });
        from.is_ok_and(|from| from.ip() == address)
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_addresses_are_known_without_sending() {
        assert!(SystemDialer.is_here("127.0.0.1".parse().unwrap()));
        assert!(!SystemDialer.is_here("192.0.2.1".parse().unwrap()));
    }
}
