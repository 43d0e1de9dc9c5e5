//! Starting a browser of our own, over a pipe.

mod checks;
mod plan;
mod process;

pub use checks::has_display;
pub(crate) use checks::{browser, display, profile, sandbox};

use crate::browser::{Browser, Keep};
use crate::containment::Containment;
use crate::error::BrowserError;
use crate::find::{OLDEST_MAJOR, major};
use crate::page_call::wire_error;
use crate::profile::{Profile, TemporaryProfile, holder, sweep};
use crate::protocol::target::{
    GetVersion, GetWindowForTarget, Permission, SetContentsSize, SetPermission, Version,
    WindowForTarget,
};
use crate::start_error::StartError;
use crate::tab::ARMING;
use crate::tab_info::OpenedBy;
use process::{Process, Started};
use reins_cdp::{CallError, Connection};
use reins_core::{BrowserId, TabId};
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a browser may take to answer after its start (S-016).
pub const START_DEADLINE: Duration = Duration::from_secs(60);

/// How a browser is started.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// The program. `None` finds one, see [`crate::find()`].
    pub binary: Option<PathBuf>,
    /// Without a window.
    pub headless: bool,
    /// Which profile it runs on.
    pub profile: Profile,
    /// Without Chromium's own sandbox. Only ever because someone asked for it.
    pub no_sandbox: bool,
    /// Width and height in CSS pixels: of the window, or of the page where there is no window.
    pub window: (u32, u32),
    /// More arguments for the browser.
    pub extra_args: Vec<OsString>,
    /// What its pages may do.
    pub containment: Containment,
    /// How long it may take to answer.
    pub deadline: Duration,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            binary: None,
            headless: false,
            profile: Profile::Temporary,
            no_sandbox: false,
            window: (1280, 720),
            extra_args: Vec::new(),
            containment: Containment::default(),
            deadline: START_DEADLINE,
        }
    }
}

impl Browser {
    /// Starts a browser and takes over the empty tab it opens with. It ends with the last handle, with
    /// [`Browser::close`], and with this process, however that ends.
    ///
    /// # Errors
    /// [`BrowserError::Start`] says what stands in the way and what to do about it. Nothing is left
    /// behind.
    pub async fn launch(options: LaunchOptions) -> Result<Self, BrowserError> {
        let Started { answers, commands, process } = spawn(&options)?;
        let process = Arc::new(process);
        let connection = Connection::pipe(answers, commands);
        let taken = tokio::select! {
            biased;
            taken = timeout(options.deadline, take_over(&connection, &process, &options)) => taken,
            _ = process.ended() => Ok(Err(BrowserError::Gone { reason: "it ended".into() })),
        };
        match taken {
            Ok(Ok(browser)) => Ok(browser),
            Ok(Err(error)) => Err(failed(&process, &options, Some(error)).await),
            Err(_) => Err(failed(&process, &options, None).await),
        }
    }
}

/// A browser whose pipe closed is about to end; its exit status says more than the pipe.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Ends what was started and says why it did not work.
async fn failed(
    process: &Arc<Process>,
    options: &LaunchOptions,
    error: Option<BrowserError>,
) -> BrowserError {
    let lost = match &error {
        None => false,
        Some(BrowserError::Gone { .. }) => true,
        Some(BrowserError::Wire { source, .. }) => source.is_gone(),
        Some(_) => false,
    };
    let status = if lost { timeout(LAST_WORDS, process.ended()).await.ok() } else { None };
    process.end().await;
    let said = process.said();
    match (error, status) {
        (_, Some(status)) => ended(options, status, said).into(),
        (Some(error), None) => error,
        (None, None) => StartError::Deadline { after: options.deadline, said }.into(),
    }
}

fn ended(options: &LaunchOptions, status: ExitStatus, said: String) -> StartError {
    if let Some(explained) = checks::explained(&said) {
        return explained;
    }
    // A browser that finds its profile in use hands over to the one that uses it, and ends.
    if let Profile::Persistent(dir) = &options.profile
        && let Ok(Some(holder)) = holder(dir)
    {
        return StartError::ProfileInUse { dir: dir.clone(), holder };
    }
    StartError::Ended { status: status.to_string(), said }
}

