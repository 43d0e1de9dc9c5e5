/** What acting adds to the page script. */
export const acting = {};
