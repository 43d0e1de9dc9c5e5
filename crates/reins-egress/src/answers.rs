//! Looked-up answers, kept for a minute (S-X11). Each session has its own, so that none learns from another's.

use crate::limits::{ANSWER_LIFE, ANSWERS, FAILURE_LIFE};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<String, Answer>>);

#[derive(Clone, Debug)]
struct Answer {
    until: Instant,
    /// Empty: the name has none.
    addresses: Vec<IpAddr>,
}

impl Answers {
    pub(crate) fn get(&self, name: &str, now: Instant) -> Option<Vec<IpAddr>> {
        self.lock().get(name).filter(|answer| answer.until > now).map(|a| a.addresses.clone())
    }

    pub(crate) fn put(&self, name: &str, addresses: Vec<IpAddr>, now: Instant) {
        let mut answers = self.lock();
        if answers.len() >= ANSWERS {
            answers.retain(|_, answer| answer.until > now);
        }
        if answers.len() >= ANSWERS {
            answers.clear();
        }
        let life = if addresses.is_empty() { FAILURE_LIFE } else { ANSWER_LIFE };
        answers.insert(name.to_owned(), Answer { until: now + life, addresses });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Answer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// S-X11: 60 s.
    #[test]
    fn s_x11_answers_count_for_a_minute_and_failures_shortly() {
        let answers = Answers::default();
        let now = Instant::now();
        let address: IpAddr = "8.8.8.8".parse().unwrap();
        answers.put("a.example", vec![address], now);
        answers.put("b.example", vec![], now);
        let at = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(answers.get("a.example", at(59)), Some(vec![address]));
        assert_eq!(answers.get("a.example", at(60)), None);
        assert_eq!(answers.get("b.example", at(4)), Some(vec![]));
        assert_eq!(answers.get("b.example", at(5)), None);
        for number in 0..10 * ANSWERS {
            answers.put(&format!("{number}.example"), vec![], now);
        }
        assert!(answers.lock().len() <= ANSWERS);
    }
}
