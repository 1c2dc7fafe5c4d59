import type { BundleSource, ConfigMapSource, GitSource } from '../api/v1alpha1/bundle.ts';
import { parametersFault } from '../api/v1alpha1/source-parameters.ts';

/** Reads ConfigMaps of the system namespace. */
export interface ConfigMapReader {
  /** Resolves to undefined where there is none of that name. */
  get(name: string, signal: AbortSignal): Promise<{ readonly immutable?: boolean } | undefined>;
}

/**
 * What is wrong with a source that the schema cannot say, or undefined. Types http and upload need
 * no check; whether a third party's type is served, and its parameters fit, core says in a condition.
 */
export async function findSourceFault(
  source: BundleSource,
  configMaps: ConfigMapReader,
  signal: AbortSignal,
): Promise<string | undefined> {
  const fault = parametersFault(source);
  if (fault !== undefined) return `bundle.spec.source.parameters ${fault}`;
  switch (source.type) {
    case 'image':
      return source.image === undefined ? missingBlock('image', 'image') : undefined;
    case 'git':
      return findGitFault(source.git);
    case 'configMaps':
      return findConfigMapsFault(source.configMaps ?? [], configMaps, signal);
    default:
      return undefined;
  }
}

function missingBlock(field: string, type: string): string {
  return `bundle.spec.source.${field} must be set for source type "${type}"`;
}

function findGitFault(git: GitSource | undefined): string | undefined {
  if (git === undefined) return missingBlock('git', 'git');
  if (!leavesRoot(git.directory)) return undefined;
  return 'bundle.spec.source.git.directory begins with "../": directory must define path within the repository';
}

async function findConfigMapsFault(
  sources: readonly ConfigMapSource[],
  configMaps: ConfigMapReader,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (sources.length === 0) return missingBlock('configmaps', 'configmaps');
  const names = new Set(sources.map(({ configMap }) => configMap.name ?? ''));
  const mutable = await findMutable([...names], configMaps, signal);
  const faults = sources.flatMap((source, index) => configMapFaults(source, index, mutable));
  return faults.length > 1 ? `[${faults.join(', ')}]` : faults[0];
}

/** A ConfigMap that does not exist yet is fine: it is checked when it is created. */
async function findMutable(
  names: readonly string[],
  configMaps: ConfigMapReader,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const mutable = new Set<string>();
  for (const name of names) {
    const configMap = name === '' ? undefined : await configMaps.get(name, signal);
    if (configMap !== undefined && configMap.immutable !== true) mutable.add(name);
  }
  return mutable;
}

function configMapFaults(
  { configMap, path }: ConfigMapSource,
  index: number,
  mutable: ReadonlySet<string>,
): string[] {
  const field = `bundle.spec.source.configmaps[${index}]`;
  const { name = '' } = configMap;
  return [
    ...(leavesRoot(path) ? [`${field}.path is invalid: "${path}" is outside bundle root`] : []),
    ...(mutable.has(name)
      ? [`${field}.configmap.name is invalid: configmap "${name}" is not immutable`]
      : []),
  ];
}

/**
 * Whether the cleaned path begins with `../`. Not by cleaning it: node:path takes minutes for the
 * hundred thousand parts that an object has room for.
 */
function leavesRoot(path = ''): boolean {
  if (path.startsWith('/')) return false;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
