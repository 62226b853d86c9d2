/** What the keyboard of this machine calls its keys by. */
export const isMac = (): boolean => /Mac|iP(hone|ad)/.test(navigator.platform);
