import { z } from 'zod';
import {
  type AdmissionValidator,
  type AdmissionVerdict,
  allowed,
  denied,
  errored,
} from '../review.ts';

/** Finds the Bundles that use a ConfigMap. */
export interface BundleLister {
  /** Names of the existing Bundles with the ConfigMap in spec.source.configMaps, in any order. */
  bundlesReferencing(configMapName: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface ConfigMapValidatorOptions {
  readonly bundles: BundleLister;
  /** Bundles read ConfigMaps of this namespace only; changes elsewhere are allowed. */
  readonly systemNamespace: string;
}

const configMapSchema = z.object({
  metadata: z.object({ name: z.string() }),
  immutable: z.boolean().optional(),
});

/** The validator behind `vconfigmaps.core.rukpak.io`. */
export function configMapValidator(options: ConfigMapValidatorOptions): AdmissionValidator {
  return async (request, signal) => {
    const { bundles } = options;
    if (request.namespace !== options.systemNamespace || request.subResource) return allowed;
    if (request.operation === 'CREATE') return await judgeCreate(request.object, bundles, signal);
    if (request.operation === 'DELETE')
      return await judgeDelete(request.oldObject, bundles, signal);
    return allowed;
  };
}

async function judgeCreate(
  object: unknown,
  bundles: BundleLister,
  signal: AbortSignal,
): Promise<AdmissionVerdict> {
  const configMap = configMapSchema.safeParse(object);
  if (!configMap.success) return errored(400, 'failed to decode ConfigMap: request.object');
  if (configMap.data.immutable === true) return allowed;
  const { name } = configMap.data.metadata;
  const names = (await bundles.bundlesReferencing(name, signal)).toSorted(byText);
  if (names.length === 0) return allowed;
  return denied(
    `configmap "${name}" is referenced in .spec.source.configMaps[].configMap.name by bundles [${names.join(' ')}]; referenced configmaps must have .immutable == true`,
  );
}

async function judgeDelete(
  object: unknown,
  bundles: BundleLister,
  signal: AbortSignal,
): Promise<AdmissionVerdict> {
  const configMap = configMapSchema.safeParse(object);
  if (!configMap.success) return errored(400, 'failed to decode ConfigMap: request.oldObject');
  const { name } = configMap.data.metadata;
  const [first] = (await bundles.bundlesReferencing(name, signal)).toSorted(byText);
  return first === undefined
    ? allowed
    : denied(`configmap "${name}" is in-use by bundle "${first}"`);
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
