import { z } from 'zod';
import { contractVersion, type ProvisionerContext } from '../../contracts/provisioner.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  connectionCode,
  connectionProblem,
  type Failure,
  RetryPolicy,
} from '../../platform/net/index.ts';
import { FairSemaphore, type InTurn, type Turn, takePlace } from '../../platform/runtime/index.ts';
import { checkBody, readBody, refusalOf } from './answers.ts';
import type { ClassAddress } from './class-address.ts';
import {
  type ClassAnswer,
  type ClassConnection,
  type ClassRequest,
  connections,
} from './class-connection.ts';

/** A server's description of its class; unknown fields are for later versions. */
export const classDescriptionSchema = z.object({
  contractVersion: z.number(),
  className: z.string(),
  handlers: z.array(z.enum(['bundle', 'configure', 'deployment', 'inputs'])),
  uses: z.array(z.enum(['cluster', 'seed'])).optional(),
});

type ClassDescription = z.infer<typeof classDescriptionSchema>;

/** A request on whose turn it is sent. */
interface RequestInTurn extends ClassRequest {
  readonly turn?: Turn | undefined;
}

type ReadAnswer<T> = (answer: ClassAnswer) => Promise<T>;
type Outcome<T> = { readonly value: T } | { readonly failure: Failure } | { readonly final: Error };

export interface ClassServerOptions {
  readonly address: ClassAddress;
  readonly connection: ClassConnection;
  readonly clock: Clock;
}

/**
 * Errors of an unavailable server, which may return soon. Invalid certificates are not among them.
 */
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
const maxDescriptionBytes = 64 * 1024;
/**
 * Milliseconds. Until core notices that another version has replaced the server, that may lack facts
 * and inputs, refuse objects for that, and is not asked again.
 */
const validFor = 1_000;

/**
 * Requests by the contract; temporary failures are retried a few times. Creators take turns for the
 * connections, and their wait does not count.
 */
export class ClassServer {
  readonly #options: ClassServerOptions;
  readonly #turns = new FairSemaphore({ places: connections });
  #known: { readonly description: ClassDescription; readonly until: number } | undefined;

  constructor(options: ClassServerOptions) {
    this.#options = options;
  }

  get className(): string {
    return this.#options.address.className;
  }

  /** For messages. */
  get name(): string {
    return this.#options.address.name;
  }

  /** The facts that the class last declared to use. */
  get uses(): NonNullable<ClassDescription['uses']> {
    return this.#known?.description.uses ?? [];
  }

  /**
   * The server's description: requested at the first use, because the server may start later than
   * core.
   * @throws Error when the server has another class, or another version of the contract
   */
  async describe({
    signal,
    logger,
    turn,
  }: InTurn<Pick<ProvisionerContext, 'signal' | 'logger'>>): Promise<ClassDescription> {
    const { address, clock } = this.#options;
    if (this.#known !== undefined && clock.monotonic() < this.#known.until) {
      return this.#known.description;
    }
    const wanted = { path: 'v1/class', accept: 'application/json', signal, turn };
    const description = await this.call(wanted, async (answer) => {
      checkBody(answer, ['application/json']);
      const text = (await readBody(answer, maxDescriptionBytes)).toString('utf8');
      return checkedDescription(JSON.parse(text), address.className);
    });
    if (this.#known === undefined)
      logger.info({ server: this.name, ...description }, 'class found');
    this.#known = { description, until: clock.monotonic() + validFor };
    return description;
  }

  /**
   * Sends a request, and lets `read` read a 200 or 204 to its end.
   * @throws TerminalError for a 422, WaitingError when the server is unavailable or too busy, Error
   * for any other answer; each names class and address
   */
  async call<T>(wanted: RequestInTurn, read: ReadAnswer<T>): Promise<T> {
    const retries = new RetryPolicy(this.#options.clock);
    for (;;) {
      const outcome = await this.#attempt(wanted, read);
      if ('value' in outcome) return outcome.value;
      if ('final' in outcome) throw outcome.final;
      await retries.wait(outcome.failure, wanted.signal);
    }
  }

  async #attempt<T>({ turn, ...wanted }: RequestInTurn, read: ReadAnswer<T>): Promise<Outcome<T>> {
    const { connection } = this.#options;
    const leavePlace = await takePlace(this.#turns, turn, wanted.signal);
    try {
      const answer = await connection.request(wanted);
      const { status } = answer;
      if (status !== 200 && status !== 204) return await this.#refused(answer);
      return { value: await read(answer).finally(() => leave(answer)) };
    } catch (error) {
      wanted.signal.throwIfAborted();
      return this.#broken(error);
    } finally {
      leavePlace();
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

/** Discards the rest of the answer. */
function leave({ body }: ClassAnswer): void {
  body.on('error', () => undefined).destroy();
}

function checkedDescription(answer: unknown, className: string): ClassDescription {
  const { success, data, error } = classDescriptionSchema.safeParse(answer);
  if (!success) {
    const [issue] = error.issues;
    throw new Error(
      `the answer to GET v1/class is not a valid class description: ${issue?.path.join('.')}: ${issue?.message}`,
    );
  }
  if (data.contractVersion !== contractVersion) {
    throw new Error(
      `it serves version ${data.contractVersion} of the contract, and this manager knows version ${contractVersion}`,
    );
  }
  if (data.className !== className) {
    throw new Error(
      `it serves class ${JSON.stringify(data.className.slice(0, 100))}: correct --provisioner-url`,
    );
  }
  if (data.handlers.includes('configure') && !data.handlers.includes('bundle')) {
    throw new Error(
      'its handlers have "configure" and not "bundle": only the class that a Bundle is unpacked by adapts its content',
    );
  }
  if (data.handlers.includes('inputs') && !data.handlers.includes('deployment')) {
    throw new Error(
      'its handlers have "inputs" and not "deployment": core gives inputs to deployment only',
    );
  }
  return data;
}
