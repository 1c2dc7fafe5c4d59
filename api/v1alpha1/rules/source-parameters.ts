import type { BundleSource } from '../bundle.ts';

/** Maximum nesting in spec.source.parameters; deeper values break programs that write them. */
export const maxParametersDepth = 64;

/** Types of core's own sources, each with a separate field. */
export const builtInSourceTypes: readonly string[] = [
  'configMaps',
  'git',
  'http',
  'image',
  'upload',
];

/** Why core refuses these parameters regardless of their schema; undefined when they are valid. */
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
