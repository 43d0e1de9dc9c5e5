//! Computed roles: WAI-ARIA 1.2/1.3 for explicit ones, HTML-AAM (and SVG-AAM, MathML) for the rest.

use crate::keys::Key;
use crate::name;
use crate::tree::{Id, Tree};

/// Every role that an author may give. Abstract ones are left out: they count as no role.
const ROLES: &[&str] = &[
    "alert",
    "alertdialog",
    "application",
    "article",
    "associationlist",
    "banner",
    "blockquote",
    "button",
    "caption",
    "cell",
    "checkbox",
    "code",
    "columnheader",
    "combobox",
    "comment",
    "complementary",
    "contentinfo",
    "definition",
    "deletion",
    "dialog",
    "directory",
    "document",
    "emphasis",
    "feed",
    "figure",
    "form",
    "generic",
    "grid",
    "gridcell",
    "group",
    "heading",
    "image",
    "img",
    "insertion",
    "link",
    "list",
    "listbox",
    "listitem",
    "log",
    "main",
    "mark",
    "marquee",
    "math",
    "menu",
    "menubar",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "meter",
    "navigation",
    "none",
    "note",
    "option",
    "paragraph",
    "presentation",
    "progressbar",
    "radio",
    "radiogroup",
    "region",
    "row",
    "rowgroup",
    "rowheader",
    "scrollbar",
    "search",
    "searchbox",
    "sectionfooter",
    "sectionheader",
    "separator",
    "slider",
    "spinbutton",
    "status",
    "strong",
    "subscript",
    "suggestion",
    "superscript",
    "switch",
    "tab",
    "table",
    "tablist",
    "tabpanel",
    "term",
    "textbox",
    "time",
    "timer",
    "toolbar",
    "tooltip",
    "tree",
    "treegrid",
    "treeitem",
    "doc-abstract",
    "doc-acknowledgments",
    "doc-afterword",
    "doc-appendix",
    "doc-backlink",
    "doc-biblioentry",
    "doc-bibliography",
    "doc-biblioref",
    "doc-chapter",
    "doc-colophon",
    "doc-conclusion",
    "doc-cover",
    "doc-credit",
    "doc-credits",
    "doc-dedication",
    "doc-endnote",
    "doc-endnotes",
    "doc-epigraph",
    "doc-epilogue",
    "doc-errata",
    "doc-example",
    "doc-footnote",
    "doc-foreword",
    "doc-glossary",
    "doc-glossref",
    "doc-index",
    "doc-introduction",
    "doc-noteref",
    "doc-notice",
    "doc-pagebreak",
    "doc-pagefooter",
    "doc-pageheader",
    "doc-pagelist",
    "doc-part",
    "doc-preface",
    "doc-prologue",
    "doc-pullquote",
    "doc-qna",
    "doc-subtitle",
    "doc-tip",
    "doc-toc",
    "graphics-document",
    "graphics-object",
    "graphics-symbol",
];

/// Attributes that apply to every role: with one of these an element is not just decoration.
const GLOBAL: &[Key] = &[
    Key::AriaLabel,
    Key::AriaLabelledBy,
    Key::AriaDescribedBy,
    Key::AriaDescription,
    Key::AriaRoleDescription,
    Key::AriaLive,
    Key::AriaBusy,
    Key::AriaCurrent,
    Key::AriaDetails,
    Key::AriaControls,
    Key::AriaOwns,
    Key::AriaKeyShortcuts,
    Key::AriaBrailleLabel,
    Key::AriaBrailleRoleDescription,
    Key::AriaErrorMessage,
    Key::AriaHasPopup,
    Key::AriaDisabled,
    Key::AriaInvalid,
];

/// The computed role; `generic` for elements that mean nothing by themselves, `none` for those
/// that are declared to, and an empty string for text.
pub(crate) fn role(tree: &Tree, id: Id) -> &'static str {
    if tree.element(id).is_none() {
        return "";
    }
    if let Some(explicit) = explicit(tree, id) {
        return explicit;
    }
    if let Some(internals) = tree.fact(id, Key::Internals).and_then(known) {
        return internals;
    }
    implicit(tree, id)
}

/// The role as ARIA spells it canonically.
fn known(token: &str) -> Option<&'static str> {
    let found = ROLES.iter().find(|role| role.eq_ignore_ascii_case(token))?;
    Some(match *found {
        "presentation" => "none",
        "img" => "image",
        "directory" => "list",
        role => role,
    })
}

