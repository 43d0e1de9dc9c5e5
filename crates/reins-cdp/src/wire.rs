//! Protocol names in one place, so that a test can hold them against the installed browser.
//!
//! The protocol changes with every Chromium. Instead of generated code for all of it, crates
//! declare the few commands, events and types they use with [`protocol!`](crate::protocol!), which
//! makes the structs and keeps their names; [`testing::check`](crate::testing) compares those with
//! the browser's own description of its protocol.
//!
//! ```
//! reins_cdp::protocol! {
//!     /// Names of this example.
//!     pub NAMES;
//!
//!     /// Opens an address.
//!     command "Page.navigate" Navigate<'a> { url: &'a str }
//!         optional { frame_id: &'a str }
//!         -> Navigated { loader_id: Option<String>, error_text: Option<String> };
//!
//!     /// A command without parameters whose answer says nothing.
//!     command "Page.enable" PageEnable {};
//!
//!     /// A document was replaced.
//!     event "Page.frameNavigated" FrameNavigated { frame: Frame };
//!
//!     /// A frame.
//!     type "Page.Frame" Frame { id: String, parent_id: Option<String> };
//! }
//! # use std::time::Duration;
//! # async fn example(session: reins_cdp::Session) -> Result<(), reins_cdp::CallError> {
//! let navigate = Navigate { url: "https://example.com/", ..Navigate::default() };
//! let done: Navigated = session.run(navigate, Duration::from_secs(30)).await?;
//! let mut events = session.events(&[FrameNavigated::METHOD]);
//! # Ok(()) }
//! ```
//!
//! Fields are written in snake case and travel in camel case. Optional parameters become `Option` and
//! are left out when `None`. In answers and events, `Option` fields may be absent; a field that
//! needs more (`#[serde(default)]`, `#[serde(borrow)]`) carries the attribute itself. Values that Chromium
//! may extend are strings, or enums with `#[serde(other)]`.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A command with its parameters and the type of its answer.
pub trait Command: Serialize {
    /// Domain and name.
    const METHOD: &'static str;
    /// What the browser answers.
    type Answer: DeserializeOwned;
}

/// What kind of thing a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A command, with the fields of its parameters and of its answer.
    Command,
    /// An event, with the fields of its parameters.
    Event,
    /// A type of the protocol, with its fields.
    Type,
}

/// One declared name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// What it stands for.
    pub kind: Kind,
    /// Domain and name.
    pub name: &'static str,
    /// Fields of the parameters, or of the type, in snake case.
    pub fields: &'static [&'static str],
    /// Fields of the answer, in snake case.
    pub answer: &'static [&'static str],
}

