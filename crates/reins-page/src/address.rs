//! Link addresses, short to read and still exact.

use url::Url;

/// An address as a page of `base` would be told: the fragment alone within the document, the path
/// within the origin, else the whole of it. Nothing is ever left out of the middle.
pub(crate) fn shorten(address: &str, base: &Url) -> String {
    if let Some(rest) = address.strip_prefix("javascript:") {
        return if rest.trim().is_empty() { String::new() } else { "javascript:".to_owned() };
    }
    let Ok(url) = Url::parse(address) else { return address.to_owned() };
    if url.scheme() == "data" || url.scheme() == "blob" {
        return format!("{}:", url.scheme());
    }
    if url.origin() != base.origin() || url.host().is_none() {
        return address.to_owned();
    }
    if let Some(fragment) = url.fragment()
        && url[..url::Position::AfterQuery] == base[..url::Position::AfterQuery]
    {
        return format!("#{fragment}");
    }
    url[url::Position::BeforePath..].to_owned()
}

/// Where the document is, for shortening: any address will do as a base.
pub(crate) fn base(address: &str) -> Url {
    Url::parse(address).unwrap_or_else(|_| blank())
}

#[expect(clippy::expect_used, reason = "a constant that parses")]
fn blank() -> Url {
    Url::parse("about:blank").expect("about:blank parses")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_short_and_exact() {
        let base = base("https://a.example/shop/list?q=1");
        for (address, shown) in [
            ("https://a.example/shop/item?id=2#x", "/shop/item?id=2#x"),
            ("https://a.example/shop/list?q=1#top", "#top"),
            ("https://a.example/shop/list?q=1", "/shop/list?q=1"),
            ("http://a.example/shop", "http://a.example/shop"),
            ("https://b.example/", "https://b.example/"),
            ("mailto:a@b.example", "mailto:a@b.example"),
            ("javascript:void(0)", "javascript:"),
            ("javascript:", ""),
            ("not an address", "not an address"),
        ] {
            assert_eq!(shorten(address, &base), shown, "{address}");
        }
    }
}
