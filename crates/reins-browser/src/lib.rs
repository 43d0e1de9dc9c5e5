//! Browsers: launched or attached to, read frame by frame, acted in with trusted input.
//!
//! Only an [`ApprovedAction`](reins_guard::ApprovedAction) is dispatched, and every act ends as one of
//! three [`Outcome`](reins_core::Outcome)s. This room knows neither levels nor models.

mod act;
mod arm;
mod body;
mod browser;
mod capture;
mod console;
mod containment;
mod dedicated;
pub mod doctor;
mod downloads;
mod effects;
mod emulate;
mod error;
mod event;
mod events;
mod fence;
pub mod find;
mod focus;
mod frame;
mod heir;
mod held;
mod hosts;
mod hub;
pub mod install;
mod interception;
mod journal;
mod keyboard;
mod launch;
mod markup;
mod masks;
mod near;
mod owners;
mod page_call;
mod picture;
mod preferences;
mod profile;
pub mod protocol;
mod proxy;
mod reach;
mod report;
mod sends;
mod shots;
mod sockets;
mod start_error;
mod tab;
mod tab_info;
mod tab_state;
mod tab_task;
mod traffic;
mod wait;
mod watch;
mod windows;
mod workers;

pub use browser::Browser;
pub use capture::{CaptureRequest, TabCapture};
pub use console::{ConsoleEntry, ConsoleLevel, ConsoleLog};
pub use containment::{
    Connections, Containment, Destinations, Downloads, Popups, Records, TopLevel, Unheld,
};
pub use dedicated::start_command;
pub use effects::{Acted, Effects, Navigation};
pub use emulate::{ColorScheme, Emulation, NetworkPreset, ScreenSize};
pub use error::BrowserError;
pub use event::BrowserEvent;
pub use events::BrowserEvents;
pub use frame::document_origin;
pub use journal::NetworkBody;
pub use launch::{LaunchOptions, START_DEADLINE};
pub use picture::{PICTURE_BYTES, PICTURE_SIDE, Picture, PictureFormat, ShotOptions, Viewport};
pub use profile::Profile;
pub use proxy::ProxyAccess;
pub use start_error::StartError;
pub use tab_info::{Dialog, DialogKind, Download, DownloadState, OpenedBy, TabInfo};
pub use traffic::{NetworkLog, NetworkRequest};
pub use wait::WaitFor;
