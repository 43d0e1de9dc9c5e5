//! Cookies and local storage, and the empty page that stands in for an origin.

use serde::{Deserialize, Serialize};

reins_cdp::protocol! {
    /// Names of cookies, local storage and answered requests.
    pub(crate) NAMES;

    command "Storage.getCookies" GetCookies {} -> Cookies { cookies: Vec<Cookie> };
    command "Storage.setCookies" SetCookies<'a> { cookies: &'a [CookieParam<'a>] };
    command "DOMStorage.getDOMStorageItems" GetItems<'a> { storage_id: StorageId<'a> }
        -> Items { entries: Vec<Vec<String>> };
    command "DOMStorage.setDOMStorageItem" SetItem<'a> {
        storage_id: StorageId<'a>, key: &'a str, value: &'a str
    };
    command "DOMStorage.clear" ClearItems<'a> { storage_id: StorageId<'a> };
    command "Fetch.fulfillRequest" FulfillRequest<'a> { request_id: &'a str, response_code: u16 }
        optional { response_headers: Vec<HeaderOut<'a>>, body: &'a str };

    type "Network.Cookie" Cookie {
        name: String, value: String, domain: String, path: String, expires: f64, http_only: bool,
        secure: bool, session: bool, same_site: Option<String>, partition_key: Option<PartitionKey>
    };
}

/// The top-level site that a partitioned cookie belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartitionKey {
    pub(crate) top_level_site: String,
    pub(crate) has_cross_site_ancestor: bool,
}

/// A cookie to be set.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CookieParam<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// For a cookie of one host only; the address then says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) domain: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) secure: bool,
    pub(crate) http_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_site: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partition_key: Option<PartitionKey>,
}

/// Which storage.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StorageId<'a> {
    pub(crate) security_origin: &'a str,
    pub(crate) is_local_storage: bool,
}

/// A header of an answer.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct HeaderOut<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}
