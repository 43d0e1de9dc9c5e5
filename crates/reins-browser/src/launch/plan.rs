//! The command line of a browser: pure, so that what is passed can be read and tested.

use super::LaunchOptions;
use crate::containment::Connections;
use crate::proxy;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What every browser is started with.
const ALWAYS: &[&str] = &[
    // Driven over fds 3 and 4. No port is opened.
    "--remote-debugging-pipe",
    // Nothing asks the person anything at start, or after a crash.
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-search-engine-choice-screen",
    "--hide-crash-restore-bubble",
    "--disable-default-apps",
    // Nothing talks to the network by itself.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--no-pings",
    // What proxies and interception see is all there is.
    "--disable-quic",
    // WebRTC would open datagram sockets that no interception sees.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // A tab that is covered or in the background works as one in front does: agents use several,
    // and none is ever raised.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
];

/// Features that are off: a bar that offers to translate, the search for screens on the local
/// network, models that are fetched for page hints, and address bar lists drawn by renderers of their
/// own, which are started with each window (a process and some 60 ms of work at each start).
/// Sandboxed frames in processes of their own: one with `srcdoc` runs before anyone can attach to it
/// (tried on Chromium 156), so nothing would watch what it sends first. Other sites keep theirs.
/// Federated sign-in by the browser: it fetches what a page names as a provider by itself, where nothing
/// can be held; sites go on with windows and redirects.
/// What "energy saver" (see preferences.rs) does beyond drawing less: it freezes tabs in the background
/// and delays timers.
/// Holding a page's tasks back after a click until a frame is drawn: it delays what we wait for, and serves eyes only.
const FEATURES_OFF: &[&str] = &[
    "Translate",
    "MediaRouter",
    "DialMediaRouteProvider",
    "OptimizationHints",
    "OptimizationGuideModelDownloading",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "IsolateSandboxedIframes",
    "FedCm",
    "FreezingOnBatterySaverMode",
    "BatterySaverModeAlignWakeUps",
    "DeferRendererTasksAfterInput",
];

/// What a browser without a window is started with.
const HEADLESS: &[&str] = &[
    "--headless=new",
    "--hide-scrollbars",
    "--mute-audio",
    // Drawing without a screen is done in software anyway; WebGL works so too.
    "--disable-gpu",
    // Without these a page sees a screen smaller than its window, and no mouse: `hover` and `pointer`
    // media queries then give it the layout of a touch screen.
    "--screen-info={1920x1080}",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,\
     availablePointerTypes=4",
];

/// On a profile that is thrown away the system's key store has nothing to protect, and asking for
/// it costs time and may ask the person.
const TEMPORARY: &[&str] = &["--password-store=basic", "--use-mock-keychain"];

const DISABLE_FEATURES: &str = "--disable-features=";

/// What the machine adds to the options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Machine {
    /// `/dev/shm` is too small for renderers, as in most containers.
    pub(crate) small_shared_memory: bool,
}

/// The arguments for a browser on the profile in `dir`.
pub(crate) fn arguments(
    options: &LaunchOptions,
    machine: Machine,
    dir: &Path,
    temporary: bool,
) -> Vec<OsString> {
    let mut args: Vec<OsString> = ALWAYS.iter().map(Into::into).collect();
    if options.headless {
        args.extend(HEADLESS.iter().map(Into::into));
    }
    if temporary {
        args.extend(TEMPORARY.iter().map(Into::into));
    }
    if options.no_sandbox {
        args.push("--no-sandbox".into());
    }
    if machine.small_shared_memory {
        args.push("--disable-dev-shm-usage".into());
    }
    let (width, height) = options.window;
    args.push(format!("--window-size={width},{height}").into());
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(dir);
    args.push(user_data);
    // Chromium takes the last list only, so those of the caller are joined with ours.
    let mut features: Vec<String> = FEATURES_OFF.iter().map(|f| (*f).to_owned()).collect();
    if let Connections::Through(proxy) = &options.containment.connections {
        args.extend(proxy.arguments().map(OsString::from));
        features.extend(proxy::FEATURES_OFF.iter().map(|f| (*f).to_owned()));
    }
    for extra in &options.extra_args {
        match extra.to_str().and_then(|e| e.strip_prefix(DISABLE_FEATURES)) {
            Some(more) => features.push(more.to_owned()),
            None => args.push(extra.clone()),
        }
    }
    args.push(format!("{DISABLE_FEATURES}{}", features.join(",")).into());
    args.push("about:blank".into());
    args
}