/// The first usable role that the author gave.
fn explicit(tree: &Tree, id: Id) -> Option<&'static str> {
    let tokens = tree.fact(id, Key::Role)?;
    for token in tokens.split_ascii_whitespace() {
        let Some(role) = known(token) else { continue };
        match role {
            // Decoration that can be focused or that says more about itself is none.
            "none" if is_focusable(tree, id) || has_global(tree, id) => return None,
            // Landmarks without a name fall back.
            "form" | "region" if !named_by_author(tree, id) => {
                continue;
            }
            // Parts of a whole that is not there. Where the element is nothing by itself the word
            // still says what its author means by it, so it is kept.
            role if lacks_context(tree, id, role) && implicit(tree, id) != "generic" => continue,
            "listitem" if lacks_context(tree, id, role) => continue,
            _ => return Some(role),
        }
    }
    None
}

/// ARIA, "required accessibility parent role".
fn lacks_context(tree: &Tree, id: Id, role: &str) -> bool {
    let wholes: &[&str] = match role {
        "listitem" => &["list", "group"],
        "option" => &["listbox", "group"],
        "menuitem" | "menuitemcheckbox" | "menuitemradio" => &["menu", "menubar", "group"],
        "tab" => &["tablist"],
        "treeitem" => &["tree", "group"],
        "row" => &["table", "grid", "treegrid", "rowgroup"],
        "rowgroup" => &["table", "grid", "treegrid"],
        "cell" | "gridcell" | "columnheader" | "rowheader" => &["row"],
        _ => return false,
    };
    let Some(parent) = context(tree, id) else { return true };
    let shallow =
        match tree.fact(parent, Key::Role).and_then(|role| role.split(' ').find_map(known)) {
            Some(role) => role,
            None => match tree.tag(parent) {
                "ul" | "ol" | "menu" => "list",
                "select" | "datalist" => "listbox",
                "optgroup" | "fieldset" | "details" => "group",
                "table" => "table",
                "tr" => "row",
                "tbody" | "thead" | "tfoot" => "rowgroup",
                _ => "generic",
            },
        };
    !wholes.contains(&shallow)
}

/// Whether one of the global ARIA attributes is there (`aria-hidden` apart).
fn has_global(tree: &Tree, id: Id) -> bool {
    GLOBAL.iter().any(|key| tree.text_fact(id, *key).is_some())
}

/// Whether the author names the element by `aria-labelledby`, `aria-label` or `title`.
pub(crate) fn named_by_author(tree: &Tree, id: Id) -> bool {
    name::is_named_by_author(tree, id)
}

/// Whether the element can get the focus by itself.
pub(crate) fn is_focusable(tree: &Tree, id: Id) -> bool {
    if tree.fact(id, Key::TabIndex).is_some_and(|value| value.trim().parse::<i32>().is_ok()) {
        return true;
    }
    if tree.flags(id).editable() {
        return true;
    }
    if tree.flags(id).disabled() {
        return false;
    }
    match tree.tag(id) {
        "a" | "area" => tree.has(id, Key::Href),
        "button" | "input" | "select" | "textarea" | "summary" | "iframe" => true,
        "audio" | "video" => tree.has(id, Key::Controls),
        _ => false,
    }
}

/// The nearest ancestor that takes part in required parent and child relations: generics and
/// decoration in between do not count.
fn context(tree: &Tree, id: Id) -> Option<Id> {
    tree.ancestors(id).find(|at| {
        let declared = tree.fact(*at, Key::Role).and_then(|role| role.split(' ').find_map(known));
        let shallow = declared.unwrap_or_else(|| match tree.tag(*at) {
            "div" | "span" | "slot" => "generic",
            _ => "other",
        });
        !matches!(shallow, "generic" | "none")
    })
}

/// Whether a header or footer belongs to a part of the page instead of the page.
fn is_scoped(tree: &Tree, id: Id) -> bool {
    tree.ancestors(id).any(|at| {
        matches!(tree.tag(at), "article" | "aside" | "main" | "nav" | "section")
            || matches!(
                explicit(tree, at),
                Some("article" | "complementary" | "main" | "navigation" | "region")
            )
    })
}

