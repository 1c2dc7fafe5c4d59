import { readFile } from 'node:fs/promises';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { ContentLoader } from '../bundle-deployment/dependencies.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { DiskStore } from '../store/disk-store.ts';
import { createFallbackLoader } from '../store/fallback-loader.ts';
import type { ManagerOptions } from './options.ts';

const tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * Content from our own store, else from the content server that stored it. Content that this very
 * process stores and has lost is on its way: its Bundle is being fetched again.
 */
export function createContentLoader(
  store: DiskStore,
  ownClasses: ReadonlyMap<string, Provisioner>,
  { content, limits }: ManagerOptions,
): ContentLoader {
  const fallback = createFallbackLoader({
    store,
    contentServers: content.contentServers,
    token: async () => (await readFile(tokenFile, 'utf8')).trim(),
    ...(content.caFile === undefined ? {} : { caFile: content.caFile }),
    limits,
  });
  return {
    async load(bundle, signal) {
      const key = contentKey(bundle);
      if (!ownClasses.has(bundle.spec.provisionerClassName)) {
        const { contentURL } = bundle.status ?? {};
        return await fallback.load({ ...key, contentURL }, signal);
      }
      const stored = await store.load(key);
      if (stored !== undefined) return stored;
      throw new Error(`the content of Bundle "${key.name}" is lost and being fetched again`);
    },
  };
}

function contentKey({ metadata }: Bundle): { name: string; uid: string } {
  return { name: metadata.name ?? '', uid: metadata.uid ?? '' };
}
