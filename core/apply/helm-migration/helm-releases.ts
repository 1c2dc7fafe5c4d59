import { setImmediate as othersTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { gvkOf } from '../../../api/gvk.ts';
import { parseJson } from '../../../api/json.ts';
import { stringAt } from '../../../api/json-fields.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import { parseObjects } from '../../manifests/index.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  isForbidden,
  isNotFound,
  type KubeClient,
  secretResource,
} from '../../platform/kube/index.ts';
import { describeObject, type GroupKind } from '../objects/object-id.ts';
import { type ReleaseSecret, releaseSecrets } from './release-secrets.ts';

/** Maximum number of revisions to read when none of them was ever finished. */
const maxRevisions = 10;
/**
 * Milliseconds for which one list of all releases is shared: a thousand new deployments ask at
 * once.
 */
const listLifetime = 60_000;

interface HelmReleasesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly logger: Logger;
  readonly systemNamespace: string;
  /** Aborts a list that several callers share. */
  readonly signal: AbortSignal;
}

interface SharedList {
  readonly at: number;
  readonly releases: Promise<readonly ReleaseSecret[]>;
}

/** The Helm releases in which RukPak recorded its deployments: Secrets of the system namespace. */
export class HelmReleases {
  readonly #options: HelmReleasesOptions;
  #shared: SharedList | undefined;

  constructor(options: HelmReleasesOptions) {
    this.#options = options;
  }

  /**
   * The kinds of the objects that RukPak installed for a deployment: those of the last finished
   * revision and of every later one. For an unreadable Secret core records a Warning Event and goes
   * on.
   */
  async kinds(owner: BundleDeployment, signal: AbortSignal): Promise<readonly GroupKind[]> {
    const name = owner.metadata.name ?? '';
    const listed = await this.#listed();
    const revisions = listed.filter(({ deployment }) => deployment === name);
    const finished = revisions.findIndex(({ deployed }) => deployed);
    const wanted = revisions.slice(0, finished === -1 ? maxRevisions : finished + 1);
    const kinds: GroupKind[] = [];
    for (const { name } of wanted.slice(0, maxRevisions)) {
      kinds.push(...(await this.#read(owner, name, signal)));
    }
    return kinds;
  }

  /** The releases of all deployments; concurrent callers share one request. */
  async #listed(): Promise<readonly ReleaseSecret[]> {
    const now = this.#options.clock.monotonic();
    if (this.#shared === undefined || now - this.#shared.at > listLifetime) {
      const list = { at: now, releases: this.#list() };
      this.#shared = list;
      // The next caller repeats a failed request.
      list.releases.catch(() => {
        if (this.#shared === list) this.#shared = undefined;
      });
    }
    return await this.#shared.releases;
  }

  async #list(): Promise<readonly ReleaseSecret[]> {
    const { client, systemNamespace: namespace, logger, signal } = this.#options;
    try {
      return await releaseSecrets(client, { namespace, signal });
    } catch (error) {
      // A manager that does not serve RukPak's classes may lack permission for Secrets.
      if (!isForbidden(error)) throw error;
      logger.info({ namespace }, 'core lacks permission to list release Secrets of RukPak');
      return [];
    }
  }

  async #read(
    owner: BundleDeployment,
    name: string,
    signal: AbortSignal,
  ): Promise<readonly GroupKind[]> {
    const { client, systemNamespace, events } = this.#options;
    const key = { namespace: systemNamespace, name };
    let release: string;
    try {
      const secret = await client.get(secretResource, key, signal);
      release = stringAt(secret, 'data', 'release') ?? '';
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
    try {
      return await releaseKinds(release);
    } catch (error) {
      events.event(owner, {
        type: 'Warning',
        reason: 'ReleaseUnreadable',
        message:
          `the release of RukPak in ${describeObject('Secret', key)} cannot be read: ` +
          `${errorMessage(error)}. Objects of kinds that the bundle no longer has are not removed`,
      });
      return [];
    }
  }
}

/** Maximum unpacked size. Helm's limit is that of a Secret: 1 MiB of gzip. */
const maxReleaseBytes = 64 * 1024 * 1024;
/** Maximum total size of documents that must be parsed whole; RukPak wrote none of that kind. */
const maxReadCharacters = 256 * 1024;
/** The names of the kinds must fit into one annotation. */
const maxKinds = 500;

const unzip = promisify(gunzip);
const releaseSchema = z.object({ manifest: z.string() });

/**
 * The kinds of the objects in a Helm release. `release` is a Secret's `data.release`: base64 of
 * base64 of gzip of JSON.
 * @throws Error that names the problem without quoting the content, which is secret.
 */
export async function releaseKinds(release: string): Promise<readonly GroupKind[]> {
  const packed = Buffer.from(Buffer.from(release, 'base64').toString('latin1'), 'base64');
  const text = await unzip(packed, { maxOutputLength: maxReleaseBytes }).catch(() => undefined);
  if (text === undefined) {
    throw new Error(`it is not gzip of at most ${maxReleaseBytes} bytes`);
  }
  return await kindsOf(manifestOf(text.toString('utf8')));
}

function manifestOf(release: string): string {
  try {
    return releaseSchema.parse(parseJson(release)).manifest;
  } catch {
    throw new Error('it is not JSON with a manifest');
  }
}

async function kindsOf(manifest: string): Promise<readonly GroupKind[]> {
  const kinds = new Map<string, GroupKind>();
  let read = 0;
  for (const document of manifest.split(/^---.*$/m)) {
    const known = blockKind(document);
    if (known === undefined) {
      read += document.length;
      if (read > maxReadCharacters) {
        throw new Error(
          `its manifest has more than ${maxReadCharacters} characters in other styles than RukPak's`,
        );
      }
      await othersTurn();
    }
    for (const { group, kind } of known ?? kindsOfDocument(document)) {
      if (!/^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) || group.length > 253) continue;
      kinds.set(`${kind}.${group}`, { group, kind });
    }
    if (kinds.size > maxKinds) throw new Error(`it has more than ${maxKinds} kinds`);
  }
  return [...kinds.values()];
}

/**
 * Parsing a whole document takes long. RukPak wrote block style, where the lines of apiVersion and
 * kind are enough.
 */
function blockKind(document: string): readonly GroupKind[] | undefined {
  const apiVersion = /^apiVersion: ["']?([^\s"']+)["']?$/m.exec(document)?.[1];
  const kind = /^kind: ["']?([^\s"']+)["']?$/m.exec(document)?.[1];
  if (apiVersion === undefined || kind === undefined) return undefined;
  return [gvkOf({ apiVersion, kind })];
}

function kindsOfDocument(document: string): readonly GroupKind[] {
  try {
    return parseObjects(Buffer.from(document)).map(gvkOf);
  } catch {
    throw new Error('its manifest contains a document that is not an object');
  }
}
