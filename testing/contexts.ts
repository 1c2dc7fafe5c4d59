import {
  type DeploymentContext,
  defaultLimits,
  type Logger,
  type SecretContent,
  type SourceContext,
} from '../core/sdk.ts';
import { bundleFiles, type FileTexts } from './content.ts';

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

/** What of a source's context is not as usual. */
export interface SourceContextOptions
  extends Partial<Omit<SourceContext, 'secrets' | 'configMaps'>> {
  /** The Secrets of the system namespace, by name. */
  readonly secrets?: Readonly<Record<string, SecretContent>>;
  /** The ConfigMaps of the system namespace: values by key, by name. */
  readonly configMaps?: Readonly<Record<string, FileTexts>>;
}

/** What a source fetches with: for a Bundle `demo`, in a system namespace with these objects. */
export function aSourceContext(options: SourceContextOptions = {}): SourceContext {
  const { secrets = {}, configMaps = {}, ...changes } = options;
  return {
    bundle: { name: 'demo', uid: 'uid-of-demo' },
    signal: new AbortController().signal,
    logger: silentLogger,
    limits: defaultLimits,
    secrets: { read: async (name) => secrets[name] },
    configMaps: {
      namespace: 'rukpak-system',
      read: async (name) => values(configMaps[name]),
    },
    ...changes,
  };
}

function values(texts: FileTexts | undefined): ReadonlyMap<string, Uint8Array> | undefined {
  return texts === undefined ? undefined : bundleFiles(texts).files;
}
