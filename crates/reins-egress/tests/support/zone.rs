//! Names with scripted answers, asked directly or by DNS over UDP.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;
use tokio::net::UdpSocket;

/// A record of a name.
#[derive(Clone, Debug, PartialEq)]
enum Record {
    Address(IpAddr),
    Alias(String),
}

/// Each name with the answers of each round; the last round stays.
pub(crate) struct Zone {
    names: HashMap<String, Vec<Vec<Record>>>,
    round: Mutex<usize>,
    asked: Mutex<Vec<String>>,
}

/// Aliases that are followed.
const ALIASES: usize = 8;

impl Zone {
    /// Reads `("name", "10.0.0.1 ::1 >other.name | 8.8.8.8")`: addresses, aliases after `>`, rounds between `|`.
    pub(crate) fn new<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let names = entries
            .into_iter()
            .map(|(name, rounds)| {
                let rounds = rounds.split('|').map(|round| {
                    round
                        .split_whitespace()
                        .map(|record| match record.strip_prefix('>') {
                            Some(alias) => Record::Alias(alias.to_owned()),
                            None => Record::Address(record.parse().expect(record)),
                        })
                        .collect()
                });
                (name.to_owned(), rounds.collect())
            })
            .collect();
        Self { names, round: Mutex::new(0), asked: Mutex::default() }
    }

    /// From now on the answers of the next round are given.
    pub(crate) fn next_round(&self) {
        *self.round.lock().unwrap() += 1;
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn look_up(&self, name: &str) -> Vec<IpAddr> {
        self.asked.lock().unwrap().push(name.to_owned());
        self.chain(name).into_iter().flat_map(|(_, addresses)| addresses).collect()
    }

    /// Each name of the chain of aliases with its own addresses.
    fn chain(&self, name: &str) -> Vec<(String, Vec<IpAddr>)> {
        let round = *self.round.lock().unwrap();
        let mut name = name.trim_end_matches('.').to_ascii_lowercase();
        let mut chain = Vec::new();
        for _ in 0..ALIASES {
            let Some(rounds) = self.names.get(&name) else { break };
            let records = &rounds[round.min(rounds.len() - 1)];
            let addresses = records.iter().filter_map(|record| match record {
                Record::Address(address) => Some(*address),
                Record::Alias(_) => None,
            });
            chain.push((name.clone(), addresses.collect()));
            let alias = records.iter().find_map(|record| match record {
                Record::Alias(alias) => Some(alias.clone()),
                Record::Address(_) => None,
            });
            match alias {
                Some(alias) => name = alias,
                None => break,
            }
        }
        chain
    }

    /// Answers one DNS question. Only what the system's resolver asks is understood: A and AAAA.
    pub(crate) fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        let mut at = 12;
        loop {
            let length = usize::from(*question.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            name.push(String::from_utf8(question.get(at..at + length)?.to_vec()).ok()?);
            at += length;
        }
        let kind = u16::from_be_bytes([*question.get(at)?, *question.get(at + 1)?]);
        let end = at + 4;
        let name = name.join(".");
        self.asked.lock().unwrap().push(name.clone());
        let chain = self.chain(&name);
        let mut records = Vec::new();
        for (place, (name, addresses)) in chain.iter().enumerate() {
            if let Some((next, _)) = chain.get(place + 1) {
                records.push(record(name, 5, &encoded(next)));
            }
            for address in addresses {
                match address {
                    IpAddr::V4(v4) if kind == 1 => records.push(record(name, 1, &v4.octets())),
                    IpAddr::V6(v6) if kind == 28 => records.push(record(name, 28, &v6.octets())),
                    IpAddr::V4(Ipv4Addr { .. }) | IpAddr::V6(Ipv6Addr { .. }) => {}
                }
            }
        }
        let mut answer = question.get(..2)?.to_vec();
        // An answer of the zone's own server; unknown names do not exist.
        answer.extend(if chain.is_empty() { [0x85, 0x83] } else { [0x85, 0x80] });
        answer.extend([0, 1]);
        answer.extend(u16::try_from(records.len()).ok()?.to_be_bytes());
        answer.extend([0, 0, 0, 0]);
        answer.extend(question.get(12..end)?);
        answer.extend(records.concat());
        Some(answer)
    }

    /// Serves DNS until the socket fails.
    pub(crate) async fn serve(&self, socket: UdpSocket) {
        let mut question = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut question).await {
            if let Some(answer) = self.answer(&question[..length]) {
                let _ = socket.send_to(&answer, from).await;
            }
        }
    }
}

fn encoded(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for label in name.split('.') {
        out.push(u8::try_from(label.len()).unwrap());
        out.extend(label.as_bytes());
    }
    out.push(0);
    out
}

/// A record that lives for no time at all, as an attacker's would.
fn record(name: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = encoded(name);
    out.extend(kind.to_be_bytes());
    out.extend([0, 1, 0, 0, 0, 0]);
    out.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    out.extend(data);
    out
}
