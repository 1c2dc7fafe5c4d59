import { type JsonValue, stringifyJson } from '../../../core/sdk.ts';
import type { HelmConfig } from '../config/helm-config.ts';
import type { ValuesDocument } from '../engine/index.ts';
import { readConfigMapValues, readSecretValues, readValues } from './read-values.ts';

export interface ChartValues {
  /** Over the chart's own, in order; later ones win. */
  readonly documents: readonly ValuesDocument[];
  /** What may be in no message. */
  readonly secrets: readonly JsonValue[];
}

type Inputs = readonly (Uint8Array | undefined)[];

/** What the documents of `valuesFrom` are not called. */
const ownName = 'spec.config.values';

/**
 * The values of a deployment: those of `valuesFrom` in order, then its own, as with Flux. What is
 * optional and not there is passed over.
 * @throws TerminalError that begins with `read chart values: `.
 */
export function chartValues({ values, valuesFrom }: HelmConfig, inputs: Inputs): ChartValues {
  const documents: ValuesDocument[] = [];
  const secrets: JsonValue[] = [];
  for (const [index, { kind, name, key }] of valuesFrom.entries()) {
    const content = inputs[index];
    if (content === undefined) continue;
    const place = `key "${key}" of ${kind} "${name}" (spec.config.valuesFrom[${index}])`;
    const isSecret = kind === 'Secret';
    const { text, value } = (isSecret ? readSecretValues : readConfigMapValues)(content, place);
    documents.push({ name: place, text });
    if (isSecret) secrets.push(value);
  }
  if (typeof values === 'string') documents.push({ name: ownName, text: readValues(values).text });
  else if (values !== undefined) documents.push({ name: ownName, text: stringifyJson(values) });
  return { documents, secrets };
}
