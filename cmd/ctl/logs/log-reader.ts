import { z } from 'zod';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  ApiError,
  type KubeClient,
  liveObject,
  podResource,
  queryString,
} from '../../../core/platform/kube/index.ts';
import { bundlesOf } from '../deployments/own-bundles.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;

interface LogSelection {
  /** Namespace of the system. */
  readonly namespace: string;
  /** Name of a deployment (default: all lines). */
  readonly name?: string | undefined;
  readonly level: (typeof levels)[number];
  readonly since: Date;
}

interface LoggedLine {
  /** RFC 3339 in UTC with nanoseconds, by the node's clock. */
  readonly time: string;
  readonly text: string;
}

/** Maximum bytes of a Pod's log per request. */
const limitBytes = 4 * 1024 * 1024;
/** Bytes in UTF-8. */
const longestCharacter = 4;

interface Source {
  readonly pod: string;
  readonly container: string;
}

interface Page {
  readonly lines: readonly LoggedLine[];
  /** Whether there are more lines. */
  readonly isCut: boolean;
}

/** Reads the logs of the system's Pods, and each line once. */
export class LogReader {
  readonly #client: Pick<KubeClient, 'get' | 'list' | 'request'>;
  readonly #selection: LogSelection;
  /** Time of the last line that was read, by Pod and container. */
  readonly #last = new Map<string, string>();
  /** Lines of a call that failed, for the next one. */
  #unreturned: readonly LoggedLine[] = [];

  constructor(client: Pick<KubeClient, 'get' | 'list' | 'request'>, selection: LogSelection) {
    this.#client = client;
    this.#selection = selection;
  }

  /**
   * The lines logged since the last call, in the order of time.
   * @throws TerminalError when no program of the system runs in Pods of the namespace.
   */
  async more(signal: AbortSignal): Promise<readonly LoggedLine[]> {
    const { namespace } = this.#selection;
    const { items } = await this.#client.list(podResource, { namespace, signal });
    if (items.length === 0) {
      throw new TerminalError(
        `namespace "${namespace}" has no Pods: pass the namespace of core with --system-namespace; if rukpak runs outside the cluster, read its own output`,
      );
    }
    const names = await this.#names(signal);
    for (const pod of items) {
      for (const container of containersOf(pod)) {
        const source = { pod: pod.metadata.name ?? '', container };
        for await (const some of this.#pages(source, signal)) {
          const wanted = some.filter(({ text }) => this.#isWanted(text, names));
          this.#unreturned = this.#unreturned.concat(wanted);
        }
      }
    }
    const lines = this.#unreturned.toSorted(byTime);
    this.#unreturned = [];
    return lines;
  }

  /** A request gets the oldest lines, if there are too many for one. */
  async *#pages(source: Source, signal: AbortSignal): AsyncGenerator<readonly LoggedLine[]> {
    for (;;) {
      const { lines, isCut } = await this.#page(source, signal);
      yield lines;
      if (!isCut || lines.length === 0) return;
    }
  }

  async #page({ pod, container }: Source, signal: AbortSignal): Promise<Page> {
    const { namespace, since } = this.#selection;
    const source = `${pod}/${container}`;
    const last = this.#last.get(source) ?? inUTC(since.toISOString());
    const query = queryString({ container, timestamps: true, sinceTime: last, limitBytes });
    const place = [namespace, pod].map(encodeURIComponent).join('/pods/');
    const path = `/api/v1/namespaces/${place}/log${query}`;
    const text = await this.#logOf(path, signal);
    const isCut = Buffer.byteLength(text) > limitBytes - longestCharacter;
    const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
    // `sinceTime` has whole seconds, so lines of the same second come again.
    const lines = whole
      .split('\n')
      .flatMap(loggedLine)
      .filter(({ time }) => time > last);
    this.#last.set(source, lines.at(-1)?.time ?? last);
    return { lines, isCut };
  }

  /** Empty for a container that has not started, or was deleted since the list. */
  async #logOf(path: string, signal: AbortSignal): Promise<string> {
    try {
      return String(await this.#client.request({ method: 'GET', path, signal }));
    } catch (error) {
      if (error instanceof ApiError && (error.code === 400 || error.code === 404)) return '';
      throw error;
    }
  }

  /** Names of the deployment and its Bundles; undefined for all lines. */
  async #names(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const { name } = this.#selection;
    if (name === undefined) return undefined;
    const target = { resource: bundleDeploymentResource, key: { name } };
    const live = await liveObject(this.#client, target, signal);
    const bundles =
      live === undefined ? [] : await bundlesOf(this.#client, live as BundleDeployment, signal);
    return new Set([name, ...bundles.map(({ metadata }) => metadata.name ?? '')]);
  }

  #isWanted(text: string, names: ReadonlySet<string> | undefined): boolean {
    const entry = entryOf(text);
    // A line that is not a log entry comes from a failing program.
    if (entry === undefined) return names === undefined;
    if (levels.indexOf(entry.level) < levels.indexOf(this.#selection.level)) return false;
    return names === undefined || mentions(entry, names);
  }
}

function byTime(one: LoggedLine, other: LoggedLine): number {
  if (one.time === other.time) return 0;
  return one.time < other.time ? -1 : 1;
}

const containersSchema = z.object({
  spec: z.object({ containers: z.array(z.object({ name: z.string() })) }),
});

function containersOf(pod: object): readonly string[] {
  const { spec } = containersSchema.parse(pod);
  return spec.containers.map(({ name }) => name);
}

/** `<time> <line>`. */
function loggedLine(line: string): readonly LoggedLine[] {
  const space = line.indexOf(' ');
  return space === -1 ? [] : [{ time: inUTC(line.slice(0, space)), text: line.slice(space + 1) }];
}

/** Texts that sort by time: a node writes times with the offset of its own zone. */
function inUTC(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? '';
  return `${new Date(at).toISOString().slice(0, -'.000Z'.length)}.${fraction.padEnd(9, '0')}Z`;
}

const entrySchema = z.looseObject({ level: z.enum(levels), msg: z.string() });

function entryOf(text: string): z.infer<typeof entrySchema> | undefined {
  try {
    return entrySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Whether a field of the entry is one of the names. */
function mentions(entry: object, names: ReadonlySet<string>): boolean {
  return Object.values(entry).some((value) =>
    typeof value === 'object' && value !== null
      ? mentions(value, names)
      : typeof value === 'string' && names.has(value),
  );
}
