//! The catalogue of steps that the other tests go through, and the facts they are judged with.

use reins_core::{
    Action, DocumentId, DocumentOrigin, FormMethod, FrameId, Gesture, HistoryStep, KeyChord, Link,
    Modifiers, MouseButton, NodeKey, NodeNumber, Origin, ScrollBy, Secret, Sensitivity, StepId,
    Submission, TabId, TargetRecord, TurnId, TypeMode,
};
use reins_guard::{
    CriticState, DialogFacts, DialogKind, Downloads, Facts, Holding, Level, Moment, Policy,
    Published, Rule, SiteRules, TabFacts, TurnFacts,
};

/// The site that steps happen at.
pub(crate) const HERE: &str = "https://shop.example";

/// Another site, that links and forms lead to.
pub(crate) const THERE: &str = "https://other.example";

/// What is typed. It must never be seen on a card.
pub(crate) const TYPED: &str = "hunter2 Swordfish 4111111111111111";

pub(crate) fn origin(text: &str) -> Origin {
    match Origin::parse(text) {
        Ok(origin) => origin,
        Err(error) => panic!("{text}: {error}"),
    }
}

pub(crate) fn web(text: &str) -> DocumentOrigin {
    DocumentOrigin::Web(origin(text))
}

pub(crate) fn here() -> DocumentOrigin {
    web(HERE)
}

fn tab() -> TabId {
    TabId::new("T")
}

/// An element of the main frame that does nothing known.
pub(crate) fn element(tag: &str, role: &str, name: &str) -> TargetRecord {
    TargetRecord {
        node: NodeKey {
            tab: tab(),
            frame: FrameId::new("T"),
            document: DocumentId::new("D"),
            node: NodeNumber(1),
        },
        origin: here(),
        top: here(),
        tag: tag.to_owned(),
        input_type: None,
        role: role.to_owned(),
        name: name.to_owned(),
        link: None,
        submission: None,
        enter: None,
        sensitivity: Sensitivity::None,
        editable: false,
        disabled: false,
        seal: "seal".to_owned(),
    }
}

/// An input of the given type.
pub(crate) fn input(kind: &str, name: &str) -> TargetRecord {
    let role = match kind {
        "checkbox" | "radio" => kind,
        "submit" | "image" => "button",
        _ => "textbox",
    };
    TargetRecord {
        input_type: Some(kind.to_owned()),
        editable: role == "textbox" && kind != "file",
        ..element("input", role, name)
    }
}

pub(crate) fn sensitive(kind: &str, name: &str, sensitivity: Sensitivity) -> TargetRecord {
    TargetRecord { sensitivity, ..input(kind, name) }
}

/// A link.
pub(crate) fn link(name: &str, url: &str) -> TargetRecord {
    let link = Link { url: url.to_owned(), target: String::new(), download: false };
    TargetRecord { link: Some(link), ..element("a", "link", name) }
}

/// A form that goes to an address.
pub(crate) fn form(action: &str, method: FormMethod) -> Submission {
    Submission {
        action: action.to_owned(),
        method,
        target: String::new(),
        enctype: "application/x-www-form-urlencoded".to_owned(),
        submitter: Some("Go".to_owned()),
    }
}

/// A button that submits a form.
pub(crate) fn submit(name: &str, action: &str, method: FormMethod) -> TargetRecord {
    TargetRecord {
        input_type: Some("submit".to_owned()),
        submission: Some(form(action, method)),
        ..element("button", "button", name)
    }
}

/// An element within a frame of another document.
pub(crate) fn framed(target: TargetRecord, origin: DocumentOrigin) -> TargetRecord {
    let node = NodeKey { frame: FrameId::new("F"), ..target.node.clone() };
    TargetRecord { node, origin, ..target }
}

pub(crate) fn click(target: TargetRecord) -> Action {
    click_with(target, MouseButton::Left, Modifiers::default())
}

pub(crate) fn click_with(
    target: TargetRecord,
    button: MouseButton,
    modifiers: Modifiers,
) -> Action {
    Action::Pointer { target, gesture: Gesture::Click { button, count: 1, modifiers } }
}

