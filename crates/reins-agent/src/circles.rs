//! The three detectors of runs that go in circles, as one (W-680…W-682).

use crate::places::{Places, Spots};
use crate::prompt;
use crate::repetition::{Repetition, Verdict};
use crate::toolbox::ToolReply;
use serde_json::Value;

/// Looks back on the calls of a run.
#[derive(Debug, Default)]
pub(crate) struct Circles {
    repetition: Repetition,
    spots: Spots,
    places: Places,
}

/// What they found about the last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    pub(crate) verdict: Verdict,
    /// For the model.
    pub(crate) remark: &'static str,
    /// For the person, if the run ends of it.
    pub(crate) message: &'static str,
}

impl Circles {
    /// Takes a call with its result.
    pub(crate) fn push(
        &mut self,
        key: &str,
        arguments: Option<&Value>,
        reply: &ToolReply,
    ) -> Circle {
        let seen = reply.page.as_ref().map_or("", |page| &page.state);
        let moved = reply.moved || reply.place.as_ref().is_some_and(|it| self.places.differs(it));
        if moved {
            self.spots.clear();
        }
        let repetition = Circle {
            verdict: self.repetition.push(key, &format!("{}\n{seen}", reply.text)),
            remark: prompt::REPEATED,
            message: "the model kept repeating steps that changed nothing",
        };
        let spot = Circle {
            verdict: arguments.map_or(Verdict::Healthy, |arguments| self.spots.push(arguments)),
            remark: prompt::SAME_SPOT,
            message: "the model kept clicking about the same spot",
        };
        let round = Circle {
            verdict: match &reply.place {
                Some(place) => self.places.push(place, seen),
                None => Verdict::Healthy,
            },
            remark: prompt::ROUND,
            message: "the model kept going round between the same pages",
        };
        // The first of equal ones: it says best what is wrong.
        [spot, round].into_iter().fold(repetition, |worst, circle| {
            if circle.verdict > worst.verdict { circle } else { worst }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn w680_w681_w682_the_worst_verdict_counts_with_its_own_words() {
        let mut circles = Circles::default();
        for n in 0..4 {
            let reply = ToolReply::text(format!("clicked {n}"));
            let circle = circles.push(&n.to_string(), Some(&json!({"x": 9, "y": 9})), &reply);
            assert_eq!(circle.verdict, Verdict::Healthy);
        }
        let reply = ToolReply::text("clicked again");
        let circle = circles.push("other", Some(&json!({"x": 9, "y": 9})), &reply);
        assert_eq!((circle.verdict, circle.remark), (Verdict::Remind, prompt::SAME_SPOT));
        let moved = ToolReply { moved: true, ..ToolReply::text("went on") };
        let circle = circles.push("on", Some(&json!({"x": 9, "y": 9})), &moved);
        assert_eq!(circle.verdict, Verdict::Healthy, "another page");
    }
}
