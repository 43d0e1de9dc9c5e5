//! Approvals: made here only, bound to what was seen, used once.

use crate::assess::assess;
use crate::block::{block, targets};
use crate::facts::{Facts, Moment};
use crate::obligations::Obligations;
use crate::refuse::RefusalCode;
use reins_core::{Action, Gesture, Refusal, TargetRecord};

/// An action that may be dispatched. The browser takes nothing else.
///
/// It cannot be built outside this crate, and it cannot be copied: dispatching takes it, so an
/// approval is used once (R-173).
///
/// ```
/// fn dispatch(_: reins_guard::ApprovedAction) {}
/// fn once(approved: reins_guard::ApprovedAction) {
///     dispatch(approved);
/// }
/// ```
///
/// ```compile_fail,E0382
/// fn dispatch(_: reins_guard::ApprovedAction) {}
/// fn twice(approved: reins_guard::ApprovedAction) {
///     dispatch(approved);
///     dispatch(approved);
/// }
/// ```
///
/// ```compile_fail,E0599
/// fn copy(approved: &reins_guard::ApprovedAction) -> reins_guard::ApprovedAction {
///     approved.clone()
/// }
/// ```
///
/// ```compile_fail,E0451
/// fn forge(approved: reins_guard::ApprovedAction, action: reins_core::Action) {
///     let forged = reins_guard::ApprovedAction { action, ..approved };
/// }
/// ```
///
/// ```compile_fail,E0624
/// fn forge(
///     action: reins_core::Action,
///     like: &reins_guard::ApprovedAction,
/// ) -> reins_guard::ApprovedAction {
///     reins_guard::ApprovedAction::new(action, like.basis(), like.obligations().clone(), like.moment())
/// }
/// ```
#[derive(Debug)]
#[must_use = "an approval does nothing until it is dispatched"]
pub struct ApprovedAction {
    action: Action,
    basis: Basis,
    obligations: Obligations,
    moment: Moment,
}

/// Why an action may be dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// It changes nothing.
    Harmless,
    /// It opens an address that is known.
    KnownAddress,
    /// It is a low-risk step on sites that are named.
    NamedSite,
    /// Nothing tells what it does, but what it sends waits for the person.
    Held,
    /// The session is pinned to its app.
    PinnedApp,
    /// The person allowed it on a card.
    Person,
    /// The critic let it pass (R-186).
    Critic,
}

impl Basis {
    /// The verdict in a few words, for the step's finish event (R-199).
    pub fn verdict(self) -> &'static str {
        match self {
            Basis::Harmless => "allowed: changes nothing",
            Basis::KnownAddress => "allowed: known address",
            Basis::NamedSite => "allowed: site you named",
            Basis::Held => "allowed: what it sends is asked",
            Basis::PinnedApp => "allowed: inside the app",
            Basis::Person => "allowed: you agreed",
            Basis::Critic => "allowed: safety check",
        }
    }
}

impl ApprovedAction {
    pub(crate) fn new(
        action: Action,
        basis: Basis,
        obligations: Obligations,
        moment: Moment,
    ) -> Self {
        Self { action, basis, obligations, moment }
    }

    /// What may be dispatched.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Why it may be.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// What the browser must hold the page to.
    pub fn obligations(&self) -> &Obligations {
        &self.obligations
    }

    /// The moment it holds for.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// Whether a receipt must be durable before it is sent: it may change something outside.
    pub fn needs_receipt(&self) -> bool {
        !matches!(
            self.action,
            Action::SwitchTab { .. }
                | Action::CloseTab { .. }
                | Action::OpenTab { url: None }
                | Action::Scroll { .. }
                | Action::Pointer { gesture: Gesture::Hover, .. }
        )
    }

    /// Compares the approved elements with a fresh reading of them (R-171). `fresh` holds them
    /// in the action's own order.
    pub fn confirm<'a>(
        &self,
        fresh: impl IntoIterator<Item = &'a TargetRecord>,
    ) -> Result<(), Refusal> {
        if targets(&self.action).eq(fresh) {
            return Ok(());
        }
        Err(RefusalCode::StaleRef.refusal(
            "the element changed after it was approved, so nothing was done",
            "Take a new snapshot and try again if the step still makes sense.",
        ))
    }
}

/// Evaluates the blocks again, just before dispatch, and voids an approval of another moment
/// (R-141, R-173).
pub fn still_allowed(approved: &ApprovedAction, facts: &Facts<'_>) -> Result<(), Refusal> {
    if approved.moment != facts.moment {
        return Err(RefusalCode::ApprovalExpired.refusal(
            "the approval ended with its step: the turn was stopped, paused or went on",
            "Ask for the step again if it is still wanted.",
        ));
    }
    block(&approved.action, &assess(&approved.action, facts), facts)
}
