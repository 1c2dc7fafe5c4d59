import type { BundleSource, ConfigMapSource } from '../../api/v1alpha1/bundle.ts';
import { BundleFilesBuilder } from '../content/index.ts';
import type { Source, SourceContext, SourceResult, SourceType } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';

/**
 * Sources of type configMaps: ConfigMaps in the system namespace. The webhooks demand immutable
 * ones; without them, or when one is deleted and created again, the content may change.
 */
export const configMapsType: SourceType = {
  type: 'configMaps',
  pin: 'digest',
  host: () => undefined,
  secret: () => undefined,
  shareable: false,
};

/** Files from ConfigMaps of the system namespace. */
export function createConfigMapsSource(): Source {
  return { ...configMapsType, fetch: fetchConfigMaps };
}

async function fetchConfigMaps(
  { type, configMaps = [] }: BundleSource,
  context: SourceContext,
): Promise<SourceResult> {
  if (configMaps.length === 0) {
    throw new TerminalError('bundle source configmaps configuration is unset');
  }
  const builder = new BundleFilesBuilder(context.limits);
  const origins = new Map<string, Set<string>>();
  for (const [index, source] of configMaps.entries()) {
    const { name, folder } = placeOf(source, index);
    for (const [key, content] of await readConfigMap(name, context)) {
      const path = folder === '' ? key : `${folder}/${key}`;
      origins.set(path, (origins.get(path) ?? new Set()).add(name));
      await context.memory?.take(content.byteLength);
      builder.addFile(path, content);
    }
  }
  checkDuplicates(origins);
  return { files: builder.build(), resolvedSource: { type, configMaps } };
}

function placeOf(
  { configMap, path }: ConfigMapSource,
  index: number,
): { readonly name: string; readonly folder: string } {
  const { name = '' } = configMap;
  const field = `bundle source configMaps[${index}]`;
  if (name === '') throw new TerminalError(`${field}.configMap.name is unset`);
  const folder = bundleFolder(path);
  if (folder !== undefined) return { name, folder };
  throw new TerminalError(`${field}.path is invalid: "${path}" is outside bundle root`);
}

async function readConfigMap(
  name: string,
  { configMaps, signal }: SourceContext,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const content = await configMaps.read(name, signal);
  if (content !== undefined) return content;
  throw new Error(`get configmap ${configMaps.namespace}/${name}: ConfigMap "${name}" not found`);
}

/**
 * The folder of a `path`, empty for the bundle's root; undefined outside of it. Implemented here,
 * because node:path takes minutes for the number of parts that an object can contain.
 */
function bundleFolder(path = ''): string | undefined {
  if (path.startsWith('/')) return undefined;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Refuses paths that occur in more than one ConfigMap, in RukPak's words. */
function checkDuplicates(origins: ReadonlyMap<string, ReadonlySet<string>>): void {
  const problems = [...origins]
    .filter(([, names]) => names.size > 1)
    .map(([path, names]) => {
      return `duplicate path "${path}" found in configmaps [${[...names].sort().join(' ')}]`;
    });
  if (problems.length === 0) return;
  // Go's aggregates have brackets around several errors.
  throw new TerminalError(problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`);
}
