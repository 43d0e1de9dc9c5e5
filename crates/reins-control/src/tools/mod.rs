//! One module per tool, one list of them all.

mod check;
mod click;
mod close_tab;
mod console_messages;
mod drag;
mod emulate;
mod fill_form;
mod find_in_page;
mod get_page_text;
mod go_back;
mod go_forward;
mod handle_dialog;
mod hover;
mod list_tabs;
mod locator;
mod navigate;
mod network_requests;
mod open_tab;
mod press_key;
mod read_more;
mod reload;
mod save_pdf;
mod screenshot;
mod scroll;
mod select_option;
mod snapshot;
mod switch_tab;
mod type_text;
mod upload;
mod verify_element;
mod verify_list;
mod verify_text;
mod verify_value;
mod wait_for;
mod wait_for_settle;

use crate::tool::Tool;

/// Every tool, in the order callers see them.
pub fn tools() -> &'static [Tool] {
    const TOOLS: &[Tool] = &[
        snapshot::TOOL,
        get_page_text::TOOL,
        find_in_page::TOOL,
        list_tabs::TOOL,
        screenshot::TOOL,
        navigate::TOOL,
        go_back::TOOL,
        go_forward::TOOL,
        reload::TOOL,
        open_tab::TOOL,
        switch_tab::TOOL,
        close_tab::TOOL,
        click::TOOL,
        type_text::TOOL,
        select_option::TOOL,
        check::TOOL,
        press_key::TOOL,
        hover::TOOL,
        drag::TOOL,
        scroll::TOOL,
        upload::TOOL,
        wait_for::TOOL,
        wait_for_settle::TOOL,
        handle_dialog::TOOL,
        save_pdf::TOOL,
        read_more::TOOL,
        console_messages::TOOL,
        network_requests::TOOL,
        emulate::TOOL,
        fill_form::TOOL,
        verify_text::TOOL,
        verify_element::TOOL,
        verify_list::TOOL,
        verify_value::TOOL,
        locator::TOOL,
    ];
    TOOLS
}

/// The tool of this name (R-143: no other exists).
pub fn tool(name: &str) -> Option<&'static Tool> {
    tools().iter().find(|tool| tool.name == name)
}