pub(crate) fn type_into(target: TargetRecord) -> Action {
    typing(target, TYPED, false, false)
}

pub(crate) fn typing(target: TargetRecord, text: &str, keys: bool, enter: bool) -> Action {
    Action::Type {
        target,
        text: Secret::new(text.to_owned()),
        kept: None,
        mode: TypeMode::Replace,
        keys,
        enter,
    }
}

pub(crate) fn press(target: Option<TargetRecord>, chord: &str) -> Action {
    let chord: KeyChord = match chord.parse() {
        Ok(chord) => chord,
        Err(error) => panic!("{error}"),
    };
    Action::Press { tab: tab(), target, chord }
}

pub(crate) fn navigate(url: &str) -> Action {
    Action::Navigate { tab: tab(), url: url.to_owned() }
}

pub(crate) fn back(destination: Option<&str>) -> Action {
    Action::History {
        tab: tab(),
        step: HistoryStep::Back,
        destination: destination.map(str::to_owned),
    }
}

fn answer(accept: bool) -> Action {
    Action::AnswerDialog { tab: tab(), accept, text: Some(Secret::new(TYPED.to_owned())) }
}

fn select(target: TargetRecord, option: &str) -> Action {
    Action::Select { target, options: vec![option.to_owned()] }
}

/// One kind of step, as the reference page lists it.
pub(crate) struct Step {
    /// What it is.
    pub(crate) name: &'static str,
    /// Part of the list it belongs to.
    pub(crate) group: Group,
    /// Whether it is on the risky list (R-149…R-153), as the acceptance document has it.
    pub(crate) risky: bool,
    pub(crate) action: Action,
    pub(crate) tab: TabFacts,
    /// Whether a ref named the target, with its link and form as they are now. `Changed` when
    /// they were shown otherwise.
    pub(crate) shown: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    AsItIs,
    Changed,
    Never,
}

/// The parts of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Look,
    Open,
    Click,
    Enter,
    Keys,
    Tabs,
    Frames,
}

impl Step {
    fn new(group: Group, name: &'static str, action: Action) -> Self {
        let tab = TabFacts::agents(here());
        Self { name, group, risky: false, action, tab, shown: Shown::AsItIs }
    }

    fn risky(group: Group, name: &'static str, action: Action) -> Self {
        Self { risky: true, ..Self::new(group, name, action) }
    }

    fn tab(self, tab: TabFacts) -> Self {
        Self { tab, ..self }
    }

    fn shown(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    fn dialog(self, kind: DialogKind, message: &str) -> Self {
        let dialog = Some(DialogFacts { kind, message: message.to_owned() });
        self.tab(TabFacts { dialog, ..TabFacts::agents(here()) })
    }
}

/// Every kind of step.
pub(crate) fn catalogue() -> Vec<Step> {
    let mut steps = looking();
    steps.extend(opening());
    steps.extend(clicking());
    steps.extend(entering());
    steps.extend(keys());
    steps.extend(tabs());
    steps.extend(frames());
    steps
}

fn looking() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Look, name, action);
    vec![
        step("scroll", Action::Scroll { tab: tab(), target: None, by: ScrollBy::Screens(1) }),
        step(
            "point at an element",
            Action::Pointer { target: element("div", "generic", "Menu"), gesture: Gesture::Hover },
        ),
        step("switch to another tab", Action::SwitchTab { tab: tab() }),
        step("open an empty tab", Action::OpenTab { url: None }),
        step("close a tab that the agent opened", Action::CloseTab { tab: tab() }),
        step("dismiss a dialog", answer(false)).dialog(DialogKind::Confirm, "Delete it?"),
        step("accept an alert", answer(true)).dialog(DialogKind::Alert, "Saved"),
    ]
}

