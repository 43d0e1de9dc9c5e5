//! A tab in other clothes: another screen, device, locale or network, for this tab alone and until it is
//! reset or closed. No window changes, and nothing of it outlives the tab.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::page_call::{ask, wire_error};
use crate::protocol::inspect as wire;
use crate::tab::{ARMING, Tab};
use reins_cdp::wire::Command;
use reins_cdp::{CallError, Session};
use reins_core::TabId;
use std::fmt;
use std::sync::PoisonError;
use std::time::Duration;

/// What a tab is made to look like. What is `None` is as the browser has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emulation {
    /// What the page is laid out in.
    pub size: Option<ScreenSize>,
    /// Device pixels to a CSS pixel.
    pub scale: Option<f64>,
    /// Laid out as a mobile browser does.
    pub mobile: Option<bool>,
    /// The screen can be touched.
    pub touch: Option<bool>,
    /// The colours that the person prefers.
    pub color_scheme: Option<ColorScheme>,
    /// The person prefers less motion.
    pub reduced_motion: Option<bool>,
    /// What the browser calls itself. Empty: as it does.
    pub user_agent: Option<String>,
    /// The language, such as `de-DE`. Empty: as it is.
    pub locale: Option<String>,
    /// The time zone, such as `Europe/Berlin`. Empty: as it is.
    pub timezone: Option<String>,
    /// How good the network is.
    pub network: Option<NetworkPreset>,
    /// How many times slower the processor is.
    pub cpu: Option<f64>,
}

/// A size in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// How wide.
    pub width: u32,
    /// How high.
    pub height: u32,
}

/// Colours that a person prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// How good the network is, as Chromium's own developer tools have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkPreset {
    /// As it is.
    Online,
    /// There is none.
    Offline,
    /// 400 kbit/s, 2 s.
    Slow3g,
    /// 1.4 Mbit/s, 560 ms.
    Fast3g,
    /// 8.1 Mbit/s, 165 ms.
    Fast4g,
}

impl NetworkPreset {
    fn conditions(self) -> wire::SetNetwork {
        // Latency in milliseconds, then bytes a second down and up; -1 is as fast as it is.
        let (latency, down, up) = match self {
            Self::Online | Self::Offline => (0.0, -1.0, -1.0),
            Self::Slow3g => (2_000.0, 50_000.0, 50_000.0),
            Self::Fast3g => (562.5, 180_000.0, 84_375.0),
            Self::Fast4g => (165.0, 1_012_500.0, 168_750.0),
        };
        wire::SetNetwork {
            offline: self == Self::Offline,
            latency,
            download_throughput: down,
            upload_throughput: up,
        }
    }
}

/// Chromium changes these together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Screen,
    Touch,
    Media,
    Identity,
    Timezone,
    Network,
    Processor,
}

const PARTS: &[Part] = &[
    Part::Screen,
    Part::Touch,
    Part::Media,
    Part::Identity,
    Part::Timezone,
    Part::Network,
    Part::Processor,
];

/// A page that is laid out anew can be slow; it then has the new size all the same.
const CHANGING: Duration = Duration::from_secs(8);

/// What a touch screen of a phone can tell apart.
const FINGERS: u8 = 5;

impl Emulation {
    /// The same with what `change` gives.
    fn with(mut self, change: Emulation) -> Self {
        fn take<T>(to: &mut Option<T>, from: Option<T>) {
            if from.is_some() {
                *to = from;
            }
        }
        take(&mut self.size, change.size);
        take(&mut self.scale, change.scale);
        take(&mut self.mobile, change.mobile);
        take(&mut self.touch, change.touch);
        take(&mut self.color_scheme, change.color_scheme);
        take(&mut self.reduced_motion, change.reduced_motion);
        take(&mut self.user_agent, change.user_agent);
        take(&mut self.locale, change.locale);
        take(&mut self.timezone, change.timezone);
        take(&mut self.network, change.network);
        take(&mut self.cpu, change.cpu);
        self.plain()
    }

    /// What says nothing else than the browser itself is left out.
    fn plain(mut self) -> Self {
        let named = |text: &String| !text.trim().is_empty();
        self.mobile = self.mobile.filter(|on| *on);
        self.touch = self.touch.filter(|on| *on);
        self.user_agent = self.user_agent.filter(named);
        self.locale = self.locale.filter(named);
        self.timezone = self.timezone.filter(named);
        self.network = self.network.filter(|network| *network != NetworkPreset::Online);
        self.cpu = self.cpu.filter(|rate| *rate > 1.0);
        self
    }

