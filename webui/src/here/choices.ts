/** What a person has chosen to see of others and to show them, kept in this browser. */

export interface Choices {
  /** Others' carets and selections are drawn. */
  readonly areCaretsShown: boolean;
  /** Others see where one is. One's name they see anyway: nobody reads along unseen. */
  readonly isOwnShown: boolean;
}

const KEY = "groupcore.presence";
export const ALL_SHOWN: Choices = { areCaretsShown: true, isOwnShown: true };

export function loadChoices(): Choices {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const { areCaretsShown, isOwnShown } = kept as Partial<Choices>;
    return { areCaretsShown: areCaretsShown !== false, isOwnShown: isOwnShown !== false };
  } catch {
    return ALL_SHOWN; // a browser that blocks storage, or what stands there is none of ours
  }
}

export function saveChoices(choices: Choices): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(choices));
  } catch {
    // It lasts as long as the tab.
  }
}
