//! Who holds the browser: the agent, or one person. Pure: time comes in, what changed goes out (S-064…S-072).

use super::limits::{GRACE, TAKE_WAIT, WINDOW_QUIET};
use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;
use tokio::time::Instant;

/// One connection that watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ViewerId(pub(crate) u64);

impl fmt::Display for ViewerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// A step of the agent under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PassageId(u64);

/// A person, as one who drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    /// Which one. Two connections of one person have the same.
    pub(crate) subject: String,
    /// What the others see.
    pub(crate) name: String,
}

/// A moment on both clocks: one to count by, one to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    pub(crate) wall: SystemTime,
}

/// Why a person no longer drives (S-105).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// They handed back.
    HandedBack,
    /// They stopped watching.
    StoppedWatching,
    /// Their connection broke, and they did not come back in time (S-067).
    ConnectionLost,
    /// Nobody has used the window for a while.
    WindowQuiet,
    /// The browser stopped.
    BrowserStopped,
}

impl EndCause {
    /// The stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::HandedBack => "handed_back",
            Self::StoppedWatching => "stopped_watching",
            Self::ConnectionLost => "connection_lost",
            Self::WindowQuiet => "window_quiet",
            Self::BrowserStopped => "browser_stopped",
        }
    }
}

/// What others have to be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Started {
        name: String,
        at: SystemTime,
    },
    Ended {
        name: String,
        at: SystemTime,
        cause: EndCause,
    },
    /// Taking over did not come about, because the agent's step did not end.
    StillActs {
        viewer: ViewerId,
        tool: String,
        since: SystemTime,
    },
}

/// What came of a wish to take over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    Drives,
    /// A step of the agent is under way. No further one begins, and the person has it when that ends.
    WaitsFor {
        tool: String,
    },
    /// Somebody else has it.
    Held {
        by: String,
        since: SystemTime,
    },
}

/// How the window's person is called; nobody knows more of them.
pub(crate) const AT_THE_WINDOW: &str = "someone at the window";

#[derive(Debug)]
enum Hold {
    Free,
    /// Waits for the agent's step to end.
    Arriving {
        person: Person,
        viewer: ViewerId,
        until: Instant,
    },
    Driven {
        person: Person,
        hands: Hands,
        since: SystemTime,
    },
    /// The connection broke. Nobody drives, and nobody else may.
    Grace {
        person: Person,
        since: SystemTime,
        until: Instant,
    },
}

#[derive(Debug, PartialEq, Eq)]
enum Hands {
    Viewer(ViewerId),
    Window { quiet: Instant },
}

/// Who holds the browser.
#[derive(Debug)]
pub(crate) struct Takeover {
    hold: Hold,
    running: BTreeMap<PassageId, (String, SystemTime)>,
    next: u64,
    changes: Vec<Change>,
}

impl Default for Takeover {
    fn default() -> Self {
        Self { hold: Hold::Free, running: BTreeMap::new(), next: 0, changes: Vec::new() }
    }
}

impl Takeover {
    /// A person wants to drive.
    pub(crate) fn take(&mut self, viewer: ViewerId, person: Person, now: Now) -> Take {
        match &mut self.hold {
            Hold::Driven { person: p, hands, since }
                if p.subject != person.subject || !hands.is_viewer() =>
            {
                Take::Held { by: p.name.clone(), since: *since }
            }
            Hold::Driven { hands, .. } => {
                // The same person from elsewhere: there it goes on.
                *hands = Hands::Viewer(viewer);
                Take::Drives
            }
            Hold::Grace { person: p, since, .. } if p.subject != person.subject => {
                Take::Held { by: p.name.clone(), since: *since }
            }
            Hold::Grace { since, .. } => {
                let since = *since;
                self.hold = Hold::Driven { person, hands: Hands::Viewer(viewer), since };
                Take::Drives
            }
            Hold::Arriving { person: p, .. } if p.subject != person.subject => {
                Take::Held { by: p.name.clone(), since: now.wall }
            }
            Hold::Free | Hold::Arriving { .. } => {
                match self.running.values().next().map(|(tool, _)| tool.clone()) {
                    Some(tool) => {
                        let until = now.instant + TAKE_WAIT;
                        self.hold = Hold::Arriving { person, viewer, until };
                        Take::WaitsFor { tool }
                    }
                    None => {
                        self.start(person, Hands::Viewer(viewer), now);
                        Take::Drives
                    }
                }
            }
        }
    }

