//! The person's own input from afar: pointer, wheel, keys and text, and nothing else (S-156).
//!
//! It is dispatched unannounced, so the guard in the page takes it for what it is: it releases what the
//! agent touched and pauses the turn, as input at a window does. Where a step of the agent
//! is under way it is refused, since the guard would take it for a part of that step.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::focus::focused;
use crate::keyboard::{modifier_bits, typed};
use crate::page_call::{ask, call, wire_error};
use crate::protocol::input::{DispatchKey, DispatchMouse, InsertText};
use crate::protocol::page::{GetLayoutMetrics, HandleDialog, SetFiles};
use crate::tab::Tab;
use crate::tab_info::DialogKind;
use crate::tab_task::person_acted;
use reins_cdp::wire::Command;
use reins_cdp::{Ignored, Pending, Session};
use reins_core::{FrameId, Modifiers, MouseButton, Secret, TabId};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout};

/// One thing that the person did at a view of the tab. What they typed is never printed.
#[derive(Clone, PartialEq)]
pub enum PersonInput {
    /// The pointer moved, or a button went down or up.
    Pointer {
        /// What of these.
        action: PointerAction,
        /// How far to the right, as a fraction of the view from 0 to 1.
        x: f64,
        /// How far down, as a fraction of the view from 0 to 1.
        y: f64,
        /// The button that went down or up.
        button: MouseButton,
        /// The buttons that are down now, as a bit set: left 1, right 2, middle 4.
        buttons: u8,
        /// Which click of a series it is: 2 for a double click.
        clicks: u8,
        /// Keys held meanwhile.
        modifiers: Modifiers,
    },
    /// The wheel turned.
    Wheel {
        /// As for the pointer.
        x: f64,
        /// As for the pointer.
        y: f64,
        /// How far to the right, in CSS pixels.
        dx: f64,
        /// How far down, in CSS pixels.
        dy: f64,
        /// Keys held meanwhile.
        modifiers: Modifiers,
    },
    /// A key went down or up.
    Key {
        /// Which of the two.
        action: KeyAction,
        /// `KeyboardEvent.key`.
        key: String,
        /// `KeyboardEvent.code`.
        code: String,
        /// Keys held meanwhile.
        modifiers: Modifiers,
    },
    /// Text was pasted, or composed by an input method.
    Text(Secret<String>),
}

impl std::fmt::Debug for PersonInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pointer { .. } => "PersonInput(pointer)",
            Self::Wheel { .. } => "PersonInput(wheel)",
            Self::Key { .. } => "PersonInput(key)",
            Self::Text(_) => "PersonInput(text)",
        })
    }
}

/// What the pointer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PointerAction {
    Move,
    Down,
    Up,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum KeyAction {
    Down,
    Up,
}

/// Input that was sent.
pub struct PersonSent {
    answer: Pending<Ignored>,
    tab: Arc<Tab>,
    /// No step of the agent begins while input is on its way.
    _turn: Arc<OwnedSemaphorePermit>,
}

/// The person's input under way in a tab.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    turn: Mutex<Weak<OwnedSemaphorePermit>>,
    /// The agent's gesture that was taken back everywhere.
    clear_of: AtomicU64,
}

/// Input is answered when the page has handled it. A page that takes longer is busy.
const HANDLED: Duration = Duration::from_secs(5);

/// A step of the agent that is about to end is waited for.
const TURN: Duration = Duration::from_millis(500);

/// A frame that takes longer is busy, and handles no input either.
const CLEAR: Duration = Duration::from_secs(1);

/// Which frame has the focus. A page that takes longer is busy.
const FOCUS: Duration = Duration::from_secs(1);

impl Browser {
    /// Sends what the person did. It is on its way when this returns; [`PersonSent::handled`] says when the
    /// page has it. While a dialog is open, Enter accepts and Escape dismisses it: the view does not show
    /// dialogs (S-063), and nothing else reaches the page.
    ///
    /// # Errors
    /// Nothing was sent: the tab is closed or crashed, a dialog is open, or a step of the agent is under
    /// way ([`BrowserError::AgentActs`]).
    pub async fn person_input(
        &self,
        tab: &TabId,
        input: &PersonInput,
    ) -> Result<PersonSent, BrowserError> {
        let tab = self.inner.tab(tab)?;
        let answer = match tab.obstacle() {
            Some(BrowserError::DialogOpen { message }) => {
                let turn = tab.hand.turn(&tab).await?;
                (answer_dialog(&tab, input).ok_or(BrowserError::DialogOpen { message })?, turn)
            }
            Some(other) => return Err(other),
            None => {
                let turn = tab.hand.turn(&tab).await?;
                (send(&tab, input).await?, turn)
            }
        };
        let (answer, _turn) = answer;
        Ok(PersonSent { answer, tab, _turn })
    }
}