async fn take_over(
    connection: &Connection,
    process: &Arc<Process>,
    options: &LaunchOptions,
) -> Result<Browser, BrowserError> {
    // The deadline of the start ends this wait, so its own must not come first.
    let version: Version = connection
        .root()
        .run(GetVersion {}, options.deadline.saturating_mul(2))
        .await
        .map_err(|error| wire_error("Browser.getVersion", error))?;
    let old = |major: &u32| *major < OLDEST_MAJOR;
    if let Some((name, version)) = version.product.split_once('/')
        && major(version).as_ref().is_some_and(old)
    {
        let (name, version) = (name.to_owned(), version.to_owned());
        return Err(StartError::TooOld { name, version }.into());
    }
    let browser = Browser::over(
        connection.clone(),
        new_id(),
        options.containment.clone(),
        OpenedBy::Agent,
        Box::new(process.clone()),
    )
    .await?;
    let tab = browser.first_tab(options.deadline).await?;
    if options.headless {
        size_contents(connection, &tab.id, options).await?;
    } else {
        deny_prompts(connection);
    }
    Ok(browser)
}

/// What pages ask the person for by a prompt of the browser.
const PROMPTS: &[&str] = &[
    "geolocation",
    "notifications",
    "microphone",
    "camera",
    "display-capture",
    "midi",
    "clipboard-read",
    "idle-detection",
    "local-fonts",
    "window-management",
    "storage-access",
    "top-level-storage-access",
    "local-network-access",
    "local-network",
    "loopback-network",
    "persistent-storage",
    "nfc",
];

/// A page that asks would wait for a person who may not be there, and no event tells of it. Without a
/// window Chromium says no by itself; with one it is told to, as long as we are connected (W-625).
fn deny_prompts(connection: &Connection) {
    let root = connection.root();
    for name in PROMPTS {
        let deny = SetPermission { permission: Permission { name }, setting: "denied" };
        // An older browser does not know all of them.
        drop(root.post(deny, ARMING));
    }
}

/// Without a window on a screen the size that was asked for is meant for the page, but Chromium
/// takes the room of its invisible toolbar from it. Tabs that are opened later follow.
async fn size_contents(
    connection: &Connection,
    tab: &TabId,
    options: &LaunchOptions,
) -> Result<(), BrowserError> {
    let root = connection.root();
    let window = GetWindowForTarget { target_id: Some(tab.as_str()) };
    let window = root.run(window, options.deadline).await;
    let WindowForTarget { window_id } =
        window.map_err(|error| wire_error("Browser.getWindowForTarget", error))?;
    let (width, height) = options.window;
    let size = SetContentsSize { window_id, width: Some(width), height: Some(height) };
    match root.run(size, options.deadline).await {
        // An older browser that does not know it shows its pages a little lower.
        Ok(_) | Err(CallError::Answered { .. }) => Ok(()),
        Err(error) => Err(wire_error("Browser.setContentsSize", error)),
    }
}

/// An id that no other run of a browser has.
fn new_id() -> BrowserId {
    BrowserId::new(format!("{:016x}", RandomState::new().hash_one(std::process::id())))
}

fn spawn(options: &LaunchOptions) -> Result<Started, StartError> {
    let found = browser(options)?;
    sandbox(options)?;
    display(options)?;
    let (dir, temporary) = match &options.profile {
        Profile::Temporary => {
            let base = std::env::temp_dir();
            // Beside the start, not before it: a leftover costs nothing but room.
            let swept = base.clone();
            drop(tokio::task::spawn_blocking(move || sweep(&swept)));
            let temporary = TemporaryProfile::make(&base, options.headless)?;
            (temporary.dir().to_owned(), Some(temporary))
        }
        Profile::Persistent(dir) => {
            profile(options)?;
            (dir.clone(), None)
        }
    };
    let args = plan::arguments(options, checks::machine(), &dir, temporary.is_some());
    process::start(&found.path, &args, &dir, temporary)
}
