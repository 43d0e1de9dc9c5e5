//! Reading: snapshots, deltas, text, pictures. Page text leaves only inside its wrapper.

use crate::call::{Call, browser_error, short};
use crate::error::ControlError;
use crate::reply::{PageText, Picture, Reply};
use crate::report;
use crate::results::piece;
use reins_browser::{CaptureRequest, Effects, Navigation, OpenedBy, ShotOptions, WaitFor};
use reins_core::limits::{CALL_DEADLINE, RESULT_BYTES, SNAPSHOT_TOKENS};
use reins_core::{Ref, TabId};
use reins_page::{
    PrivateSnapshot, PublishOptions, TextOptions, assemble, page_text, wrap_untrusted,
};
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// Reading has this much of the call's deadline; the rest is for saying what is going on.
const READ_DEADLINE: Duration = Duration::from_secs(5);

impl Call<'_> {
    /// What the page shows. Always in absolute form: a caller that asks wants to see it.
    pub(crate) async fn snapshot(&mut self, full: bool) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let mut reply = Reply::default();
        self.tell_state(&mut reply, &tab).await;
        if self.dialog_stops(&tab).await {
            return Ok(reply.with("tab", tab.as_str()));
        }
        self.show_whole(&mut reply, &tab, full).await?;
        Ok(reply)
    }

    /// Says what keeps a page from being an ordinary one: a dialog, loading, a crash.
    async fn tell_state(&self, reply: &mut Reply, tab: &TabId) {
        let Some(info) = self.tab_info(tab).await else { return };
        if let Some(dialog) = &info.dialog {
            reply.text.push_str(&report::dialog_line(dialog));
        }
    }

    async fn dialog_stops(&self, tab: &TabId) -> bool {
        self.tab_info(tab).await.is_some_and(|info| info.dialog.is_some())
    }

    /// Reads the page afresh, for ourselves.
    async fn read(&self, tab: &TabId, request: &CaptureRequest) -> Result<Read, ControlError> {
        let browser = self.browser().await?;
        let captured = browser
            .capture(tab, request, READ_DEADLINE)
            .await
            .map_err(|error| browser_error(&error))?;
        // The document's own title: what the browser tells of tabs comes a little later.
        let main = captured.frames.iter().find(|frame| frame.meta.owner.is_none());
        let title = main.map_or(captured.info.title, |frame| frame.title.clone());
        let replaced = captured.replaced.is_some();
        let snapshot =
            assemble(tab.clone(), captured.info.url, title, captured.frames, captured.notes);
        Ok(Read { snapshot, replaced })
    }

    /// Everything on the page, off screen as well, for ourselves.
    pub(crate) async fn read_all(&self, tab: &TabId) -> Result<PrivateSnapshot, ControlError> {
        Ok(self.read(tab, &request(true)).await?.snapshot)
    }

    /// Publishes the whole page.
    async fn show_whole(
        &mut self,
        reply: &mut Reply,
        tab: &TabId,
        full: bool,
    ) -> Result<(), ControlError> {
        let read = self.read(tab, &request(full)).await?;
        if read.replaced {
            reply.text.push_str(REPLACED);
        }
        self.publish_whole(reply, tab, &read.snapshot, full);
        Ok(())
    }

    fn publish_whole(
        &mut self,
        reply: &mut Reply,
        tab: &TabId,
        snapshot: &PrivateSnapshot,
        full: bool,
    ) {
        let mut state = self.session.state();
        let options = PublishOptions { full, ..PublishOptions::default() };
        let shown = state.refs.publish(snapshot, &options);
        let mut text = shown.text.clone();
        if !shown.rest.is_empty() {
            let rest = shown.rest.join("\n");
            let wrapped = wrap_untrusted(&rest, &shown.url, &shown.title, &nonce());
            let number = self.number();
            let stored =
                state.results.keep(number, "rest of the snapshot", "text/plain", wrapped.into());
            let _ = write!(
                text,
                "\n(cut here: {} more bytes with read_more {})",
                stored.bytes, stored.uri
            );
            reply.stored.push(stored);
        }
        facts(reply, tab, &shown.url, shown.bytes, shown.tokens);
        if let Some(document) = shown.document() {
            reply.facts.insert("document".into(), document.as_str().into());
        }
        if shown.left_out > 0 {
            reply.facts.insert("left_out".into(), shown.left_out.into());
        }
        reply.page = Some(PageText {
            tab: tab.clone(),
            whole: true,
            text: state.told.wrap(tab, &text, &shown.url, &shown.title),
            state: format!("{:016x}", shown.hash),
        });
        // A page that could not be read is not one that was seen empty.
        if !snapshot.frames().is_empty() {
            state.shown.insert(tab.clone(), shown);
        }
    }

    /// After an act: what changed, or the whole page if it is another document.
    pub(crate) async fn show_change(&mut self, reply: &mut Reply, tab: &TabId, effects: &Effects) {
        let new_document = matches!(effects.navigation, Some(Navigation::Document { .. }));
        let failed = matches!(
            effects.navigation,
            Some(Navigation::Failed { .. } | Navigation::Pending { .. } | Navigation::Download)
        );
        reply.moved = new_document;
        reply.changed = Some(new_document || effects.changed);
        reply.facts.insert("tab".into(), tab.as_str().into());
        if failed {
            return;
        }
        let mut request = request(false);
        request.known = self.session.state().shown_keys(tab);
        let read = match self.read(tab, &request).await {
            Ok(read) => read,
            Err(error) => {
                // The act is done; that the page can't be read now must not hide it.
                let _ = write!(reply.text, "\n{error}");
                return;
            }
        };
        let mut state = self.session.state();
        let readable = !read.snapshot.frames().is_empty();
        let Some(before) = readable.then(|| state.shown.remove(tab)).flatten() else {
            drop(state);
            reply.moved = readable;
            self.publish_whole(reply, tab, &read.snapshot, false);
            return;
        };
        let delta = state.refs.delta(&before, &read.snapshot, &PublishOptions::default());
        if delta.fresh {
            drop(state);
            reply.moved = true;
            self.publish_whole(reply, tab, &read.snapshot, false);
            return;
        }
        reply.changed = Some(effects.changed || !delta.text.is_empty());
        let now = delta.snapshot;
        if delta.text.is_empty() {
            reply.text.push_str("\nnothing on the page changed that a snapshot shows");
        } else {
            reply.page = Some(PageText {
                tab: tab.clone(),
                whole: false,
                text: state.told.wrap(tab, &delta.text, &now.url, &now.title),
                state: format!("{:016x}", now.hash),
            });
        }
        facts(reply, tab, &now.url, delta.text.len(), delta.tokens);
        state.shown.insert(tab.clone(), now);
    }

    /// The page as Markdown, one part at a time.
    pub(crate) async fn page_text(&mut self, part: usize) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let read = self.read(&tab, &request(true)).await?;
        let written = page_text(&read.snapshot, &TextOptions::default());
        let count = written.parts.len();
        let Some(text) = part.checked_sub(1).and_then(|at| written.parts.get(at)) else {
            return Err(ControlError::Arguments {
                tool: "get_page_text",
                reason: format!("part is {part}"),
                hint: format!("the text has {count} part(s), counted from 1"),
            });
        };
        let mut reply = Reply::default();
        if count > 1 {
            let _ = write!(reply.text, "part {part} of {count}");
        }
        let snapshot = &read.snapshot;
        reply.page = Some(PageText {
            tab: tab.clone(),
            whole: true,
            text: wrap_untrusted(text, &snapshot.url, &snapshot.title, &nonce()),
            state: format!("{:016x}-{part}", snapshot.hash()),
        });
        facts(&mut reply, &tab, &snapshot.url, text.len(), reins_page::estimate_tokens(text));
        Ok(reply)
    }

    /// Lines that contain a text, with refs.
    pub(crate) async fn find(&mut self, wanted: &str) -> Result<Reply, ControlError> {
        if wanted.trim().is_empty() {
            return Err(ControlError::Arguments {
                tool: "find_in_page",
                reason: "text is empty".into(),
                hint: "text is what to look for".into(),
            });
        }
        let tab = self.tab()?;
        let read = self.read(&tab, &request(true)).await?;
        let mut state = self.session.state();
        let found = state.refs.find(&read.snapshot, wanted);
        let mut reply = Reply::text(match found.matches {
            0 => format!("'{wanted}' is not on the page"),
            1 => "1 match".to_owned(),
            many if found.shown < many => format!("{many} matches, {} shown", found.shown),
            many => format!("{many} matches"),
        })
        .with("matches", found.matches);
        if !found.text.is_empty() {
            let snapshot = &read.snapshot;
            reply.page = Some(PageText {
                tab: tab.clone(),
                whole: false,
                text: wrap_untrusted(&found.text, &snapshot.url, &snapshot.title, &nonce()),
                state: format!("{:016x}", snapshot.hash()),
            });
        }
        facts(
            &mut reply,
            &tab,
            &read.snapshot.url,
            found.text.len(),
            reins_page::estimate_tokens(&found.text),
        );
        Ok(reply)
    }

    /// This session's tabs.
    pub(crate) async fn list_tabs(&mut self) -> Result<Reply, ControlError> {
        let browser = self.browser().await?;
        let state = self.session.state();
        let mut lines = String::new();
        let mut listed = Vec::new();
        for info in browser.tabs().iter().filter(|info| state.tabs.contains(&info.id)) {
            let mark = if state.current.as_ref() == Some(&info.id) { " (current)" } else { "" };
            let by = match &info.opened_by {
                OpenedBy::Person => ", the person's",
                OpenedBy::Agent => "",
                OpenedBy::Page(_) => ", opened by a page",
            };
            let what = if info.crashed {
                ", crashed"
            } else if info.dialog.is_some() {
                ", a dialog is open"
            } else if info.loading {
                ", loading"
            } else {
                ""
            };
            let title = reins_guard::plain_text(&info.title);
            let _ = writeln!(
                lines,
                "[tab={}] {} \"{}\"{mark}{by}{what}",
                short(&info.id),
                info.url,
                reins_guard::clip_middle(&title, TITLE_BYTES)
            );
            listed.push(serde_json::json!({
                "browser": browser.id().as_str(), "tab": info.id.as_str(), "url": info.url,
            }));
        }
        if lines.is_empty() {
            return Ok(Reply::text("no tab is open in this session; navigate opens one"));
        }
        // Titles and addresses are the pages' own words.
        let text = wrap_untrusted(lines.trim_end(), "", "tabs", &nonce());
        Ok(Reply::text(text).with("tabs", listed))
    }

    /// A picture; a failure says so and takes nothing else away.
    pub(crate) async fn screenshot(
        &mut self,
        r: Option<Ref>,
        full_page: bool,
    ) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let element = match r {
            Some(r) => Some(self.resolve(r).await?.node),
            None => None,
        };
        let options = ShotOptions { element, full_page, ..ShotOptions::default() };
        let browser = self.browser().await?;
        let shot = tokio::time::timeout(CALL_DEADLINE, browser.screenshot(&tab, &options))
            .await
            .map_err(|_| ControlError::Page("the picture took too long".into()))?
            .map_err(|error| browser_error(&error))?;
        let mut reply = Reply::text(format!("{:.0} x {:.0} CSS pixels", shot.width, shot.height));
        for note in &shot.notes {
            let _ = write!(reply.text, "\n{note}");
        }
        let [before, after] = &shot.documents;
        let read = self.session.state().shown.get(&tab).and_then(|s| s.document().cloned());
        if before != after {
            let _ = write!(
                reply.text,
                "\nthe page was replaced meanwhile: this may show either document"
            );
        } else if read.is_some() && read != *after {
            let _ = write!(reply.text, "\nthis is another document than the last snapshot's");
        }
        reply.facts.insert("tab".into(), tab.as_str().into());
        reply.facts.insert("bytes".into(), shot.bytes.len().into());
        if let Some(document) = after {
            reply.facts.insert("document".into(), document.as_str().into());
        }
        let view = shot.viewport;
        reply.facts.insert(
            "viewport".into(),
            serde_json::json!({
                "scroll_x": view.scroll_x, "scroll_y": view.scroll_y, "width": view.width, "height": view.height, "zoom": view.zoom,
            }),
        );
        reply.pictures.push(Picture { bytes: shot.bytes, mime: shot.mime });
        Ok(reply)
    }

    /// The page as a PDF, saved under the data directory and kept as a resource.
    pub(crate) async fn pdf(&mut self) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let bytes = self.browser().await?.pdf(&tab).await.map_err(|error| browser_error(&error))?;
        let size = bytes.len();
        let dir = self.control.inner.options.data_dir.join("pdf");
        let name = format!("page-{}-{}.pdf", std::process::id(), self.number());
        let path = dir.join(name);
        let saved = async {
            tokio::fs::create_dir_all(&dir).await?;
            tokio::fs::write(&path, &bytes).await
        };
        saved.await.map_err(|error| {
            ControlError::Path(format!("the PDF could not be saved to {} ({error}). Free disk space or set another --data-dir", path.display()))
        })?;
        Ok(Reply::text(format!("saved {size} bytes to {}", path.display()))
            .with("path", path.to_string_lossy().into_owned())
            .with("bytes", size))
    }

    /// More of a stored result.
    pub(crate) fn read_more(&mut self, uri: &str, offset: usize) -> Result<Reply, ControlError> {
        let state = self.session.state();
        let (about, body) =
            state.results.get(uri).ok_or_else(|| ControlError::NoSuchResult(uri.to_owned()))?;
        let Ok(text) = std::str::from_utf8(body) else {
            return Ok(Reply::text(format!("{} is no text; read it as a resource", about.name)));
        };
        let part = piece(text, offset, RESULT_BYTES);
        let end = offset.min(text.len()) + part.len();
        let mut reply = Reply::text(part);
        if end < text.len() {
            let _ = write!(reply.text, "\n(go on with offset {end} of {})", text.len());
        }
        Ok(reply)
    }

    /// Makes the named tab current and reads it. Raises no window.
    pub(crate) async fn switch_tab(&mut self) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        self.session.state().current = Some(tab);
        self.snapshot(false).await
    }

    /// Waits for something, then says what the page shows.
    pub(crate) async fn wait(
        &mut self,
        wanted: WaitFor,
        limit: Duration,
    ) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let browser = self.browser().await?;
        let began = Instant::now();
        let waited = tokio::select! {
            waited = browser.wait(&tab, &wanted, limit) => waited,
            () = self.stop.cancelled() => return Err(ControlError::Stopped),
            () = self.cancel.cancelled() => return Err(ControlError::Cancelled),
        };
        waited.map_err(|error| browser_error(&error))?;
        let download =
            self.session.state().download.clone().filter(|_| wanted == WaitFor::Download);
        let mut reply = Reply::text(match download {
            Some(download) => report::download_line(&download),
            None => format!("waited {:.1} s", began.elapsed().as_secs_f64()),
        });
        if !self.dialog_stops(&tab).await {
            let effects = Effects { changed: true, ..Effects::default() };
            self.show_change(&mut reply, &tab, &effects).await;
            reply.changed = None;
        }
        Ok(reply)
    }

    /// A number that no other stored result or file of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.control.inner.numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
    }
}

