//! Tickets: who may watch or drive one browser, for a moment, once (S-080…S-087).
//!
//! `base64url(JSON) "." base64url(HMAC-SHA256)` (S-X05). The key derives from the browser's own token, so a
//! ticket is worth nothing for another browser. Beside that, a ticket is accepted only if this process issued it
//! and nobody has used it: a clock that is set back brings none back to life.

use super::limits::{
    CLOCK_SKEW, NAME_CHARS, TICKET_CHARS, TICKET_LIFE, TICKET_LIFE_MAX, TICKETS_OUT,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reins_core::Secret;
use ring::hmac;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Another form of tickets gets another label, and then none of these fits its key.
const LABEL: &[u8] = b"reins live ticket v1";

const VERSION: u8 = 1;

/// What a ticket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Watching.
    View,
    /// Taking over, and watching.
    Control,
}

/// Who asks for a ticket. Whether they may is decided before (S-082).
#[derive(Clone, Debug)]
pub struct TicketRequest {
    /// Which person, as the daemon knows them. Never shown.
    pub subject: String,
    /// What the others see.
    pub name: String,
    /// What for.
    pub mode: Mode,
}

/// A ticket on its way to the person. It prints as `[redacted]`.
#[derive(Clone)]
pub struct Ticket {
    text: Secret<String>,
    /// What it is for.
    pub mode: Mode,
    /// Until when it is accepted.
    pub expires_at: SystemTime,
}

impl Ticket {
    /// The ticket itself, for the answer to who asked.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Whom an accepted ticket stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) subject: String,
    pub(crate) name: String,
    pub(crate) mode: Mode,
}

/// Why a ticket was not accepted. The person is told no more than that it was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum BadTicket {
    #[error("it has not the form of a ticket")]
    Form,
    #[error("its signature is not ours, or it is for another browser")]
    Signature,
    #[error("it is too old, or from the future")]
    Time,
    #[error("it was used before, or never issued")]
    Used,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    v: u8,
    sid: String,
    sub: String,
    name: String,
    mode: Mode,
    /// Seconds since 1970.
    iat: u64,
    exp: u64,
    jti: String,
}

/// The tickets of one browser.
pub(crate) struct Tickets {
    key: hmac::Key,
    session: String,
    /// Issued and not used, oldest first.
    out: VecDeque<[u8; 16]>,
}

impl Tickets {
    pub(crate) fn new(session: &str, token: &Secret<String>) -> Self {
        let token = hmac::Key::new(hmac::HMAC_SHA256, token.expose().as_bytes());
        let derived = hmac::sign(&token, LABEL);
        let key = hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref());
        Self { key, session: session.to_owned(), out: VecDeque::new() }
    }

    /// Makes a ticket. `id` is fresh randomness.
    pub(crate) fn issue(
        &mut self,
        request: &TicketRequest,
        now: SystemTime,
        id: [u8; 16],
    ) -> Ticket {
        let issued = seconds(now);
        let claims = Claims {
            v: VERSION,
            sid: self.session.clone(),
            sub: request.subject.chars().take(NAME_CHARS).collect(),
            name: shown(&request.name),
            mode: request.mode,
            iat: issued,
            exp: issued + TICKET_LIFE.as_secs(),
            jti: URL_SAFE_NO_PAD.encode(id),
        };
        if self.out.len() >= TICKETS_OUT {
            self.out.pop_front();
        }
        self.out.push_back(id);
        // Plain data of ours always encodes.
        let json = serde_json::to_vec(&claims).unwrap_or_default();
        let mut text = URL_SAFE_NO_PAD.encode(json);
        let signature = hmac::sign(&self.key, text.as_bytes());
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut text);
        let expires_at = UNIX_EPOCH + Duration::from_secs(claims.exp);
        Ticket { text: Secret::new(text), mode: request.mode, expires_at }
    }

    /// Uses a ticket up. One that is refused is not.
    pub(crate) fn redeem(&mut self, text: &str, now: SystemTime) -> Result<Holder, BadTicket> {
        if text.len() > TICKET_CHARS {
            return Err(BadTicket::Form);
        }
        let (payload, signature) = text.split_once('.').ok_or(BadTicket::Form)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| BadTicket::Form)?;
        // Takes the same time whatever differs.
        hmac::verify(&self.key, payload.as_bytes(), &signature)
            .map_err(|_| BadTicket::Signature)?;
        let json = URL_SAFE_NO_PAD.decode(payload).map_err(|_| BadTicket::Form)?;
        let claims: Claims = serde_json::from_slice(&json).map_err(|_| BadTicket::Form)?;
        let fits = claims.v == VERSION && claims.name.chars().count() <= NAME_CHARS;
        if !fits {
            return Err(BadTicket::Form);
        }
        if claims.sid != self.session {
            return Err(BadTicket::Signature);
        }
        let (now, skew) = (seconds(now), CLOCK_SKEW.as_secs());
        let life = claims.exp.checked_sub(claims.iat).ok_or(BadTicket::Time)?;
        if life > TICKET_LIFE_MAX.as_secs()
            || claims.iat > now.saturating_add(skew)
            || now >= claims.exp.saturating_add(skew)
        {
            return Err(BadTicket::Time);
        }
        let id = URL_SAFE_NO_PAD.decode(&claims.jti).map_err(|_| BadTicket::Form)?;
        let at = self.out.iter().position(|out| out[..] == id[..]).ok_or(BadTicket::Used)?;
        self.out.remove(at);
        Ok(Holder { subject: claims.sub, name: claims.name, mode: claims.mode })
    }
}

