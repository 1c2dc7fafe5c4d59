import { readFile } from 'node:fs/promises';
import { storedContentKey } from '../../bundle/index.ts';
import { type ContentLoader, LostContentError } from '../../bundle-deployment/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import type { Provisioner } from '../../contracts/provisioner.ts';
import type { ContentStore, PinnedKey } from '../../contracts/store.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import { createFallbackLoader } from '../../store/index.ts';
import type { ContentOptions } from '../options.ts';

const podTokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export interface ContentLoaderParts {
  /** In the order of use. */
  readonly stores: readonly Pick<ContentStore, 'load'>[];
  /** Classes whose Bundles this process unpacks. */
  readonly ownClasses: ReadonlyMap<string, Provisioner>;
  /** Fetches the Bundle of that name again. */
  readonly onLost: (bundleName: string) => void;
}

/**
 * Loads content from the own store, otherwise from the content server that stored it. Fetches
 * content again that this process, or the leader before it, stored and lost.
 */
export function createContentLoader(
  { stores, ownClasses, onLost }: ContentLoaderParts,
  {
    content,
    limits,
  }: {
    readonly content: Pick<ContentOptions, 'contentServers' | 'caFile' | 'tokenFile'>;
    readonly limits: ContentLimits;
  },
): ContentLoader {
  const store = { load: (key: PinnedKey) => loadFirst(stores, key) };
  const fallback = createFallbackLoader({
    store,
    contentServers: content.contentServers,
    token: async () => (await readFile(content.tokenFile ?? podTokenFile, 'utf8')).trim(),
    ...(content.caFile === undefined ? {} : { caFile: content.caFile }),
    limits,
  });
  return {
    async load(bundle, signal) {
      const key = storedContentKey(bundle);
      if (!ownClasses.has(bundle.spec.provisionerClassName)) {
        const { contentURL } = bundle.status ?? {};
        return await served(fallback.load({ ...key, contentURL }, signal), key.name, signal);
      }
      const stored = await store.load(key);
      if (stored !== undefined) return stored;
      onLost(key.name);
      throw new LostContentError(
        `the content of Bundle "${key.name}" is lost and being fetched again`,
      );
    },
  };
}

async function loadFirst(
  stores: ContentLoaderParts['stores'],
  key: PinnedKey,
): Promise<BundleFiles | undefined> {
  for (const store of stores) {
    const content = await store.load(key);
    if (content !== undefined) return content;
  }
  return undefined;
}

/**
 * A content server that is unavailable for a while, or restores lost content, is not news about its
 * Bundles.
 */
async function served(
  loading: Promise<BundleFiles>,
  name: string,
  signal: AbortSignal,
): Promise<BundleFiles> {
  try {
    return await loading;
  } catch (error) {
    if (signal.aborted || !isPassing(error)) throw error;
    throw new LostContentError(
      `the content of Bundle "${name}" is not served at the moment: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/** Error codes of failed or broken connections. */
const connectionError = /^(?:ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|UND_ERR_)/;

function isPassing(error: unknown): boolean {
  if (error instanceof WaitingError) return true;
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && connectionError.test(code);
}
