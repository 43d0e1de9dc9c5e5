use super::*;
use console::measure_text_width;

const PLAIN: Look = Look { width: 40, colour: false, unicode: false };

const SAMPLE: &str = "# Result\n\nThe **order** for _Ada_ is `paid`, and see [the shop](https://shop.example/orders/1) for it; 2*3*4 and snake_case_names stay.\n\n- one item that is rather long and goes on in a second row\n  - nested\n12. numbered\n> quoted **text** of someone\n\n---\n```rust\nlet x = \"a very long line of code that is not to be broken anywhere\";\n```\n| name | price |\n|---|--:|\n| Mug | **9.50** |\n| Lamp \\| red | 31 |\nafter";

#[test]
fn a_sample_reads_well_without_colour() {
    let shown = rows(SAMPLE, PLAIN).join("\n");
    assert_eq!(
        shown,
        "Result\n\nThe order for Ada is paid, and see the\nshop (https://shop.example/orders/1) for\nit; 2*3*4 and snake_case_names stay.\n\n- one item that is rather long and goes\n  on in a second row\n  - nested\n12. numbered\n| quoted text of someone\n\n----------------------------------------\n    let x = \"a very long line of code that is not to be broken anywhere\";\nname        price\n----------  -----\nMug         9.50\nLamp | red  31\nafter"
    );
}

/// However the text is cut on its way, the rows are the same, and colour changes no letter.
#[test]
fn rows_do_not_depend_on_how_the_text_comes() {
    let whole = rows(SAMPLE, PLAIN);
    for step in [1, 2, 3, 7, 11, 64] {
        for look in [PLAIN, Look { colour: true, ..PLAIN }] {
            let mut markdown = Markdown::new(look);
            let mut shown = Vec::new();
            let letters: Vec<char> = SAMPLE.chars().collect();
            for portion in letters.chunks(step) {
                shown.extend(markdown.push(&portion.iter().collect::<String>()));
            }
            shown.extend(markdown.finish());
            let shown: Vec<_> =
                shown.iter().map(|row| console::strip_ansi_codes(row).into_owned()).collect();
            assert_eq!(shown, whole, "{step} {look:?}");
        }
    }
}

/// A long paragraph is shown while it comes.
#[test]
fn full_rows_come_before_the_paragraph_ends() {
    let mut markdown = Markdown::new(PLAIN);
    let first = markdown.push(&"word ".repeat(20));
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(markdown.push("end").is_empty());
    assert_eq!(markdown.finish().len(), 1);
}

/// No row is wider than the terminal, whatever stands in it; code is the exception.
#[test]
fn rows_fit_the_width() {
    let wide = format!(
        "{} {} [{}](https://e.example/{})\n- {}\n> {}\n| a | b |\n|---|---|\n| {} | y |",
        "x".repeat(200),
        "漢字".repeat(60),
        "label ".repeat(20),
        "p".repeat(90),
        "é".repeat(100),
        "word ".repeat(40),
        "cell ".repeat(30)
    );
    for width in [20, 33, 80] {
        for row in rows(&wide, Look { width, colour: true, unicode: true }) {
            assert!(measure_text_width(&row) <= width, "{width}: {row}");
        }
    }
}

/// R-203: what a model says cannot command the terminal.
#[test]
fn r203_escapes_in_the_text_are_taken_out() {
    let hostile = "a\u{1b}[2Jb \u{9b}31mc \u{202e}d\r\u{7}e\u{1b}]0;title\u{7}";
    let shown = rows(hostile, Look { colour: true, ..PLAIN }).join("");
    assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{shown:?}");
    assert!(shown.contains("[2Jb"), "{shown:?}");
}

#[test]
fn styles_are_drawn_where_colour_is_allowed() {
    let shown = rows("**a** b `c`", Look { colour: true, ..PLAIN });
    assert_eq!(shown, ["\u{1b}[1ma\u{1b}[0m b \u{1b}[36mc\u{1b}[0m"]);
}
