import { describe, expect, it } from 'vitest';
import { loadDirectory } from '../../cmd/ctl/load-directory.ts';
import { renderBundle } from '../../cmd/ctl/render-bundle.ts';
import { errorMessage } from '../../core/errors.ts';
import { defaultLimits, readPlainBundle } from '../../core/sdk.ts';
import registry from '../../provisioners/registry/index.ts';
import {
  realBundleDirectory,
  realBundles,
  realBundlesArePresent,
  realBundleVersions,
} from '../helpers/real-bundles.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

describe.skipIf(!realBundlesArePresent())('real bundles', () => {
  it('are all listed', () => {
    const listed = realBundles.map(({ name }) => name.split('/').slice(0, 2).join('/'));
    expect(listed.toSorted()).toEqual(realBundleVersions().toSorted());
  });

  it.each(realBundles)('$name', async ({ name, outcome }) => {
    const files = loadDirectory(realBundleDirectory(name), defaultLimits);
    if (typeof outcome === 'string') {
      expect(messageOf(() => renderBundle(files, {}))).toBe(outcome);
      return;
    }
    const objects = renderBundle(files, {});
    const identities = objects.map(({ apiVersion, kind, metadata }) =>
      [apiVersion, kind, metadata.namespace, metadata.name].join(' '),
    );
    expect(new Set(identities).size).toBe(outcome);
    expect(objects).toHaveLength(outcome);
    // What is stored and deployed later is what was shown.
    expect(await deployed(files)).toEqual(objects);
  });
});

function messageOf(action: () => unknown): string {
  try {
    action();
    return 'nothing was thrown';
  } catch (error) {
    return errorMessage(error);
  }
}

async function deployed(files: ReturnType<typeof loadDirectory>) {
  const bundle = { spec: { source: { type: 'image' } } } as never;
  const signal = new AbortController().signal;
  const context = { signal, logger: silentLogger, limits: defaultLimits };
  const stored = await registry.bundle?.(files, bundle, context);
  return readPlainBundle(stored!).flatMap((file) => file.objects);
}
