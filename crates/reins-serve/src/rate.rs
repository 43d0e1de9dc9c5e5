//! How many requests one caller may make.

use crate::error::ServeError;
use crate::limits;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A bucket of tokens for each caller.
#[derive(Debug)]
pub(crate) struct Rates {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self {
            per_second: f64::from(per_second),
            burst: f64::from(burst),
            buckets: Mutex::default(),
        }
    }

    /// Takes one, or says when there will be one.
    pub(crate) fn take(&self, who: &str, now: Instant) -> Result<(), ServeError> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= limits::RATED && !buckets.contains_key(who) {
            // Full ones say nothing that a new one would not.
            let (rate, burst) = (self.per_second, self.burst);
            buckets.retain(|_, b| b.left + now.duration_since(b.at).as_secs_f64() * rate < burst);
        }
        let full = Bucket { left: self.burst, at: now };
        let bucket = buckets.entry(who.to_owned()).or_insert(full);
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + since * self.per_second).min(self.burst);
        bucket.at = now;
        if bucket.left < 1.0 {
            let wait = (1.0 - bucket.left) / self.per_second;
            return Err(ServeError::Rate(Duration::from_secs_f64(wait)));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_who_waits_may_ask_again_and_another_never_waits_for_it() {
        let (rates, now) = (Rates::new(2, 3), Instant::now());
        for _ in 0..3 {
            assert!(rates.take("a", now).is_ok());
        }
        assert!(matches!(rates.take("a", now), Err(ServeError::Rate(_))));
        assert!(rates.take("b", now).is_ok());
        assert!(rates.take("a", now + Duration::from_millis(600)).is_ok());
        assert!(rates.take("a", now + Duration::from_millis(600)).is_err());
    }
}
