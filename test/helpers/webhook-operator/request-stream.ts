import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

export interface ApiAnswer {
  readonly code: number;
  readonly body: string;
  /** Milliseconds. */
  readonly retryAfter?: number;
}

/**
 * An administrator's requests to an API server, each sent once. Only where the server itself asks to
 * come back later it is, as every client does: that is its answer while it takes up a changed CRD.
 */
export class ApiCaller {
  readonly #server: string;
  readonly #agent: Agent;

  constructor(kubeconfig: string) {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
    const decoded = (text = '') => Buffer.from(text, 'base64');
    this.#server = clusters[0]?.cluster.server ?? '';
    this.#agent = new Agent({
      keepAlive: true,
      ca: decoded(clusters[0]?.cluster['certificate-authority-data']),
      cert: decoded(users[0]?.user['client-certificate-data']),
      key: decoded(users[0]?.user['client-key-data']),
    });
  }

  async send(wanted: ApiRequest): Promise<ApiAnswer> {
    const answer = await this.#sendOnce(wanted);
    if (answer.code !== 429 || answer.retryAfter === undefined) return answer;
    await delay(answer.retryAfter);
    return await this.send(wanted);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sendOnce({ method, path, body }: ApiRequest): Promise<ApiAnswer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return await new Promise((resolve, reject) => {
      const options = { method, agent: this.#agent, headers: { 'content-type': type } };
      const sent = request(`${this.#server}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: code = 0, headers } = response;
          const seconds = headers['retry-after'];
          const later = seconds === undefined ? {} : { retryAfter: Number(seconds) * 1000 };
          resolve({ code, body: Buffer.concat(chunks).toString('utf8'), ...later });
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
  readonly users: readonly {
    readonly user: {
      readonly 'client-certificate-data': string;
      readonly 'client-key-data': string;
    };
  }[];
}

/** One of the requests of a stream, given its number; what it returns is what is wrong, if anything. */
export type Step = (caller: ApiCaller, turn: number) => Promise<string | undefined>;

export interface Stream {
  /** How often every step was taken. */
  readonly turns: number;
  /** What went wrong, and when. */
  readonly failures: readonly string[];
}

/** Takes the steps over and over, one after the other, for as long as the work takes. */
export async function requestsDuring(
  work: Promise<void>,
  kubeconfig: string,
  steps: readonly Step[],
): Promise<Stream> {
  const caller = new ApiCaller(kubeconfig);
  const failures: string[] = [];
  let turns = 0;
  const { signal, done } = endOf(work);
  while (!signal.aborted) {
    for (const step of steps) {
      const began = new Date().toISOString();
      const failure = await step(caller, turns).catch(String);
      if (failure !== undefined) failures.push(`turn ${turns} of ${began}: ${failure}`);
    }
    turns += 1;
    await delay(20);
  }
  caller.close();
  await done;
  return { turns, failures };
}

function endOf(work: Promise<void>): {
  readonly signal: AbortSignal;
  readonly done: Promise<void>;
} {
  const ended = new AbortController();
  return { signal: ended.signal, done: work.finally(() => ended.abort()) };
}
