//! Downloads: named by the browser while they run, by their own name when they are finished.

use crate::browser::Inner;
use crate::containment::Downloads;
use crate::event::BrowserEvent;
use crate::protocol::target::{DownloadProgress, DownloadWillBegin};
use crate::tab_info::{Download, DownloadState};
use reins_core::{FrameId, TabId};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Downloads under way, by the browser's own id.
#[derive(Default)]
pub(crate) struct Saving {
    running: HashMap<String, (Option<TabId>, Download)>,
}

impl Saving {
    pub(crate) fn begin(&mut self, browser: &Inner, event: DownloadWillBegin) {
        let frame = FrameId::new(event.frame_id);
        let tab = browser
            .all_tabs()
            .into_iter()
            .find(|tab| tab.state().frames.contains_key(&frame))
            .map(|tab| tab.id.clone());
        let refused = browser.containment.downloads == Downloads::Refuse;
        let download = Download {
            url: event.url,
            name: safe_name(&event.suggested_filename),
            path: None,
            bytes: 0,
            state: if refused { DownloadState::Refused } else { DownloadState::Running },
        };
        tell(browser, tab.as_ref(), &event.guid, &download);
        self.running.insert(event.guid, (tab, download));
    }
}

/// Follows a download. A finished file is moved to its own name away from this task.
pub(crate) fn progress(browser: &Arc<Inner>, saving: &mut Saving, event: DownloadProgress) {
    let Some((tab, download)) = saving.running.get_mut(&event.guid) else { return };
    // The browser counts in floating point.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative")]
    {
        download.bytes = event.received_bytes as u64;
    }
    match event.state.as_str() {
        "completed" => {
            let (tab, mut download) = (tab.clone(), download.clone());
            saving.running.remove(&event.guid);
            let browser = browser.clone();
            tokio::task::spawn_blocking(move || {
                if let Downloads::Into(dir) = &browser.containment.downloads {
                    match finish(dir, &event.guid, &download.name) {
                        Ok(path) => {
                            download.state = DownloadState::Finished;
                            download.path = Some(path);
                        }
                        Err(error) => {
                            tracing::warn!(%error, "a finished download could not be named");
                            download.state = DownloadState::Failed;
                        }
                    }
                }
                tell(&browser, tab.as_ref(), &event.guid, &download);
            });
        }
        "canceled" => {
            if download.state != DownloadState::Refused {
                download.state = DownloadState::Failed;
            }
            let (tab, download) = (tab.clone(), download.clone());
            saving.running.remove(&event.guid);
            tell(browser, tab.as_ref(), &event.guid, &download);
        }
        // Each chunk is reported by the browser; only a look at the tab's state shows them.
        _ => {
            if let Some(tab) = tab.as_ref().and_then(|tab| browser.tab(tab).ok()) {
                tab.state().tell_download(&event.guid, download.clone());
            }
        }
    }
}

fn tell(browser: &Inner, tab: Option<&TabId>, guid: &str, download: &Download) {
    if let Some(tab) = tab.and_then(|tab| browser.tab(tab).ok()) {
        tab.state().tell_download(guid, download.clone());
        tab.changed();
    }
    browser.outlet.send(BrowserEvent::Download { tab: tab.cloned(), download: download.clone() });
}

/// Longer names are cut: file systems end at 255 bytes.
const NAME_BYTES: usize = 150;

/// A suggested name as a plain file name: no directories, no hidden files, no control characters.
fn safe_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name: String = last
        .chars()
        .map(|c| if c.is_control() || "<>:\"|?*".contains(c) { '_' } else { c })
        .collect();
    name = name.trim_start_matches(['.', ' ']).trim_end_matches(['.', ' ']).to_owned();
    while name.len() > NAME_BYTES {
        let cut = name.floor_char_boundary(NAME_BYTES.saturating_sub(1));
        name.truncate(cut);
    }
    if name.is_empty() { "download".to_owned() } else { name }
}

/// Gives a finished file its own name, or the next free one: nothing is overwritten.
fn finish(dir: &Path, guid: &str, name: &str) -> io::Result<PathBuf> {
    let from = dir.join(guid);
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    for number in 0..10_000 {
        let path = if number == 0 {
            dir.join(name)
        } else {
            dir.join(format!("{stem} ({number}){extension}"))
        };
        // Reserves the name, so that two downloads cannot take the same.
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => {
                fs::rename(&from, &path)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many files of that name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_names_stay_in_their_directory() {
        for (suggested, safe) in [
            ("report.csv", "report.csv"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\evil.exe", "evil.exe"),
            (".bashrc", "bashrc"),
            ("..", "download"),
            ("", "download"),
            ("a\u{0}b\n.txt", "a_b_.txt"),
            ("été.pdf", "été.pdf"),
        ] {
            assert_eq!(safe_name(suggested), safe, "{suggested:?}");
        }
        assert!(safe_name(&"ü".repeat(500)).len() <= NAME_BYTES);
    }

    #[test]
    fn a_finished_download_overwrites_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for (guid, expected) in [("a", "r.csv"), ("b", "r (1).csv"), ("c", "r (2).csv")] {
            fs::write(dir.path().join(guid), guid).unwrap();
            let path = finish(dir.path(), guid, "r.csv").unwrap();
            assert_eq!(path, dir.path().join(expected));
            assert_eq!(fs::read_to_string(path).unwrap(), guid);
        }
    }
}