/// Declares commands, events and types of the protocol; see [`wire`](crate::wire).
#[macro_export]
macro_rules! protocol {
    ($(#[$meta:meta])* $vis:vis $NAMES:ident; $($rest:tt)*) => {
        $crate::protocol!(@items [$vis] [$(#[$meta])* $vis $NAMES] [] $($rest)*);
    };

    (@items [$vis:vis] [$(#[$meta:meta])* $nvis:vis $NAMES:ident] [$($named:tt)*]) => {
        $(#[$meta])*
        $nvis const $NAMES: &[$crate::wire::Named] = &[$($named)*];
    };

    (@items [$vis:vis] [$($list:tt)*] [$($named:tt)*]
        $(#[$meta:meta])*
        command $method:literal $Name:ident $(<$lt:lifetime>)? {
            $($(#[$fmeta:meta])* $field:ident : $ty:ty),* $(,)?
        }
        $(optional { $($(#[$ometa:meta])* $ofield:ident : $oty:ty),* $(,)? })?
        $(-> $Answer:ident { $($(#[$ameta:meta])* $afield:ident : $aty:ty),* $(,)? })?
        ;
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, $crate::wire::reexport::Serialize)]
        #[serde(crate = "reins_cdp::wire::reexport::serde", rename_all = "camelCase")]
        #[allow(missing_docs, unreachable_pub, dead_code, reason = "names are the protocol's")]
        $vis struct $Name $(<$lt>)? {
            $($(#[$fmeta])* $vis $field: $ty,)*
            $($($(#[$ometa])* #[serde(skip_serializing_if = "Option::is_none")]
                $vis $ofield: Option<$oty>,)*)?
        }
        $(
            #[doc = concat!("What `", $method, "` answers.")]
            #[derive(Clone, Debug, $crate::wire::reexport::Deserialize)]
            #[serde(crate = "reins_cdp::wire::reexport::serde", rename_all = "camelCase")]
            #[allow(missing_docs, unreachable_pub, dead_code, reason = "names are the protocol's")]
            $vis struct $Answer { $($(#[$ameta])* $vis $afield: $aty),* }
        )?
        impl $(<$lt>)? $crate::wire::Command for $Name $(<$lt>)? {
            const METHOD: &'static str = $method;
            type Answer = $crate::protocol!(@answer $($Answer)?);
        }
        $crate::protocol!(@items [$vis] [$($list)*] [$($named)* $crate::wire::Named {
            kind: $crate::wire::Kind::Command,
            name: $method,
            fields: &[$(stringify!($field),)* $($(stringify!($ofield),)*)?],
            answer: &[$($(stringify!($afield),)*)?],
        },] $($rest)*);
    };
    (@answer) => { $crate::Ignored };
    (@answer $Answer:ident) => { $Answer };

    (@items [$vis:vis] [$($list:tt)*] [$($named:tt)*]
        $(#[$meta:meta])*
        event $method:literal $Name:ident $(<$lt:lifetime>)? {
            $($(#[$fmeta:meta])* $field:ident : $ty:ty),* $(,)?
        }
        ;
        $($rest:tt)*
    ) => {
        $crate::protocol!(@read [$vis] $(#[$meta])* $Name $(<$lt>)? {
            $($(#[$fmeta])* $field: $ty),*
        });
        impl $(<$lt>)? $Name $(<$lt>)? {
            /// Domain and name.
            #[allow(unreachable_pub, reason = "visible as the list of names is")]
            $vis const METHOD: &'static str = $method;
        }
        $crate::protocol!(@items [$vis] [$($list)*] [$($named)* $crate::wire::Named {
            kind: $crate::wire::Kind::Event,
            name: $method,
            fields: &[$(stringify!($field)),*],
            answer: &[],
        },] $($rest)*);
    };

    (@items [$vis:vis] [$($list:tt)*] [$($named:tt)*]
        $(#[$meta:meta])*
        type $name:literal $Name:ident $(<$lt:lifetime>)? {
            $($(#[$fmeta:meta])* $field:ident : $ty:ty),* $(,)?
        }
        ;
        $($rest:tt)*
    ) => {
        $crate::protocol!(@read [$vis] $(#[$meta])* $Name $(<$lt>)? {
            $($(#[$fmeta])* $field: $ty),*
        });
        $crate::protocol!(@items [$vis] [$($list)*] [$($named)* $crate::wire::Named {
            kind: $crate::wire::Kind::Type,
            name: $name,
            fields: &[$(stringify!($field)),*],
            answer: &[],
        },] $($rest)*);
    };

    (@read [$vis:vis] $(#[$meta:meta])* $Name:ident $(<$lt:lifetime>)? {
        $($(#[$fmeta:meta])* $field:ident : $ty:ty),*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, $crate::wire::reexport::Deserialize)]
        #[serde(crate = "reins_cdp::wire::reexport::serde", rename_all = "camelCase")]
        #[allow(missing_docs, unreachable_pub, dead_code, reason = "names are the protocol's")]
        $vis struct $Name $(<$lt>)? { $($(#[$fmeta])* $vis $field: $ty),* }
    };
}

/// What the macro's expansion needs from serde, so that using crates need no import.
#[doc(hidden)]
pub mod reexport {
    pub use serde::{self, Deserialize, Serialize};
}
