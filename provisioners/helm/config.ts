import { isObject, meantField, typeOf } from '../../api/spec-config.ts';
import {
  type InputReference,
  type JsonObject,
  type Logger,
  TerminalError,
} from '../../core/sdk.ts';

/** spec.config of a BundleDeployment of the class. */
export interface HelmConfig {
  /**
   * Overrides the chart's own values and those of `valuesFrom`: a text of YAML, as in v0.16, or an
   * object.
   */
  readonly values?: string | JsonObject;
  /** Override the chart's own values, in order; later ones win. */
  readonly valuesFrom: readonly InputReference[];
  /**
   * `.Release.Namespace`, and the namespace for objects that name none (default: the system
   * namespace).
   */
  readonly releaseNamespace?: string;
  readonly crds: CrdPolicy;
  readonly lookup: LookupPolicy;
  /**
   * The time for templates: `now`, and the dates of generated certificates (default: the creation of
   * the BundleDeployment). Nothing else renews these certificates.
   */
  readonly templateTime?: Date;
}

/** How core applies a chart's crds/; no policy deletes one. */
export type CrdPolicy = (typeof crdPolicies)[number];

/**
 * `Upgrade` as far as the crdvalidator allows it, `Replace` regardless of custom resources; `Skip`
 * does not apply them.
 */
const crdPolicies = ['Upgrade', 'Replace', 'Skip'] as const;

/** The result of `lookup` in templates; core never looks objects up. */
type LookupPolicy = (typeof lookupPolicies)[number];

/** `Refuse` fails the rendering; `Empty` finds nothing, as Helm without a cluster. */
const lookupPolicies = ['Refuse', 'Empty'] as const;

const fields = ['values', 'valuesFrom', 'releaseNamespace', 'crds', 'lookup', 'templateTime'];
const namespaceName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Reads spec.config. Accepts only those unknown fields that v0.16 accepted, strings, unless they
 * look like a misspelt known field (docs/adr/0020).
 * @throws TerminalError that names the field.
 */
export function parseConfig(
  config: Readonly<Record<string, unknown>> = {},
  logger: Logger,
): HelmConfig {
  checkUnknown(config, logger);
  const releaseNamespace = parseNamespace(config['releaseNamespace']);
  const values = parseValues(config['values']);
  const templateTime = parseTime(config['templateTime']);
  return {
    ...(values === undefined ? {} : { values }),
    valuesFrom: parseValuesFrom(config['valuesFrom']),
    ...(releaseNamespace === undefined ? {} : { releaseNamespace }),
    crds: oneOf(crdPolicies, config['crds']) ?? refuse('crds', crdPolicies),
    lookup: oneOf(lookupPolicies, config['lookup']) ?? refuse('lookup', lookupPolicies),
    ...(templateTime === undefined ? {} : { templateTime }),
  };
}

function checkUnknown(config: Readonly<Record<string, unknown>>, logger: Logger): void {
  for (const [field, value] of Object.entries(config)) {
    if (fields.includes(field)) continue;
    const meant = meantField(field, fields);
    if (meant !== undefined) throw configError(field, `is not known: did you mean ${meant}?`);
    if (typeof value !== 'string' && value !== null) {
      throw configError(
        field,
        `is not known: there are ${fields.join(', ')}; values of the chart belong into spec.config.values`,
      );
    }
    logger.warn({ field: `spec.config.${field}` }, 'field is unknown and ignored, as in v0.16');
  }
}

function parseValues(values: unknown): string | JsonObject | undefined {
  if (values === undefined || values === null) return undefined;
  if (typeof values === 'string') return values;
  if (isObject(values)) return values as JsonObject;
  throw configError('values', `is ${typeOf(values)}: it must be an object, or text of YAML`);
}

function parseNamespace(name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name === 'string' && namespaceName.test(name)) return name;
  throw configError('releaseNamespace', 'must be the name of a namespace');
}

/** Years for which the engine has a time. */
const rfc3339 = /^(?:19[7-9]|2[01]\d)\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[-+]\d\d:\d\d)$/;

function parseTime(text: unknown): Date | undefined {
  if (text === undefined || text === null) return undefined;
  const time = typeof text === 'string' && rfc3339.test(text) ? new Date(text) : undefined;
  if (time !== undefined && isDay(text as string) && time.getTime() >= 0) return time;
  throw configError(
    'templateTime',
    'must be a time from 1970 to 2199 such as "2026-01-31T00:00:00Z"',
  );
}

/** Whether a month has the day: JavaScript takes the 30th of February for a day of March. */
function isDay(time: string): boolean {
  const day = time.slice(0, '2026-01-31'.length);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** The first policy by default; undefined for an unknown one. */
function oneOf<T extends string>(policies: readonly T[], policy: unknown): T | undefined {
  if (policy === undefined || policy === null) return policies[0];
  return policies.find((each) => each === policy);
}

function refuse(field: string, policies: readonly string[]): never {
  throw configError(field, `must be one of ${policies.join(', ')}`);
}

const defaultKey = 'values.yaml';
const referenceFields = ['kind', 'name', 'valuesKey', 'optional'];
/** Far more than real deployments have. */
const maxReferences = 64;
const objectName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const dataKey = /^[-._a-zA-Z0-9]{1,253}$/;

/** References to values, in Flux's format. */
function parseValuesFrom(list: unknown): readonly InputReference[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list))
    throw configError('valuesFrom', `is ${typeOf(list)}: it must be a list`);
  if (list.length > maxReferences) {
    throw configError('valuesFrom', `has ${list.length} items, more than ${maxReferences}`);
  }
  return list.map((item: unknown, index) => parseReference(item, `valuesFrom[${index}]`));
}

function parseReference(item: unknown, path: string): InputReference {
  if (!isObject(item)) {
    throw configError(path, `is ${typeOf(item)}: it must be an object with kind and name`);
  }
  const other = Object.keys(item).find((field) => !referenceFields.includes(field));
  if (other !== undefined) {
    throw configError(`${path}.${other}`, `is not known: there are ${referenceFields.join(', ')}`);
  }
  const { kind, optional } = item;
  if (kind !== 'ConfigMap' && kind !== 'Secret') {
    throw configError(`${path}.kind`, 'must be ConfigMap or Secret');
  }
  if (optional !== undefined && typeof optional !== 'boolean') {
    throw configError(`${path}.optional`, `is ${typeOf(optional)}: it must be true or false`);
  }
  const name = text(item['name'], objectName, `${path}.name`);
  const key = text(item['valuesKey'] ?? defaultKey, dataKey, `${path}.valuesKey`);
  return { kind, name, key, ...(optional === true ? { optional } : {}) };
}

function text(value: unknown, pattern: RegExp, path: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  const what = pattern === objectName ? 'name of an object' : 'key of a ConfigMap or Secret';
  const is = value === undefined ? 'is missing: it' : '';
  throw configError(path, `${is} must be the ${what}`.trim());
}

/** An error in spec.config, with the prefix of v0.16's messages. */
function configError(field: string, problem: string): TerminalError {
  return new TerminalError(`parse deployment config: spec.config.${field} ${problem}`);
}