    /// Takes one part of another.
    fn take(&mut self, part: Part, from: &Emulation) {
        match part {
            Part::Screen => {
                (self.size, self.scale, self.mobile) = (from.size, from.scale, from.mobile);
            }
            Part::Touch => self.touch = from.touch,
            Part::Media => {
                self.color_scheme = from.color_scheme;
                self.reduced_motion = from.reduced_motion;
            }
            Part::Identity => {
                self.user_agent.clone_from(&from.user_agent);
                self.locale.clone_from(&from.locale);
            }
            Part::Timezone => self.timezone.clone_from(&from.timezone),
            Part::Network => self.network = from.network,
            Part::Processor => self.cpu = from.cpu,
        }
    }
}

impl fmt::Display for Emulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.size.map(|size| format!("{} x {} CSS pixels", size.width, size.height)));
        parts.extend(self.scale.map(|scale| format!("scale {scale}")));
        parts.extend(self.mobile.map(|_| "mobile".to_owned()));
        parts.extend(self.touch.map(|_| "touch".to_owned()));
        parts.extend(self.color_scheme.map(|scheme| match scheme {
            ColorScheme::Light => "light colours".to_owned(),
            ColorScheme::Dark => "dark colours".to_owned(),
        }));
        parts.extend(
            self.reduced_motion
                .map(|on| if on { "less motion".to_owned() } else { "full motion".to_owned() }),
        );
        parts.extend(self.user_agent.as_ref().map(|name| format!("user agent \"{name}\"")));
        parts.extend(self.locale.as_ref().map(|locale| format!("locale {locale}")));
        parts.extend(self.timezone.as_ref().map(|zone| format!("time zone {zone}")));
        parts.extend(self.network.map(|network| match network {
            NetworkPreset::Online => "online".to_owned(),
            NetworkPreset::Offline => "offline".to_owned(),
            NetworkPreset::Slow3g => "network as slow 3G".to_owned(),
            NetworkPreset::Fast3g => "network as fast 3G".to_owned(),
            NetworkPreset::Fast4g => "network as 4G".to_owned(),
        }));
        parts.extend(self.cpu.map(|rate| format!("processor {rate} times slower")));
        f.write_str(&parts.join(", "))
    }
}

impl Browser {
    /// Makes a tab look otherwise: what `change` gives is set, the rest stays, or goes first with `reset`.
    /// Answers what holds now.
    ///
    /// # Errors
    /// The tab is gone, or Chromium does not accept a value; what came before it in the order of the
    /// fields is then set.
    pub async fn emulate(
        &self,
        tab: &TabId,
        change: Emulation,
        reset: bool,
    ) -> Result<Emulation, BrowserError> {
        let tab = self.inner.tab(tab)?;
        if let Some(error) = tab.obstacle() {
            return Err(error);
        }
        let before = tab.emulation();
        let wanted = if reset { Emulation::default() } else { before.clone() }.with(change);
        if let Some(zone) = &wanted.timezone
            && before.timezone != wanted.timezone
        {
            known_zone(&tab, zone).await?;
        }
        let mut now = before;
        for part in PARTS {
            let mut next = now.clone();
            next.take(*part, &wanted);
            if next == now {
                continue;
            }
            set(&tab.session, *part, &next).await.map_err(|error| refused(*part, error))?;
            // Noted first: a frame that comes up meanwhile is told by one of the two.
            *tab.worn.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
            // Frames of other processes and workers follow; what they do not know does not concern them.
            for (session, worker) in tab.state().children.values() {
                follow(session, *worker, *part, &next);
            }
            now = next;
        }
        Ok(now)
    }
}

