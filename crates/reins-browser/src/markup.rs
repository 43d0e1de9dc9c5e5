//! Which sites a page names as its server sends it, before any script of it runs. What a script
//! adds later does not count.

use crate::interception::go_on;
use crate::protocol::page::{GetResponseBody, HeaderEntry, RequestPaused};
use crate::tab::Tab;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reins_cdp::Session;
use reins_core::{Origin, Site};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Longer pages are let go on unread: no page that a person reads is.
const LONGEST: usize = 8 << 20;

/// A page that takes longer is let go on unread. Waiting costs nothing: once asked for a body, Chromium
/// shows the page only when it is complete.
const COMPLETE: Duration = Duration::from_secs(30);

/// More sites than this are no help to anybody.
const SITES: usize = 500;

/// Elements that load something for their page.
const LOADERS: &[&str] = &[
    "script", "link", "img", "iframe", "source", "video", "audio", "embed", "object", "base",
    "input", "image",
];

/// Attributes of theirs that hold addresses; those with `data-` are what pages load from when it is scrolled to.
const ADDRESSES: &[&str] = &["src", "href", "xlink:href", "data", "poster", "data-src"];

/// Attributes of theirs that hold several.
const LISTS: &[&str] = &["srcset", "imagesrcset", "data-srcset"];

/// Elements whose content is text up to their end tag.
const TEXTS: &[&str] = &[
    "script", "style", "textarea", "title", "noscript", "iframe", "xmp", "noembed", "noframes",
    "template",
];

/// Whether the server has answered, and the answer waits for our word.
pub(crate) fn is_answer(paused: &RequestPaused) -> bool {
    paused.response_status_code.is_some() || paused.response_error_reason.is_some()
}

/// Reads what a page names, and lets it go on.
pub(crate) fn read(tab: &Arc<Tab>, session: &Session, paused: RequestPaused) {
    let (tab, session) = (tab.clone(), session.clone());
    tokio::spawn(async move {
        let mut sites = HashSet::new();
        if is_page(&paused) {
            for header in paused.response_headers.iter().flatten() {
                if header.name.eq_ignore_ascii_case("content-security-policy") {
                    permitted(&header.value, &mut sites);
                }
            }
            let body = GetResponseBody { request_id: &paused.request_id };
            if let Ok(answer) = session.run(body, COMPLETE).await {
                let bytes = if answer.base64_encoded {
                    STANDARD.decode(answer.body).unwrap_or_default()
                } else {
                    answer.body.into_bytes()
                };
                named(&String::from_utf8_lossy(&bytes), &mut sites);
            }
        }
        if let Some(document) = &paused.network_id {
            tab.state().named_by_server(document, sites);
        }
        go_on(&session, &paused.request_id);
    });
}

/// Whether an answer is a page that will be shown, and not too long.
fn is_page(paused: &RequestPaused) -> bool {
    let headers = paused.response_headers.as_deref().unwrap_or_default();
    let of = |name: &str| {
        let found =
            headers.iter().find(|header: &&HeaderEntry| header.name.eq_ignore_ascii_case(name));
        found.map(|header| header.value.trim().to_ascii_lowercase())
    };
    let shown = of("content-type").is_some_and(|kind| kind.starts_with("text/html"))
        && !of("content-disposition").is_some_and(|how| how.starts_with("attachment"));
    let length = of("content-length").and_then(|length| length.parse::<usize>().ok());
    let status = paused.response_status_code.unwrap_or_default();
    shown && length.is_none_or(|length| length <= LONGEST) && !(300..400).contains(&status)
}

/// The hosts that a content security policy lets a page load from.
fn permitted(policy: &str, sites: &mut HashSet<Site>) {
    for word in policy.split([' ', ';', ',', '\t', '\n']).filter(|word| word.contains('.')) {
        let (scheme, host) = word.split_once("://").unwrap_or(("https", word));
        let host = host.trim_start_matches("*.");
        add(&format!("{}://{host}", scheme.replacen("ws", "http", 1)), sites);
    }
}

fn add(url: &str, sites: &mut HashSet<Site>) {
    let url = url.trim();
    let web = if url.starts_with("//") { format!("https:{url}") } else { url.to_owned() };
    if sites.len() < SITES
        && let Ok(origin) = Origin::parse(&web)
    {
        sites.insert(origin.site());
    }
}

