//! The few events that the wire itself reads: who is attached, and who is gone.

crate::protocol! {
    /// Names of the protocol that this crate uses.
    pub NAMES;

    /// A session was attached.
    event "Target.attachedToTarget" AttachedToTarget {
        session_id: String,
        target_info: Option<TargetInfo>,
    };

    /// A session was detached.
    event "Target.detachedFromTarget" DetachedFromTarget { session_id: String };

    /// The process of a target crashed, as its own session says it.
    event "Inspector.targetCrashed" InspectorTargetCrashed {};

    /// The process of a target crashed, as the browser says it.
    event "Target.targetCrashed" TargetCrashed { target_id: String };

    /// A frame of a screencast.
    event "Page.screencastFrame" ScreencastFrame {};

    /// A target.
    type "Target.TargetInfo" TargetInfo {
        target_id: Box<str>,
    };
}
