import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { BundleFilesBuilder, defaultLimits } from '../../core/content/index.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { Metrics } from '../../core/platform/observe/index.ts';
import type { AccessRequest, AccessReview } from '../../core/store/access-review.ts';
import { type ContentServerOptions } from '../../core/store/content-server.ts';
import {
  type ContentServer,
  DiskStore,
  type ServedBundles,
  startContentServer,
} from '../../core/store/index.ts';
import { silentLogger } from './silent-logger.ts';

const reader: AccessReview = { authenticated: true, user: 'reader', allowed: true };

/** Content servers over one directory, which holds the archive of `my-bundle`, UID 1. */
export class ContentServerFixture {
  readonly directory: string;
  readonly archive: Buffer;
  /** What the API server was asked. */
  readonly asked: AccessRequest[] = [];
  readonly logged: object[] = [];
  readonly metrics = new Metrics();
  /** Of the Bundles that there are. */
  readonly uids = new Map<string, string>(
    ['my-bundle', 'old', 'big', 'folder', 'link'].map((name) => [name, '1']),
  );
  readonly pins = new Map<string, string>();
  restore: ServedBundles['restore'] = async () => false;
  readonly #servers: ContentServer[] = [];
  readonly #logger: Logger = {
    ...silentLogger,
    info: (fields, message) => void this.logged.push({ ...fields, message }),
    child: () => this.#logger,
  };

  private constructor(directory: string, archive: Buffer) {
    this.directory = directory;
    this.archive = archive;
  }

  static async create(): Promise<ContentServerFixture> {
    const directory = await mkdtemp(join(tmpdir(), 'content-server-'));
    await storeBundle(directory);
    return new ContentServerFixture(directory, await readFile(join(directory, 'my-bundle.tgz')));
  }

  /** The address of a new server. Its readers are those with the token `reader`. */
  async start(options: Partial<ContentServerOptions> = {}): Promise<string> {
    const server = await startContentServer({
      address: { host: '127.0.0.1', port: 0 },
      directory: this.directory,
      logger: this.#logger,
      clock: systemClock,
      bundles: {
        keyOf: (name) => {
          const uid = this.uids.get(name);
          return uid === undefined ? undefined : { name, uid, pin: this.pins.get(name) };
        },
        restore: async (name, signal) => await this.restore(name, signal),
      },
      metrics: this.metrics.content,
      reviewer: {
        review: async (caller, request) => {
          this.asked.push(request);
          return reviewOf('token' in caller ? caller.token : caller.user.username);
        },
      },
      ...options,
    });
    this.#servers.push(server);
    return `http://127.0.0.1:${server.port}`;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#servers.map(async (server) => await server.close()));
    await rm(this.directory, { recursive: true });
  }
}

function reviewOf(token: string): AccessReview {
  if (token === 'broken') throw new Error('connect ECONNREFUSED');
  if (token === 'nobody') return { authenticated: false };
  return token === 'reader' ? reader : { authenticated: true, user: token, allowed: false };
}

/** Stores `my-bundle` as every replica does. */
export async function storeBundle(directory: string, pin?: string): Promise<void> {
  const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits });
  const builder = new BundleFilesBuilder(defaultLimits);
  builder.addFile('manifests/a.yaml', Buffer.from('kind: Namespace'));
  await store.put({ name: 'my-bundle', uid: '1', pin }, builder.build());
}

interface Asked {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
}

export async function ask(
  url: string,
  { method = 'GET', token = 'reader', headers = {} }: Asked = {},
) {
  const response = await request(url, {
    method: method as 'GET',
    headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, body, text: body.toString() };
}
