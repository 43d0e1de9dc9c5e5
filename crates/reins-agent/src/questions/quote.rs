//! Whether a quotation is one.

/// Shorter ones stand in nearly every text. Bytes, so that two letters of a script with many letters
/// suffice.
const SHORTEST: usize = 4;

/// Whether the quotation stands in the text word for word. White space, the quotation marks around it
/// and the difference between straight and curly marks do not count.
pub fn is_quoted(quote: &str, text: &str) -> bool {
    let (quote, text) = (plain(quote), plain(text));
    let quote = quote.trim_matches(['"', '\'', '…', '.', ' ']);
    if quote.len() < SHORTEST {
        return !quote.is_empty() && quote == text.trim_matches(['"', '\'', '…', '.', ' ']);
    }
    text.contains(quote)
}

fn plain(text: &str) -> String {
    let straight = text.chars().map(|c| match c {
        '“' | '”' | '„' | '«' | '»' => '"',
        '‘' | '’' | '‚' => '\'',
        c => c,
    });
    let straight: String = straight.collect();
    straight.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w045_a_quotation_is_literal() {
        let text = "Please order the blue “mug”\nand send it to Ann.";
        assert!(is_quoted("order the blue \"mug\" and send", text));
        assert!(is_quoted("\"send it to Ann.\"", text));
        assert!(!is_quoted("buy the blue mug", text));
        assert!(!is_quoted("Order the blue", text), "another letter is another quotation");
        assert!(!is_quoted("", text) && !is_quoted("a", text) && !is_quoted("…", text));
        assert!(is_quoted("购买", "请购买这个"));
        assert!(is_quoted("go", "go"));
    }
}
