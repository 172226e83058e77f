// @ts-check
/** What the fake vendor says with every token. Plain ASCII, so that tokens can be counted by bytes. */
export const tokenText = " tok";