impl std::fmt::Debug for PersonSent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PersonSent({:?})", self.tab)
    }
}

impl Browser {
    /// What is selected in the tab, for the person who copies it.
    ///
    /// # Errors
    /// The tab is closed or crashed, a dialog is open, or the page is busy.
    pub async fn selected_text(&self, tab: &TabId) -> Result<String, BrowserError> {
        let tab = self.inner.tab(tab)?;
        if let Some(error) = tab.obstacle() {
            return Err(error);
        }
        let frame = focused_frame(&tab).await?;
        let Some((world, _)) = tab.world(&frame) else { return Ok(String::new()) };
        Ok(ask(&world, "__reins.selected()", false, FOCUS).answer().await?)
    }
}

impl Browser {
    /// Gives a page the files that it asked the person for, when they clicked a file field. They are the
    /// person's own, so they may lie anywhere.
    ///
    /// # Errors
    /// No page of the tab asks for files, it takes only one, or it went away.
    pub async fn person_files(&self, tab: &TabId, files: &[PathBuf]) -> Result<(), BrowserError> {
        let tab = self.inner.tab(tab)?;
        let page = |what: &str| BrowserError::Page { what: what.to_owned() };
        let chooser = tab.state().chooser.clone();
        let asks = chooser.and_then(|chooser| Some((chooser.node?, chooser)));
        let Some((node, chooser)) = asks else {
            return Err(page("no field of the page asks for files; click it first"));
        };
        if files.len() > 1 && !chooser.several {
            return Err(page("the page takes one file only; give exactly one"));
        }
        let names: Option<Vec<String>> =
            files.iter().map(|file| file.to_str().map(str::to_owned)).collect();
        let names = names.ok_or_else(|| page("a file's name is no valid text; rename it"))?;
        // They are given once.
        tab.state().chooser = None;
        let set = SetFiles { files: &names, object_id: None, backend_node_id: Some(node) };
        let set = chooser.session.run(set, HANDLED).await;
        set.map(drop).map_err(|error| wire_error("DOM.setFileInputFiles", error))
    }
}

impl PersonSent {
    /// Waits until the page has handled it, or a dialog that it opened keeps it from saying so.
    ///
    /// # Errors
    /// The page is busy, or went away.
    pub async fn handled(self) -> Result<(), BrowserError> {
        let Self { answer, tab, _turn } = self;
        let until = Instant::now() + HANDLED;
        let over = tab.until(until, |state| {
            (state.dialog.is_some() || state.closed || state.crashed).then_some(())
        });
        tokio::select! {
            answer = answer => answer.map(drop).map_err(|error| wire_error("input", error)),
            over = over => over.ok_or(BrowserError::Busy(HANDLED)),
        }
    }
}

impl Hand {
    /// The tab is the person's as long as this is held. All of their input shares it.
    async fn turn(&self, tab: &Arc<Tab>) -> Result<Arc<OwnedSemaphorePermit>, BrowserError> {
        let held = self.turn.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        if let Some(turn) = held {
            return Ok(turn);
        }
        let turn = match timeout(TURN, tab.acting.clone().acquire_owned()).await {
            Ok(Ok(turn)) => Arc::new(turn),
            Ok(Err(_)) | Err(_) => return Err(BrowserError::AgentActs),
        };
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&turn);
        self.clear(tab).await;
        Ok(turn)
    }

    /// What the agent announced last may still be awaited in some frame, if its step was given up.
    async fn clear(&self, tab: &Arc<Tab>) {
        let token = tab.last_token();
        if self.clear_of.swap(token, Ordering::Relaxed) == token {
            return;
        }
        let worlds: Vec<_> = tab.state().worlds.values().cloned().collect();
        let withdraw = call("withdraw", &token);
        let asked: Vec<_> = worlds.iter().map(|w| ask(w, &withdraw, false, CLEAR)).collect();
        for one in asked {
            let _: Result<serde::de::IgnoredAny, _> = one.answer().await;
        }
    }
}

