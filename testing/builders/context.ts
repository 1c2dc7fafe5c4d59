import { type DeploymentContext, defaultLimits, type Logger } from '../../core/sdk.ts';

/**
 * What a class is given besides content and object. `cluster` and `seed` are there as for a class
 * that uses them; nothing aborts the signal, and nobody reads the log.
 */
export function aContext(changes: Partial<DeploymentContext> = {}): DeploymentContext {
  return {
    signal: new AbortController().signal,
    logger: silentLogger,
    limits: defaultLimits,
    inputs: [],
    cluster: {
      version: 'v1.36.3',
      apiVersions: ['apps/v1', 'apps/v1/Deployment', 'v1', 'v1/ConfigMap', 'v1/Secret'],
      systemNamespace: 'rukpak-system',
    },
    seed: new Uint8Array(32).fill(7),
    ...changes,
  };
}

/** Takes everything, and keeps nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
