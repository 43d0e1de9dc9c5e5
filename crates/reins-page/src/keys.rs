//! The fact keys of the wire format. `web/src/page/facts.ts` is the other half; only ever append.

macro_rules! keys {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An attribute or fact of an element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Key { $($variant),* }

        impl Key {
            /// All keys in wire order.
            pub(crate) const ALL: &'static [Key] = &[$(Key::$variant),*];

            /// The name as the page script spells it.
            #[cfg(test)]
            pub(crate) fn name(self) -> &'static str {
                match self { $(Key::$variant => $name),* }
            }

            /// The key with this wire number.
            pub(crate) fn from_wire(number: u64) -> Option<Key> {
                Key::ALL.get(usize::try_from(number).ok()?).copied()
            }
        }
    };
}

keys! {
    Role = "role", AriaLabel = "aria-label", AriaLabelledBy = "aria-labelledby",
    AriaDescribedBy = "aria-describedby", AriaDescription = "aria-description",
    AriaLevel = "aria-level", AriaChecked = "aria-checked", AriaSelected = "aria-selected",
    AriaExpanded = "aria-expanded", AriaPressed = "aria-pressed", AriaDisabled = "aria-disabled",
    AriaRequired = "aria-required", AriaReadOnly = "aria-readonly", AriaInvalid = "aria-invalid",
    AriaCurrent = "aria-current", AriaHasPopup = "aria-haspopup", AriaModal = "aria-modal",
    AriaLive = "aria-live", AriaBusy = "aria-busy", AriaValueNow = "aria-valuenow",
    AriaValueMin = "aria-valuemin", AriaValueMax = "aria-valuemax",
    AriaValueText = "aria-valuetext", AriaSort = "aria-sort",
    AriaRoleDescription = "aria-roledescription", AriaPlaceholder = "aria-placeholder",
    AriaMultiline = "aria-multiline", AriaMultiselectable = "aria-multiselectable",
    AriaOrientation = "aria-orientation", AriaOwns = "aria-owns",
    AriaActiveDescendant = "aria-activedescendant", AriaRowCount = "aria-rowcount",
    AriaColCount = "aria-colcount", AriaRowIndex = "aria-rowindex",
    AriaColIndex = "aria-colindex", AriaPosInSet = "aria-posinset", AriaSetSize = "aria-setsize",
    AriaHidden = "aria-hidden", Alt = "alt", Title = "title", Placeholder = "placeholder",
    Href = "href", Type = "type", Name = "name", Value = "value", Target = "target",
    Download = "download", Scope = "scope", ColSpan = "colspan", RowSpan = "rowspan",
    Headers = "headers", Open = "open", TabIndex = "tabindex",
    ContentEditable = "contenteditable", For = "for", Src = "src", UseMap = "usemap",
    Label = "label", Start = "start", OnClick = "onclick", Min = "min", Max = "max",
    Step = "step", Multiple = "multiple", Size = "size", List = "list",
    Autocomplete = "autocomplete", Accept = "accept", InputMode = "inputmode",
    Popover = "popover", Controls = "controls", Lang = "lang", Dir = "dir", Summary = "summary",
    Cite = "cite", DateTime = "datetime", Low = "low", High = "high", Optimum = "optimum",
    AriaDetails = "aria-details", AriaErrorMessage = "aria-errormessage",
    AriaControls = "aria-controls", AriaKeyShortcuts = "aria-keyshortcuts",
    AriaBrailleLabel = "aria-braillelabel",
    AriaBrailleRoleDescription = "aria-brailleroledescription", XlinkHref = "xlink:href",
    Draggable = "draggable", MaxLength = "maxlength",
    LiveValue = "=value", Labels = "=labels", Before = "=before", After = "=after",
    Secret = "=secret", Files = "=files", Internals = "=internals", More = "=more",
    Submission = "=submission", InternalsLabel = "=internals-label", XlinkTitle = "xlink:title",
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both halves of the wire format list the same keys in the same order.
    #[test]
    fn keys_match_the_page_script() {
        let source = include_str!("../../../web/src/page/facts.ts");
        let list = source.split("export const KEYS = [").nth(1).expect("list");
        let list = list.split("] as const").next().expect("end of list");
        let script: Vec<&str> = list
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split('"').skip(1).step_by(2))
            .collect();
        let ours: Vec<&str> = Key::ALL.iter().map(|key| key.name()).collect();
        assert_eq!(ours, script);
    }
}
