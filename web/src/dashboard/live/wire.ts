// What travels over the live view's WebSocket.

export interface Driver {
  name: string;
  since: string;
  you: boolean;
}

export type Input =
  | {
      kind: "pointer";
      action: "move" | "down" | "up";
      /** Fractions of the page's width and height, 0 to 1. */
      x: number;
      y: number;
      button?: "left" | "middle" | "right";
      /** The buttons held, as the DOM counts them. */
      buttons?: number;
      clicks?: number;
      modifiers?: number;
    }
  | { kind: "wheel"; x: number; y: number; dx: number; dy: number }
  | { kind: "key"; action: "down" | "up"; key: string; code: string; modifiers: number }
  | { kind: "text"; text: string };

export type FromViewer =
  | { type: "ticket"; ticket: string }
  | { type: "input"; input: Input }
  /** What is selected in the page is wanted for the clipboard. */
  | { type: "copy" }
  | { type: "hand_back" }
  | { type: "take_over"; ticket: string };

export interface Welcome {
  type: "welcome";
  viewer: string;
  mode: "view" | "control";
  css_width: number;
  css_height: number;
  driver: Driver | null;
}

export interface FrameAbout {
  type: "frame_about";
  css_width: number;
  css_height: number;
  at: string;
  tab: string;
  url: string;
  title: string;
}

export type ToViewer =
  | Welcome
  | FrameAbout
  | { type: "driver"; driver: Driver | null }
  | { type: "waiting"; tool: string; since: string }
  | { type: "waiting_over" }
  | { type: "copied"; text: string }
  | { type: "files_wanted"; several: boolean }
  | { type: "refused"; what: string; why: string };

/** Reads a text message. What is not one of ours is dropped. */
export function read(text: string): ToViewer | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  switch ((value as { type?: unknown }).type) {
    case "welcome":
    case "frame_about":
    case "driver":
    case "waiting":
    case "waiting_over":
    case "copied":
    case "files_wanted":
    case "refused":
      return value as ToViewer;
    default:
      return null;
  }
}
