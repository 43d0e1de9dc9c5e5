//! Recordings on the disk: what was acknowledged can be read, whatever happens.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod faults;
mod indexed;
mod kept;
mod killed;

use reins_core::{FrameId, TabId};
use reins_record::{
    End, Event, Kind, Kinds, Options, Recorder, RecordingAbout, RecordingId, RecordingStatus,
};
use serde_json::value::RawValue;
use std::path::Path;

pub(crate) fn id(id: &str) -> RecordingId {
    id.parse().unwrap()
}

pub(crate) fn about() -> RecordingAbout {
    RecordingAbout {
        tenant: "acme".into(),
        sandbox_id: "sb1".into(),
        app_url: "http://app.example/".into(),
        started_at_ms: 1_000,
        kinds: Kinds { rrweb: true, frames: true, console: true },
    }
}

pub(crate) fn open(dir: &Path, name: &str, options: Options) -> Recorder {
    Recorder::open(dir, &id(name), &about(), options).unwrap()
}

pub(crate) fn rrweb(at_ms: u64, text: &str) -> Event {
    let data = serde_json::json!({
        "type": 3, "timestamp": at_ms,
        "data": {"source": 0, "adds": [], "removes": [], "attributes": [], "texts": [{"id": 5, "value": text}]},
    });
    let data = RawValue::from_string(data.to_string()).unwrap();
    let kind = Kind::Rrweb { frame: FrameId::new("t"), document: "d".into(), data };
    Event { at_ms, tab: TabId::new("t"), kind }
}

pub(crate) fn complete(at_ms: u64) -> End {
    End { status: RecordingStatus::Complete, reason: "stopped".into(), ended_at_ms: at_ms }
}
