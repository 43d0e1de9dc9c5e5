// One way to the daemon: same origin, cookie, and the CSRF token on everything that changes something.
import { signal } from "@preact/signals";
import type { Me } from "./types";

/** Who is signed in. `undefined` until the daemon has answered, `null` when nobody is. */
export const me = signal<Me | null | undefined>(undefined);

/** An answer that is not a success, in the daemon's own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Long enough for a browser's cold start, short enough that nobody waits forever. */
const DEADLINE_MS = 90_000;

export async function call<T>(method: Method, path: string, body?: unknown, stop?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const csrf = me.peek()?.csrf;
  if (method !== "GET" && csrf) headers["X-Reins-Csrf"] = csrf;
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
      signal: stop ? AbortSignal.any([stop, deadline]) : deadline,
    });
  } catch (cause) {
    if (stop?.aborted) throw cause;
    throw new ApiError(0, "unreachable", "The daemon does not answer. Is `reins serve` still running?");
  }
  const text = await answer.text();
  if (!answer.ok) {
    // A code that is refused is told by the sign-in itself.
    if (answer.status === 401 && path !== "/v1/login") me.value = null;
    throw failure(answer.status, text);
  }
  return (text ? JSON.parse(text) : undefined) as T;
}

function failure(status: number, text: string): ApiError {
  try {
    const error = (JSON.parse(text) as { error?: { code?: unknown; message?: unknown } }).error;
    if (typeof error?.code === "string" && typeof error.message === "string") {
      return new ApiError(status, error.code, error.message);
    }
  } catch {
    // Not the daemon's JSON; told by its number below.
  }
  return new ApiError(status, "unexpected", `The daemon answered ${status} without saying why.`);
}

/** A sentence for any failure. */
export function told(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
