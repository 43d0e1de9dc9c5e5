//! What the guard inside the page says of an announced gesture.

use serde::Deserialize;

/// The name of the function through which the page script speaks. It exists in its world only.
pub(crate) const BINDING: &str = "__reinsSay";

/// One message of the guard.
#[derive(Debug, Deserialize)]
pub(crate) struct Said {
    /// The announcement it is about; none for the person's own input.
    #[serde(default)]
    t: u64,
    v: Word,
    /// Why the gesture was cancelled.
    #[serde(default)]
    w: Option<Why>,
    /// The kind of event.
    #[serde(default)]
    k: String,
    /// The number of the element that was hit instead.
    #[serde(default)]
    n: u32,
    /// Whether something of the gesture had reached the page before.
    #[serde(default)]
    d: bool,
    /// Whether anything changed.
    #[serde(default)]
    m: bool,
    /// Whether things keep changing.
    #[serde(default)]
    b: bool,
    /// Whether a part of the page says that it is not done.
    #[serde(default)]
    o: bool,
    /// How long the field's value is now.
    #[serde(default)]
    l: Option<usize>,
    /// The kinds of events seen.
    #[serde(default)]
    s: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Down,
    Hit,
    Stop,
    End,
    Quiet,
    Person,
    #[serde(other)]
    Unknown,
}

/// Why the guard cancelled a gesture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Why {
    /// Something else was under the pointer when the button went down.
    Missed,
    /// The element is no longer in the document.
    Gone,
    /// The element does something else now.
    Changed,
    /// Something else was under the pointer when the button came up.
    Slipped,
    /// The focus was elsewhere when a key went down.
    Focus,
    /// The event arrived in another frame.
    Elsewhere,
    /// We gave it up ourselves.
    Abandoned,
    /// A word of a newer script.
    #[serde(other)]
    Other,
}

/// Why and where a gesture was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) why: Why,
    /// The number of the element that was hit instead, in the frame that cancelled. 0: unknown.
    pub(crate) by: u32,
    /// Whether the page had already seen a part of the gesture.
    pub(crate) partly: bool,
}

/// The page is quiet after a gesture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quiet {
    pub(crate) changed: bool,
    /// It keeps changing; the wait was cut.
    pub(crate) busy: bool,
    /// A part of it says that it is not done: marked busy, or emptied to be filled again.
    pub(crate) open: bool,
    /// How long the field's value is now, in UTF-16 units.
    pub(crate) length: Option<usize>,
    pub(crate) seen: Vec<String>,
}

/// All that was said of the gesture under way.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) token: u64,
    pub(crate) down: bool,
    pub(crate) hit: bool,
    /// The last event of the gesture has been handled.
    pub(crate) end: bool,
    pub(crate) stop: Option<(reins_core::FrameId, Stop)>,
    pub(crate) quiet: Option<Quiet>,
}

impl Report {
    pub(crate) fn new(token: u64) -> Self {
        Self { token, ..Self::default() }
    }

    /// Notes a message. Returns the kind of event when it was the person's own input.
    pub(crate) fn note(&mut self, frame: &reins_core::FrameId, said: Said) -> Option<String> {
        if said.v == Word::Person {
            return Some(said.k);
        }
        if said.t != self.token {
            return None;
        }
        match said.v {
            Word::Down => self.down = true,
            Word::Hit => self.hit = true,
            Word::End => self.end = true,
            Word::Stop => {
                let stop = Stop { why: said.w.unwrap_or(Why::Other), by: said.n, partly: said.d };
                // The frame that was aimed at knows best; `elsewhere` only says where it went.
                let better = self.stop.as_ref().is_none_or(|(_, s)| s.why == Why::Elsewhere);
                if better {
                    self.stop = Some((frame.clone(), stop));
                }
            }
            Word::Quiet => {
                self.quiet = Some(Quiet {
                    changed: said.m,
                    busy: said.b,
                    open: said.o,
                    length: said.l,
                    seen: said.s,
                });
            }
            Word::Person | Word::Unknown => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_core::FrameId;

    fn said(json: &str) -> Said {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn only_messages_of_the_gesture_under_way_count() {
        let frame = FrameId::new("f");
        let mut report = Report::new(7);
        assert_eq!(report.note(&frame, said(r#"{"t":6,"v":"down","k":"mousedown"}"#)), None);
        assert!(!report.down);
        report.note(&frame, said(r#"{"t":7,"v":"down","k":"mousedown"}"#));
        report
            .note(&frame, said(r#"{"t":7,"v":"stop","w":"new word","k":"click","n":3,"d":true}"#));
        assert!(report.down);
        let stop = report.stop.unwrap().1;
        assert_eq!(stop, Stop { why: Why::Other, by: 3, partly: true });
    }

    #[test]
    fn r191_input_that_nobody_announced_is_the_persons() {
        let mut report = Report::new(7);
        let person = report.note(&FrameId::new("f"), said(r#"{"v":"person","k":"keydown"}"#));
        assert_eq!(person.as_deref(), Some("keydown"));
    }
}
