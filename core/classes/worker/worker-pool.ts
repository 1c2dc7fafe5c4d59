import type {
  BundleHandler,
  ConfigureHandler,
  DeploymentContext,
  DeploymentHandler,
  InputsHandler,
} from '../../contracts/provisioner.ts';
import { FairSemaphore, takePlace } from '../../platform/runtime/index.ts';
import type { Answer } from './answer.ts';
import { withRunningLimit } from './ends.ts';
import { noFiles } from './protocol/frames.ts';
import type { GivenFacts } from './protocol/messages.ts';
import { type Call, WorkerProcess, type WorkerProcessOptions } from './worker-process.ts';

export interface WorkerPoolOptions extends WorkerProcessOptions {
  /** Maximum processes for one creator. */
  readonly size: number;
  /**
   * Milliseconds that one call may run, without its wait for a process (default: until its signal
   * is aborted).
   */
  readonly runningLimit?: number | undefined;
}

interface IdleWorker {
  readonly worker: WorkerProcess;
  readonly taken: AbortController;
}

/** Milliseconds after which an idle process ends. */
const idleTime = 30_000;

/** Additional processes for other creators when one creator has all. */
const sparePlaces = 1;

const open = new Set<WorkerPool>();

/** A handler that never yields would not notice that its manager has ended. */
function closeAll(): void {
  for (const pool of open) void pool.close();
}

/**
 * Worker processes that start at the first use and end when they have been idle for a while.
 * Creators take turns; one additional process serves creators that another one keeps waiting.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #turns: FairSemaphore;
  readonly #workers = new Set<WorkerProcess>();
  readonly #idle: IdleWorker[] = [];
  readonly #closing = new AbortController();

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#turns = new FairSemaphore({ places: options.size + sparePlaces });
    if (open.size === 0) process.on('exit', closeAll);
    open.add(this);
  }

  /**
   * Rejects with the handler's error, with the signal's reason, or with the reason of its process's
   * death.
   */
  async run(call: Call): Promise<Answer> {
    const signal = AbortSignal.any([call.context.signal, this.#closing.signal]);
    const { runningLimit: limit, clock } = this.#options;
    const own = call.context.signal;
    const leave = await takePlace(this.#turns, call.context.turn, signal);
    try {
      // The signal may have been aborted since the turn was assigned.
      signal.throwIfAborted();
      const worker = this.#takeIdle() ?? this.#start();
      try {
        const running = { limit, clock, callee: call.callee, pid: worker.pid };
        return await withRunningLimit(running, own, (limited) =>
          worker.run({ ...call, context: { ...call.context, signal: limited } }),
        );
      } finally {
        if (worker.alive) this.#keep(worker);
        else this.#workers.delete(worker);
      }
    } finally {
      leave();
    }
  }

  /** Kills all processes; rejects running and waiting calls. */
  async close(): Promise<void> {
    open.delete(this);
    if (open.size === 0) process.off('exit', closeAll);
    const reason = new Error('the worker processes have been stopped');
    this.#closing.abort(reason);
    await Promise.all(Array.from(this.#workers, (worker) => worker.kill(reason)));
  }

  #start(): WorkerProcess {
    const worker = new WorkerProcess(this.#options);
    this.#workers.add(worker);
    return worker;
  }

  /** The most recently used one, so that others become idle and end. */
  #takeIdle(): WorkerProcess | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.taken.abort();
      if (idle.worker.alive) return idle.worker;
      this.#workers.delete(idle.worker);
    }
    return undefined;
  }

  #keep(worker: WorkerProcess): void {
    const idle = { worker, taken: new AbortController() };
    this.#idle.push(idle);
    void this.#retire(idle);
  }

  async #retire(idle: IdleWorker): Promise<void> {
    const signal = AbortSignal.any([idle.taken.signal, this.#closing.signal]);
    try {
      await this.#options.clock.sleep(idleTime, signal);
    } catch {
      return;
    }
    const at = this.#idle.indexOf(idle);
    // A call has taken it in this moment.
    if (at === -1) return;
    this.#idle.splice(at, 1);
    await idle.worker.kill(new Error('there has been no work'));
    this.#workers.delete(idle.worker);
  }
}

interface PlaceInPool {
  readonly module: URL;
  /** The called class or source, for messages: `class "acme"`. */
  readonly callee: string;
  readonly pool: Pick<WorkerPool, 'run'>;
}

interface HandlersInPool {
  readonly bundle: BundleHandler;
  readonly configure: ConfigureHandler;
  readonly deployment: DeploymentHandler;
  readonly inputs: InputsHandler;
}

/** A class's handlers for callers in this process, which run in a process of the pool. */
export function handlersInPool({ pool, ...origin }: PlaceInPool): HandlersInPool {
  return {
    async bundle(files, object, context) {
      const answer = await pool.run({ ...origin, handler: 'bundle', files, object, context });
      return answer.files() ?? files;
    },
    async configure(files, object, context) {
      const facts = factsOf(context);
      const call = { ...origin, handler: 'configure', files, object, facts, context } as const;
      return (await pool.run(call)).files() ?? files;
    },
    async deployment(files, object, context) {
      const facts = factsOf(context);
      const call = { ...origin, handler: 'deployment', files, object, facts, context } as const;
      return (await pool.run(call)).objects();
    },
    async inputs(object, context) {
      const call = { ...origin, handler: 'inputs', files: noFiles, object, context } as const;
      return (await pool.run(call)).references();
    },
  };
}

function factsOf({ inputs, cluster, seed, installed }: DeploymentContext): GivenFacts {
  return {
    inputs,
    ...(cluster === undefined ? {} : { cluster }),
    ...(seed === undefined ? {} : { seed }),
    ...(installed === undefined ? {} : { installed }),
  };
}
