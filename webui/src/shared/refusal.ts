/** Why a change does not apply; `code` is the word that travels in `reject`. */
export class RefusalError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "RefusalError";
  }
}
