//! From a target to a connection: one look-up, one verdict, one dial of an address that the verdict was about.

use crate::limits::{ADDRESSES, DIAL, DIALLED, LOOKUP, NEXT_ADDRESS};
use crate::policy::{Standing, is_localhost};
use crate::refusal::Reason;
use crate::session::Session;
use crate::target::{Host, Target};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::PoisonError;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Why a request gets no connection.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It may not have one.
    Refused(Reason),
    /// Its name has no address.
    Unresolved,
    /// Nothing answers there.
    Unreachable(io::Error),
    /// It took too long.
    Late,
}

/// Connects to the target if the session may reach it. `own` is the proxy's own address: no way leads back into it.
pub(crate) async fn connect(
    session: &Session,
    own: SocketAddr,
    target: &Target,
) -> Result<TcpStream, Stop> {
    let addresses = judged(session, own, target).await?;
    match timeout(DIAL, dial(session, &addresses)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(Stop::Unreachable(error)),
        Err(_) => Err(Stop::Late),
    }
}

/// The addresses that may be dialled: all of them were judged, and all are good.
async fn judged(
    session: &Session,
    own: SocketAddr,
    target: &Target,
) -> Result<Vec<SocketAddr>, Stop> {
    let standing = session.policy.before(target).map_err(Stop::Refused)?;
    let (addresses, name) = match &target.host {
        Host::Address(address) => (vec![*address], None),
        Host::Name(name) => (look_up(session, standing, name).await?, Some(name)),
    };
    if addresses.is_empty() {
        return Err(Stop::Unresolved);
    }
    if addresses.len() > ADDRESSES {
        return Err(Stop::Refused(Reason::TooManyAddresses));
    }
    let settled = name.is_some_and(|name| {
        session.settled.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    });
    for address in &addresses {
        session
            .policy
            .address(standing, *address, name.is_some(), settled)
            .map_err(Stop::Refused)?;
        let address = address.to_canonical();
        if SocketAddr::new(address, target.port) == own {
            return Err(Stop::Refused(Reason::Special(crate::ranges::Range::Loopback)));
        }
        if standing == Standing::Public && session.network.dialer.is_here(address) {
            return Err(Stop::Refused(Reason::ThisMachine));
        }
    }
    if let (Standing::App, Some(name)) = (standing, name)
        && addresses.iter().all(|address| crate::ranges::special(*address).is_none())
    {
        // From now on it may not lead into the own network (S-149).
        session.settled.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
    }
    let dialled = addresses.into_iter().take(DIALLED);
    Ok(dialled.map(|address| SocketAddr::new(address.to_canonical(), target.port)).collect())
}

async fn look_up(session: &Session, standing: Standing, name: &str) -> Result<Vec<IpAddr>, Stop> {
    if is_localhost(name) {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let now = session.network.clock.now();
    if let Some(known) = session.answers.get(name, now) {
        return Ok(known);
    }
    // The app's name is looked up as the person wrote it. Any other means what it says, without the search list of
    // this machine.
    let rooted = match standing {
        Standing::App => name.to_owned(),
        Standing::Public => format!("{name}."),
    };
    let found = timeout(LOOKUP, session.network.resolver.resolve(&rooted))
        .await
        .map_err(|_| Stop::Late)?
        .unwrap_or_else(|error| {
            tracing::debug!(name, %error, "a name was not found");
            Vec::new()
        });
    let mut addresses: Vec<IpAddr> = Vec::with_capacity(found.len().min(ADDRESSES));
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
        if addresses.len() > ADDRESSES {
            break;
        }
    }
    session.answers.put(name, addresses.clone(), session.network.clock.now());
    Ok(addresses)
}

/// The first of the addresses that answers; the next one is tried when one fails or is slow.
async fn dial(session: &Session, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut waiting = addresses.iter();
    let mut dialling = FuturesUnordered::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(next) = waiting.next() {
            dialling.push(session.network.dialer.dial(*next));
        } else if dialling.is_empty() {
            return Err(last);
        }
        let slow = async {
            if waiting.len() > 0 {
                sleep(NEXT_ADDRESS).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            ended = dialling.next() => match ended {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => last = error,
                None => {}
            },
            () = slow => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Allowance;
    use crate::network::{Dialer, Network, Resolver};
    use crate::policy::Policy;
    use futures_util::future::BoxFuture;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    /// Names with these addresses, or that are never answered; addresses that never answer.
    #[derive(Default)]
    struct Silent {
        addresses: Vec<IpAddr>,
        dialled: Mutex<Vec<(SocketAddr, Duration)>>,
        start: Mutex<Option<Instant>>,
    }

    impl Resolver for Silent {
        fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(async move {
                if self.addresses.is_empty() {
                    std::future::pending::<()>().await;
                }
                Ok(self.addresses.clone())
            })
        }
    }

    impl Dialer for Silent {
        fn dial(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
            let start = *self.start.lock().unwrap().get_or_insert_with(Instant::now);
            self.dialled.lock().unwrap().push((to, start.elapsed()));
            Box::pin(std::future::pending())
        }

        fn is_here(&self, _: IpAddr) -> bool {
            false
        }
    }

    async fn connect_to(silent: &Arc<Silent>) -> (Result<TcpStream, Stop>, Duration) {
        let network = Network {
            resolver: silent.clone(),
            dialer: silent.clone(),
            clock: Network::system().clock,
        };
        let over = CancellationToken::new();
        let session =
            Session::new(1, Policy::default(), Allowance::default(), network, over).unwrap();
        let target = Target::parse("cdn.example:443", None).unwrap();
        let start = Instant::now();
        let own = "127.0.0.1:1".parse().unwrap();
        (connect(&session, own, &target).await, start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_up_without_answer_ends_at_its_deadline() {
        let silent = Arc::new(Silent::default());
        let (ended, after) = connect_to(&silent).await;
        assert!(matches!(ended, Err(Stop::Late)), "{ended:?}");
        assert_eq!(after.as_secs(), LOOKUP.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn silent_addresses_are_tried_one_after_the_other_until_the_deadline() {
        let addresses = (1..=9).map(|n| IpAddr::from([8, 8, 8, n])).collect();
        let silent = Arc::new(Silent { addresses, ..Silent::default() });
        let (ended, after) = connect_to(&silent).await;
        assert!(matches!(ended, Err(Stop::Late)), "{ended:?}");
        assert_eq!(after.as_secs(), DIAL.as_secs());
        let dialled = silent.dialled.lock().unwrap().clone();
        assert_eq!(dialled.len(), DIALLED);
        for (place, (to, at)) in dialled.iter().enumerate() {
            assert_eq!(to.ip(), silent.addresses[place]);
            let wait = NEXT_ADDRESS * u32::try_from(place).unwrap();
            assert!(*at >= wait && *at < wait + NEXT_ADDRESS, "{place}: {at:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_too_long_to_judge_is_refused() {
        let addresses = (0..=200).map(|n| IpAddr::from([8, 8, 8, n])).collect();
        let silent = Arc::new(Silent { addresses, ..Silent::default() });
        let (ended, _) = connect_to(&silent).await;
        assert!(matches!(ended, Err(Stop::Refused(Reason::TooManyAddresses))), "{ended:?}");
        assert!(silent.dialled.lock().unwrap().is_empty());
    }
}
