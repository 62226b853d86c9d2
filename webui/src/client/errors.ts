/** Why a call was not done, or an object cannot be used; `code` as in docs/protocol-objects.md. */
export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "CallError";
  }
}