impl Tab {
    /// What the tab is made to look like.
    pub(crate) fn emulation(&self) -> Emulation {
        self.worn.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives a new frame or worker what the tab is made to look like, before it runs.
    pub(crate) fn dress(&self, session: &Session, worker: bool) {
        let now = self.emulation();
        if now == Emulation::default() {
            return;
        }
        let mut plain = Emulation::default();
        for part in PARTS {
            let before = plain.clone();
            plain.take(*part, &now);
            if plain != before {
                follow(session, worker, *part, &now);
            }
        }
    }
}

fn refused(part: Part, error: CallError) -> BrowserError {
    let what = match part {
        Part::Screen => "this size, scale or mobile layout",
        Part::Touch => "touch",
        Part::Media => "these colours or this motion",
        Part::Identity => "this user agent or locale",
        Part::Timezone => "this time zone",
        Part::Network => "this network",
        Part::Processor => "this slowdown",
    };
    match error {
        CallError::Answered { message, .. } => BrowserError::Page {
            what: format!("the browser does not accept {what} ({message}); give another"),
        },
        error => wire_error("the emulation", error),
    }
}

/// Chromium takes a zone that it does not know without a word and changes nothing.
async fn known_zone(tab: &Tab, zone: &str) -> Result<(), BrowserError> {
    let main = tab.state().main.clone();
    let Some((world, _)) = tab.world(&main) else { return Ok(()) };
    let zone = serde_json::Value::from(zone);
    let asked = format!(
        "(()=>{{try{{new Intl.DateTimeFormat('en',{{timeZone:{zone}}});return true}}catch{{return false}}}})()"
    );
    if ask(&world, &asked, false, CHANGING).answer::<bool>().await? {
        return Ok(());
    }
    Err(BrowserError::Page {
        what: format!("the browser knows no time zone {zone}; give one such as Europe/Berlin"),
    })
}

async fn set(session: &Session, part: Part, now: &Emulation) -> Result<(), CallError> {
    async fn run<C: Command>(session: &Session, command: C) -> Result<(), CallError> {
        session.run(command, CHANGING).await.map(drop)
    }
    match part {
        Part::Screen if (now.size, now.scale, now.mobile) == (None, None, None) => {
            run(session, wire::ClearScreen {}).await
        }
        Part::Screen => run(session, screen(now)).await,
        Part::Touch => run(session, touch(now)).await,
        Part::Media => run(session, media(now)).await,
        Part::Identity => {
            run(session, wire::SetLocale { locale: now.locale.as_deref() }).await?;
            run(session, identity(now)).await
        }
        Part::Timezone => run(session, timezone(now)).await,
        Part::Network => run(session, network(now)).await,
        Part::Processor => run(session, processor(now)).await,
    }
}

/// The screen is the tab's; everything else each process is told for itself.
fn follow(session: &Session, worker: bool, part: Part, now: &Emulation) {
    match part {
        Part::Screen => {}
        Part::Identity => drop(session.post(identity(now), ARMING)),
        Part::Network => drop(session.post(network(now), ARMING)),
        _ if worker => {}
        Part::Touch => drop(session.post(touch(now), ARMING)),
        Part::Media => drop(session.post(media(now), ARMING)),
        Part::Timezone => drop(session.post(timezone(now), ARMING)),
        Part::Processor => drop(session.post(processor(now), ARMING)),
    }
    if part == Part::Identity && !worker {
        drop(session.post(wire::SetLocale { locale: now.locale.as_deref() }, ARMING));
    }
}

fn screen(now: &Emulation) -> wire::SetScreen {
    // Zero is as it is.
    let size = now.size.unwrap_or(ScreenSize { width: 0, height: 0 });
    wire::SetScreen {
        width: size.width,
        height: size.height,
        device_scale_factor: now.scale.unwrap_or(0.0),
        mobile: now.mobile.unwrap_or(false),
    }
}

fn touch(now: &Emulation) -> wire::SetTouch {
    let enabled = now.touch.unwrap_or(false);
    wire::SetTouch { enabled, max_touch_points: enabled.then_some(FINGERS) }
}

fn media(now: &Emulation) -> wire::SetMedia<'static> {
    let mut features = Vec::new();
    if let Some(scheme) = now.color_scheme {
        let value = if scheme == ColorScheme::Dark { "dark" } else { "light" };
        features.push(wire::MediaFeature { name: "prefers-color-scheme", value });
    }
    if let Some(reduced) = now.reduced_motion {
        let value = if reduced { "reduce" } else { "no-preference" };
        features.push(wire::MediaFeature { name: "prefers-reduced-motion", value });
    }
    wire::SetMedia { features }
}

fn identity(now: &Emulation) -> wire::SetUserAgent<'_> {
    // An empty name leaves the browser's own, its client hints included.
    let user_agent = now.user_agent.as_deref().unwrap_or_default();
    wire::SetUserAgent { user_agent, accept_language: now.locale.as_deref() }
}

fn timezone(now: &Emulation) -> wire::SetTimezone<'_> {
    wire::SetTimezone { timezone_id: now.timezone.as_deref().unwrap_or_default() }
}

fn network(now: &Emulation) -> wire::SetNetwork {
    now.network.unwrap_or(NetworkPreset::Online).conditions()
}

fn processor(now: &Emulation) -> wire::SetProcessor {
    wire::SetProcessor { rate: now.cpu.unwrap_or(1.0) }
}
