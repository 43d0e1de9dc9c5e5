// Doing something later. The ids of timers and idle callbacks are shared with the page's own world, so a page that
// clears all of them would stop the recorder; a task of the scheduler has none.

declare const scheduler: {
  postTask(task: () => void, options: { delay: number; priority?: "user-visible" | "background" }): Promise<void>;
};

export function later(task: () => void, ms: number): void {
  // What fails in a task has been seen to by the task; a document that goes away ends it.
  scheduler.postTask(task, { delay: ms }).catch(() => undefined);
}

/** When the page has nothing more urgent to do. */
export function whenIdle(task: () => void, ms: number): void {
  scheduler.postTask(task, { delay: ms, priority: "background" }).catch(() => undefined);
}
