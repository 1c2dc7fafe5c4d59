import { isObject, meantField, typeOf } from '../../api/spec-config.ts';
import { type Logger, sortedMap, TerminalError } from '../../core/sdk.ts';
import {
  configError,
  type DeploymentOverrides,
  overrideNames,
  readOverrides,
} from './deployment-overrides.ts';

/** spec.config of a BundleDeployment whose Bundle is of the class. */
export interface RegistryConfig {
  /** Existing namespace for the operator itself (default: a namespace from the bundle). */
  readonly installNamespace?: string;
  /** `watchNamespace` alone, or `watchNamespaces`; absent if spec.config has neither. */
  readonly watchNamespaces?: readonly string[];
  /** Whether changed CRDs go unchecked against existing custom resources (default: false). */
  readonly skipsCrdUpgradeSafety?: boolean;
  readonly overrides: DeploymentOverrides;
}

const known: readonly string[] = [
  'installNamespace',
  'watchNamespace',
  'watchNamespaces',
  'crdUpgradeSafety',
  ...overrideNames,
];
/** Far more than real deployments have; each namespace needs its own Roles. */
const maxNamespaces = 250;
const namespaceName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Reads spec.config; undefined without one. Accepts unknown fields, as v0.16 did, which read none
 * at all; but refuses those that look like a misspelt known field (docs/adr/0029).
 * @throws TerminalError that names the field.
 */
export function parseConfig(config: unknown, logger: Logger): RegistryConfig | undefined {
  if (config === undefined || config === null) return undefined;
  if (!isObject(config)) throw notAnObject(config);
  checkUnknown(config, logger);
  const installNamespace = parseInstallNamespace(config['installNamespace']);
  const watchNamespaces = parseWatched(config);
  const skipsCrdUpgradeSafety = parseCrdUpgradeSafety(config['crdUpgradeSafety']) === 'None';
  return {
    ...(installNamespace === undefined ? {} : { installNamespace }),
    ...(watchNamespaces === undefined ? {} : { watchNamespaces }),
    ...(skipsCrdUpgradeSafety ? { skipsCrdUpgradeSafety } : {}),
    overrides: readOverrides(inOrder(config)),
  };
}

function checkUnknown(config: Readonly<Record<string, unknown>>, logger: Logger): void {
  for (const field of Object.keys(config)) {
    if (known.includes(field)) continue;
    const meant = meantField(field, known);
    if (meant !== undefined) throw configError(field, `is not known: did you mean ${meant}?`);
    logger.warn({ field: `spec.config.${field}` }, 'field is unknown and ignored, as in v0.16');
  }
}

function parseInstallNamespace(name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  return namespace('installNamespace', name);
}

function parseCrdUpgradeSafety(value: unknown): 'None' | 'Strict' {
  if (value === undefined || value === null) return 'Strict';
  if (value === 'None' || value === 'Strict') return value;
  throw configError('crdUpgradeSafety', 'must be None or Strict');
}

/**
 * Only one of `watchNamespace` and `watchNamespaces` may be set; an empty name means all
 * namespaces.
 */
function parseWatched({
  watchNamespace: one,
  watchNamespaces: several,
}: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  if (several === undefined || several === null) {
    if (one === undefined || one === null) return undefined;
    return [one === '' ? '' : namespace('watchNamespace', one)];
  }
  if (one !== undefined && one !== null) {
    throw configError('watchNamespace', 'and watchNamespaces cannot be set together: keep one');
  }
  return parseList(several);
}

function parseList(list: unknown): readonly string[] {
  const field = 'watchNamespaces';
  if (!Array.isArray(list)) {
    throw configError(field, `is ${typeOf(list)}: it must be a list of names of namespaces`);
  }
  if (list.length === 0) {
    throw configError(field, 'is an empty list: name a namespace, or leave it out for all');
  }
  if (list.length > maxNamespaces) {
    throw configError(field, `has ${list.length} items, more than ${maxNamespaces}`);
  }
  if (list.length === 1 && list[0] === '') return [''];
  return list.map((item: unknown, index) => listed(item, `${field}[${index}]`));
}

function listed(item: unknown, path: string): string {
  if (item !== '') return namespace(path, item);
  throw configError(path, 'is empty, which is all namespaces: it cannot be one of several');
}

function namespace(path: string, name: unknown): string {
  if (typeof name !== 'string') {
    throw configError(path, `is ${typeOf(name)}: it must be the name of a namespace`);
  }
  if (namespaceName.test(name)) return name;
  throw configError(path, 'must be the name of a namespace');
}

function notAnObject(config: unknown): TerminalError {
  return new TerminalError(
    `parse deployment config: spec.config is ${typeOf(config)}: it must be an object`,
  );
}

/** Maps with sorted keys: configs that differ only in order render equally. */
function inOrder(map: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return sortedMap(Object.fromEntries(Object.entries(map).map(([k, v]) => [k, ordered(v)])));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  return isObject(value) ? inOrder(value) : value;
}
