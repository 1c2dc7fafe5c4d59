/** A request that is answered with an HTTP status and one sentence. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