fn implicit(tree: &Tree, id: Id) -> &'static str {
    match tree.tag(id) {
        "a" | "area" if tree.has(id, Key::Href) || tree.has(id, Key::XlinkHref) => "link",
        "address" | "details" | "fieldset" | "hgroup" | "optgroup" => "group",
        "article" => "article",
        "aside" => {
            let nested = tree
                .ancestors(id)
                .any(|at| matches!(tree.tag(at), "article" | "aside" | "nav" | "section"));
            if nested && !named_by_author(tree, id) { "generic" } else { "complementary" }
        }
        "blockquote" => "blockquote",
        "button" | "summary" => "button",
        "caption" => "caption",
        "code" => "code",
        "datalist" => "listbox",
        "dd" => "definition",
        "del" | "s" => "deletion",
        "dfn" | "dt" => "term",
        "dialog" => "dialog",
        "em" => "emphasis",
        "figure" => "figure",
        "footer" => {
            if is_scoped(tree, id) {
                "sectionfooter"
            } else {
                "contentinfo"
            }
        }
        "form" => "form",
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "heading",
        "header" => {
            if is_scoped(tree, id) {
                "sectionheader"
            } else {
                "banner"
            }
        }
        "hr" => "separator",
        "img" => image(tree, id),
        "input" => input(tree, id),
        "ins" => "insertion",
        "li" => {
            let parent = context(tree, id);
            let listed = parent.is_some_and(|at| {
                matches!(explicit(tree, at), Some("list"))
                    || (explicit(tree, at).is_none()
                        && matches!(tree.tag(at), "ul" | "ol" | "menu" | "dir"))
            });
            if listed { "listitem" } else { "generic" }
        }
        "main" => "main",
        "mark" => "mark",
        "math" => "math",
        "menu" | "ol" | "ul" | "dir" => "list",
        "meter" => "meter",
        "nav" => "navigation",
        "option" => "option",
        "output" => "status",
        "p" => "paragraph",
        "progress" => "progressbar",
        "search" => "search",
        "section" if named_by_author(tree, id) => "region",
        "select" => select(tree, id),
        "strong" => "strong",
        "sub" => "subscript",
        "sup" => "superscript",
        "svg" => "graphics-document",
        "g" | "use" => drawing(tree, id, "group"),
        "circle" | "ellipse" | "line" | "path" | "polygon" | "polyline" | "rect" => {
            drawing(tree, id, "graphics-symbol")
        }
        "table" => "table",
        "tbody" | "tfoot" | "thead" if in_table(tree, id) => "rowgroup",
        "td" => {
            if !in_table(tree, id) {
                "generic"
            } else if in_grid(tree, id) {
                "gridcell"
            } else {
                "cell"
            }
        }
        "textarea" => "textbox",
        "th" => header_cell(tree, id),
        "time" => "time",
        "tr" if in_table(tree, id) => "row",
        "html" => "document",
        "image" => "image",
        _ => "generic",
    }
}

fn image(tree: &Tree, id: Id) -> &'static str {
    let says_more = || {
        name::is_labelled(tree, id)
            || GLOBAL
                .iter()
                .filter(|key| !matches!(key, Key::AriaLabel | Key::AriaLabelledBy))
                .any(|key| tree.text_fact(id, *key).is_some())
    };
    match tree.fact(id, Key::Alt) {
        Some("") if !says_more() && !is_focusable(tree, id) => "none",
        _ => "image",
    }
}

/// SVG-AAM: parts of a drawing mean something only when they are named.
fn drawing(tree: &Tree, id: Id, named: &'static str) -> &'static str {
    let titled = tree.children(id).any(|at| tree.tag(at) == "title");
    if titled || name::is_named_by_author(tree, id) { named } else { "generic" }
}

/// The type of an input as the browser understands it.
pub(crate) fn input_type(tree: &Tree, id: Id) -> String {
    let given = tree.fact(id, Key::Type).unwrap_or_default().trim().to_ascii_lowercase();
    const TYPES: &[&str] = &[
        "button",
        "checkbox",
        "color",
        "date",
        "datetime-local",
        "email",
        "file",
        "hidden",
        "image",
        "month",
        "number",
        "password",
        "radio",
        "range",
        "reset",
        "search",
        "submit",
        "tel",
        "text",
        "time",
        "url",
        "week",
    ];
    if TYPES.contains(&given.as_str()) { given } else { "text".to_owned() }
}

fn input(tree: &Tree, id: Id) -> &'static str {
    let list = tree.has(id, Key::List);
    match input_type(tree, id).as_str() {
        "button" | "image" | "reset" | "submit" => "button",
        "checkbox" => {
            // HTML-AAM: a checkbox with a pressed state is a toggle button.
            if tree.has(id, Key::AriaPressed) { "button" } else { "checkbox" }
        }
        "radio" => "radio",
        "range" => "slider",
        "number" => "spinbutton",
        "search" if !list => "searchbox",
        "email" | "tel" | "text" | "url" | "search" if list => "combobox",
        "email" | "tel" | "text" | "url" | "password" => "textbox",
        "color" => "color",
        "file" => "file",
        "hidden" => "none",
        "date" => "date",
        "datetime-local" => "datetime",
        "month" => "month",
        "week" => "week",
        "time" => "time-input",
        _ => "textbox",
    }
}

