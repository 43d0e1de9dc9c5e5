//! The sign-in of a pinned browser's app (S-028, S-029). Only a pinned browser has one: what a guarded one
//! is signed in to is the person's.

use crate::call::browser_error;
use crate::control::Control;
use crate::error::ControlError;
use reins_core::{Origin, Refusal, Secret};

impl Control {
    /// What the browser is signed in to its app with, as JSON in Playwright's form of storage state. Starts
    /// the browser if there is none.
    ///
    /// # Errors
    ///
    /// Fails where the origin is not this browser's app, or the browser does not answer.
    pub async fn sign_in(&self, app: &Origin) -> Result<Secret<String>, ControlError> {
        self.own_app(app)?;
        let browser = self.inner.host.browser(self).await?;
        let sign_in = browser.sign_in(app).await.map_err(|error| browser_error(&error))?;
        Ok(sign_in.expose_json(app))
    }

    /// Signs the browser in to its app, best before its first page. What is not the app's is left out; how
    /// much that was.
    ///
    /// # Errors
    ///
    /// Fails where the origin is not this browser's app, the JSON is not of that form, or the browser does
    /// not take it.
    pub async fn set_sign_in(
        &self,
        app: &Origin,
        json: &Secret<String>,
    ) -> Result<usize, ControlError> {
        self.own_app(app)?;
        let (sign_in, left_out) =
            reins_browser::SignIn::from_json(json, app).map_err(|error| browser_error(&error))?;
        let browser = self.inner.host.browser(self).await?;
        browser.set_sign_in(app, &sign_in).await.map_err(|error| browser_error(&error))?;
        Ok(left_out)
    }

    fn own_app(&self, app: &Origin) -> Result<(), ControlError> {
        if self.inner.options.app.iter().any(|own| own.matches(app)) {
            return Ok(());
        }
        Err(Refusal::new(
            "not_its_app",
            format!("this browser is not pinned to {app}, so it has no sign-in to give or take"),
            "Use the address of the browser's own app.",
        )
        .into())
    }
}