/// A name as others may see it: one short line.
pub(crate) fn shown(name: &str) -> String {
    let plain: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
    let plain = plain.trim();
    if plain.is_empty() { "someone".to_owned() } else { plain.to_owned() }
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000 + second)
    }

    fn tickets(token: &str) -> Tickets {
        Tickets::new("s1", &Secret::new(token.to_owned()))
    }

    fn request(mode: Mode) -> TicketRequest {
        TicketRequest { subject: "u7".into(), name: "Ann".into(), mode }
    }

    /// S-084: once, and for thirty seconds and the skew of clocks.
    #[test]
    fn s084_a_ticket_is_accepted_once_and_only_while_it_lives() {
        let mut all = tickets("token");
        let ticket = all.issue(&request(Mode::Control), at(0), [1; 16]);
        assert_eq!(ticket.expires_at, at(30));
        assert_eq!(all.redeem(ticket.expose(), at(36)), Err(BadTicket::Time));
        let holder = all.redeem(ticket.expose(), at(34)).unwrap();
        assert_eq!((holder.name.as_str(), holder.mode), ("Ann", Mode::Control));
        assert_eq!(all.redeem(ticket.expose(), at(1)), Err(BadTicket::Used));
        let early = all.issue(&request(Mode::View), at(100), [2; 16]);
        assert_eq!(all.redeem(early.expose(), at(94)), Err(BadTicket::Time));
        assert!(all.redeem(early.expose(), at(95)).is_ok());
    }

    /// S-085: it is worth nothing for another browser, nor for another session with the same token.
    #[test]
    fn s085_a_ticket_of_another_browser_is_refused() {
        let ticket = tickets("token").issue(&request(Mode::View), at(0), [1; 16]);
        let mut other = tickets("tokem");
        other.out.push_back([1; 16]);
        assert_eq!(other.redeem(ticket.expose(), at(0)), Err(BadTicket::Signature));
        let mut session = Tickets::new("s2", &Secret::new("token".to_owned()));
        session.out.push_back([1; 16]);
        assert_eq!(session.redeem(ticket.expose(), at(0)), Err(BadTicket::Signature));
    }

    /// S-X06: the bounds of length, name and life, and one version.
    #[test]
    fn s_x06_tickets_outside_their_bounds_are_refused() {
        let mut all = tickets("token");
        let long = TicketRequest { name: "ä".repeat(500), ..request(Mode::View) };
        let ticket = all.issue(&long, at(0), [1; 16]);
        assert!(ticket.expose().len() <= TICKET_CHARS);
        assert_eq!(all.redeem(ticket.expose(), at(0)).unwrap().name.chars().count(), NAME_CHARS);
        let sign = |json: &str| {
            let mut text = URL_SAFE_NO_PAD.encode(json);
            let signature = hmac::sign(&all.key, text.as_bytes());
            text.push('.');
            URL_SAFE_NO_PAD.encode_string(signature, &mut text);
            text
        };
        let now = seconds(at(0));
        let claims = |v: u8, life: u64, name: &str, more: &str| {
            format!(
                r#"{{"v":{v},"sid":"s1","sub":"u","name":"{name}","mode":"view","iat":{now},"exp":{},"jti":"AAAA"{more}}}"#,
                now + life
            )
        };
        let cases = [
            (sign(&claims(1, 61, "A", "")), BadTicket::Time),
            (sign(&claims(2, 30, "A", "")), BadTicket::Form),
            (sign(&claims(1, 30, &"x".repeat(81), "")), BadTicket::Form),
            (sign(&claims(1, 30, "A", ",\"admin\":true")), BadTicket::Form),
            (sign("{}"), BadTicket::Form),
            (sign(&claims(1, 30, "A", "")), BadTicket::Used),
            ("x".repeat(TICKET_CHARS + 1), BadTicket::Form),
            (String::new(), BadTicket::Form),
            ("a.b.c".into(), BadTicket::Form),
        ];
        for (text, why) in cases {
            assert_eq!(all.redeem(&text, at(0)), Err(why), "{text}");
        }
    }

    /// A ticket reaches no log.
    #[test]
    fn a_ticket_prints_as_redacted() {
        let mut all = tickets("token");
        let ticket = all.issue(&request(Mode::View), at(0), [1; 16]);
        let printed = format!("{ticket:?}");
        assert!(!printed.contains(&ticket.expose()[..20]), "{printed}");
    }

    /// More tickets than anybody asks for cost bounded memory, and the newest count.
    #[test]
    fn tickets_that_nobody_uses_are_forgotten() {
        let mut all = tickets("token");
        let id = |n: usize| u128::try_from(n).unwrap().to_be_bytes();
        let issued: Vec<_> =
            (0..TICKETS_OUT + 1).map(|n| all.issue(&request(Mode::View), at(0), id(n))).collect();
        assert_eq!(all.out.len(), TICKETS_OUT);
        assert_eq!(all.redeem(issued[0].expose(), at(1)), Err(BadTicket::Used));
        assert!(all.redeem(issued[TICKETS_OUT].expose(), at(1)).is_ok());
    }

    proptest! {
        /// S-085: whatever is changed in a ticket, it is refused and the real one still counts.
        #[test]
        fn s085_a_changed_ticket_is_refused(position in any::<prop::sample::Index>(), with in "[A-Za-z0-9_.-]") {
            let mut all = tickets("token");
            let ticket = all.issue(&request(Mode::Control), at(0), [7; 16]);
            let mut text: Vec<char> = ticket.expose().chars().collect();
            let position = position.index(text.len());
            let with = with.chars().next().unwrap();
            prop_assume!(text[position] != with);
            text[position] = with;
            let text: String = text.into_iter().collect();
            // The last digit of a signature holds bits that decode to nothing; those forms are refused as well.
            prop_assert!(all.redeem(&text, at(0)).is_err());
            prop_assert!(all.redeem(ticket.expose(), at(0)).is_ok());
        }

        #[test]
        fn s087_any_text_is_refused_without_harm(text in ".{0,300}") {
            let mut all = tickets("token");
            let ticket = all.issue(&request(Mode::View), at(0), [7; 16]);
            prop_assert!(all.redeem(&text, at(0)).is_err());
            prop_assert!(all.redeem(ticket.expose(), at(0)).is_ok());
        }
    }
}
