import { isObject, typeOf } from '../../api/spec-config.ts';
import { type JsonObject, TerminalError } from '../../core/sdk.ts';

/**
 * The fields of an OLM Subscription's spec.config, with their names in spec.config; each may be
 * absent.
 */
export interface DeploymentOverrides {
  readonly env?: readonly NamedItem[];
  readonly envFrom?: readonly JsonObject[];
  readonly volumes?: readonly NamedItem[];
  readonly volumeMounts?: readonly NamedItem[];
  readonly tolerations?: readonly JsonObject[];
  readonly resources?: JsonObject;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An item of a list that is keyed by name. */
export type NamedItem = JsonObject & { readonly name: string };

/** Names of its fields in spec.config. */
export const overrideNames = [
  'env',
  'envFrom',
  'volumes',
  'volumeMounts',
  'tolerations',
  'resources',
  'nodeSelector',
  'affinity',
  'annotations',
] as const satisfies readonly (keyof DeploymentOverrides)[];

type Overrides = Required<DeploymentOverrides>;
type Read<T> = (value: unknown, path: string) => T;

const readers: { readonly [Name in keyof Overrides]: Read<Overrides[Name]> } = {
  env: listOf(readVariable),
  envFrom: listOf(objectOf('prefix', 'configMapRef', 'secretRef')),
  // The API server validates sources of volumes, because it gets new ones.
  volumes: listOf(named(readObject)),
  volumeMounts: listOf(
    named(
      objectOf(
        'name',
        'mountPath',
        'readOnly',
        'recursiveReadOnly',
        'subPath',
        'subPathExpr',
        'mountPropagation',
      ),
    ),
  ),
  tolerations: listOf(objectOf('key', 'operator', 'value', 'effect', 'tolerationSeconds')),
  resources: readResources,
  nodeSelector: readTexts,
  affinity: readAffinity,
  annotations: readTexts,
};

/**
 * The overrides in a spec.config. Validates fields deep enough that no misspelling is ignored; the
 * API server reports deeper problems.
 * @throws TerminalError that names the field.
 */
export function readOverrides(config: Readonly<Record<string, unknown>>): DeploymentOverrides {
  const entries = overrideNames.flatMap((name) => {
    const value = config[name];
    return value === undefined || value === null ? [] : [[name, readers[name](value, name)]];
  });
  return Object.fromEntries(entries) as DeploymentOverrides;
}

function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw configError(path, `is ${typeOf(value)}: it must be a list`);
    return value.map((item: unknown, index) => read(item, `${path}[${index}]`));
  };
}

function objectOf(...known: readonly string[]): Read<JsonObject> {
  return (value, path) => {
    const object = readObject(value, path);
    const other = Object.keys(object).find((field) => !known.includes(field));
    if (other === undefined) return object;
    throw configError(`${path}.${other}`, `is not known: there are ${known.join(', ')}`);
  };
}

function readObject(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value as JsonObject;
  throw configError(path, `is ${typeOf(value)}: it must be an object`);
}

function named(read: Read<JsonObject>): Read<NamedItem> {
  return (value, path) => {
    const object = read(value, path);
    const { name } = object;
    if (typeof name === 'string' && name !== '') return { ...object, name };
    const is = name === undefined ? 'missing' : typeOf(name);
    throw configError(`${path}.name`, `is ${is}: it must be a string`);
  };
}

function readVariable(item: unknown, path: string): NamedItem {
  const variable = named(objectOf('name', 'value', 'valueFrom'))(item, path);
  const { value } = variable;
  // Numbers and booleans without quotes are a common mistake.
  if (value === undefined || value === null || typeof value === 'string') return variable;
  throw configError(
    `${path}.value`,
    `is ${typeOf(value)}: it must be a string, so put it in quotes`,
  );
}

/** A quantity in the API server's format; its own message would not name the field. */
const quantity = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;

function readResources(value: unknown, path: string): JsonObject {
  const resources = objectOf('limits', 'requests', 'claims')(value, path);
  for (const field of ['limits', 'requests']) {
    const amounts = resources[field] ?? {};
    for (const [name, amount] of Object.entries(readObject(amounts, `${path}.${field}`))) {
      if (isQuantity(amount)) continue;
      throw configError(`${path}.${field}.${name}`, 'must be a quantity, such as 500m or 64Mi');
    }
  }
  return resources;
}

function isQuantity(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && quantity.test(value));
}

function readAffinity(value: unknown, path: string): JsonObject {
  const affinity = objectOf('nodeAffinity', 'podAffinity', 'podAntiAffinity')(value, path);
  for (const [field, part] of Object.entries(affinity)) {
    if (part !== null) readObject(part, `${path}.${field}`);
  }
  return affinity;
}

function readTexts(value: unknown, path: string): Readonly<Record<string, string>> {
  const texts = readObject(value, path);
  for (const [key, text] of Object.entries(texts)) {
    if (typeof text === 'string') continue;
    throw configError(
      `${path}[${key}]`,
      `is ${typeOf(text)}: it must be a string, so put it in quotes`,
    );
  }
  return texts as Readonly<Record<string, string>>;
}

/** An error in spec.config, with the common prefix of all classes. */
export function configError(field: string, problem: string): TerminalError {
  return new TerminalError(`parse deployment config: spec.config.${field} ${problem}`);
}
