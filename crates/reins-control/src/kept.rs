//! Kept secrets on the street: typed by name into the field that they fit, and taken out of
//! everything that an answer says afterwards.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::secret_book::failed;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reins_core::{
    DocumentOrigin, Origin, Refusal, Secret, SecretKind, SecretName, Sensitivity, TargetRecord,
};
use reins_store::StoredSecret;
use serde_json::Value;

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// Shorter values are found by chance in any text, so they are left to the redaction of fields.
const TELLING_BYTES: usize = 4;

impl Call<'_> {
    /// Opens a kept secret for a field, if it was kept for just such a field of just this site.
    pub(crate) async fn kept_secret(
        &mut self,
        name: &SecretName,
        target: &TargetRecord,
    ) -> Result<Secret<String>, ControlError> {
        let found = self.control.inner.store.secret(name.clone()).await.map_err(failed)?;
        let Some((about, value)) = found else {
            return Err(Refusal::new(
                "no_such_secret",
                format!("no secret is kept under the name {name}"),
                "Ask the person to keep it with `reins secrets set`, or to type it themselves.",
            )
            .into());
        };
        fits(&about, target)?;
        self.session.state().typed.push(value.clone());
        Ok(value)
    }
}

/// Whether a field is one that a secret was kept for: exact origin, of the frame and of the tab,
/// and kind of field.
fn fits(about: &StoredSecret, target: &TargetRecord) -> Result<(), ControlError> {
    let home = DocumentOrigin::Web(about.origin.clone());
    if target.origin != home || target.top != home {
        return Err(Refusal::new(
            "secret_of_another_site",
            format!("{} is kept for {} and is typed nowhere else", about.name, about.origin),
            "Don't look for another way to enter it; tell the person.",
        )
        .into());
    }
    let right = match about.kind {
        SecretKind::Password => target.sensitivity == Sensitivity::Password,
        SecretKind::Code => target.sensitivity == Sensitivity::OneTimeCode,
        SecretKind::Payment => target.sensitivity == Sensitivity::Payment,
        SecretKind::Text => target.sensitivity == Sensitivity::None && target.editable,
    };
    if right {
        return Ok(());
    }
    Err(Refusal::new(
        "secret_does_not_fit",
        format!("{} fits {} fields only, and this is none", about.name, about.kind),
        "Take the ref of the right field from a new snapshot.",
    )
    .into())
}

/// The line that tells which secrets may be used on a page.
pub(crate) fn offer(secrets: &[StoredSecret], url: &str) -> Option<String> {
    let here = Origin::parse(url).ok()?;
    let names: Vec<String> = secrets
        .iter()
        .filter(|secret| secret.origin == here)
        .map(|secret| format!("{} ({})", secret.name, secret.kind))
        .collect();
    (!names.is_empty()).then(|| {
        format!("kept for this site, to be used with type's `secret`: {}", names.join(", "))
    })
}

/// Takes typed secrets out of an answer, however the page spelled them.
fn redact(reply: &mut Reply, typed: &[Secret<String>]) {
    let forms: Vec<String> = typed
        .iter()
        .filter(|value| value.expose().len() >= TELLING_BYTES)
        .flat_map(|value| forms(value.expose()))
        .collect();
    if forms.is_empty() {
        return;
    }
    clean(&mut reply.text, &forms);
    if let Some(page) = &mut reply.page {
        clean(&mut page.text, &forms);
    }
    for fact in reply.facts.values_mut() {
        clean_value(fact, &forms);
    }
}

/// Takes secrets out of an answer, however a page spelled them. A failure that holds one is replaced as a whole.
///
/// # Errors
///
/// Fails as the answer does.
pub fn clean_answer(
    answer: Result<Reply, ControlError>,
    typed: &[Secret<String>],
) -> Result<Reply, ControlError> {
    match answer {
        Ok(mut reply) => {
            redact(&mut reply, typed);
            Ok(reply)
        }
        Err(error) => {
            let said = error.to_string();
            if clean_text(&said, typed) == said {
                return Err(error);
            }
            Err(ControlError::Page("what went wrong names a kept secret, so it is left out".into()))
        }
    }
}

/// A text without the typed secrets.
pub(crate) fn clean_text(text: &str, typed: &[Secret<String>]) -> String {
    let mut reply = Reply::text(text);
    redact(&mut reply, typed);
    reply.text
}

/// A value as pages and addresses write it.
fn forms(value: &str) -> Vec<String> {
    let percent: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut forms = vec![
        value.to_owned(),
        percent.replace('+', "%20"),
        percent,
        STANDARD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
        html,
        value.replace('"', "\\\""),
    ];
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

fn clean(text: &mut String, forms: &[String]) {
    for form in forms {
        if text.contains(form.as_str()) {
            *text = text.replace(form.as_str(), REDACTED);
        }
    }
}

fn clean_value(value: &mut Value, forms: &[String]) {
    match value {
        Value::String(text) => clean(text, forms),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_value(item, forms)),
        Value::Object(fields) => fields.values_mut().for_each(|field| clean_value(field, forms)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Whatever form a page gives it, a typed secret is not in the answer.
    #[test]
    fn r131_a_typed_secret_is_redacted_in_every_form() {
        let secret = "p@ss word&\"1<";
        let typed = [Secret::new(secret.to_owned())];
        let spelled = [
            secret.to_owned(),
            "p%40ss+word%26%221%3C".to_owned(),
            "p%40ss%20word%26%221%3C".to_owned(),
            STANDARD.encode(secret),
            URL_SAFE_NO_PAD.encode(secret),
            "p@ss word&amp;&quot;1&lt;".to_owned(),
            "p@ss word&\\\"1<".to_owned(),
        ];
        for form in spelled {
            let mut reply = Reply::text(format!("a {form} b")).with("list", json!([{"x": form}]));
            redact(&mut reply, &typed);
            assert_eq!(reply.text, "a [redacted] b", "{form}");
            assert_eq!(reply.facts["list"], json!([{"x": "[redacted]"}]));
        }
        let mut reply = Reply::text("12 o'clock");
        redact(&mut reply, &[Secret::new("12".to_owned())]);
        assert_eq!(reply.text, "12 o'clock");
    }
}
