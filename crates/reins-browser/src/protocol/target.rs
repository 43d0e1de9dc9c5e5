//! Targets, the browser itself, and downloads.

reins_cdp::protocol! {
    /// Names of targets, the browser and downloads.
    pub(crate) NAMES;

    command "Target.setAutoAttach" SetAutoAttach {
        auto_attach: bool, wait_for_debugger_on_start: bool, flatten: bool
    };
    command "Target.setDiscoverTargets" SetDiscoverTargets { discover: bool };
    command "Target.createTarget" CreateTarget<'a> { url: &'a str }
        optional { background: bool } -> CreatedTarget { target_id: String };
    command "Target.closeTarget" CloseTarget<'a> { target_id: &'a str };
    command "Target.getTargets" GetTargets {} -> Targets { target_infos: Vec<TargetInfo> };
    command "Target.detachFromTarget" DetachFromTarget<'a> { session_id: &'a str };
    command "Browser.close" CloseBrowser {};
    command "Browser.getVersion" GetVersion {} -> Version { product: String };
    command "Browser.getWindowForTarget" GetWindowForTarget<'a> {}
        optional { target_id: &'a str } -> WindowForTarget { window_id: i64 };
    command "Browser.setContentsSize" SetContentsSize { window_id: i64 }
        optional { width: u32, height: u32 };
    command "Browser.setPermission" SetPermission<'a> {
        permission: Permission<'a>, setting: &'a str
    };
    command "Browser.setDownloadBehavior" SetDownloadBehavior<'a> { behavior: &'a str, events_enabled: bool }
        optional { download_path: &'a str };

    type "Target.TargetInfo" TargetInfo {
        target_id: String, r#type: String, title: String, url: String, opener_id: Option<String>
    };

    event "Target.attachedToTarget" AttachedToTarget {
        session_id: String, target_info: TargetInfo, waiting_for_debugger: bool
    };
    event "Target.detachedFromTarget" DetachedFromTarget { session_id: String };
    event "Target.targetInfoChanged" TargetInfoChanged { target_info: TargetInfo };
    event "Target.targetDestroyed" TargetDestroyed { target_id: String };
    event "Target.targetCrashed" TargetCrashed { target_id: String };
    event "Browser.downloadWillBegin" DownloadWillBegin {
        frame_id: String, guid: String, url: String, suggested_filename: String
    };
    event "Browser.downloadProgress" DownloadProgress {
        guid: String, received_bytes: f64, state: String
    };
}

/// What a page may ask the person for.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(crate) struct Permission<'a> {
    pub(crate) name: &'a str,
}

/// Parameters of `Target.setAutoAttach` for every session: everything below it waits until armed.
pub(crate) fn auto_attach() -> SetAutoAttach {
    SetAutoAttach { auto_attach: true, wait_for_debugger_on_start: true, flatten: true }
}