    /// Someone used the window itself. Whoever drives already, drives.
    pub(crate) fn window_used(&mut self, now: Now) {
        let quiet = now.instant + WINDOW_QUIET;
        match &mut self.hold {
            Hold::Driven { hands: Hands::Window { quiet: q }, .. } => *q = quiet,
            Hold::Free => {
                let person = Person { subject: String::new(), name: AT_THE_WINDOW.to_owned() };
                self.start(person, Hands::Window { quiet }, now);
            }
            Hold::Driven { .. } | Hold::Grace { .. } | Hold::Arriving { .. } => {}
        }
    }

    /// Gives control back. Nothing happens if this viewer does not have it.
    pub(crate) fn hand_back(&mut self, viewer: ViewerId, now: Now) {
        self.release(viewer, EndCause::HandedBack, now);
    }

    /// A viewer left: by will, or by a broken connection.
    pub(crate) fn left(&mut self, viewer: ViewerId, by_will: bool, now: Now) {
        if by_will {
            self.release(viewer, EndCause::StoppedWatching, now);
            return;
        }
        match &self.hold {
            Hold::Arriving { viewer: v, .. } if *v == viewer => self.hold = Hold::Free,
            Hold::Driven { person, hands: Hands::Viewer(v), since } if *v == viewer => {
                self.hold = Hold::Grace {
                    person: person.clone(),
                    since: *since,
                    until: now.instant + GRACE,
                };
            }
            _ => {}
        }
    }

    /// Whether a step of the agent may begin.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self.hold, Hold::Free)
    }

    /// A step of the agent begins.
    pub(crate) fn begin(&mut self, tool: &str, now: Now) -> PassageId {
        self.next += 1;
        let id = PassageId(self.next);
        self.running.insert(id, (tool.to_owned(), now.wall));
        id
    }

    /// A step of the agent is over.
    pub(crate) fn end(&mut self, passage: PassageId, now: Now) {
        self.running.remove(&passage);
        if !self.running.is_empty() {
            return;
        }
        if let Hold::Arriving { person, viewer, .. } = &self.hold {
            let (person, hands) = (person.clone(), Hands::Viewer(*viewer));
            self.start(person, hands, now);
        }
    }

    /// Whether this viewer's input is to be relayed (S-156).
    pub(crate) fn drives(&self, viewer: ViewerId) -> bool {
        matches!(&self.hold, Hold::Driven { hands: Hands::Viewer(v), .. } if *v == viewer)
    }

    /// Who has control, since when, and from which connection. Someone who may still come back has it too.
    pub(crate) fn driver(&self) -> Option<(&Person, SystemTime, Option<ViewerId>)> {
        match &self.hold {
            Hold::Free | Hold::Arriving { .. } => None,
            Hold::Driven { person, hands: Hands::Viewer(v), since } => {
                Some((person, *since, Some(*v)))
            }
            Hold::Driven { person, since, .. } | Hold::Grace { person, since, .. } => {
                Some((person, *since, None))
            }
        }
    }

    /// Who keeps the agent waiting: whoever has control, or is about to.
    pub(crate) fn holder(&self, now: Now) -> Option<(&str, SystemTime)> {
        match &self.hold {
            Hold::Arriving { person, .. } => Some((&person.name, now.wall)),
            _ => self.driver().map(|(person, since, _)| (person.name.as_str(), since)),
        }
    }

    /// Lets pass what time has decided.
    pub(crate) fn pass_time(&mut self, now: Now) {
        let due = self.next_deadline().is_some_and(|at| at <= now.instant);
        if !due {
            return;
        }
        match std::mem::replace(&mut self.hold, Hold::Free) {
            Hold::Free => {}
            Hold::Arriving { viewer, .. } => {
                let running = self.running.values().next().cloned();
                let (tool, since) = running.unwrap_or_else(|| (String::new(), now.wall));
                self.changes.push(Change::StillActs { viewer, tool, since });
            }
            Hold::Driven { person, .. } => self.ended(person, EndCause::WindowQuiet, now),
            Hold::Grace { person, .. } => self.ended(person, EndCause::ConnectionLost, now),
        }
    }

    /// When time decides next.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        match &self.hold {
            Hold::Arriving { until, .. } | Hold::Grace { until, .. } => Some(*until),
            Hold::Driven { hands: Hands::Window { quiet }, .. } => Some(*quiet),
            Hold::Free | Hold::Driven { .. } => None,
        }
    }

    /// The browser stopped.
    pub(crate) fn stop(&mut self, now: Now) {
        match std::mem::replace(&mut self.hold, Hold::Free) {
            Hold::Driven { person, .. } | Hold::Grace { person, .. } => {
                self.ended(person, EndCause::BrowserStopped, now);
            }
            Hold::Free | Hold::Arriving { .. } => {}
        }
    }

    /// What changed since this was asked last, in order.
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    fn release(&mut self, viewer: ViewerId, cause: EndCause, now: Now) {
        match &self.hold {
            Hold::Arriving { viewer: v, .. } if *v == viewer => self.hold = Hold::Free,
            Hold::Driven { person, hands: Hands::Viewer(v), .. } if *v == viewer => {
                let person = person.clone();
                self.hold = Hold::Free;
                self.ended(person, cause, now);
            }
            _ => {}
        }
    }

    fn start(&mut self, person: Person, hands: Hands, now: Now) {
        self.changes.push(Change::Started { name: person.name.clone(), at: now.wall });
        self.hold = Hold::Driven { person, hands, since: now.wall };
    }

    fn ended(&mut self, person: Person, cause: EndCause, now: Now) {
        self.changes.push(Change::Ended { name: person.name, at: now.wall, cause });
    }
}

