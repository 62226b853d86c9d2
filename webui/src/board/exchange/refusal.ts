/** Why a file is not taken, or not what it seems. */

export type ImportCode = "too_large" | "not_readable" | "other_kind" | "too_many" | "absurd";

export class ImportRefusal extends Error {
  constructor(
    readonly code: ImportCode,
    /** Which part of it: the number of an element, counted from 1; 0: all of it. */
    readonly element = 0,
  ) {
    super(code);
  }
}

/** In letters of the file: pictures stand in it. */
export const FILE_MAX = 40_000_000;
export const THINGS_MAX = 2_000;

/** What a file of JSON holds; refused before it is read where it is too large. */
export function parsed(text: string): unknown {
  if (text.length > FILE_MAX) throw new ImportRefusal("too_large");
  try {
    return JSON.parse(text);
  } catch {
    throw new ImportRefusal("not_readable");
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
  return isTable ? (value as Fields) : {};
}
