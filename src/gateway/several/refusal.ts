/** The error for a request that no server can handle. The client gets the error's code and message. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
