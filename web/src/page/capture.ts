import { number } from "./nodes";
/** Raw facts of the page. */
export function capture(_options: unknown): string { return String(number(document.documentElement)); }
export function facts(_n: number): string { return ""; }
