//! Tables: in columns where they fit, else one line for each cell.

use super::inline::{self, Inline, Piece};
use super::{Look, drawn, wrapped};

/// Between two columns.
const GAP: usize = 2;

/// The rows of a table; `None` if the lines are none.
pub(super) fn laid(lines: &[String], look: Look) -> Option<Vec<String>> {
    let cells: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    if lines.len() < 2 || !is_rule(&cells[1]) {
        return None;
    }
    let columns = cells[0].len();
    let head: Vec<Vec<Piece>> =
        cells[0].iter().map(|cell| inline::pieces(cell, Inline::BOLD)).collect();
    let body: Vec<Vec<Vec<Piece>>> = cells[2..]
        .iter()
        .map(|row| {
            let cell = |at: usize| row.get(at).map_or("", String::as_str);
            (0..columns).map(|at| inline::pieces(cell(at), Inline::PLAIN)).collect()
        })
        .collect();
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            let all = std::iter::once(&head).chain(&body);
            all.map(|row| inline::width(&row[at])).max().unwrap_or_default()
        })
        .collect();
    let total = widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1);
    if total > look.width {
        return Some(listed(&head, body, look));
    }
    let in_columns = |row: &[Vec<Piece>]| {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            line.push_str(&drawn(cell, look.colour));
            if at + 1 < columns {
                line.push_str(&" ".repeat(widths[at] - inline::width(cell) + GAP));
            }
        }
        line.trim_end().to_owned()
    };
    let mark = if look.unicode { "─" } else { "-" };
    let rule = widths.iter().map(|width| mark.repeat(*width));
    let mut rows = vec![in_columns(&head)];
    rows.push(rule.collect::<Vec<_>>().join(&" ".repeat(GAP)));
    rows.extend(body.iter().map(|row| in_columns(row)));
    Some(rows)
}

/// Too wide: each cell gets a line of its own under its heading's name.
fn listed(head: &[Vec<Piece>], body: Vec<Vec<Vec<Piece>>>, look: Look) -> Vec<String> {
    let mut rows = Vec::new();
    for (number, row) in body.into_iter().enumerate() {
        if number > 0 {
            rows.push(String::new());
        }
        for (name, cell) in head.iter().zip(row) {
            let mut pieces = name.clone();
            pieces.push(Piece { text: ": ".to_owned(), style: Inline::PLAIN });
            pieces.extend(cell);
            for (at, line) in wrapped(pieces, look.width - GAP).into_iter().enumerate() {
                let lead = if at == 0 { "" } else { "  " };
                rows.push(format!("{lead}{}", drawn(&line, look.colour)));
            }
        }
    }
    rows
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|l| !l.ends_with('\\')).unwrap_or(line);
    let (mut cells, mut cell, mut escaped) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '|' if escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
        escaped = c == '\\';
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_rule(cells: &[String]) -> bool {
    let dashes = |cell: &String| {
        let bare = cell.trim_matches(':');
        !bare.is_empty() && bare.bytes().all(|b| b == b'-')
    };
    cells.iter().all(dashes)
}