fn opening() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Open, name, action);
    let risky = |name, action| Step::risky(Group::Open, name, action);
    let known = format!("{HERE}/known");
    let there = format!("{THERE}/known");
    vec![
        step("a known address", navigate(&known)),
        step("the same on another site", navigate(&there)),
        step("the same in a new tab", Action::OpenTab { url: Some(there.clone()) }),
        step("an address from nowhere, on this site", navigate(&format!("{HERE}/guess"))),
        step("an address from nowhere, on another site", navigate(&format!("{THERE}/guess"))),
        risky(
            "an address of a link that was shown, which does something (`/logout`)",
            navigate(&format!("{HERE}/logout")),
        ),
        step("`javascript:`, `data:`, `file:`, `chrome:` …", navigate("javascript:alert(1)")),
        risky("go back or forward", back(Some(&known))),
        risky("go back to where nobody knows", back(None)),
        step("go back to a page of the browser", back(Some("chrome://newtab/"))),
        step("load the page again", Action::Reload { tab: tab(), url: known.clone() }),
        risky("load a page again that a form led to", Action::Reload { tab: tab(), url: known })
            .tab(TabFacts { reload_resubmits: true, ..TabFacts::agents(here()) }),
    ]
}

fn clicking() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Click, name, action);
    let risky = |name, action| Step::risky(Group::Click, name, action);
    let known = format!("{HERE}/known");
    let alt = Modifiers { alt: true, ..Modifiers::default() };
    let mut download = link("Report", &known);
    if let Some(link) = &mut download.link {
        link.download = true;
    }
    let button_link = TargetRecord { role: "button".to_owned(), ..link("Show", &known) };
    let switch = TargetRecord { role: "switch".to_owned(), ..element("div", "", "Dark mode") };
    let formless =
        TargetRecord { input_type: Some("submit".to_owned()), ..element("button", "button", "Go") };
    vec![
        step("a link, as it was shown", click(link("Products", &known))),
        step(
            "a link to another site, as it was shown",
            click(link("News", &format!("{THERE}/known"))),
        ),
        step("a link that leads elsewhere than it was shown", click(link("Products", &known)))
            .shown(Shown::Changed),
        risky(
            "a link with a risk word, such as “Delete account”",
            click(link("Delete account", &known)),
        ),
        risky(
            "a link that does something (`/logout`)",
            click(link("Bye", &format!("{HERE}/logout"))),
        ),
        risky("a link that downloads", click(download)),
        risky(
            "a link with Alt held, which downloads",
            click_with(link("Report", &known), MouseButton::Left, alt),
        ),
        risky("a link that calls itself a button", click(button_link)),
        risky(
            "a link without an address (`javascript:void(0)`)",
            click(link("More", "javascript:void(0)")),
        ),
        step("a link whose address is a script", click(link("More", "javascript:pay()"))),
        step("a link for another program (`mailto:` …)", click(link("Mail", "mailto:a@b.example"))),
        risky(
            "a submit control, whatever it says",
            click(submit("OK", &format!("{HERE}/next"), FormMethod::Post)),
        ),
        risky(
            "a submit control of a search form",
            click(submit("Search", &format!("{HERE}/search"), FormMethod::Get)),
        ),
        risky(
            "an image that submits",
            click(TargetRecord {
                submission: Some(form(HERE, FormMethod::Post)),
                ..input("image", "")
            }),
        ),
        risky("a button without a form", click(formless)),
        risky(
            "a button of a form that closes a dialog",
            click(submit("Close", HERE, FormMethod::Dialog)),
        ),
        step("a checkbox or radio button", click(input("checkbox", "Show prices"))),
        risky(
            "a checkbox with a risk word, such as “Subscribe”",
            click(input("checkbox", "Subscribe")),
        ),
        risky(
            "something that only says it is a checkbox",
            click(element("div", "checkbox", "Show prices")),
        ),
        risky("a switch that the page drew", click(switch)),
        risky("a button that submits nothing", click(element("button", "button", "Show more"))),
        risky("any other element", click(element("div", "generic", "Show more"))),
        risky("a text field", click(input("text", "Name"))),
        risky(
            "a password, one-time code or payment field",
            click(sensitive("password", "Password", Sensitivity::Password)),
        ),
        risky("a file field", click(sensitive("file", "Photo", Sensitivity::File))),
        risky(
            "anything, with the right button",
            click_with(link("Products", &known), MouseButton::Right, Modifiers::default()),
        ),
        risky(
            "drag one element onto another",
            Action::Drag {
                from: Box::new(element("div", "generic", "Card")),
                to: Box::new(element("div", "generic", "Done")),
            },
        ),
        risky("accept a question of the page", answer(true))
            .dialog(DialogKind::Confirm, "Are you sure?"),
        risky("leave a page that asks to stay", answer(true)).dialog(DialogKind::BeforeUnload, ""),
    ]
}

