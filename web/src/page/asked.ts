// What the page has asked the browser to run later. A document numbers frame callbacks and timers in one row each for all
// worlds in it, so the next number tells how many were asked for.

let ourFrames = 0;
let ourTimers = 0;

/** `requestAnimationFrame` of our own. */
export function onFrame(then: () => void): void {
  ourFrames += 1;
  requestAnimationFrame(then);
}

/** `setTimeout` of our own. */
export function onTimer(then: () => void, ms: number): number {
  ourTimers += 1;
  return setTimeout(then, ms);
}

/** How many of each the page has asked for since its document began. */
export interface Asked {
  frames: number;
  timers: number;
}

const nothing = (): void => {};

export function asked(): Asked {
  ourFrames += 1;
  ourTimers += 1;
  const frame = requestAnimationFrame(nothing);
  cancelAnimationFrame(frame);
  const timer = setTimeout(nothing, 0);
  clearTimeout(timer);
  return { frames: frame - ourFrames, timers: timer - ourTimers };
}
