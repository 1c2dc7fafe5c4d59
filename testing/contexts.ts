import {
  type DeploymentContext,
  defaultLimits,
  type Logger,
  type SecretContent,
  type SourceContext,
} from '../core/sdk.ts';
import { bundleFiles, type FileTexts } from './content.ts';

/**
 * The context of a class, with `cluster` and `seed` as for a class that uses them; the signal is
 * never aborted, and the log is discarded.
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

/** Discards all lines. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

/** Differences from a default source context. */
export interface SourceContextOptions
  extends Partial<Omit<SourceContext, 'secrets' | 'configMaps'>> {
  /** The Secrets of the system namespace, by name. */
  readonly secrets?: Readonly<Record<string, SecretContent>>;
  /** The ConfigMaps of the system namespace: values by key, by name. */
  readonly configMaps?: Readonly<Record<string, FileTexts>>;
}

/** The context of a fetch: for a Bundle `demo`, in a system namespace with these objects. */
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
