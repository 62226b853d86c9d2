/** What a menu offers; a line stands before those that begin a group. */
export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly act: () => void;
  readonly href?: string;
  readonly download?: string;
  readonly isFirst?: boolean;
  readonly isGrave?: boolean;
}