fn entering() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Enter, name, action);
    let risky = |name, action| Step::risky(Group::Enter, name, action);
    let native = |name| element("select", "combobox", name);
    let field =
        || TargetRecord { enter: Some(form(HERE, FormMethod::Post)), ..input("text", "Name") };
    vec![
        step("type into a field", type_into(input("text", "Name"))),
        step(
            "set a slider or a colour",
            type_into(TargetRecord { editable: false, ..input("range", "Volume") }),
        ),
        risky("set a slider that the page drew", type_into(element("div", "slider", "Volume"))),
        risky("type and press Enter", typing(field(), TYPED, false, true)),
        risky("type a line break as a key", typing(field(), "a\nb", true, false)),
        risky("type a tab as a key", typing(field(), "a\tb", true, false)),
        risky(
            "type into a password field",
            type_into(sensitive("password", "Password", Sensitivity::Password)),
        ),
        risky(
            "type into a one-time code field",
            type_into(sensitive("text", "Code", Sensitivity::OneTimeCode)),
        ),
        risky(
            "type into a payment field",
            type_into(sensitive("text", "Card number", Sensitivity::Payment)),
        ),
        risky(
            "type into something that is no field",
            type_into(element("div", "generic", "Board")),
        ),
        step("choose an option of a select", select(native("Country"), "Chile")),
        risky(
            "choose an option with a risk word, such as “Delete”",
            select(native("Action"), "Delete"),
        ),
        risky(
            "choose in a list that the page drew",
            select(element("div", "listbox", "Country"), "Chile"),
        ),
        step(
            "check a checkbox or radio button",
            Action::Check { target: input("radio", "Small"), checked: true },
        ),
        risky(
            "check something that only says it is a checkbox",
            Action::Check { target: element("div", "checkbox", "Small"), checked: true },
        ),
        risky(
            "give files to a page",
            Action::Upload {
                target: sensitive("file", "Photo", Sensitivity::File),
                files: vec!["/home/p/cv.pdf".into()],
            },
        ),
    ]
}

fn keys() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Keys, name, action);
    let risky = |name, action| Step::risky(Group::Keys, name, action);
    let field =
        || TargetRecord { enter: Some(form(HERE, FormMethod::Post)), ..input("text", "Name") };
    let known = format!("{HERE}/known");
    vec![
        risky("Enter in a field", press(Some(field()), "Enter")),
        risky("Enter on a link", press(Some(link("Products", &known)), "Enter")),
        risky("Enter with nothing chosen", press(None, "Enter")),
        step("Tab, Escape, Page Up and Down; arrows in a text field", press(Some(field()), "Tab")),
        step("arrows on any other control", press(Some(input("radio", "Small")), "ArrowDown")),
        step("a character or Backspace in a field", press(Some(field()), "a")),
        risky("a character outside a field, which is a shortcut of the page", press(None, "e")),
        risky("Delete outside a field", press(None, "Delete")),
        step(
            "Space on a checkbox or radio button",
            press(Some(input("checkbox", "Show prices")), " "),
        ),
        risky(
            "Space on any other control",
            press(Some(element("button", "button", "Show more")), " "),
        ),
        risky("copy, cut or paste", press(Some(field()), "Control+v")),
        risky("any other chord, such as Control+S or Alt+1", press(Some(field()), "Control+s")),
        risky(
            "a character in a password, code or payment field",
            press(Some(sensitive("password", "Password", Sensitivity::Password)), "a"),
        ),
    ]
}

fn tabs() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Tabs, name, action);
    let foreign =
        TabFacts { opened_by_agent: false, handed_over: false, ..TabFacts::agents(here()) };
    vec![
        step("close a tab that the person opened", Action::CloseTab { tab: tab() })
            .tab(TabFacts::handed_over(here())),
        step("anything in a tab that was not handed over", click(input("checkbox", "Show prices")))
            .tab(foreign),
        step("anything on a page of the browser itself", press(None, "Tab"))
            .tab(TabFacts::agents(DocumentOrigin::Browser)),
    ]
}

