use crate::{about, complete, id, open, rrweb};
use reins_core::{Secret, TabId};
use reins_record::{
    Accepted, Action, Event, Kind, KindName, Library, Marker, Options, RecordError, Recorder,
    RecordingStatus, Retention, Seq, Takeover,
};
use std::time::Duration;

#[test]
fn s100_a_recording_is_written_listed_read_and_searched() {
    let dir = tempfile::tempdir().unwrap();
    let library = Library::open(dir.path());
    assert!(library.list().unwrap().is_empty());
    let recorder = open(dir.path(), "one", Options::default());
    let at = |at_ms, kind| Event { at_ms, tab: TabId::new("t"), kind };
    let events = [
        at(1_000, Kind::Marker(Marker::PageOpened { url: "http://app.example/a".into() })),
        rrweb(1_100, "The Basket has 3 items"),
        at(1_200, Kind::Console { error: true, text: "boom".into() }),
        at(1_300, Kind::Takeover(Takeover::TakeoverStarted { who: "ada".into() })),
        at(1_400, Kind::Frame { jpeg: vec![0xff, 0xd8, 1, 2, 3] }),
        at(
            1_500,
            Kind::Action(Action {
                id: "s1".into(),
                tool: "click".into(),
                label: "Click \"Pay\"".into(),
                outcome: "completed".into(),
                arguments: serde_json::json!({"ref": "e1"}),
                ms: Some(12),
                error: None,
            }),
        ),
    ];
    for (n, event) in events.iter().enumerate() {
        assert_eq!(recorder.accept(event), Accepted::Kept(Seq(n as u64 + 1)));
    }
    assert!(recorder.settle());
    assert_eq!(recorder.acknowledged(), Seq(6));
    let live = library.get(&id("one")).unwrap();
    assert_eq!((live.status, live.events, live.duration_ms), (RecordingStatus::Recording, 6, 500));
    assert!(matches!(library.delete(&id("one")), Err(RecordError::Live(_))));

    let page = library.events(&id("one"), Seq(0), 4).unwrap();
    assert_eq!(page.next, Some(Seq(4)));
    let rest = library.events(&id("one"), Seq(4), 1_000).unwrap();
    assert_eq!(rest.next, None);
    let kinds: Vec<KindName> = page.events.iter().chain(&rest.events).map(|e| e.kind).collect();
    let all = [
        KindName::Marker,
        KindName::Rrweb,
        KindName::Console,
        KindName::Takeover,
        KindName::Frame,
        KindName::Action,
    ];
    assert_eq!(kinds, all);
    // S-105: who, that it was a person.
    let takeover: serde_json::Value = serde_json::from_str(page.events[3].data.get()).unwrap();
    let wanted = serde_json::json!({"what": "takeover_started", "source": "human", "who": "ada"});
    assert_eq!(takeover, wanted);
    assert_eq!(library.jpeg(&id("one"), Seq(5)).unwrap(), [0xff, 0xd8, 1, 2, 3]);
    assert!(matches!(library.jpeg(&id("one"), Seq(4)), Err(RecordError::NoPicture(4))));

    let hits = library.search(&id("one"), "the  basket").unwrap();
    assert_eq!((hits.len(), hits[0].seq), (1, Seq(2)));
    assert_eq!(library.search(&id("one"), "pay").unwrap()[0].seq, Seq(6));
    assert!(library.search(&id("one"), "nowhere").unwrap().is_empty());

    recorder.finish(complete(2_000));
    let ended = library.get(&id("one")).unwrap();
    assert_eq!((ended.status, ended.ended_at_ms), (RecordingStatus::Complete, Some(2_000)));
    assert_eq!(ended.end_reason.as_deref(), Some("stopped"));
    let again = Recorder::open(dir.path(), &id("one"), &about(), Options::default());
    assert!(matches!(again, Err(RecordError::Exists(_))));
    library.delete(&id("one")).unwrap();
    assert!(matches!(library.get(&id("one")), Err(RecordError::Unknown(_))));
}

/// S-107: batches over several segments are read from any place on.
#[test]
fn s107_events_are_read_from_any_place_of_many_segments() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = open(dir.path(), "long", Options::default());
    // Noise, so that it does not shrink.
    let mut noise = 1_u64;
    let mut text = String::new();
    for n in 1..=300_u64 {
        text.clear();
        for _ in 0..4_000 {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&format!("{noise:x}"));
        }
        assert_eq!(recorder.accept(&rrweb(1_000 + n, &text)), Accepted::Kept(Seq(n)));
        if n % 50 == 0 {
            assert!(recorder.settle());
        }
    }
    recorder.finish(complete(9_000));
    let segments = std::fs::read_dir(dir.path().join("long"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "seg"));
    assert!(segments.count() > 1);
    let library = Library::open(dir.path());
    assert_eq!(library.get(&id("long")).unwrap().events, 300);
    for after in [0, 1, 99, 150, 298, 299] {
        let page = library.events(&id("long"), Seq(after), 1).unwrap();
        assert_eq!(page.events[0].seq, Seq(after + 1));
    }
    assert!(library.events(&id("long"), Seq(300), 10).unwrap().events.is_empty());
}

#[test]
fn the_sessions_token_never_enters() {
    let dir = tempfile::tempdir().unwrap();
    let token = "rst_\"quoted\"0123456789abcdef";
    let secrets = vec![Secret::new(token.to_owned())];
    let recorder = open(dir.path(), "one", Options { secrets, ..Options::default() });
    recorder.accept(&rrweb(1_100, &format!("before {token} after")));
    recorder.finish(complete(2_000));
    let page = Library::open(dir.path()).events(&id("one"), Seq(0), 10).unwrap();
    let text = page.events[0].data.get();
    assert!(text.contains("before [redacted] after"), "{text}");
    assert!(!text.contains("0123456789abcdef"));
}

#[test]
fn retention_removes_the_oldest_and_spares_what_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let library = Library::open(dir.path());
    for (name, end) in [("a", 10_000), ("b", 20_000), ("c", 30_000)] {
        let recorder = open(dir.path(), name, Options::default());
        recorder.accept(&rrweb(1_100, "x"));
        recorder.finish(complete(end));
    }
    let live = open(dir.path(), "d", Options::default());
    let age = Retention { max_age: Some(Duration::from_secs(15)), max_bytes: None };
    assert_eq!(library.retain(&age, 30_000).unwrap(), [id("a")]);
    let size = Retention { max_age: None, max_bytes: Some(1) };
    let mut gone = library.retain(&size, 30_000).unwrap();
    gone.sort();
    assert_eq!(gone, [id("b"), id("c")]);
    assert_eq!(library.list().unwrap().len(), 1);
    live.finish(complete(40_000));
}

#[test]
fn no_id_leads_out_of_the_library() {
    for id in ["", "..", "../x", "a/b", "a\\b", "a.b", &"x".repeat(65)] {
        assert!(id.parse::<reins_record::RecordingId>().is_err(), "{id}");
    }
}
