import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { Clock } from '../../clock.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { ProvisionerContext } from '../../contracts/provisioner.ts';
import { TerminalError } from '../../errors.ts';
import { Answer } from './answer.ts';
import { contentPieces, fileTable } from './content-transfer.ts';
import type { FetchOrigin, FromWorker, GivenFacts, HandlerName, ToWorker } from './messages.ts';
import { fromThrown, toThrown } from './thrown.ts';

export interface WorkerProcessOptions {
  /** Bound on the JavaScript heap. */
  readonly memoryMegabytes: number;
  readonly clock: Clock;
  /** Takes what the process prints. */
  readonly logger: Logger;
}

/** One call of a provisioner's handler, or of a source. */
export interface Call {
  /** Who is called, for messages: `class "acme"`. */
  readonly callee: string;
  readonly module: URL;
  readonly handler: HandlerName;
  readonly files: BundleFiles;
  readonly object: KubernetesObject | BundleSource;
  readonly origin?: FetchOrigin;
  readonly facts?: GivenFacts;
  readonly context: ProvisionerContext;
}

interface RunningCall {
  readonly call: Call;
  readonly answer: Answer;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const entry = new URL(`./worker-entry${extname(import.meta.url)}`, import.meta.url);

/** How long an aborted handler may take to answer before its process is killed. */
const abortGrace = 1_000;

/** Enough to hold V8's report of an exhausted heap. */
const outputKept = 16 * 1024;

/**
 * A process that runs handlers, one call at a time. A process, not a thread: a thread that asks for
 * too much memory at once takes the whole process with it (docs/adr/0009).
 */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #running: RunningCall | undefined;
  #failure: Error | undefined;
  #output = '';

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    this.#process = startProcess(options.memoryMegabytes);
    // Where it could not even be started there is 'error' only.
    this.#exited = once(this.#process, 'exit').catch(() => undefined);
    this.#process.on('message', (message: FromWorker) => this.#receive(message));
    this.#process.on('error', (error) => this.#end(error));
    // What it printed last may come after the exit; 'close' is after both.
    this.#process.on('close', () => this.#end(this.#causeOfDeath()));
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#keep(text));
    }
    this.#hold(false);
  }

  /** Whether it can take a call. */
  get alive(): boolean {
    return this.#failure === undefined;
  }

  /** Rejects with what the handler threw; also where the process dies, then with its reason. */
  async run(call: Call): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure;
    const { signal } = call.context;
    const answered = Promise.withResolvers<Answer>();
    const finished = new AbortController();
    const abort = (): void => void this.#abort(signal, finished.signal);
    this.#running = { call, answer: new Answer(), ...answered };
    this.#hold(true);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const delivered = this.#deliver(call);
      return await Promise.race([answered.promise, delivered.then(() => answered.promise)]);
    } finally {
      signal.removeEventListener('abort', abort);
      finished.abort();
      this.#running = undefined;
      this.#hold(false);
    }
  }

  /** Ends the process at once; a running call is rejected with the reason. */
  async kill(reason: Error): Promise<void> {
    this.#end(reason);
    this.#hold(true);
    await this.#exited;
  }

  async #deliver({ module, handler, files, object, origin, facts, context }: Call): Promise<void> {
    const { limits } = context;
    await this.#send({
      type: 'call',
      module: module.href,
      handler,
      object,
      ...(origin === undefined ? {} : { origin }),
      ...(facts === undefined ? {} : { facts }),
      limits,
      files: fileTable(files),
    });
    for (const parts of contentPieces(files)) await this.#send({ type: 'content', parts });
  }

  /** Resolves when the message is on its way; a process that has died says so by its exit. */
  #send(message: ToWorker): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#process.connected) return resolve();
      this.#process.send(message, undefined, undefined, () => resolve());
    });
  }

  #receive(message: FromWorker): void {
    // What comes after a call was given up is of no use to anyone.
    if (this.#running === undefined) return;
    const { call, answer, resolve, reject } = this.#running;
    switch (message.type) {
      case 'log':
        return call.context.logger[message.level](message.fields, message.message);
      case 'end':
        return message.error === undefined ? resolve(answer) : reject(fromThrown(message.error));
      default:
        return answer.add(message);
    }
  }

  async #abort(signal: AbortSignal, finished: AbortSignal): Promise<void> {
    void this.#send({ type: 'abort', reason: toThrown(signal.reason) });
    try {
      await this.#options.clock.sleep(abortGrace, finished);
    } catch {
      return;
    }
    this.#end(signal.reason as Error);
  }

  #end(reason: Error): void {
    this.#failure ??= reason;
    this.#running?.reject(this.#failure);
    this.#process.kill('SIGKILL');
  }

  #causeOfDeath(): Error {
    const { exitCode, signalCode } = this.#process;
    const name = this.#running?.call.callee ?? 'nobody';
    if (this.#output.includes('JavaScript heap out of memory')) {
      return new TerminalError(
        `${name} needs more than ${this.#options.memoryMegabytes} MiB of memory for this content: make it smaller or split it`,
      );
    }
    const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
    return new Error(`the worker process of ${name} ended ${how}: what it printed is in the log`);
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-outputKept);
    this.#options.logger.warn({ pid: this.#process.pid, text }, 'a worker process printed');
  }

  /** A waiting worker does not keep this process alive. */
  #hold(alive: boolean): void {
    const { channel, stdout, stderr } = this.#process;
    // The pipes are sockets, whatever their type says.
    for (const handle of [
      this.#process,
      channel,
      stdout as Socket | null,
      stderr as Socket | null,
    ]) {
      if (alive) handle?.ref();
      else handle?.unref();
    }
  }
}

function startProcess(memoryMegabytes: number): ChildProcess {
  return fork(entry, [], {
    serialization: 'advanced',
    // Less young garbage: measured, rendering became no slower by it (docs/benchmarks).
    execArgv: [`--max-old-space-size=${memoryMegabytes}`, '--max-semi-space-size=8'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}
