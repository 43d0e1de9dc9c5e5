import { useEffect, useState } from "preact/hooks";
import { signIn } from "../api/calls";
import { me } from "../api/client";
import { Failure } from "../parts/pieces";
import { useDeed } from "../parts/resource";
import { codeIn, forgetFragment } from "../route";

/** Signing in by the one-time link of the terminal. The code leaves the address before anything else happens. */
export function SignIn() {
  const deed = useDeed();
  const [text, setText] = useState("");
  const enter = (code: string) => deed.run(async () => (me.value = await signIn(code)));
  useEffect(() => {
    document.title = "Sign in · Reins";
    const taken = () => {
      const code = codeIn(location.hash);
      if (!code) return;
      forgetFragment();
      void enter(code);
    };
    taken();
    // A fresh link pasted into this very tab only changes the fragment.
    addEventListener("hashchange", taken);
    return () => removeEventListener("hashchange", taken);
  }, []);
  return (
    <main class="signin">
      <h1>Sign in to Reins</h1>
      <p>
        Run <code>reins dashboard</code> in a terminal on the machine of the daemon. It opens this page signed in. A link works
        once, for ten minutes.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const code = codeIn(text) ?? text.trim();
          if (code) void enter(code);
        }}
      >
        <label for="code">Link or code from the terminal</label>
        <input id="code" value={text} autocomplete="off" spellcheck={false} onInput={(e) => setText(e.currentTarget.value)} />
        <Failure text={deed.error} />
        <button type="submit" class="main" disabled={deed.busy}>{deed.busy ? "Signing in…" : "Sign in"}</button>
      </form>
    </main>
  );
}
