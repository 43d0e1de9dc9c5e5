//! Several frames in one tree.

use crate::testing::{URL, capture, capture_with, key, numbers, snapshot};
use crate::{FrameNote, FrameTrouble, PublishOptions, RefRegistry, assemble};
use reins_core::{DocumentOrigin, Origin, Ref, TabId};
use serde_json::json;

const OUTER: &str = r#"<h1>Top</h1><iframe id=f title="Payment"><p>After</p>"#;

/// A frame's content is below its frame element, whatever order the captures come in.
#[test]
fn a031_frames_are_part_of_the_tree() {
    let mut inner = capture_with("<button>Pay</button>", "child", "d9", 0, &json!({}));
    inner.meta.owner = Some(key("main", "d1", numbers(OUTER)["f"]));
    inner.meta.origin = DocumentOrigin::Web(Origin::parse("https://pay.example/").expect("origin"));
    let frames = vec![inner, capture(OUTER)];
    let mut refs = RefRegistry::new();
    let shown = refs.publish(&snapshot(frames), &PublishOptions::default());
    assert_eq!(
        shown.text,
        "- # Top\n- frame \"Payment\" https://pay.example\n  - button \"Pay\" [ref=e1]\n- After"
    );
    let seen = refs.lookup(Ref(1)).expect("published");
    assert_eq!((seen.key.frame.as_str(), seen.key.document.as_str()), ("child", "d9"));
}

/// A frame that could not be read says why, in its place.
#[test]
fn a_frame_that_is_busy_says_so() {
    let note = FrameNote {
        owner: Some(key("main", "d1", numbers(OUTER)["f"])),
        trouble: FrameTrouble::Busy,
    };
    let whole = FrameNote { owner: None, trouble: FrameTrouble::Loading };
    let snapshot = assemble(
        TabId::new("tab"),
        URL.to_owned(),
        String::new(),
        vec![capture(OUTER)],
        vec![note, whole],
    );
    let shown = RefRegistry::new().publish(&snapshot, &PublishOptions::default());
    assert_eq!(
        shown.text,
        "(still loading)\n- # Top\n- frame \"Payment\": (busy: its script did not answer in time, try again later)\n- After"
    );
}

/// Frames that claim to contain each other end.
#[test]
fn frames_in_a_circle_end() {
    let mut inner = capture_with(OUTER, "child", "d9", 0, &json!({}));
    inner.meta.owner = Some(key("main", "d1", numbers(OUTER)["f"]));
    let mut loop_back = capture_with("<p>x</p>", "third", "d10", 0, &json!({}));
    loop_back.meta.owner = Some(key("child", "d9", numbers(OUTER)["f"]));
    let text = RefRegistry::new()
        .publish(&snapshot(vec![capture(OUTER), inner, loop_back]), &PublishOptions::default())
        .text;
    assert_eq!(text.matches("frame \"Payment\"").count(), 2, "{text}");
}
