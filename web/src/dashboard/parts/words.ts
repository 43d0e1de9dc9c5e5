/** What each level of asking means. No level skips the risky list. */
export const LEVELS: Record<string, string> = {
  auto: "asks before risky steps only",
  careful: "asks for a plan first, and before what a second look finds doubtful",
  ask: "asks before every step that can change something",
};