/// The sites that the elements of a page load from.
fn named(html: &str, sites: &mut HashSet<Site>) {
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once('<') {
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let end = tag.find(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>');
        let (name, after) = tag.split_at(end.unwrap_or(tag.len()));
        let name = name.to_ascii_lowercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            rest = tag;
            continue;
        }
        let (mut is_policy, mut content) = (false, "");
        let loads = LOADERS.contains(&name.as_str());
        rest = attributes(after, |attribute, value| match attribute {
            "http-equiv" => is_policy = value.eq_ignore_ascii_case("content-security-policy"),
            "content" => content = value,
            _ if loads && ADDRESSES.contains(&attribute) => add(value, sites),
            _ if loads && LISTS.contains(&attribute) => {
                for one in value.split(',') {
                    add(one.split_whitespace().next().unwrap_or_default(), sites);
                }
            }
            _ => {}
        });
        if name == "meta" && is_policy {
            permitted(content, sites);
        }
        if TEXTS.contains(&name.as_str()) {
            rest = past_end(rest, &name);
        }
    }
}

/// What follows the end tag of an element whose content is text.
fn past_end<'a>(html: &'a str, name: &str) -> &'a str {
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once("</") {
        let found = tag.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        if found {
            return tag;
        }
        rest = tag;
    }
    ""
}

/// Calls `each` with every attribute of a tag, its name in small letters, and returns what follows the tag.
fn attributes<'a>(tag: &'a str, mut each: impl FnMut(&str, &'a str)) -> &'a str {
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return "";
        }
        if let Some(after) = rest.strip_prefix('>') {
            return after;
        }
        // The first character belongs to the name, whatever it is.
        let stop = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '=');
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find(stop).map_or(rest.len(), |at| first + at);
        let (name, after) = rest.split_at(end);
        let after = after.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let Some(value) = after.strip_prefix('=') else {
            rest = after;
            continue;
        };
        let value = value.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>');
                value.split_at(end.unwrap_or(value.len()))
            }
        };
        each(&name.to_ascii_lowercase(), value);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(read: impl Fn(&mut HashSet<Site>)) -> Vec<String> {
        let mut found = HashSet::new();
        read(&mut found);
        let mut found: Vec<String> = found.iter().map(Site::to_string).collect();
        found.sort();
        found
    }

    #[test]
    fn r221_what_a_page_names_in_its_own_markup_is_found() {
        for (html, names) in [
            ("<script src=https://a.cdn.example/x.js></script>", vec!["cdn.example"]),
            ("<SCRIPT async SRC = '//b.example/x'></SCRIPT>", vec!["b.example"]),
            ("<link rel=preconnect href=\"https://c.example\"/><p>", vec!["c.example"]),
            (
                "<img srcset='https://d.example/1 1x, https://e.example/2 2x'>",
                vec!["d.example", "e.example"],
            ),
            ("<img class=lazy data-src=https://f.example/p>", vec!["f.example"]),
            (
                "<iframe src=https://g.example/></iframe><base href='https://h.example/'>",
                vec!["g.example", "h.example"],
            ),
            (
                "<meta http-equiv=Content-Security-Policy content='img-src https://*.i.example'>",
                vec!["i.example"],
            ),
            ("<div title='a>b' x><img src='https://j.example/a b'>", vec!["j.example"]),
            // What a script, a comment, a value or a link says is not what the page loads.
            (
                "<script>'<img src=https://x.example>'</script><!-- <img src=https://y.example> -->",
                vec![],
            ),
            ("<p title='<img src=https://x.example>'><a href=https://y.example>z</a>", vec![]),
            (
                "<textarea><img src=https://x.example></textarea><style><img src=https://x.example></style>",
                vec![],
            ),
            ("<script>'</scrip' + '<img src=https://x.example>'", vec![]),
            ("<img src=/own><img src=data:,x><img src=javascript:1><", vec![]),
            ("<img src='https://k.example", vec!["k.example"]),
            ("<é src=https://x.example><img =é src=https://l.example>", vec!["l.example"]),
        ] {
            assert_eq!(sites(|found| named(html, found)), names, "{html}");
        }
    }

    #[test]
    fn r221_hosts_that_a_policy_permits_are_found() {
        let policy = "default-src 'self'; connect-src https://api.a.example wss://live.b.example:99, img-src *.c.example data: https: *";
        assert_eq!(
            sites(|found| permitted(policy, found)),
            ["a.example", "b.example", "c.example"]
        );
    }
}
