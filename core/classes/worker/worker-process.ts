import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { serialize } from 'node:v8';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { ProvisionerContext } from '../../contracts/provisioner.ts';
import { TerminalError } from '../../errors.ts';
import type { ByteBudget, InTurn, MemoryShare } from '../../platform/runtime/index.ts';
import { Answer } from './answer.ts';
import { endedBy, unreadable } from './ends.ts';
import { type ProcessLimits, ProcessWatch } from './process-watch.ts';
import { contentPieces, FrameSocket, fileTable } from './protocol/frames.ts';
import {
  type CallMessage,
  type FromWorker,
  maxFrameBytes,
  OutputAllowance,
  parseMessage,
  type ToWorker,
} from './protocol/messages.ts';
import { fromThrown, toThrown } from './protocol/thrown.ts';
import { type Confinement, holdProcess, messageSocket, startProcess } from './start-process.ts';

/** One call of a provisioner's handler, of a source, or of a judge. */
export interface Call
  extends Pick<CallMessage, 'callee' | 'handler' | 'object' | 'origin' | 'facts'> {
  readonly module: URL;
  readonly files: BundleFiles;
  readonly context: InTurn<ProvisionerContext>;
}

export interface WorkerProcessOptions extends ProcessLimits {
  /** Counts the memory of the process. */
  readonly memory: ByteBudget;
  /** For modules of third parties. */
  readonly confinement?: Confinement | undefined;
  /** For core's own modules that read untrusted data. */
  readonly sandboxed?: boolean | undefined;
  /** Logs the output of the process. */
  readonly logger: Logger;
}

interface RunningCall {
  readonly call: Call;
  readonly answer: Answer;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** Milliseconds that an aborted handler may take to answer before its process is killed. */
const abortGrace = 1_000;

/** Enough for V8's report of an exhausted heap. */
const outputKept = 16 * 1024;

/**
 * A process that runs handlers, one call at a time. Not a thread, because a thread that allocates
 * too much memory at once ends the whole process (docs/adr/0010).
 */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions;
  readonly #process: ChildProcess;
  readonly #frames?: FrameSocket;
  readonly #exited: Promise<unknown>;
  readonly #ended = new AbortController();
  readonly #watch: ProcessWatch;
  readonly #allowance = new OutputAllowance();
  readonly #memory: MemoryShare;
  #running: RunningCall | undefined;
  #failure: Error | undefined;
  #output = '';

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    this.#process = startProcess(options);
    const { pid } = this.#process;
    const signal = this.#ended.signal;
    this.#watch = new ProcessWatch(pid, { ...options, signal, onExcess: (why) => this.#end(why) });
    // The budget retries the call later: the content is not the cause.
    const onEnd = (reason: Error): void => this.#end(reason);
    this.#memory = options.memory.open({ kind: 'idle', onEnd });
    // A process that could not be started emits only 'error'.
    this.#exited = once(this.#process, 'exit').catch(() => undefined);
    this.#process.on('error', (error) => this.#end(error));
    // The last output may arrive after 'exit'; 'close' comes after both.
    this.#process.on('close', () => {
      this.#end(this.#causeOfDeath());
      this.#memory.release();
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#keep(text));
    }
    const socket = messageSocket(this.#process);
    if (socket) this.#frames = this.#framesOf(socket);
    holdProcess(this.#process, false);
    void this.#watch.memory({
      onSample: (bytes) => this.#memory.set(bytes),
      callee: () => this.#callee,
    });
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether it can take a call. */
  get alive(): boolean {
    return this.#failure === undefined;
  }

  /** Rejects with the handler's error, or with the reason of the process's death. */
  async run(call: Call): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure;
    const { callee, context } = call;
    const { signal, limits } = context;
    const answered = Promise.withResolvers<Answer>();
    const finished = new AbortController();
    const abort = (): void => void this.#abort(signal, finished.signal);
    this.#allowance.renew();
    this.#running = { call, answer: new Answer({ callee, limits }), ...answered };
    this.#memory.become('work');
    holdProcess(this.#process, true);
    signal.addEventListener('abort', abort, { once: true });
    void this.#watch.processor(callee, finished.signal);
    try {
      const delivered = this.#deliver(call);
      return await Promise.race([answered.promise, delivered.then(() => answered.promise)]);
    } finally {
      signal.removeEventListener('abort', abort);
      finished.abort();
      this.#running = undefined;
      this.#memory.become('idle');
      // Somebody may wait for the end of a killed process.
      if (this.alive) holdProcess(this.#process, false);
    }
  }

  /** Ends the process at once; a running call rejects with the reason. */
  async kill(reason: Error): Promise<void> {
    this.#end(reason);
    holdProcess(this.#process, true);
    await this.#exited;
  }

  async #deliver(call: Call): Promise<void> {
    const { module, files, context, ...named } = call;
    const { limits } = context;
    const message = { ...named, module: module.href, limits, files: fileTable(files) };
    await this.#send({ type: 'call', ...message });
    for (const parts of contentPieces(files)) await this.#send({ type: 'content' }, parts);
  }

  #framesOf(socket: Socket): FrameSocket {
    return new FrameSocket(socket, {
      maxBytes: maxFrameBytes,
      onFrame: (head, body) => this.#receive(head, body),
      onOversize: (bytes) => this.#distrust(new Error(`a message of it has ${bytes} bytes`)),
    });
  }

  async #send(message: ToWorker, body?: readonly Uint8Array[]): Promise<void> {
    await this.#frames?.send(serialize(message), body);
  }

  #receive(head: Buffer, body: Buffer): void {
    if (!this.alive) return;
    try {
      if (this.#running === undefined) return this.#allowance.stray();
      const message = parseMessage(head, this.#allowance);
      this.#take(this.#running, { message, body, bytes: head.byteLength + body.byteLength });
    } catch (error) {
      this.#distrust(error);
    }
  }

  #take(
    { call, answer, resolve, reject }: RunningCall,
    received: { message: FromWorker; body: Buffer; bytes: number },
  ): void {
    const { message } = received;
    switch (message.type) {
      case 'log':
        this.#allowance.write(received.bytes, call.callee);
        return call.context.logger[message.level](message.fields, message.message);
      case 'end':
        return message.error === undefined ? resolve(answer) : reject(fromThrown(message.error));
      default:
        answer.add(received);
        return call.context.turn?.received?.(answer.bytes);
    }
  }

  /** The class or source that an error must name. */
  get #callee(): string {
    return this.#running?.call.callee ?? 'nobody';
  }

  /** Ends a process with a message that core's own code never sends. */
  #distrust(error: unknown): void {
    this.#end(error instanceof TerminalError ? error : unreadable(this.#callee, error));
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
    this.#ended.abort();
    this.#process.kill('SIGKILL');
  }

  #causeOfDeath(): Error {
    if (this.#output.includes('JavaScript heap out of memory'))
      return this.#watch.needsMore(this.#callee);
    return endedBy(this.#process, this.#callee);
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-outputKept);
    if (!this.alive) return;
    try {
      this.#allowance.write(text.length, this.#callee);
    } catch (error) {
      return this.#distrust(error);
    }
    this.#options.logger.warn({ pid: this.#process.pid, text }, 'a worker process printed');
  }
}
