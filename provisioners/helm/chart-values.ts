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

/** What is in a text of YAML, which Helm's engine reads once more, with the error that v0.16 had. */
function readMap(content: Uint8Array | string, place = ''): JsonValue {
  try {
    return checkedMap(parseYaml(content));
  } catch (error) {
    throw valuesError(`${place}${errorMessage(error)}`, { cause: error });
  }
}

/** The error of a Secret tells no more than the line. */
function readSecret(content: Uint8Array, place: string): JsonValue {
  try {
    return checkedMap(parseYaml(content));
  } catch (error) {
    const line = /\bline \d+/.exec(errorMessage(error))?.[0];
    const where = line === undefined ? '' : `, ${line}`;
    // Without its cause, which quotes the text.
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
