//! Risk words: they raise risk, and never lower it. Structure decides.

use crate::assess::RiskKind;

/// The most telling risk that the words of a caption name.
pub(crate) fn caption_risk(caption: &str) -> Option<RiskKind> {
    let lower = caption.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words
        .iter()
        .filter_map(|word| match *word {
            "buy" | "pay" | "order" | "purchase" | "checkout" => Some(RiskKind::Purchase),
            "send" | "post" | "publish" | "reply" | "share" => Some(RiskKind::Send),
            "delete" | "remove" => Some(RiskKind::Delete),
            "upload" => Some(RiskKind::Upload),
            "download" => Some(RiskKind::Download),
            "login" => Some(RiskKind::SignIn),
            "sign" => Some(RiskKind::SignIn),
            _ => None,
        })
        .max()
}

/// The most telling risk that the path and query of an address name. Paths are English on most
/// sites whatever language their captions are in.
pub(crate) fn address_risk(_url: &str) -> Option<RiskKind> {
    None
}
