import { z } from 'zod';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  ApiError,
  type KubeClient,
  podResource,
  queryString,
} from '../../../core/platform/kube/index.ts';

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
  /** RFC 3339, by the node's clock. */
  readonly time: string;
  readonly text: string;
}

/** Maximum bytes of a Pod's log per request. */
const limitBytes = 16 * 1024 * 1024;

/** Reads the logs of the system's Pods, and each line once. */
export class LogReader {
  readonly #client: Pick<KubeClient, 'list' | 'request'>;
  readonly #selection: LogSelection;
  /** Time of the last line that was read, by Pod and container. */
  readonly #last = new Map<string, string>();

  constructor(client: Pick<KubeClient, 'list' | 'request'>, selection: LogSelection) {
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
    const lines: LoggedLine[] = [];
    for (const pod of items) {
      for (const container of containersOf(pod)) {
        lines.push(...(await this.#linesOf(pod.metadata.name ?? '', container, signal)));
      }
    }
    return lines
      .filter(({ text }) => this.#isWanted(text, names))
      .toSorted((a, b) => (a.time < b.time ? -1 : 1));
  }

  async #linesOf(pod: string, container: string, signal: AbortSignal): Promise<LoggedLine[]> {
    const { namespace, since } = this.#selection;
    const source = `${pod}/${container}`;
    const last = this.#last.get(source) ?? since.toISOString();
    const query = queryString({ container, timestamps: true, sinceTime: last, limitBytes });
    const place = [namespace, pod].map(encodeURIComponent).join('/pods/');
    const path = `/api/v1/namespaces/${place}/log${query}`;
    const text = await this.#logOf(path, signal);
    // `sinceTime` has whole seconds, so lines of the same second come again.
    const lines = text.split('\n').flatMap(loggedLine);
    const fresh = lines.filter(({ time }) => time > last);
    this.#last.set(source, fresh.at(-1)?.time ?? last);
    return fresh;
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
    const labelSelector = `${label.ownerKind}=${bundleDeploymentResource.kind},${label.ownerName}=${name}`;
    const { items } = await this.#client.list(bundleResource, { labelSelector, signal });
    return new Set([name, ...items.map(({ metadata }) => metadata.name ?? '')]);
  }

  #isWanted(text: string, names: ReadonlySet<string> | undefined): boolean {
    const entry = entryOf(text);
    // A line that is not a log entry comes from a failing program.
    if (entry === undefined) return names === undefined;
    if (levels.indexOf(entry.level) < levels.indexOf(this.#selection.level)) return false;
    return names === undefined || mentions(entry, names);
  }
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
  return space === -1 ? [] : [{ time: line.slice(0, space), text: line.slice(space + 1) }];
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
