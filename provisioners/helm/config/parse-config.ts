import { isObject, meantField, typeOf } from '../../../api/spec-config.ts';
import type { JsonObject, Logger } from '../../../core/sdk.ts';
import { configError } from './config-error.ts';
import { crdPolicies, type HelmConfig, lookupPolicies } from './helm-config.ts';
import { parseValuesFrom } from './values-from.ts';

const known = ['values', 'valuesFrom', 'releaseNamespace', 'crds', 'lookup'];
const namespaceName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Reads spec.config. Of unknown fields only those are let pass that v0.16 let pass, strings, and
 * of these none that looks like a slip of the pen (docs/adr/0020).
 * @throws TerminalError that names the field.
 */
export function parseConfig(
  config: Readonly<Record<string, unknown>> = {},
  logger: Logger,
): HelmConfig {
  checkUnknown(config, logger);
  const releaseNamespace = parseNamespace(config['releaseNamespace']);
  const values = parseValues(config['values']);
  return {
    ...(values === undefined ? {} : { values }),
    valuesFrom: parseValuesFrom(config['valuesFrom']),
    ...(releaseNamespace === undefined ? {} : { releaseNamespace }),
    crds: oneOf(crdPolicies, config['crds']) ?? refuse('crds', crdPolicies),
    lookup: oneOf(lookupPolicies, config['lookup']) ?? refuse('lookup', lookupPolicies),
  };
}

function checkUnknown(config: Readonly<Record<string, unknown>>, logger: Logger): void {
  for (const [field, value] of Object.entries(config)) {
    if (known.includes(field)) continue;
    const meant = meantField(field, known);
    if (meant !== undefined) throw configError(field, `is not known: did you mean ${meant}?`);
    if (typeof value !== 'string' && value !== null) {
      throw configError(
        field,
        `is not known: there are ${known.join(', ')}; what is for the chart goes into spec.config.values`,
      );
    }
    logger.warn(
      { field: `spec.config.${field}` },
      'field is not known and left alone, as by v0.16',
    );
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

/** The first where it is left out; undefined where it is another one. */
function oneOf<T extends string>(policies: readonly T[], policy: unknown): T | undefined {
  if (policy === undefined || policy === null) return policies[0];
  return policies.find((each) => each === policy);
}

function refuse(field: string, policies: readonly string[]): never {
  throw configError(field, `must be one of ${policies.join(', ')}`);
}