async fn send(tab: &Arc<Tab>, input: &PersonInput) -> Result<Pending<Ignored>, BrowserError> {
    let session = &tab.session;
    Ok(match input {
        PersonInput::Pointer { action, x, y, button, buttons, clicks, modifiers } => {
            let (x, y) = place(tab, *x, *y).await?;
            let (name, bit) = match button {
                MouseButton::Left => ("left", 1),
                MouseButton::Right => ("right", 2),
                MouseButton::Middle => ("middle", 4),
            };
            let (kind, buttons, button) = match action {
                PointerAction::Move if *buttons == 0 => ("mouseMoved", 0, None),
                PointerAction::Move => ("mouseMoved", *buttons, Some(held(*buttons))),
                PointerAction::Down => ("mousePressed", buttons | bit, Some(name)),
                PointerAction::Up => ("mouseReleased", buttons & !bit, Some(name)),
            };
            let mouse = DispatchMouse {
                r#type: kind,
                x,
                y,
                modifiers: Some(modifier_bits(*modifiers)),
                button,
                buttons: Some(buttons),
                click_count: (*action != PointerAction::Move).then_some(*clicks),
                ..DispatchMouse::default()
            };
            post(session, mouse)
        }
        PersonInput::Wheel { x, y, dx, dy, modifiers } => {
            let (x, y) = place(tab, *x, *y).await?;
            let mouse = DispatchMouse {
                r#type: "mouseWheel",
                x,
                y,
                modifiers: Some(modifier_bits(*modifiers)),
                delta_x: Some(*dx),
                delta_y: Some(*dy),
                ..DispatchMouse::default()
            };
            post(session, mouse)
        }
        PersonInput::Key { action, key, code, modifiers } => {
            let press = typed(key, code, *modifiers);
            let text = press.text.as_deref().filter(|_| *action == KeyAction::Down);
            let kind = match action {
                KeyAction::Down if text.is_some() => "keyDown",
                KeyAction::Down => "rawKeyDown",
                KeyAction::Up => "keyUp",
            };
            let down = *action == KeyAction::Down;
            let event = DispatchKey {
                r#type: kind,
                modifiers: Some(press.modifiers),
                text,
                unmodified_text: text,
                code: (!code.is_empty()).then_some(code),
                key: Some(key),
                windows_virtual_key_code: (press.virtual_key != 0).then_some(press.virtual_key),
                location: Some(press.location),
                commands: (down && !press.commands.is_empty()).then_some(press.commands),
            };
            post(session, event)
        }
        PersonInput::Text(text) => {
            // Inserted text comes without an event that the guard would know the person by.
            let frame = focused_frame(tab).await?;
            person_acted(tab, &frame, "text".to_owned());
            // Frames in other processes take their own.
            let to = tab.state().frames.get(&frame).map(|f| f.session.clone());
            post(&to.unwrap_or_else(|| session.clone()), InsertText { text: text.expose() })
        }
    })
}

async fn focused_frame(tab: &Arc<Tab>) -> Result<FrameId, BrowserError> {
    let found = timeout(FOCUS, focused(tab)).await.map_err(|_| BrowserError::Busy(FOCUS))??;
    Ok(found.map_or_else(|| tab.state().main.clone(), |key| key.frame))
}

fn post<C: Command<Answer = Ignored>>(session: &Session, command: C) -> Pending<Ignored> {
    session.post(command, HANDLED)
}

/// The button that a drag is made with.
fn held(buttons: u8) -> &'static str {
    match buttons {
        b if b & 1 != 0 => "left",
        b if b & 2 != 0 => "right",
        _ => "middle",
    }
}

/// A point of the view in CSS pixels: what the last frame shows is what the person aimed at.
async fn place(tab: &Arc<Tab>, x: f64, y: f64) -> Result<(f64, f64), BrowserError> {
    let casting = tab.casting.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    let shown = casting.and_then(|casting| casting.last());
    let (width, height) = match shown {
        Some(frame) => (frame.css_width, frame.css_height),
        None => {
            let metrics = tab.session.run(GetLayoutMetrics {}, HANDLED).await;
            let metrics = metrics.map_err(|e| wire_error("Page.getLayoutMetrics", e))?;
            let view = metrics.css_visual_viewport;
            (view.client_width, view.client_height)
        }
    };
    Ok((within(x, width), within(y, height)))
}

/// The last point that lies inside, for what is aimed at the very edge.
fn within(fraction: f64, size: f64) -> f64 {
    (fraction.clamp(0.0, 1.0) * size).min((size - 1.0).max(0.0))
}

/// Enter and Escape answer the dialog that is open. Anything else does not.
fn answer_dialog(tab: &Arc<Tab>, input: &PersonInput) -> Option<Pending<Ignored>> {
    let PersonInput::Key { action: KeyAction::Down, key, .. } = input else { return None };
    let accept = match key.as_str() {
        "Enter" => true,
        "Escape" => false,
        _ => return None,
    };
    let (dialog, session) = tab.state().dialog.clone()?;
    let prompt = accept && dialog.kind == DialogKind::Prompt;
    let text = prompt.then_some(dialog.default.as_str());
    Some(post(&session, HandleDialog { accept, prompt_text: text }))
}
