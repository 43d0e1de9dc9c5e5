//! The rows: their names, our tools, and how arguments map.

use super::translate as to;
use super::{Alias, Kind, Takes};
use Takes::{As, NoFile, Own, Unused};

const TARGET: Takes = As("target", "ref");
const ELEMENT: Takes = Unused("element");
const FILENAME: Takes = NoFile("filename");
const NUMBER: Kind = Kind::Number;

/// A row whose arguments only change their names.
const fn row(name: &'static str, becomes: &'static str, takes: &'static [Takes]) -> Alias {
    Alias { name, becomes, capability: "core", about: None, takes, plan: to::same }
}

impl Alias {
    const fn of(self, capability: &'static str) -> Self {
        Self { capability, ..self }
    }

    const fn says(self, about: &'static str) -> Self {
        Self { about: Some(about), ..self }
    }

    const fn by(self, plan: super::Translate) -> Self {
        Self { plan, ..self }
    }
}

/// Every alias, in the order clients see them.
pub(super) const TABLE: &[Alias] = &[
    row("browser_navigate", "navigate", &[As("url", "url")]),
    row("browser_navigate_back", "go_back", &[]),
    row("browser_snapshot", "snapshot", &[
        Unused("target"), FILENAME, Unused("depth"), Unused("boxes"),
    ]),
    row("browser_find", "find_in_page", &[As("text", "text"), FILENAME]),
    row("browser_click", "click", &[
        TARGET, ELEMENT, Own("doubleClick", Kind::Flag, "", false), As("button", "button"),
        As("modifiers", "modifiers"),
    ])
    .by(to::click),
    row("browser_type", "type", &[
        TARGET, ELEMENT, As("text", "text"), As("submit", "submit"), As("slowly", "keys"),
    ]),
    row("browser_fill_form", "fill_form", &[Own("fields", Kind::Fields, "", true)]).by(to::fields),
    row("browser_select_option", "select_option", &[TARGET, ELEMENT, As("values", "options")]),
    row("browser_hover", "hover", &[TARGET, ELEMENT]),
    row("browser_drag", "drag", &[
        As("startTarget", "from"), As("endTarget", "to"), Unused("startElement"),
        Unused("endElement"),
    ]),
    row("browser_press_key", "press_key", &[As("key", "key")]),
    row("browser_file_upload", "upload", &[As("paths", "paths"), TARGET, ELEMENT])
        .says("Give files to the file field that was clicked, or to the page's only one; only from directories the person allowed."),
    row("browser_handle_dialog", "handle_dialog", &[
        As("accept", "accept"), As("promptText", "text"),
    ]),
    row("browser_tabs", "close_tab", &[
        Own("action", Kind::OneOf(&["list", "new", "close", "select"]), "", true),
        Own("index", NUMBER, "from 0, as listed", false),
        Own("url", Kind::Text, "for new", false),
    ])
    .says("List, open, close or select tabs.")
    .by(to::tabs),
    row("browser_wait_for", "wait_for", &[
        As("text", "text"), As("textGone", "gone"),
        Own("time", NUMBER, "just wait: seconds, at most 25", false),
    ])
    .says("Wait for a text to show or to be gone, or for a time.")
    .by(to::wait),
    row("browser_take_screenshot", "screenshot", &[
        TARGET, ELEMENT, As("fullPage", "full_page"), FILENAME, Unused("type"), Unused("scale"),
    ]),
    row("browser_console_messages", "console_messages", &[
        As("level", "level"), Unused("all"), FILENAME,
    ]),
    row("browser_network_requests", "network_requests", &[
        Own("static", Kind::Flag, "also loaded images, fonts, scripts and styles", false),
        As("filter", "text"), FILENAME,
    ])
    .by(to::requests),
    row("browser_network_request", "network_requests", &[
        Own("index", NUMBER, "the request's number in the list", true), Unused("part"), FILENAME,
    ])
    .says("Show one request in full: headers and body.")
    .by(to::request),
    row("browser_resize", "emulate", &[
        Own("width", NUMBER, "", true), Own("height", NUMBER, "", true),
    ])
    .says("Lay the page out for this size.")
    .by(to::resize),
    row("browser_emulate_media", "emulate", &[
        Own("colorScheme", Kind::OneOf(&["light", "dark"]), "", false),
        Own("reducedMotion", Kind::OneOf(&["reduce", "no-preference"]), "", false),
    ])
    .says("Show the page in another colour scheme, or with reduced motion.")
    .by(to::media),
    row("browser_close", "close_tab", &[]),
    row("browser_read_more", "read_more", &[As("uri", "uri"), As("offset", "offset")]),
    row("browser_verify_element_visible", "verify_element", &[
        As("role", "role"), As("accessibleName", "name"),
    ])
    .of("testing"),
    row("browser_verify_text_visible", "verify_text", &[As("text", "text")]).of("testing"),
    row("browser_verify_list_visible", "verify_list", &[TARGET, ELEMENT, As("items", "items")])
        .of("testing"),
    row("browser_verify_value", "verify_value", &[
        TARGET, ELEMENT, As("value", "value"), Unused("type"),
    ])
    .of("testing"),
    row("browser_generate_locator", "locator", &[TARGET, ELEMENT]).of("testing"),
    row("browser_mouse_wheel", "scroll", &[
        Own("deltaX", NUMBER, "CSS pixels", false), Own("deltaY", NUMBER, "CSS pixels", false),
    ])
    .of("vision")
    .says("Scroll by a distance.")
    .by(to::wheel),
    row("browser_pdf_save", "save_pdf", &[FILENAME]).of("pdf"),
];
