//! Notices two kinds of circle that equal calls alone do not show: clicking about the same spot, and
//! going round between the same pages (W-681, W-682).

use crate::limits::{ROUNDS_REMIND, ROUNDS_STOP, SPOT_PIXELS, SPOT_REMIND, SPOT_STOP, TRIPS};
use crate::repetition::Verdict;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// Clicks by position: a model that cannot see its target clicks around it (W-681).
#[derive(Debug, Default)]
pub(crate) struct Spots(HashMap<(i64, i64), u32>);

impl Spots {
    /// Takes the arguments of an act. Only those with a position count.
    pub(crate) fn push(&mut self, arguments: &Value) -> Verdict {
        let bucket = |name: &str| {
            let at = arguments.get(name)?.as_f64()?;
            // Positions on a screen fit by far; what does not is cut off, and equal all the same.
            #[expect(clippy::cast_possible_truncation, reason = "a rounded position")]
            Some((at / SPOT_PIXELS).round() as i64)
        };
        let (Some(x), Some(y)) = (bucket("x"), bucket("y")) else {
            return Verdict::Healthy;
        };
        let clicks = self.0.entry((x, y)).or_default();
        *clicks += 1;
        match *clicks {
            n if n >= SPOT_STOP => Verdict::Stop,
            n if n >= SPOT_REMIND => Verdict::Remind,
            _ => Verdict::Healthy,
        }
    }

    /// Another page: the same spot is another thing.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Ways between pages. A list with its entries is visited again and again, each time for another
/// entry; the same way to the same content, again and again, is a circle (W-682).
#[derive(Debug, Default)]
pub(crate) struct Places {
    here: Option<String>,
    trips: VecDeque<(String, String, String)>,
}

impl Places {
    /// Takes where a call led, and the content that was found there.
    pub(crate) fn push(&mut self, place: &str, content: &str) -> Verdict {
        let from = self.here.replace(place.to_owned());
        let Some(from) = from.filter(|from| from != place) else {
            return Verdict::Healthy;
        };
        if self.trips.len() == TRIPS {
            self.trips.pop_front();
        }
        self.trips.push_back((from, place.to_owned(), content.to_owned()));
        let last = self.trips.back();
        match self.trips.iter().filter(|trip| Some(*trip) == last).count() {
            n if n >= ROUNDS_STOP => Verdict::Stop,
            n if n >= ROUNDS_REMIND => Verdict::Remind,
            _ => Verdict::Healthy,
        }
    }

    /// Whether this is another place than the last.
    pub(crate) fn differs(&self, place: &str) -> bool {
        self.here.as_deref().is_some_and(|here| here != place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn w681_clicks_about_the_same_spot_are_told_at_five_and_stopped_at_eight() {
        let mut spots = Spots::default();
        let verdicts: Vec<_> =
            (0..8).map(|n| spots.push(&json!({"x": 100 + n % 2, "y": 200.5}))).collect();
        assert_eq!(verdicts.iter().position(|verdict| *verdict == Verdict::Remind), Some(4));
        assert_eq!(verdicts.iter().position(|verdict| *verdict == Verdict::Stop), Some(7));
        assert_eq!(spots.push(&json!({"x": 150, "y": 200})), Verdict::Healthy, "another spot");
        assert_eq!(spots.push(&json!({"ref": "e1"})), Verdict::Healthy);
        spots.clear();
        assert_eq!(spots.push(&json!({"x": 100, "y": 200})), Verdict::Healthy);
    }

    #[test]
    fn w682_the_same_way_to_the_same_content_is_a_circle() {
        let mut places = Places::default();
        let mut verdicts = Vec::new();
        for _ in 0..8 {
            verdicts.push(places.push("/list", "twenty entries"));
            verdicts.push(places.push("/help", "no help"));
        }
        let reminded = verdicts.iter().position(|verdict| *verdict == Verdict::Remind);
        let stopped = verdicts.iter().position(|verdict| *verdict == Verdict::Stop);
        assert_eq!((reminded, stopped), (Some(5), Some(11)));
    }

    /// A list visited between its entries, and a cart that fills, are no circles.
    #[test]
    fn w682_work_that_returns_to_a_page_is_no_circle() {
        let mut places = Places::default();
        for n in 0..20 {
            assert_eq!(places.push("/list", "twenty entries"), Verdict::Healthy);
            assert_eq!(places.push(&format!("/entry/{n}"), "an entry"), Verdict::Healthy);
        }
        let mut places = Places::default();
        for n in 0..20 {
            assert_eq!(places.push("/list", &format!("{n} in the cart")), Verdict::Healthy);
            assert_eq!(places.push("/cart", &format!("{n} rows")), Verdict::Healthy);
        }
    }
}
