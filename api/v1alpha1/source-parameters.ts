import type { BundleSource } from './bundle.ts';

/** Levels of objects and lists in spec.source.parameters: what is deeper, no program can write. */
export const maxParametersDepth = 64;

/** Types of core's own sources, each with a field of its own. */
export const builtInSourceTypes: readonly string[] = [
  'configMaps',
  'git',
  'http',
  'image',
  'upload',
];

/** Why core takes no source with these parameters, whatever their schema; undefined where it may. */
export function parametersFault({ type, parameters }: BundleSource): string | undefined {
  if (parameters === undefined) return undefined;
  if (builtInSourceTypes.includes(type)) {
    return `must not be set for source type "${type}"`;
  }
  return isDeeper(parameters, maxParametersDepth)
    ? `must have no more than ${maxParametersDepth} levels`
    : undefined;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
