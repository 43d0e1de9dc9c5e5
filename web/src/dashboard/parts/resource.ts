// Reading something of the daemon, and reading it again.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { me, told } from "../api/client";

export interface Resource<T> {
  value: T | undefined;
  /** Why the last reading failed, in words. The value before it stays. */
  error: string | undefined;
  reload: () => void;
}

/** Reads at once, when `key` changes, and every `everyMs` while the page can be seen. */
export function useResource<T>(key: string, read: (stop: AbortSignal) => Promise<T>, everyMs?: number): Resource<T> {
  const [state, setState] = useState<{ key: string; value?: T | undefined; error?: string | undefined }>({ key });
  const [turn, setTurn] = useState(0);
  const reader = useRef(read);
  reader.current = read;

  useEffect(() => {
    const stop = new AbortController();
    reader.current(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ key, value }),
      (cause: unknown) => {
        if (stop.signal.aborted || me.peek() === null) return;
        setState((before) => ({ key, value: before.key === key ? before.value : undefined, error: told(cause) }));
      },
    );
    return () => stop.abort();
  }, [key, turn]);

  const reload = useCallback(() => setTurn((n) => n + 1), []);
  useEffect(() => {
    if (!everyMs) return;
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);

  return { value: state.key === key ? state.value : undefined, error: state.error, reload };
}

/** One thing a person asked for: busy while it runs, and what went wrong. */
export function useDeed(): {
  busy: boolean;
  error: string | undefined;
  run: (deed: () => Promise<unknown>) => Promise<boolean>;
  clear: () => void;
} {
  const [state, setState] = useState<{ busy: boolean; error?: string | undefined }>({ busy: false });
  const run = useCallback(async (deed: () => Promise<unknown>) => {
    setState({ busy: true });
    try {
      await deed();
      setState({ busy: false });
      return true;
    } catch (cause) {
      setState({ busy: false, error: told(cause) });
      return false;
    }
  }, []);
  const clear = useCallback(() => setState({ busy: false }), []);
  return { busy: state.busy, error: state.error, run, clear };
}
