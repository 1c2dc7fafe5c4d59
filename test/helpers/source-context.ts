import { defaultLimits } from '../../core/content/index.ts';
import type { SourceContext } from '../../core/contracts/source.ts';
import { silentLogger } from './silent-logger.ts';

/** What a source is fetched with: for Bundle `demo`, without any Secret or ConfigMap. */
export function aSourceContext(changes: Partial<SourceContext> = {}): SourceContext {
  return {
    bundle: { name: 'demo', uid: 'uid-of-demo' },
    signal: AbortSignal.timeout(240_000),
    logger: silentLogger,
    limits: defaultLimits,
    secrets: { read: async () => undefined },
    configMaps: { namespace: 'system', read: async () => undefined },
    ...changes,
  };
}