impl Hands {
    fn is_viewer(&self) -> bool {
        matches!(self, Self::Viewer(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    struct Clock(Instant);

    impl Clock {
        fn new() -> Self {
            Self(Instant::now())
        }

        fn at(&self, seconds: u64) -> Now {
            let since = Duration::from_secs(seconds);
            Now { instant: self.0 + since, wall: SystemTime::UNIX_EPOCH + since }
        }
    }

    fn person(name: &str) -> Person {
        Person { subject: name.to_lowercase(), name: name.to_owned() }
    }

    const A: ViewerId = ViewerId(1);
    const B: ViewerId = ViewerId(2);

    /// S-064: one drives, and the others are told who.
    #[test]
    fn s064_one_person_drives_and_is_named_to_the_others() {
        let (clock, mut all) = (Clock::new(), Takeover::default());
        assert_eq!(all.take(A, person("Ann"), clock.at(1)), Take::Drives);
        assert!(all.drives(A) && !all.drives(B) && !all.is_free());
        let held = Take::Held { by: "Ann".into(), since: clock.at(1).wall };
        assert_eq!(all.take(B, person("Bob"), clock.at(2)), held);
        all.hand_back(B, clock.at(2));
        assert!(all.drives(A), "only who has it can hand it back");
        all.hand_back(A, clock.at(3));
        assert!(all.is_free() && !all.drives(A));
        assert_eq!(all.take(B, person("Bob"), clock.at(4)), Take::Drives);
        let changes = all.take_changes();
        let (started, ended) = (clock.at(1).wall, clock.at(3).wall);
        assert_eq!(
            changes[..2],
            [
                Change::Started { name: "Ann".into(), at: started },
                Change::Ended { name: "Ann".into(), at: ended, cause: EndCause::HandedBack },
            ]
        );
    }

    /// S-067: for ten seconds the same person may go on, from wherever, and nobody else.
    #[test]
    fn s067_a_lost_connection_keeps_control_for_ten_seconds() {
        let (clock, mut all) = (Clock::new(), Takeover::default());
        all.take(A, person("Ann"), clock.at(0));
        all.left(A, false, clock.at(5));
        assert!(!all.drives(A) && !all.is_free());
        assert_eq!(all.driver().unwrap().0.name, "Ann");
        assert!(matches!(all.take(B, person("Bob"), clock.at(14)), Take::Held { .. }));
        assert_eq!(all.take(B, person("Ann"), clock.at(14)), Take::Drives);
        assert_eq!(all.driver().unwrap().1, clock.at(0).wall, "it is the same takeover");
        all.pass_time(clock.at(30));
        assert!(all.drives(B));
        all.left(B, false, clock.at(30));
        all.pass_time(clock.at(39));
        assert!(!all.is_free());
        all.pass_time(clock.at(40));
        assert!(all.is_free());
        let ended = Change::Ended {
            name: "Ann".into(),
            at: clock.at(40).wall,
            cause: EndCause::ConnectionLost,
        };
        assert_eq!(all.take_changes()[1..], [ended]);
    }

    /// S-067: from another view while the first is still there, too; that one then only watches.
    #[test]
    fn s067_the_same_person_may_go_on_from_another_view() {
        let (clock, mut all) = (Clock::new(), Takeover::default());
        all.take(A, person("Ann"), clock.at(0));
        assert_eq!(all.take(B, person("Ann"), clock.at(1)), Take::Drives);
        assert!(all.drives(B) && !all.drives(A));
        all.left(A, false, clock.at(2));
        assert!(all.drives(B));
        all.left(B, true, clock.at(3));
        assert!(all.is_free());
        assert_eq!(all.take_changes().len(), 2);
    }

    /// Taking over waits for the step under way; no other begins meanwhile, and it does not wait forever.
    #[test]
    fn s068_taking_over_waits_for_the_step_under_way_or_says_which() {
        let (clock, mut all) = (Clock::new(), Takeover::default());
        let click = all.begin("click", clock.at(0));
        let waits = Take::WaitsFor { tool: "click".into() };
        assert_eq!(all.take(A, person("Ann"), clock.at(1)), waits);
        assert!(!all.drives(A) && !all.is_free());
        all.end(click, clock.at(2));
        assert!(all.drives(A));
        all.hand_back(A, clock.at(3));
        let _stuck = all.begin("navigate", clock.at(4));
        all.take(B, person("Bob"), clock.at(5));
        all.pass_time(clock.at(15));
        assert!(all.is_free() && !all.drives(B));
        let still =
            Change::StillActs { viewer: B, tool: "navigate".into(), since: clock.at(4).wall };
        assert_eq!(all.take_changes().last(), Some(&still));
    }

    /// S-073: someone at the window drives until they have left it alone for a while.
    #[test]
    fn s073_someone_at_the_window_drives_until_it_is_quiet() {
        let (clock, mut all) = (Clock::new(), Takeover::default());
        all.window_used(clock.at(0));
        assert_eq!(all.driver().unwrap().0.name, AT_THE_WINDOW);
        assert!(matches!(all.take(A, person("Ann"), clock.at(1)), Take::Held { .. }));
        all.window_used(clock.at(8));
        all.pass_time(clock.at(12));
        assert!(!all.is_free());
        all.pass_time(clock.at(18));
        assert!(all.is_free());
        all.take(A, person("Ann"), clock.at(19));
        all.window_used(clock.at(20));
        assert!(all.drives(A), "the window takes nothing from who drives");
    }

    #[derive(Clone, Debug)]
    enum Step {
        Take(u64),
        HandBack(u64),
        Left(u64, bool),
        Window,
        Begin,
        End(usize),
        Wait(u64),
        Stop,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..4u64).prop_map(Step::Take),
            (0..4u64).prop_map(Step::HandBack),
            (0..4u64, any::<bool>()).prop_map(|(v, w)| Step::Left(v, w)),
            Just(Step::Window),
            Just(Step::Begin),
            (0..4usize).prop_map(Step::End),
            (0..15u64).prop_map(Step::Wait),
            Just(Step::Stop),
        ]
    }

    proptest! {
        /// S-064, S-068: whatever happens in whatever order, at most one viewer drives, no step of the agent
        /// begins while someone has control, none runs when a viewer begins to drive, and what is told alternates.
        #[test]
        fn s064_no_order_of_things_gives_two_drivers(steps in prop::collection::vec(step(), 0..60)) {
            let (clock, mut all, mut now) = (Clock::new(), Takeover::default(), 0);
            let mut running = Vec::new();
            let mut told: Option<String> = None;
            for step in steps {
                match step {
                    Step::Take(v) => {
                        let before = all.driver().map(|(p, ..)| p.clone());
                        // The first and the last view are of one person.
                        let who = person(["Ann", "Bob", "Cem", "Ann"][usize::try_from(v).unwrap()]);
                        let taken = all.take(ViewerId(v), who.clone(), clock.at(now));
                        if let Some(before) = before {
                            prop_assert!(taken != Take::Drives || before == who);
                        }
                        prop_assert_eq!(taken == Take::Drives, all.drives(ViewerId(v)) );
                    }
                    Step::HandBack(v) => all.hand_back(ViewerId(v), clock.at(now)),
                    Step::Left(v, will) => all.left(ViewerId(v), will, clock.at(now)),
                    Step::Window => all.window_used(clock.at(now)),
                    Step::Begin => {
                        if all.is_free() {
                            running.push(all.begin("click", clock.at(now)));
                        }
                    }
                    Step::End(n) => {
                        if n < running.len() {
                            all.end(running.remove(n), clock.at(now));
                        }
                    }
                    Step::Wait(s) => now += s,
                    Step::Stop => all.stop(clock.at(now)),
                }
                all.pass_time(clock.at(now));
                let drivers = (0..4).filter(|v| all.drives(ViewerId(*v))).count();
                prop_assert!(drivers <= 1);
                prop_assert!(drivers == 0 || running.is_empty());
                prop_assert!(all.driver().is_none() || !all.is_free());
                for change in all.take_changes() {
                    match change {
                        Change::Started { name, .. } => {
                            prop_assert!(told.is_none());
                            told = Some(name);
                        }
                        Change::Ended { name, .. } => prop_assert_eq!(told.take(), Some(name)),
                        Change::StillActs { .. } => prop_assert!(!running.is_empty()),
                    }
                }
                prop_assert_eq!(told.is_some(), all.driver().is_some());
            }
            now += 60;
            all.pass_time(clock.at(now));
            prop_assert!(all.is_free() || (0..4).any(|v| all.drives(ViewerId(v))));
        }
    }
}
