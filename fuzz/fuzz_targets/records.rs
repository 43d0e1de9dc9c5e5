//! Captures of the right form, whose records the fuzzer chooses: it gets past the parser at once.
#![no_main]

mod everything;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const TAGS: &[&str] = &[
    "div", "span", "a", "button", "input", "select", "option", "optgroup", "label", "table", "tr",
    "td", "th", "caption", "ul", "ol", "li", "h1", "p", "pre", "iframe", "img", "svg", "title",
    "details", "summary", "fieldset", "legend", "dialog", "slot", "x-y",
];

/// Display modes that come without a box.
const BOXLESS: [i64; 2] = [1, 3];

fn element(from: &mut Unstructured<'_>, out: &mut Vec<Value>) -> Result<()> {
    let (tag, depth) = (from.int_in_range(0..=32)?, from.int_in_range(0..=12)?);
    let (number, display) = (from.int_in_range(0..=20)?, from.int_in_range(0..=11)?);
    out.extend([tag, depth, number, display].map(|n: i64| json!(n)));
    out.push(json!(from.arbitrary::<u32>()?));
    if !BOXLESS.contains(&display) {
        for _ in 0..4 {
            out.push(json!(from.arbitrary::<i16>()?));
        }
    }
    let facts = from.int_in_range(0..=6)?;
    out.push(json!(facts));
    for _ in 0..facts {
        out.push(json!(from.int_in_range(0..=100)?));
        out.push(match from.arbitrary::<bool>()? {
            true => json!(from.arbitrary::<&str>()?),
            false => json!(from.arbitrary::<i32>()?),
        });
    }
    Ok(())
}

fn capture(from: &mut Unstructured<'_>) -> Result<Value> {
    let mut records = Vec::new();
    while !from.is_empty() && records.len() < 4_000 {
        match from.int_in_range(0..=9)? {
            0 => {
                let (depth, count) = (from.int_in_range(0..=12)?, from.arbitrary::<i32>()?);
                records.extend([json!(-2), json!(depth), json!(count)]);
            }
            1 => records.push(json!(from.int_in_range(-4..=-3)?)),
            2..=4 => {
                let (depth, text) = (from.int_in_range(0..=12)?, from.arbitrary::<&str>()?);
                records.extend([json!(-1), json!(depth), json!(text)]);
            }
            _ => element(from, &mut records)?,
        }
    }
    Ok(json!({"v": 1, "tags": TAGS, "view": [1, 2, 3], "short": true, "total": 9, "gone": [1, 2], "s": records}))
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = capture(&mut Unstructured::new(bytes)) {
        everything::with(&value.to_string());
    }
});
