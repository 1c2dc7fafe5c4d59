import { isObject, typeOf } from '../../api/spec-config.ts';
import {
  errorMessage,
  type JsonValue,
  parseYaml,
  stringifyJson,
  TerminalError,
} from '../../core/sdk.ts';
import type { HelmConfig } from './config.ts';
import type { ValuesDocument } from './engine/chart-engine.ts';

interface ChartValues {
  /** Override the chart's own values, in order; later ones win. */
  readonly documents: readonly ValuesDocument[];
  /** Values that must not occur in messages. */
  readonly secrets: readonly JsonValue[];
}

type Inputs = readonly (Uint8Array | undefined)[];

/** A name that no document of `valuesFrom` has. */
const ownName = 'spec.config.values';

/**
 * The values of a deployment: those of `valuesFrom` in order, then its own, as in Flux. Skips
 * missing optional ones.
 * @throws TerminalError with the prefix `read chart values: `.
 */
export function chartValues({ values, valuesFrom }: HelmConfig, inputs: Inputs): ChartValues {
  const documents: ValuesDocument[] = [];
  const secrets: JsonValue[] = [];
  for (const [index, { kind, name, key }] of valuesFrom.entries()) {
    const content = inputs[index];
    if (content === undefined) continue;
    const place = `key "${key}" of ${kind} "${name}" (spec.config.valuesFrom[${index}])`;
    documents.push({ name: place, text: new TextDecoder().decode(content) });
    if (kind === 'Secret') secrets.push(readSecret(content, place));
    else readMap(content, `${place}: `);
  }
  if (typeof values === 'string') {
    readMap(values);
    documents.push({ name: ownName, text: values });
  } else if (values !== undefined) {
    documents.push({ name: ownName, text: stringifyJson(values) });
  }
  return { documents, secrets };
}

/** Parses YAML, which Helm's engine parses again, for the error text of v0.16. */
function readMap(content: Uint8Array | string, place = ''): JsonValue {
  try {
    return checkedMap(parseYaml(content));
  } catch (error) {
    throw valuesError(`${place}${errorMessage(error)}`, { cause: error });
  }
}

/** The error of a Secret names only the line. */
function readSecret(content: Uint8Array, place: string): JsonValue {
  try {
    return checkedMap(parseYaml(content));
  } catch (error) {
    const line = /\bline \d+/.exec(errorMessage(error))?.[0];
    const where = line === undefined ? '' : `, ${line}`;
    // Without the cause, which quotes the text.
    throw valuesError(`${place}${where}: it is not a YAML map; its content is not shown`, {});
  }
}

function checkedMap(value: JsonValue): JsonValue {
  if (value === null || isObject(value)) return value;
  throw new TerminalError(
    `the values are ${typeOf(value)}: they must be a map, such as "key: value"`,
  );
}

function valuesError(problem: string, options: ErrorOptions): TerminalError {
  return new TerminalError(`read chart values: ${problem}`, options);
}
