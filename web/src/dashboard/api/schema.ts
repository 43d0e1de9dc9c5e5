// Made by web/api.mjs from crates/reins-serve/openapi.json.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The card that was answered. */
        Answered: {
            answer: components["schemas"]["Word"];
            id: string;
        };
        /** @description Always wrapped, so that null says that there is none. */
        Browser: {
            /** @description The browser. */
            browser?: components["schemas"]["BrowserShape"] | null;
        };
        /** @description A browser (S-022). Never its MCP endpoint and never a token (S-025). */
        BrowserShape: {
            /** @description When it ended, RFC 3339. */
            ended_at?: string | null;
            /** @description What went wrong. */
            error?: string | null;
            /** @description Where it can be watched; while it runs, and where there is a live view. */
            live_url?: string | null;
            /** @description `headless` or `headed`. */
            mode: string;
            /** @description Why it ended, in a word. */
            reason?: string | null;
            /** @description Its recording. */
            recording_id?: string | null;
            /** @description How agents' configurations name it; while it runs. */
            server_key?: string | null;
            /** @description RFC 3339. */
            started_at: string;
            /** @description `starting`, `running`, `stopped` or `failed`. */
            status: string;
            /** @description When it stops by itself at the latest, RFC 3339. */
            stop_at: string;
        };
        /** @description An answer to a card. */
        CardWord: {
            answer: components["schemas"]["Word"];
        };
        /** @description What is to be changed. */
        Change: {
            /** @description `auto`, `careful` or `ask`. */
            level?: string | null;
            /** @description All rules, in place of those before. */
            site_rules?: components["schemas"]["SiteRule"][] | null;
        };
        /** @description A code for a dashboard. */
        Code: {
            /** @description Signs in once. */
            code: string;
            /** @description Until when, RFC 3339. */
            expires_at: string;
            /** @description The link that uses it; none where the daemon has no port. */
            url?: string | null;
        };
        Error: {
            error: {
                /** @description Stable. */
                code: string;
                /** @description What happened and what to do next. */
                message: string;
                /** @description What a checker said. */
                payload?: unknown;
            };
        };
        /** @description Events. */
        EventList: {
            events: components["schemas"]["EventShape"][];
            /**
             * Format: uint64
             * @description What to give as `after` for those that follow.
             */
            next?: number | null;
        };
        /** @description An event. */
        EventShape: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            at_ms: number;
            data: unknown;
            /** @description What `data` is: `rrweb`, `placed`, `console`, `marker`, `action`, `takeover` or `frame`. */
            kind: string;
            /** Format: uint64 */
            seq: number;
            tab: string;
        };
        /** @description Whether the daemon answers. */
        Health: {
            /** @description Always `ok`; anything else is an error. */
            status: string;
            /** @description The daemon's version. */
            version: string;
        };
        /** @description Places where words were found. */
        HitList: {
            hits: components["schemas"]["HitShape"][];
        };
        /** @description A place where words were found. */
        HitShape: {
            /**
             * Format: uint64
             * @description Milliseconds since 1970.
             */
            at_ms: number;
            /** Format: uint64 */
            seq: number;
            tab: string;
            /** @description The words with what stands around them. */
            text: string;
        };
        /** @description A picture. */
        Image: {
            /** @description The picture. */
            base64: string;
            /** @description `image/png` or `image/jpeg`. */
            mime: string;
        };
        /** @description One line of a boot command. */
        LogLine: {
            /** @description When it came, RFC 3339. */
            at: string;
            /**
             * Format: uint64
             * @description Counted from 1.
             */
            n: number;
            /** @description `stdout` or `stderr`. */
            stream: string;
            /** @description What it says. */
            text: string;
        };
        /** @description Lines of a boot command. */
        LogPage: {
            /** @description The oldest first. */
            lines: components["schemas"]["LogLine"][];
            /**
             * Format: uint64
             * @description What to ask for next as `after`.
             */
            next: number;
        };
        /** @description A one-time code. */
        Login: {
            /** @description From the link that `reins serve` prints or `POST /v1/codes` answers. */
            code: string;
        };
        /** @description Who one is. */
        Me: {
            /** @description What a dashboard sends as `X-Reins-Csrf` with every change; only for dashboards. */
            csrf?: string | null;
            /** @description What others see of them. */
            name: string;
            /** @description What they may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description Whose rows are seen. */
            tenant: string;
        };
        /** @description How a browser shows itself (S-040, S-041). */
        Mode: "headless" | "headed";
        /** @description A run that is to be made. */
        NewRun: {
            /** @description Only the level that the browser was started with: levels are chosen there. */
            level?: string | null;
            /** @description Which model, if not the daemon's usual one. */
            model?: string | null;
            /** @description What to do, in one's own words. */
            task: string;
        };
        /** @description A sandbox that is to be made. */
        NewSandbox: {
            /** @description Where the app is: http or https. Left out for a guarded one. */
            app_url?: string | null;
            /** @description A shell command that boots the app on the daemon's machine. */
            command?: string | null;
            /** @description Where the command runs: an absolute path. */
            cwd?: string | null;
            /**
             * Format: uint64
             * @description How long it lives, in seconds.
             */
            expires_in_s?: number | null;
            /**
             * @description On the open web with cards, instead of pinned to an app.
             * @default false
             */
            guarded: boolean;
            /** @description What people call it; the app's host if nothing is said. */
            name?: string | null;
            /** @description What answers once the app is up, on the app's own host; the app's address if nothing is said. */
            ready_url?: string | null;
        };
        /** @description A ticket that is wished for. */
        NewTicket: {
            /** @description `view` (default) or `control`. */
            mode?: string | null;
        };
        /** @description A provider of models, without its key. */
        ProviderShape: {
            /** @description Where it is. */
            address: string;
            /** @description Whether a key is kept with it. */
            has_key: boolean;
            /** @description The model that is used if none is named. */
            model?: string | null;
            /** @description What its owner calls it. */
            name: string;
        };
        /** @description A month's limit. */
        Quota: {
            /** Format: uint64 */
            browser_minutes: number;
            /** Format: uint64 */
            used: number;
        };
        /** @description Which kinds are recorded: elements and consoles unless they are switched off, pictures if they are switched on. */
        Record: {
            /** @description Errors and warnings. */
            console?: boolean | null;
            /** @description Pictures of what the elements do not show. */
            frames?: boolean | null;
            /** @description The page's elements as they change. */
            rrweb?: boolean | null;
        };
        /** @description Recordings. */
        RecordingList: {
            /** @description What to give as `before` for those that follow. */
            next?: string | null;
            recordings: components["schemas"]["RecordingShape"][];
        };
        /** @description A recording. */
        RecordingShape: {
            app_url: string;
            /**
             * Format: uint64
             * @description Bytes on the disk.
             */
            bytes: number;
            /** Format: uint64 */
            duration_ms: number;
            /** @description Why it ended. */
            end_reason?: string | null;
            ended_at?: string | null;
            /**
             * Format: uint64
             * @description Events on the disk.
             */
            events: number;
            id: string;
            /** @description Of `rrweb`, `frames`, `console`. */
            kinds: string[];
            sandbox_id: string;
            /** @description RFC 3339. */
            started_at: string;
            /** @description `recording`, `complete` or `cut_short`. */
            status: string;
        };
        /** @description Refused requests of one kind. */
        Refusal: {
            /** @description The last of them, RFC 3339. */
            at: string;
            /**
             * Format: uint64
             * @description How many.
             */
            count: number;
            /** @description As it was asked for. */
            host: string;
            /**
             * Format: uint16
             * @description As it was asked for, where one was.
             */
            port?: number | null;
            /** @description Why. */
            reason: string;
        };
        /** @description What was refused. */
        Refusals: {
            /**
             * Format: uint64
             * @description Requests that were refused beside these and are only counted.
             */
            more: number;
            /** @description In the order in which each kind was first seen. */
            refusals: components["schemas"]["Refusal"][];
        };
        /** @description A tenant's runs. */
        RunList: {
            /** @description The newest first. */
            runs: components["schemas"]["RunShape"][];
        };
        /** @description A run. */
        RunShape: {
            /** @description What the agent said at the end. */
            answer?: string | null;
            /**
             * Format: double
             * @description What they cost.
             */
            cost_usd?: number | null;
            /** @description RFC 3339. */
            ended_at?: string | null;
            /** @description The code of what went wrong. */
            error?: string | null;
            id: string;
            sandbox_id: string;
            /** @description RFC 3339. */
            started_at: string;
            /** @description `running`, `done`, `unfinished`, `stopped`, `failed` or `interrupted`. */
            status: string;
            /**
             * @description What it did.
             * @default []
             */
            steps: components["schemas"]["Step"][];
            task: string;
            /**
             * Format: uint64
             * @description Tokens that the model used.
             */
            tokens?: number | null;
        };
        /** @description A sandbox. */
        SandboxShape: {
            /** @description Where its app is; empty without one. */
            app_url: string;
            /** @description Its last browser. */
            browser?: components["schemas"]["BrowserShape"] | null;
            /** @description What boots its app. */
            command?: string | null;
            /** @description When it was made, RFC 3339. */
            created_at: string;
            /** @description Why it failed. */
            error?: string | null;
            /** @description When it ends, RFC 3339. */
            expires_at: string;
            /** @description Whether its browser is on the open web with cards, instead of pinned to the app. */
            guarded: boolean;
            /** @description Its id. */
            id: string;
            /** @description What people call it. */
            name: string;
            /** @description What answers once the app is up. */
            ready_url?: string | null;
            /** @description `booting`, `ready`, `failed` or `expired`. */
            status: string;
        };
        /** @description A tenant's sandboxes. */
        Sandboxes: {
            /** @description In which modes browsers can start here (S-026). */
            browser_modes: components["schemas"]["Mode"][];
            /** @description The newest first. */
            sandboxes: components["schemas"]["SandboxShape"][];
        };
        /** @description What was saved. */
        Saved: {
            /**
             * Format: uint
             * @description Cookies that the app's host is sent.
             */
            cookies: number;
            /**
             * Format: uint
             * @description Cookies and items that are not the app's.
             */
            left_out: number;
            /**
             * Format: uint
             * @description Items of its origin's local storage.
             */
            local_storage: number;
        };
        /** @description One thing that a token allows. */
        Scope: "read" | "act" | "take_over" | "manage" | "metrics";
        /** @description One browser. */
        SessionShape: {
            ended_at?: string | null;
            /**
             * Format: uint64
             * @description Rounded up.
             */
            minutes: number;
            recording_id?: string | null;
            sandbox_id: string;
            session_id: string;
            started_at: string;
            status: string;
        };
        /** @description A tenant's settings. */
        SettingsShape: {
            /** @description How much is asked in guarded browsers whose start says nothing. */
            level: string;
            /** @description Every level. */
            levels: string[];
            /** @description The owner's models, without their keys. */
            providers: components["schemas"]["ProviderShape"][];
            /** @description Rules for sites in guarded browsers. */
            site_rules: components["schemas"]["SiteRule"][];
        };
        /** @description A rule for a site. */
        SiteRule: {
            /** @description An origin, such as `https://shop.example`. */
            pattern: string;
            /** @description `always` or `never`. */
            rule: string;
        };
        /** @description How a browser is to start. */
        StartBrowser: {
            /**
             * @description `testing`, `vision`, `pdf`.
             * @default []
             */
            capabilities: string[];
            /** @description How much is asked in a guarded sandbox: `auto` (default), `careful` or `ask`. */
            level?: string | null;
            /** @description `headless` (default) or `headed`. */
            mode?: string | null;
            /** @description Which kinds are recorded. */
            record?: components["schemas"]["Record"] | null;
        };
        /** @description One tool call as people see it. */
        Step: {
            /** @description What came of it, in our own words. Typed text is never part of it. */
            detail?: string | null;
            /** @description The code of what went wrong. */
            error?: string | null;
            /**
             * Format: uint64
             * @description Unique within its sandbox.
             */
            id: number;
            /** @description What it does, for people. */
            label: string;
            /**
             * Format: uint64
             * @description How long it took.
             */
            ms?: number | null;
            /** @description `running`, `completed`, `refused`, `unknown` or `error`. */
            outcome: string;
            /** @description The run it belongs to, if it is one's. */
            run_id?: string | null;
            /** @description When it began, RFC 3339. */
            started_at: string;
            /** @description The tool. */
            tool: string;
        };
        /** @description An open tab. Title and address are the page's own words. */
        Tab: {
            /** @description Whether the agent is in it. */
            current: boolean;
            id: string;
            title: string;
            url: string;
        };
        /** @description Open tabs. */
        Tabs: {
            /** @description In the order in which they opened. */
            tabs: components["schemas"]["Tab"][];
        };
        /** @description A ticket for the live view. */
        Ticket: {
            /** @description RFC 3339. */
            expires_at: string;
            /** @description `view` or `control`. */
            mode: string;
            /** @description The first message carries it; it is never part of an address. */
            ticket: string;
            /** @description Where to connect. */
            url: string;
        };
        /** @description What a tool answers. */
        ToolAnswer: {
            /** @description Why nothing was done. */
            error?: unknown;
            /** @description Pictures. */
            images?: components["schemas"]["Image"][];
            /** @description How an act ended: `completed`, `refused` or `unknown`. After `unknown`, look before trying again. */
            outcome?: string | null;
            /** @description The same facts for programs. */
            structured?: {
                [key: string]: unknown;
            };
            /** @description What a model reads. */
            text: string;
        };
        /** @description A tenant's browser minutes. */
        UsageShape: {
            /**
             * Format: uint64
             * @description Of all browsers that were started in this span.
             */
            browser_minutes: number;
            /** @description RFC 3339. */
            from: string;
            /** @description What this calendar month may be used, where there is a limit. */
            quota?: components["schemas"]["Quota"] | null;
            /** @description The oldest first; at most 1000. */
            sessions: components["schemas"]["SessionShape"][];
            tenant: string;
            /** @description RFC 3339. */
            to: string;
        };
        /** @description What may be answered. */
        Word: "allow" | "always" | "deny" | "stop";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
