import { errorMessage, WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  connectionCode,
  connectionProblem,
  type Failure,
  RetryPolicy,
} from '../../platform/net/index.ts';
import type { ClassAddress } from './class-address.ts';
import type { ClassAnswer, ClassConnection, ClassRequest } from './class-connection.ts';
import { refusalOf } from './refusal.ts';

export interface ClassServerOptions {
  readonly address: ClassAddress;
  readonly connection: ClassConnection;
  readonly clock: Clock;
}

type ReadAnswer<T> = (answer: ClassAnswer) => Promise<T>;
type Outcome<T> = { readonly value: T } | { readonly failure: Failure } | { readonly final: Error };

/** The server is not there, or no longer: it may be soon. Certificates that are wrong stay wrong. */
const lost: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_SOCKET',
]);

const caPlace = 'ca.crt in the folder of --provisioner-url-credentials';

/** Requests as the contract has them: what passes by itself is tried again a few times. */
export class ClassServer {
  readonly #options: ClassServerOptions;

  constructor(options: ClassServerOptions) {
    this.#options = options;
  }

  /** For messages. */
  get name(): string {
    return this.#options.address.name;
  }

  /**
   * Lets `read` read a 200 or 204 to its end.
   * @throws TerminalError for a 422, WaitingError where the server is not there or too busy, Error
   * for any other answer; each names class and address
   */
  async call<T>(wanted: ClassRequest, read: ReadAnswer<T>): Promise<T> {
    const retries = new RetryPolicy(this.#options.clock);
    for (;;) {
      const outcome = await this.#attempt(wanted, read);
      if ('value' in outcome) return outcome.value;
      if ('final' in outcome) throw outcome.final;
      await retries.wait(outcome.failure, wanted.signal);
    }
  }

  async #attempt<T>(wanted: ClassRequest, read: ReadAnswer<T>): Promise<Outcome<T>> {
    const { connection } = this.#options;
    try {
      const answer = await connection.request(wanted);
      const { status } = answer;
      if (status !== 200 && status !== 204) return await this.#refused(answer);
      return { value: await read(answer).finally(() => leave(answer)) };
    } catch (error) {
      wanted.signal.throwIfAborted();
      return this.#broken(error);
    }
  }

  async #refused<T>(answer: ClassAnswer): Promise<Outcome<T>> {
    const { status, headers } = answer;
    const error = await refusalOf(answer, this.#options.address);
    if (status < 500 && status !== 429) return { final: error };
    const isBusy = status === 429 || status === 503;
    return { failure: { error, isBusy, retryAfter: headers['retry-after'] } };
  }

  #broken<T>(error: unknown): Outcome<T> {
    const code = connectionCode(error);
    const problem = code === '' ? errorMessage(error) : connectionProblem(error, caPlace);
    const message = `${this.name}: ${problem}`;
    if (!lost.has(code)) return { final: new Error(message, { cause: error }) };
    return { failure: { error: new WaitingError(message, { cause: error }), isBusy: false } };
  }
}

/** Nothing more of the answer is wanted, where there is more. */
function leave({ body }: ClassAnswer): void {
  body.on('error', () => undefined).destroy();
}