fn frames() -> Vec<Step> {
    let step = |name, action| Step::new(Group::Frames, name, action);
    let known = format!("{HERE}/known");
    vec![
        step(
            "type into a field of another site's frame",
            type_into(framed(input("text", "Name"), web(THERE))),
        ),
        step(
            "type into a frame that a script built",
            type_into(framed(input("text", "Name"), DocumentOrigin::ScriptBuilt)),
        ),
        step(
            "type into a sandboxed frame of this site",
            type_into(framed(input("text", "Name"), DocumentOrigin::Sandboxed(origin(HERE)))),
        ),
        step(
            "click a link in a frame that a script built",
            click(framed(link("Products", &known), DocumentOrigin::ScriptBuilt)),
        ),
    ]
}

/// The facts of a decision, owned, so that tests can vary them.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) policy: Policy,
    pub(crate) level: Level,
    pub(crate) rules: SiteRules,
    pub(crate) turn: TurnFacts,
    pub(crate) downloads: Downloads,
    pub(crate) user_message_visible: bool,
    pub(crate) critic: CriticState,
    pub(crate) holding: Holding,
    pub(crate) moment: Moment,
}

impl World {
    /// A guarded session in which nobody named anything, but two addresses and a logout link are
    /// known.
    pub(crate) fn guarded(level: Level) -> Self {
        let mut turn = TurnFacts::default();
        for url in [format!("{HERE}/known"), format!("{THERE}/known"), format!("{HERE}/logout")] {
            turn.saw_link(&url);
        }
        Self {
            policy: Policy::Guarded,
            level,
            rules: SiteRules::new(),
            turn,
            downloads: Downloads::Refused,
            user_message_visible: true,
            critic: CriticState::Available,
            holding: Holding::Never,
            moment: Moment { turn: TurnId(1), step: StepId(1), stops: 0 },
        }
    }

    /// A session pinned to [`HERE`].
    pub(crate) fn pinned() -> Self {
        let policy = Policy::Pinned(vec![origin(HERE).into()]);
        Self { policy, ..Self::guarded(Level::Auto) }
    }

    pub(crate) fn named(mut self, site: &str) -> Self {
        self.turn.named.insert(origin(site));
        self
    }

    pub(crate) fn planned(mut self) -> Self {
        self.turn.plan_allowed = true;
        self
    }

    pub(crate) fn rule(mut self, site: &str, rule: Rule) -> Self {
        self.rules.set(origin(site), rule);
        self
    }

    /// The MCP door, which sees no message of the person.
    pub(crate) fn behind_mcp(self) -> Self {
        Self { user_message_visible: false, ..self }
    }

    /// What clicks send can be held, and the tab shows these sites.
    pub(crate) fn holding(self, sites: &[&str]) -> Self {
        Self { holding: Holding::Over(sites.iter().map(|site| web(site)).collect()), ..self }
    }

    pub(crate) fn facts<'a>(&'a self, step: &'a Step) -> Facts<'a> {
        self.facts_for(&step.action, step.tab.clone(), step.shown)
    }

    pub(crate) fn facts_for<'a>(
        &'a self,
        action: &'a Action,
        tab: TabFacts,
        shown: Shown,
    ) -> Facts<'a> {
        let published = action.target().map(|target| Published {
            link: target.link.as_ref().map(|link| link.url.as_str()),
            submission: target.submission.as_ref(),
        });
        Facts {
            policy: &self.policy,
            level: self.level,
            rules: &self.rules,
            turn: &self.turn,
            tab,
            published: match shown {
                Shown::AsItIs => published,
                Shown::Changed => {
                    Some(Published { link: Some("https://shop.example/old"), submission: None })
                }
                Shown::Never => None,
            },
            downloads: self.downloads,
            user_message_visible: self.user_message_visible,
            critic: self.critic,
            holding: self.holding.clone(),
            moment: self.moment,
        }
    }
}