fn select(tree: &Tree, id: Id) -> &'static str {
    let size = tree.fact(id, Key::Size).and_then(|size| size.trim().parse::<u32>().ok());
    if tree.has(id, Key::Multiple) || size.unwrap_or(0) > 1 { "listbox" } else { "combobox" }
}

/// The table that a row, cell or row group belongs to, if it is still one.
pub(crate) fn table_of(tree: &Tree, id: Id) -> Option<Id> {
    tree.ancestors(id).find(|at| {
        tree.tag(*at) == "table"
            || matches!(explicit(tree, *at), Some("table" | "grid" | "treegrid"))
    })
}

fn in_table(tree: &Tree, id: Id) -> bool {
    table_of(tree, id).is_some_and(|table| {
        matches!(explicit(tree, table), None | Some("table" | "grid" | "treegrid"))
    })
}

fn in_grid(tree: &Tree, id: Id) -> bool {
    table_of(tree, id)
        .is_some_and(|table| matches!(explicit(tree, table), Some("grid" | "treegrid")))
}

/// HTML-AAM and HTML's own algorithm: by `scope`, else by what the cell heads.
fn header_cell(tree: &Tree, id: Id) -> &'static str {
    if !in_table(tree, id) {
        return "generic";
    }
    match tree.fact(id, Key::Scope).unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "row" | "rowgroup" => return "rowheader",
        "col" | "colgroup" => return "columnheader",
        _ => {}
    }
    let Some(row) = tree.parent(id) else { return "columnheader" };
    let cells = || tree.children(row).filter(|at| matches!(tree.tag(*at), "th" | "td"));
    let data_in_row = cells().any(|at| tree.tag(at) == "td");
    let in_head = tree.parent(row).is_some_and(|at| tree.tag(at) == "thead");
    if data_in_row && !in_head && cells().next() == Some(id) {
        return "rowheader";
    }
    if cells().count() == 1 && !in_head {
        // A header alone in its row heads nothing in particular.
        let rows_have_data = tree.parent(row).is_some_and(|body| {
            tree.children(body)
                .any(|other| other != row && tree.children(other).any(|at| tree.tag(at) == "td"))
        });
        if !rows_have_data {
            return "cell";
        }
    }
    "columnheader"
}

/// The level of a heading: `aria-level`, else the tag (better than R-041's font sizes).
pub(crate) fn heading_level(tree: &Tree, id: Id) -> u32 {
    let given = tree.text_fact(id, Key::AriaLevel).and_then(|text| text.parse().ok());
    if let Some(level) = given.filter(|level| (1..=100).contains(level)) {
        return level;
    }
    match tree.tag(id).as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => u32::from(digit - b'0'),
        _ => 2,
    }
}

/// Roles whose name may come from their content (ARIA, "name from content").
pub(crate) fn named_by_content(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "cell"
            | "checkbox"
            | "columnheader"
            | "gridcell"
            | "heading"
            | "link"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "option"
            | "radio"
            | "row"
            | "rowheader"
            | "switch"
            | "tab"
            | "tooltip"
            | "treeitem"
            | "comment"
            | "doc-backlink"
            | "doc-biblioref"
            | "doc-glossref"
            | "doc-noteref"
            | "doc-pagebreak"
    )
}

/// Roles that a person acts on.
pub(crate) fn is_widget(role: &str) -> bool {
    matches!(
        role,
        "button"
            | "checkbox"
            | "color"
            | "combobox"
            | "date"
            | "datetime"
            | "file"
            | "link"
            | "listbox"
            | "menuitem"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "month"
            | "option"
            | "radio"
            | "scrollbar"
            | "searchbox"
            | "slider"
            | "spinbutton"
            | "switch"
            | "tab"
            | "textbox"
            | "time-input"
            | "treeitem"
            | "week"
            | "doc-backlink"
            | "doc-biblioref"
            | "doc-glossref"
            | "doc-noteref"
    )
}