/// A page read for one purpose.
struct Read {
    snapshot: PrivateSnapshot,
    /// The document was replaced meanwhile.
    replaced: bool,
}

/// Said before what was read at the second try.
const REPLACED: &str = "the page was replaced while it was read; this is the newer one\n";

/// Titles in the list of tabs are cut here; the snapshot has the whole.
const TITLE_BYTES: usize = 80;

/// What to read: within the budget of one snapshot, or everything.
fn request(full: bool) -> CaptureRequest {
    CaptureRequest { budget: SNAPSHOT_TOKENS * BYTES_PER_TOKEN, full, known: Vec::new() }
}

/// The page script counts bytes; four of them are a token or more, so the budget is never missed.
const BYTES_PER_TOKEN: usize = 4;

fn facts(reply: &mut Reply, tab: &TabId, url: &str, bytes: usize, tokens: usize) {
    reply.facts.insert("tab".into(), tab.as_str().into());
    reply.facts.insert("url".into(), url.into());
    reply.facts.insert("bytes".into(), bytes.into());
    reply.facts.insert("tokens".into(), tokens.into());
}

/// A fresh nonce for every wrapper: 40 random bits. The page never hears whether a guess
/// was right, and digits cost a model the fewest tokens.
pub(crate) fn nonce() -> String {
    let mut random = [0u8; 8];
    if getrandom::fill(&mut random).is_err() {
        // The standard library seeds its hashers from the system too, by another way.
        random = RandomState::new().hash_one(()).to_le_bytes();
    }
    format!("{:012}", u64::from_le_bytes(random) % 1_000_000_000_000)
}
