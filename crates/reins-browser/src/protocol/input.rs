//! Trusted input.

reins_cdp::protocol! {
    /// Names of input.
    pub(crate) NAMES;

    command "Input.dispatchMouseEvent" DispatchMouse<'a> { r#type: &'a str, x: f64, y: f64 }
        optional {
            modifiers: u8, button: &'a str, buttons: u8, click_count: u8, delta_x: f64, delta_y: f64
        };
    command "Input.dispatchKeyEvent" DispatchKey<'a> { r#type: &'a str }
        optional {
            modifiers: u8, text: &'a str, unmodified_text: &'a str, code: &'a str, key: &'a str,
            windows_virtual_key_code: u16, location: u8, commands: &'a [&'a str]
        };
    command "Input.insertText" InsertText<'a> { text: &'a str };
}
