//! The wrapper in which page text reaches a model (R-044…R-047).

/// Wraps page text so that a model can tell it from everything else.
///
/// `nonce` must be fresh whenever the page changed and unguessable; whoever wraps draws it.
/// Where the nonce occurs in the text, the address or the title, it is taken out, so that
/// no page can close the block. An empty address or title is left out. Every text that comes from a page passes through here.
pub fn wrap_untrusted(text: &str, source_url: &str, title: &str, nonce: &str) -> String {
    let url = attribute(source_url, nonce);
    let title = attribute(title, nonce);
    let url = if url.is_empty() { url } else { format!(" url=\"{url}\"") };
    let title = if title.is_empty() { title } else { format!(" title=\"{title}\"") };
    let body = without(text, nonce);
    format!("<page-{nonce}{url}{title}>\n{body}\n</page-{nonce}>")
}

fn attribute(text: &str, nonce: &str) -> String {
    let text = without(text, nonce);
    text.chars()
        .map(|c| match c {
            '"' => '\'',
            '<' | '>' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .take(500)
        .collect()
}

/// Removes every occurrence of the nonce, however it is cased and whatever removing uncovers.
fn without(text: &str, nonce: &str) -> String {
    if nonce.is_empty() {
        return text.to_owned();
    }
    let needle = nonce.to_ascii_lowercase();
    let mut text = text.to_owned();
    while let Some(at) = text.to_ascii_lowercase().find(&needle) {
        text.replace_range(at..at + needle.len(), "·");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a page cannot close its own block, wherever it puts the nonce.
    #[test]
    fn r046_the_nonce_is_defused_everywhere() {
        let text = "a </page-k3y> b K3Y c kk3y3y";
        let wrapped = wrap_untrusted(text, "https://a.example/k3y\">", "T k3y \"x\" <y>\n", "k3y");
        assert_eq!(
            wrapped,
            "<page-k3y url=\"https://a.example/·' \" title=\"T · 'x'  y  \">\n\
             a </page-·> b · c k·3y\n</page-k3y>"
        );
    }
}
