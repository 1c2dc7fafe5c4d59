import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** One request that the API server answered, or a watch that it opened. */
export interface ApiRequest {
  readonly verb: string;
  /** With its subresource, such as `bundles/status`; the path of what is no resource. */
  readonly resource: string;
}

/** A request about one object. */
export interface NamespacedRequest extends ApiRequest {
  readonly name: string;
  /** Whom our process acted for; undefined where it was for itself. */
  readonly as: string | undefined;
  readonly groups: readonly string[] | undefined;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly impersonatedUser?: { readonly username?: string; readonly groups?: readonly string[] };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  /** Of a patch. */
  readonly requestObject?: unknown;
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Reads what our processes asked of a cluster that was started with its audit log. */
export class AuditLog {
  readonly #file: string;

  constructor(clusterDir: string) {
    this.#file = join(clusterDir, 'audit.log');
  }

  /** The present end, for `since`. */
  async position(): Promise<number> {
    return (await stat(this.#file)).size;
  }

  /** The requests of the system's processes from a position on. */
  async since(position: number): Promise<readonly ApiRequest[]> {
    return (await this.#events(position)).filter(isCounted).map(requestOf);
  }

  /** The requests of the system's processes about objects of one namespace, and as whom they were. */
  async inNamespace(namespace: string, position: number): Promise<readonly NamespacedRequest[]> {
    const events = (await this.#events(position)).filter(isCounted);
    return events.flatMap((event) => {
      const { objectRef: { resource = '', name = '', ...object } = {}, verb } = event;
      const { username, groups } = event.impersonatedUser ?? {};
      return object.namespace === namespace ? [{ verb, resource, name, as: username, groups }] : [];
    });
  }

  /** `<verb> <resource>/<name>` of the system's processes about objects of these names. */
  async about(names: ReadonlySet<string>, position: number): Promise<readonly string[]> {
    const events = (await this.#events(position)).filter(isCounted);
    return events
      .filter(({ objectRef: { name = '' } = {} }) => names.has(name))
      .map((event) => `${event.verb} ${requestOf(event).resource}/${event.objectRef?.name}`);
  }

  /** Installed objects and the different contents that the system's processes applied of each. */
  async appliedSince(position: number): Promise<ReadonlyMap<string, readonly string[]>> {
    const applied = new Map<string, string[]>();
    for (const { objectRef = {}, requestObject } of (await this.#events(position)).filter(
      isApply,
    )) {
      const { apiGroup = '', resource, namespace = '', name } = objectRef;
      const id = `${resource}.${apiGroup} ${namespace}/${name}`;
      const content = JSON.stringify(requestObject);
      const contents = applied.get(id) ?? [];
      if (!contents.includes(content)) applied.set(id, [...contents, content]);
    }
    return applied;
  }

  async #events(position: number): Promise<readonly AuditEvent[]> {
    // From the byte before on: what that does not end was under way then, as the last line may be now.
    const before = Math.max(0, position - 1);
    const lines = (await this.#read(before)).split('\n');
    return lines
      .slice(position - before, -1)
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(isOurs);
  }

  async #read(position: number): Promise<string> {
    const file = await open(this.#file);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read({
        buffer: Buffer.alloc(size - position),
        position,
      });
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }
}

export function isWrite({ verb }: ApiRequest): boolean {
  return writes.has(verb);
}

/** `get leases 30, watch bundles 1`, sorted; `nothing` for none. */
export function summary(requests: readonly ApiRequest[]): string {
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const key = `${verb} ${resource}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const parts = [...counts].map(([key, count]) => `${key} ${count}`).toSorted();
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function isOurs({ userAgent = '' }: AuditEvent): boolean {
  return userAgent.startsWith('rukpak-');
}

/** A watch has a line when it is opened, and a second one when it ends. */
function isCounted({ verb, stage }: AuditEvent): boolean {
  return stage !== (verb === 'watch' ? 'ResponseComplete' : 'ResponseStarted');
}

/**
 * Other patches are lists of changes; on their own objects the processes write what they know by
 * then, and in Events how often something has happened.
 */
function isApply({ verb, objectRef, requestObject }: AuditEvent): boolean {
  if (verb !== 'patch' || objectRef?.apiGroup === 'core.rukpak.io') return false;
  if (objectRef?.resource === 'events') return false;
  return typeof requestObject === 'object' && !Array.isArray(requestObject);
}

function requestOf({ verb, objectRef, requestURI }: AuditEvent): ApiRequest {
  const { resource, subresource } = objectRef ?? {};
  if (resource === undefined) return { verb, resource: requestURI.replace(/\?.*/, '') };
  return { verb, resource: subresource === undefined ? resource : `${resource}/${subresource}` };
}
