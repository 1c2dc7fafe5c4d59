import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { layoutOf } from '../../../deploy/local/cluster/layout.ts';
import { isRunning, type Part, startPart } from '../../../deploy/local/cluster/processes.ts';
import { readState, writeState } from '../../../deploy/local/cluster/state.ts';
import { eventually } from '../../helpers/eventually.ts';

export type PartName = 'etcd' | 'kube-apiserver';

/** The servers of a local cluster, to kill, to freeze and to start again as they were. */
export class ClusterParts {
  readonly #dir: string;
  readonly #parts: ReadonlyMap<string, Part>;

  private constructor(dir: string, parts: ReadonlyMap<string, Part>) {
    this.#dir = dir;
    this.#parts = parts;
  }

  /** While all of them run. */
  static async open(dir: string): Promise<ClusterParts> {
    const { processes } = await stateOf(dir);
    const parts = await Promise.all(
      processes.map(async ({ name, pid, log }) => {
        const line = await readFile(`/proc/${pid}/cmdline`, 'utf8');
        const [binary = '', ...args] = line.split('\0').slice(0, -1);
        return [name, { name, binary, args, log }] as const;
      }),
    );
    return new ClusterParts(dir, new Map(parts));
  }

  /** Kills one and starts it again once its port is free. */
  async restart(name: PartName): Promise<void> {
    await this.signal(name, 'SIGKILL');
    await this.#startEnded(name);
  }

  /** Starts what ended because another one was away. */
  async startEnded(): Promise<void> {
    const { processes } = await stateOf(this.#dir);
    for (const record of processes) {
      if (!(await isRunning(record))) await this.#startEnded(record.name);
    }
  }

  async signal(name: PartName, signal: NodeJS.Signals): Promise<void> {
    process.kill((await this.#record(name)).pid, signal);
  }

  async #startEnded(name: string): Promise<void> {
    const part = this.#parts.get(name);
    const record = await this.#record(name);
    if (part === undefined) throw new Error(`${this.#dir} has had no ${name}`);
    // The sockets of a process that was killed may outlive it for a moment.
    await eventually(async () => {
      const ended = !(await isRunning(record)) && !(await accepts(portOf(part)));
      if (!ended) throw new Error(`${name} does not end`);
    });
    const started = await startPart(part);
    const state = await stateOf(this.#dir);
    const processes = state.processes.map((each) => (each.name === name ? started : each));
    await writeState(layoutOf(this.#dir), { ...state, processes });
  }

  async #record(name: string) {
    const { processes } = await stateOf(this.#dir);
    const record = processes.find((each) => each.name === name);
    if (record === undefined) throw new Error(`${this.#dir} has no ${name}`);
    return record;
  }
}

async function stateOf(dir: string) {
  const state = await readState(layoutOf(dir));
  if (state === undefined) throw new Error(`${dir} is no cluster's folder`);
  return state;
}

/** First port in the server's flags; 0 if it has none to wait for. */
function portOf({ args }: Part): number {
  const flag = args.find((arg) => /^--(secure-port|listen-client-urls)=/.test(arg));
  return Number(/(\d+)$/.exec(flag ?? '')?.[1] ?? 0);
}

async function accepts(port: number): Promise<boolean> {
  if (port === 0) return false;
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
