import { defaultLimits, type SecretContent, type SourceContext } from '../../core/sdk.ts';
import { bundleFiles, type FileTexts } from './bundle-files.ts';
import { silentLogger } from './context.ts';

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
