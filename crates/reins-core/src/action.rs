//! What a caller may ask a browser to do, with every target already resolved and read.

use crate::credential::SecretName;
use crate::ids::TabId;
use crate::key::KeyChord;
use crate::record::TargetRecord;
use crate::secret::Secret;
use std::path::PathBuf;

/// One act. Built by control from a tool call, judged by the guard, dispatched by the browser
/// only inside an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Load an address in a tab.
    Navigate {
        /// The tab.
        tab: TabId,
        /// An absolute http(s) address.
        url: String,
    },
    /// Go through the tab's history.
    History {
        /// The tab.
        tab: TabId,
        /// Which way.
        step: HistoryStep,
        /// The address it leads to, read from the browser just before.
        destination: Option<String>,
    },
    /// Load the current document again.
    Reload {
        /// The tab.
        tab: TabId,
        /// The address at this moment.
        url: String,
    },
    /// Open a tab in the background.
    OpenTab {
        /// The address, or an empty tab.
        url: Option<String>,
    },
    /// Make a tab the session's current one. Never raises a window.
    SwitchTab {
        /// The tab.
        tab: TabId,
    },
    /// Close a tab that the agent opened.
    CloseTab {
        /// The tab.
        tab: TabId,
    },
    /// A pointer gesture on an element.
    Pointer {
        /// The element.
        target: TargetRecord,
        /// The gesture.
        gesture: Gesture,
    },
    /// Drag one element onto another.
    Drag {
        /// Where the button goes down.
        from: Box<TargetRecord>,
        /// Where it comes up.
        to: Box<TargetRecord>,
    },
    /// Put text into a field.
    Type {
        /// The field.
        target: TargetRecord,
        /// The text. Never shown on a card or in a log.
        text: Secret<String>,
        /// The name of the kept secret that the text is, if it is one.
        kept: Option<SecretName>,
        /// Replace what is there, or add to it.
        mode: TypeMode,
        /// Send each character as its own key press, for pages that listen to keys.
        keys: bool,
        /// Press Enter afterwards. Judged as a possible submit.
        enter: bool,
    },
    /// Choose options of a select or listbox, by value or label.
    Select {
        /// The control.
        target: TargetRecord,
        /// The options wanted.
        options: Vec<String>,
    },
    /// Put a checkbox, radio or switch into a state.
    Check {
        /// The control.
        target: TargetRecord,
        /// The state wanted.
        checked: bool,
    },
    /// Press a key or chord.
    Press {
        /// The tab.
        tab: TabId,
        /// The element that gets it: the one asked for, or the one that has the focus.
        target: Option<TargetRecord>,
        /// The chord.
        chord: KeyChord,
    },
    /// Scroll the page or an element.
    Scroll {
        /// The tab.
        tab: TabId,
        /// The element, or the page itself.
        target: Option<TargetRecord>,
        /// How far.
        by: ScrollBy,
    },
    /// Give files to a file field. Paths were confined by control.
    Upload {
        /// The field.
        target: TargetRecord,
        /// Absolute paths.
        files: Vec<PathBuf>,
    },
    /// Answer an open dialog.
    AnswerDialog {
        /// The tab.
        tab: TabId,
        /// Whether to accept.
        accept: bool,
        /// The text for a prompt.
        text: Option<Secret<String>>,
    },
}

impl Action {
    /// The tab it acts in, unless it makes a new one.
    pub fn tab(&self) -> Option<&TabId> {
        match self {
            Action::Navigate { tab, .. }
            | Action::History { tab, .. }
            | Action::Reload { tab, .. }
            | Action::SwitchTab { tab }
            | Action::CloseTab { tab }
            | Action::Press { tab, .. }
            | Action::Scroll { tab, .. }
            | Action::AnswerDialog { tab, .. } => Some(tab),
            Action::OpenTab { .. } => None,
            Action::Pointer { target, .. }
            | Action::Type { target, .. }
            | Action::Select { target, .. }
            | Action::Check { target, .. }
            | Action::Upload { target, .. } => Some(&target.node.tab),
            Action::Drag { from, .. } => Some(&from.node.tab),
        }
    }

    /// The element it acts on, if there is one.
    pub fn target(&self) -> Option<&TargetRecord> {
        match self {
            Action::Pointer { target, .. }
            | Action::Type { target, .. }
            | Action::Select { target, .. }
            | Action::Check { target, .. }
            | Action::Upload { target, .. } => Some(target),
            Action::Press { target, .. } | Action::Scroll { target, .. } => target.as_ref(),
            Action::Drag { from, .. } => Some(from),
            _ => None,
        }
    }

    /// The tool name it came from, for logs and cards.
    pub fn verb(&self) -> &'static str {
        match self {
            Action::Navigate { .. } => "navigate",
            Action::History { step: HistoryStep::Back, .. } => "go_back",
            Action::History { step: HistoryStep::Forward, .. } => "go_forward",
            Action::Reload { .. } => "reload",
            Action::OpenTab { .. } => "open_tab",
            Action::SwitchTab { .. } => "switch_tab",
            Action::CloseTab { .. } => "close_tab",
            Action::Pointer { gesture: Gesture::Hover, .. } => "hover",
            Action::Pointer { .. } => "click",
            Action::Drag { .. } => "drag",
            Action::Type { .. } => "type",
            Action::Select { .. } => "select_option",
            Action::Check { .. } => "check",
            Action::Press { .. } => "press_key",
            Action::Scroll { .. } => "scroll",
            Action::Upload { .. } => "upload",
            Action::AnswerDialog { .. } => "handle_dialog",
        }
    }
}

/// A pointer gesture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// Press and release.
    Click {
        /// Which button.
        button: MouseButton,
        /// 1, 2 or 3.
        count: u8,
        /// Keys held meanwhile.
        modifiers: Modifiers,
    },
    /// Move there and stay.
    Hover,
}

/// A mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
}

/// Keys held during a gesture or chord.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Modifiers {
    pub alt: bool,
    pub control: bool,
    pub meta: bool,
    pub shift: bool,
}

/// Which way through the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum HistoryStep {
    Back,
    Forward,
}

/// Replace a field's text or add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeMode {
    /// The field holds just the new text afterwards. Empty text clears it.
    Replace,
    /// The text is added at the end.
    Append,
}

/// How far to scroll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollBy {
    /// By CSS pixels, right and down.
    Pixels {
        /// To the right.
        x: i32,
        /// Down.
        y: i32,
    },
    /// By whole screens of the scrolled box, down (negative: up).
    Screens(i32),
    /// Until the target is in view.
    IntoView,
    /// To the very top.
    Top,
    /// To the very bottom.
    Bottom,
}