/// Whether a variable of our environment stays here. Keys and tokens are no business of a browser,
/// and neither are our own settings.
pub(crate) fn stays_here(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    let secret = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS"];
    name.starts_with("REINS_") || name.split('_').any(|part| secret.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(options: &LaunchOptions, temporary: bool) -> Vec<String> {
        arguments(options, Machine::default(), Path::new("/p"), temporary)
            .into_iter()
            .map(|a| a.into_string().unwrap())
            .collect()
    }

    #[test]
    fn no_port_and_no_weakened_security_unless_asked() {
        let args = text(&LaunchOptions { headless: true, ..LaunchOptions::default() }, true);
        assert!(args.contains(&"--remote-debugging-pipe".to_owned()));
        assert!(args.contains(&"--user-data-dir=/p".to_owned()));
        assert!(args.contains(&"--window-size=1280,720".to_owned()));
        for weak in [
            "--remote-debugging-port",
            "--no-sandbox",
            "--disable-web-security",
            "--disable-site-isolation-trials",
            "--ignore-certificate-errors",
            "--disable-popup-blocking",
            "--disable-client-side-phishing-detection",
            "--remote-allow-origins",
            "--enable-automation",
        ] {
            assert!(!args.iter().any(|a| a.starts_with(weak)), "{weak}");
        }
        let asked = LaunchOptions { no_sandbox: true, ..LaunchOptions::default() };
        assert!(text(&asked, true).contains(&"--no-sandbox".to_owned()));
    }

    /// S-X12, S-146: no way around the proxy, and its password in no command line.
    #[test]
    fn s_x12_a_browser_with_a_proxy_goes_no_other_way() {
        let mut options = LaunchOptions::default();
        options.containment.connections = Connections::Through(proxy::ProxyAccess {
            address: "127.0.0.1:4711".parse().unwrap(),
            user: "session-1".into(),
            password: reins_core::Secret::new("hidden".into()),
        });
        let args = text(&options, true);
        for wanted in [
            "--proxy-server=http://127.0.0.1:4711",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--disable-quic",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        ] {
            assert!(args.iter().any(|arg| arg == wanted), "{wanted}: {args:?}");
        }
        assert!(!args.iter().any(|arg| arg.contains("hidden")), "{args:?}");
        assert!(!text(&LaunchOptions::default(), true).iter().any(|arg| arg.contains("proxy")));
    }

    #[test]
    fn a_profile_that_stays_keeps_the_systems_key_store() {
        let args = text(&LaunchOptions::default(), false);
        assert!(!args.iter().any(|a| a.contains("password-store") || a.contains("keychain")));
        assert!(!args.iter().any(|a| a.starts_with("--headless") || a == "--mute-audio"));
    }

    #[test]
    fn features_switched_off_by_the_caller_join_ours_and_the_page_comes_last() {
        let extra = ["--disable-features=Foo,Bar", "--lang=de"].map(OsString::from).to_vec();
        let args = text(&LaunchOptions { extra_args: extra, ..LaunchOptions::default() }, true);
        let lists: Vec<_> = args.iter().filter(|a| a.starts_with(DISABLE_FEATURES)).collect();
        assert_eq!(lists.len(), 1);
        assert!(lists[0].contains("Translate") && lists[0].ends_with("Foo,Bar"), "{lists:?}");
        assert!(args.contains(&"--lang=de".to_owned()));
        assert_eq!(args.last().unwrap(), "about:blank");
    }

    #[test]
    fn secrets_of_the_environment_do_not_reach_the_browser() {
        for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "aws_secret_access_key", "REINS_LEVEL"] {
            assert!(stays_here(OsStr::new(name)), "{name}");
        }
        for name in ["DISPLAY", "HOME", "XDG_RUNTIME_DIR", "LANG", "XKEYSYMDB", "https_proxy"] {
            assert!(!stays_here(OsStr::new(name)), "{name}");
        }
    }
}
