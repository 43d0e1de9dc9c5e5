//! The time of day, as an argument, and as the wire spells it.

use std::fmt::Debug;
use std::time::{Duration, SystemTime};

/// Says what time it is. The machine's own may jump; spans are measured on another clock.
pub trait Clock: Send + Sync + Debug {
    /// Now.
    fn now(&self) -> SystemTime;
}

/// The machine's own.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// RFC 3339 in UTC with milliseconds.
pub(crate) fn stamp(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}

/// Milliseconds since 1970.
pub(crate) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Reads RFC 3339 in UTC.
pub(crate) fn read(text: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339_weak(text).ok().filter(|at| *at >= SystemTime::UNIX_EPOCH)
}

/// Minutes, rounded up (S-121).
pub(crate) fn minutes(span: Duration) -> u64 {
    u64::try_from(span.as_millis().div_ceil(60_000)).unwrap_or(u64::MAX)
}

/// The beginning of the month that a moment is in, in UTC.
pub(crate) fn month_begin(at: SystemTime) -> SystemTime {
    let text = stamp(at);
    // The stamp is `YYYY-MM-…`.
    text.get(..7)
        .and_then(|month| read(&format!("{month}-01T00:00:00Z")))
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// S-121: minutes are rounded up, and none is nothing.
    #[test]
    fn s121_minutes_are_rounded_up() {
        for (ms, expected) in [(0, 0), (1, 1), (59_999, 1), (60_000, 1), (60_001, 2), (600_000, 10)]
        {
            assert_eq!(minutes(Duration::from_millis(ms)), expected, "{ms} ms");
        }
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        let at = read("2026-12-01T03:04:05.678Z").unwrap();
        assert_eq!(stamp(at), "2026-12-01T03:04:05.678Z");
        assert_eq!(stamp(month_begin(at)), "2026-12-01T00:00:00.000Z");
        assert!(read("yesterday").is_none());
    }
}
