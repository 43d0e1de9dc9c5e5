//! The way out of a pinned browser: a proxy of its own, which lets it reach its app and public addresses (S-146).

use crate::error::ControlError;
use reins_browser::{Connections, ProxyAccess};
use reins_core::OriginPattern;
use reins_egress::{
    Allowance, Deny, Egress, EgressError, Endpoint, Network, OpenSession, Policy, Public, Refusals,
};

/// What a pinned browser may reach beside its app, and how much it may move. By default public addresses, as they are on
/// the web, and nothing denied (S-151).
#[derive(Clone, Debug, Default)]
pub struct Beyond {
    /// Whether public addresses are reached at all.
    pub public: Public,
    /// Never reached, the app included.
    pub deny: Vec<Deny>,
    /// Bytes and rate.
    pub allowance: Allowance,
}

/// Lasts as long as its browser.
#[derive(Debug)]
pub(crate) struct WayOut {
    egress: Egress,
    session: OpenSession,
}

impl WayOut {
    /// Opens one for a browser that is pinned to these origins.
    pub(crate) async fn open(app: &[OriginPattern], beyond: &Beyond) -> Result<Self, ControlError> {
        let app = app.iter().filter_map(Endpoint::of).collect();
        let policy = Policy { app, public: beyond.public, deny: beyond.deny.clone() };
        let egress = Egress::start(Network::system()).await.map_err(|e| no_way(&e))?;
        let session = egress.open(policy, beyond.allowance).map_err(|e| no_way(&e))?;
        Ok(Self { egress, session })
    }

    /// What the browser is started with.
    pub(crate) fn connections(&self) -> Connections {
        let login = self.session.login().clone();
        Connections::Through(ProxyAccess {
            address: self.egress.address(),
            user: login.user,
            password: login.password,
        })
    }

    /// What was refused so far.
    pub(crate) fn refusals(&self) -> Refusals {
        self.session.refusals()
    }

    /// Cuts what is left of it.
    pub(crate) async fn close(self) {
        let refusals = self.refusals();
        for kind in &refusals.kinds {
            tracing::info!("{kind}");
        }
        drop(self.session);
        self.egress.stop().await;
    }
}

fn no_way(error: &EgressError) -> ControlError {
    ControlError::Browser {
        code: error.code(),
        message: error.to_string(),
        next: error.remedy().to_owned(),
    }
}
